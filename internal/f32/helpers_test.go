package f32

import (
	"math"
	"math/rand/v2"
	"testing"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

// guard stands around every buffer of a test; no kernel may change it, nor let it
// change a result.
const (
	guard      = 1.5e30
	guardWidth = 40
)

// guarded is a slice with guard values on both sides.
type guarded struct{ s, whole []float32 }

func newGuarded(x []float32) guarded {
	whole := make([]float32, len(x)+2*guardWidth)
	for i := range whole {
		whole[i] = guard
	}
	s := whole[guardWidth : guardWidth+len(x) : guardWidth+len(x)]
	copy(s, x)
	return guarded{s, whole}
}

func (g guarded) check(t *testing.T, name string) {
	t.Helper()
	for i := range guardWidth {
		if g.whole[i] != guard || g.whole[len(g.whole)-1-i] != guard {
			t.Fatalf("%s: wrote outside its buffer", name)
		}
	}
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// normal returns n values from N(0, scale²).
func normal(r *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(scale * r.NormFloat64())
	}
	return x
}

// slow says that a test should do with less: -short, or the race detector.
func slow() bool { return testing.Short() || raceEnabled }

// lengths are the row lengths that tests go through: all the short ones and some long.
func lengths() []int {
	n := []int{127, 384, 1000}
	if !slow() {
		n = append(n, 4096, 9001)
	}
	for i := 1; i <= 70; i++ {
		n = append(n, i)
	}
	return n
}

// near fails unless got is within rel·|want| + abs of want.
func near(t *testing.T, name string, i int, got float32, want, rel, abs float64) {
	if d := math.Abs(float64(got) - want); !(d <= rel*math.Abs(want)+abs) {
		t.Helper()
		t.Fatalf("%s[%d] = %v, want %v", name, i, got, want)
	}
}

func sameBits(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s[%d] = %v, want the bits of %v", name, i, got[i], want[i])
		}
	}
}

// noAllocations fails if f allocates.
func noAllocations(t *testing.T, name string, f func()) {
	t.Helper()
	f() // fill the pools
	if raceEnabled {
		return // the race detector empties pools at random
	}
	if n := testing.AllocsPerRun(20, f); n != 0 {
		t.Errorf("%s allocates %v times", name, n)
	}
}

func isNaN(x float32) bool { return x != x }

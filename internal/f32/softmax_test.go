package f32

import (
	"math"
	"testing"
)

// softmaxFormula returns the weights of a row and log Σ exp.
func softmaxFormula(x []float32) (p []float64, logSum float64) {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, float64(v))
	}
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	for _, v := range x {
		p = append(p, math.Exp(float64(v)-top)/sum)
	}
	return p, top + math.Log(sum)
}

func TestSoftmax(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		x, dst, twin := newGuarded(normal(r, n, 4)), newGuarded(make([]float32, n)), make([]float32, n)
		Softmax(dst.s, x.s)
		softmaxPortable(twin, x.s)
		want, _ := softmaxFormula(x.s)
		rel := 2e-6 + 3e-10*float64(n) // the sum is a float32
		for i := range want {
			near(t, "softmax", i, dst.s[i], want[i], rel, 1e-12)
			near(t, "softmax against portable", i, dst.s[i], float64(twin[i]), rel, 1e-12)
		}
		dst.check(t, "dst")
		Softmax(x.s, x.s)
		sameBits(t, "in place", x.s, dst.s)
		x.check(t, "x")
	}
	Softmax(nil, nil)
}

func TestSoftmaxLargeAndMasked(t *testing.T) {
	for _, n := range []int{3, 8, 21} {
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = -inf
		}
		x[1], x[2] = 30000, 30000
		Softmax(y, x)
		for i, v := range y {
			want := float32(0)
			if i == 1 || i == 2 {
				want = 0.5
			}
			if v != want {
				t.Errorf("n=%d: weight %d is %v, want %v", n, i, v, want)
			}
		}
	}
}

// A NaN or +Inf anywhere poisons the row; so does a row of -Inf alone.
func TestSoftmaxSpecials(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 16, 29} {
		check := func(x []float32) {
			t.Helper()
			y := make([]float32, n)
			Softmax(y, x)
			loss := CrossEntropy(make([]float32, n), x, int32(n/2))
			for i, v := range y {
				if !isNaN(v) || !math.IsNaN(loss) {
					t.Fatalf("softmax of %v: weight %d is %v, loss %v", x, i, v, loss)
				}
			}
		}
		for at := range n {
			for _, bad := range []float32{nan, inf} {
				x := normal(newRand(), n, 1)
				x[at] = bad
				check(x)
			}
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = -inf
		}
		check(x)
	}
}

func TestSoftmaxBackward(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		p, dp, ds, twin := newGuarded(normal(r, n, 1)), newGuarded(normal(r, n, 1)), newGuarded(make([]float32, n)), make([]float32, n)
		Softmax(p.s, p.s)
		SoftmaxBackward(ds.s, p.s, dp.s)
		softmaxBackwardPortable(twin, p.s, dp.s)
		dot := 0.0
		for i := range p.s {
			dot += float64(p.s[i]) * float64(dp.s[i])
		}
		for i := range p.s {
			near(t, "ds", i, ds.s[i], float64(p.s[i])*(float64(dp.s[i])-dot), 1e-6, 1e-6*float64(p.s[i]))
			near(t, "ds against portable", i, ds.s[i], float64(twin[i]), 1e-6, 1e-6*float64(p.s[i]))
		}
		ds.check(t, "ds")
		SoftmaxBackward(dp.s, p.s, dp.s)
		sameBits(t, "ds in dp", dp.s, ds.s)
		dp.check(t, "dp")
	}
	for _, special := range []struct{ given, first, last float32 }{{nan, nan, nan}, {inf, -inf, nan}, {-inf, inf, nan}} { // 0·∞ is NaN
		p, dp := []float32{0.5, 0.5, 0}, []float32{1, special.given, 1}
		SoftmaxBackward(dp, p, dp)
		same := func(x, y float32) bool { return x == y || isNaN(x) && isNaN(y) }
		if !same(dp[0], special.first) || !isNaN(dp[1]) || !same(dp[2], special.last) {
			t.Errorf("%v lost: %v", special.given, dp)
		}
	}
	SoftmaxBackward(nil, nil, nil)
}

func TestCrossEntropy(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		logits, probs := newGuarded(normal(r, n, 3)), newGuarded(make([]float32, n))
		target := r.IntN(n)
		loss := CrossEntropy(probs.s, logits.s, int32(target))
		p, logSum := softmaxFormula(logits.s)
		near(t, "loss", target, float32(loss), logSum-float64(logits.s[target]), 1e-6, 1e-6)
		for i := range p {
			near(t, "probs", i, probs.s[i], p[i], 2e-6+3e-10*float64(n), 1e-12)
		}
		probs.check(t, "probs")
		ignored := append([]float32(nil), logits.s...)
		if got := CrossEntropy(ignored, ignored, -1); got != 0 {
			t.Fatal("an ignored position has loss", got)
		}
		sameBits(t, "probs of an ignored position", ignored, probs.s)
		if got := CrossEntropy(logits.s, logits.s, int32(target)); got != loss {
			t.Fatalf("loss in place %v, want %v", got, loss)
		}
		sameBits(t, "probs in place", logits.s, probs.s)
	}
	// The loss of an all but impossible target is finite.
	near(t, "loss", 0, float32(CrossEntropy(make([]float32, 2), []float32{0, 500}, 0)), 500, 1e-6, 0)
}

func TestSoftmaxAllocations(t *testing.T) {
	x, y := normal(newRand(), 65, 1), make([]float32, 65)
	noAllocations(t, "Softmax", func() { Softmax(y, x) })
	noAllocations(t, "SoftmaxBackward", func() { SoftmaxBackward(y, y, x) })
	noAllocations(t, "CrossEntropy", func() { CrossEntropy(y, x, 3) })
}

package attention

import (
	"math"
	"testing"
)

func TestKL(t *testing.T) {
	for _, c := range []struct {
		p    []float32
		q    []float64
		want float64
	}{
		{[]float32{0.5, 0.5}, []float64{0.5, 0.5}, 0},
		{[]float32{1, 0}, []float64{0.25, 0.75}, math.Log(4)},
		{[]float32{0.5, 0.5}, []float64{0.25, 0.75}, 0.5*math.Log(2) + 0.5*math.Log(2.0/3)},
		{[]float32{0.5, 0.5}, []float64{1, 0}, math.Inf(1)},
	} {
		if got := KL(c.p, c.q); got != c.want && math.Abs(got-c.want) > 1e-12 {
			t.Errorf("KL(%v, %v) = %v, want %v", c.p, c.q, got, c.want)
		}
	}
	if got := Bits(math.Log(8)); math.Abs(got-3) > 1e-12 {
		t.Errorf("ln 8 nats are %v bits, want 3", got)
	}
}

func TestTotalVariation(t *testing.T) {
	if got := TotalVariation([]float32{0.5, 0.25, 0.25}, []float32{0.25, 0.25, 0.5}); got != 0.25 {
		t.Errorf("got %v, want 0.25", got)
	}
	if got := TotalVariation([]float32{1, 0}, []float32{0, 1}); got != 1 {
		t.Errorf("disjoint: got %v, want 1", got)
	}
}

package f32

import (
	"math"
	"testing"
)

func TestVector(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		x, y, dst, twin := newGuarded(normal(r, n, 1)), newGuarded(normal(r, n, 1)), newGuarded(make([]float32, n)), make([]float32, n)
		Add(dst.s, x.s, y.s)
		addPortable(twin, x.s, y.s)
		sameBits(t, "Add", dst.s, twin)

		AddScaled(dst.s, 0.3, x.s)
		addScaledPortable(twin, 0.3, x.s)
		for i := range twin {
			near(t, "AddScaled", i, dst.s[i], float64(twin[i]), 1e-6, 1e-6)
		}

		copy(twin, dst.s)
		Scale(dst.s, -1.7)
		scalePortable(twin, -1.7)
		sameBits(t, "Scale", dst.s, twin)

		size := math.Sqrt(SumSquares(x.s) * SumSquares(y.s))
		near(t, "Dot", n, Dot(x.s, y.s), float64(dotPortable(x.s, y.s)), 0, 1e-6*size)
		squares := 0.0
		for _, v := range x.s {
			squares += float64(v) * float64(v)
		}
		near(t, "SumSquares", n, float32(SumSquares(x.s)), squares, 1e-6, 0)

		dst.check(t, "dst")
		Add(x.s, x.s, x.s)
		x.check(t, "x")
	}
	Add(nil, nil, nil)
	Scale(nil, 2)
	if Dot(nil, nil) != 0 || SumSquares(nil) != 0 {
		t.Error("an empty sum is not 0")
	}
}

func TestVectorSpecials(t *testing.T) {
	for _, n := range []int{1, 8, 39, 5000} {
		for _, at := range []int{0, n / 2, n - 1} {
			for _, bad := range []float32{nan, inf, -inf} {
				x, ones := make([]float32, n), make([]float32, n)
				for i := range ones {
					ones[i] = 1
				}
				x[at] = bad
				if s := SumSquares(x); s-s == 0 {
					t.Errorf("SumSquares lost %v: %v", bad, s)
				}
				if s := Dot(x, ones); s-s == 0 {
					t.Errorf("Dot lost %v: %v", bad, s)
				}
				AddScaled(ones, 2, x)
				Add(ones, ones, ones)
				Scale(ones, 3)
				for i, v := range ones {
					if finite := v-v == 0; finite != (i != at) {
						t.Fatalf("element %d is %v, x[%d] = %v", i, v, at, bad)
					}
				}
			}
		}
	}
}

func TestVectorAllocations(t *testing.T) {
	x, y := make([]float32, 5000), make([]float32, 5000)
	noAllocations(t, "Add", func() { Add(y, x, x) })
	noAllocations(t, "AddScaled", func() { AddScaled(y, 2, x) })
	noAllocations(t, "Scale", func() { Scale(y, 2) })
	noAllocations(t, "Dot", func() { Dot(y, x) })
	noAllocations(t, "SumSquares", func() { SumSquares(y) })
}

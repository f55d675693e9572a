package f32

import (
	"math"
	"slices"
	"testing"
)

func TestVector(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		x, y, dst, twin := newGuarded(normal(r, n, 1)), newGuarded(normal(r, n, 1)), newGuarded(make([]float32, n)), make([]float32, n)
		exact := func(what string, want func(x, y float64) float64) {
			t.Helper()
			for i := range x.s {
				near(t, what, i, dst.s[i], want(float64(x.s[i]), float64(y.s[i])), 1e-6, 1e-6)
			}
			dst.check(t, what)
		}
		Add(dst.s, x.s, y.s)
		addPortable(twin, x.s, y.s)
		sameBits(t, "Add", dst.s, twin)
		exact("Add", func(x, y float64) float64 { return x + y })

		Multiply(dst.s, x.s, y.s)
		multiplyPortable(twin, x.s, y.s)
		sameBits(t, "Multiply", dst.s, twin)
		exact("Multiply", func(x, y float64) float64 { return x * y })

		AddScaled(dst.s, 0.3, x.s)
		addScaledPortable(twin, 0.3, x.s)
		for i := range twin {
			near(t, "AddScaled against portable", i, dst.s[i], float64(twin[i]), 1e-6, 1e-6)
		}
		exact("AddScaled", func(x, y float64) float64 { return x*y + 0.3*x })

		copy(twin, dst.s)
		Scale(dst.s, -1.7)
		scalePortable(twin, -1.7)
		sameBits(t, "Scale", dst.s, twin)
		exact("Scale", func(x, y float64) float64 { return -1.7 * (x*y + 0.3*x) })

		size := math.Sqrt(SumSquares(x.s) * SumSquares(y.s))
		near(t, "dot against portable", n, dot(x.s, y.s), float64(dotPortable(x.s, y.s)), 0, 1e-6*size)
		products, squares := 0.0, 0.0
		for i, v := range x.s {
			products += float64(v) * float64(y.s[i])
			squares += float64(v) * float64(v)
		}
		near(t, "dot", n, dot(x.s, y.s), products, 0, 1e-6*size)
		near(t, "SumSquares", n, float32(SumSquares(x.s)), squares, 1e-6, 0)

		x.check(t, "x")
		y.check(t, "y")
		Add(x.s, x.s, x.s)
		x.check(t, "x, in place")
	}
	Add(nil, nil, nil)
	Scale(nil, 2)
	Multiply(nil, nil, nil)
	if dot(nil, nil) != 0 || SumSquares(nil) != 0 {
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
				if s := dot(x, ones); s-s == 0 {
					t.Errorf("dot lost %v: %v", bad, s)
				}
				AddScaled(ones, 2, x)
				Add(ones, ones, ones)
				Scale(ones, 3)
				Multiply(ones, ones, ones)
				for i, v := range ones {
					if finite := v-v == 0; finite != (i != at) {
						t.Fatalf("element %d is %v, x[%d] = %v", i, v, at, bad)
					}
				}
			}
		}
	}
}

func TestRotate(t *testing.T) {
	r := newRand()
	for _, half := range []int{1, 2, 7, 8, 15, 16, 24, 32, 33} {
		for _, heads := range []int{1, 2, 5} {
			x, angles := newGuarded(normal(r, 2*half*heads, 1)), normal(r, half, 2)
			cos, sin := make([]float32, half), make([]float32, half)
			for j, a := range angles {
				s, c := math.Sincos(float64(a))
				cos[j], sin[j] = float32(c), float32(s)
			}
			before, twin := slices.Clone(x.s), slices.Clone(x.s)
			Rotate(x.s, cos, sin)
			rotatePortable(twin, cos, sin)
			for h := range heads {
				for j := range half {
					at := 2*half*h + j
					a, b, c, s := float64(before[at]), float64(before[at+half]), float64(cos[j]), float64(sin[j])
					near(t, "Rotate", at, x.s[at], a*c-b*s, 1e-6, 1e-6)
					near(t, "Rotate", at+half, x.s[at+half], a*s+b*c, 1e-6, 1e-6)
					near(t, "rotatePortable", at, twin[at], a*c-b*s, 1e-6, 1e-6)
					near(t, "rotatePortable", at+half, twin[at+half], a*s+b*c, 1e-6, 1e-6)
				}
			}
			x.check(t, "x")
		}
	}
	x := []float32{nan, 1, 2, inf}
	Rotate(x, []float32{1, 1}, []float32{0, 0})
	if x[0] == x[0] || x[1] == x[1] || x[2] == x[2] || x[3]-x[3] == 0 { // 0·NaN and 0·∞ are NaN
		t.Errorf("Rotate lost NaN or infinity: %v", x)
	}
	Rotate(nil, []float32{1}, []float32{0})
	y, table := make([]float32, 192), make([]float32, 16)
	noAllocations(t, "Rotate", func() { Rotate(y, table, table) })
}

func TestMirror(t *testing.T) {
	r := newRand()
	for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 37, 64, 96, 100} {
		x := newGuarded(normal(r, n*n, 1))
		before, twin := slices.Clone(x.s), slices.Clone(x.s)
		Mirror(x.s, n)
		mirrorPortable(twin, n, 0)
		for i := range n {
			for j := range n {
				if got, want := x.s[i*n+j], before[max(i, j)*n+min(i, j)]; got != want {
					t.Fatalf("Mirror of %d: element (%d, %d) is %v, want %v", n, i, j, got, want)
				}
			}
		}
		sameBits(t, "Mirror", x.s, twin)
		x.check(t, "x")
	}
	x := make([]float32, 96*96)
	noAllocations(t, "Mirror", func() { Mirror(x, 96) })
}

func TestVectorAllocations(t *testing.T) {
	x, y := make([]float32, 5000), make([]float32, 5000)
	noAllocations(t, "Add", func() { Add(y, x, x) })
	noAllocations(t, "AddScaled", func() { AddScaled(y, 2, x) })
	noAllocations(t, "Multiply", func() { Multiply(y, x, x) })
	noAllocations(t, "Scale", func() { Scale(y, 2) })
	noAllocations(t, "dot", func() { dot(y, x) })
	noAllocations(t, "SumSquares", func() { SumSquares(y) })
}

// Slices too short panic before anything is read or written, also where their memory goes on.
func TestShortSlices(t *testing.T) {
	of := func(n int) []float32 { return make([]float32, n, 100) }
	one, two, three, four, seven, eight := of(1), of(2), of(3), of(4), of(7), of(8) // two rows of four
	for name, f := range map[string]func(){
		"Exp":             func() { Exp(seven, eight) },
		"Dropout":         func() { Dropout(seven, eight, 1, 2, 3) },
		"GELU":            func() { GELU(seven, eight) },
		"GELUDerivative":  func() { GELUDerivative(seven, eight, eight) },
		"its derivative":  func() { GELUDerivative(eight, seven, eight) },
		"AdamW, gradient": func() { AdamW(eight, seven, eight, eight, AdamWStep{Step: 1}) },
		"AdamW, m":        func() { AdamW(eight, eight, seven, eight, AdamWStep{Step: 1}) },
		"AdamW, v":        func() { AdamW(eight, eight, eight, seven, AdamWStep{Step: 1}) },
		"Softmax":         func() { Softmax(seven, eight) },
		"SoftmaxBackward": func() { SoftmaxBackward(seven, eight, eight) },
		"its dweights":    func() { SoftmaxBackward(eight, eight, seven) },
		"CrossEntropy":    func() { CrossEntropy(seven, eight, 1) },
		"Add, x":          func() { Add(eight, seven, eight) },
		"Add, y":          func() { Add(eight, eight, seven) },
		"Multiply, x":     func() { Multiply(eight, seven, eight) },
		"Multiply, y":     func() { Multiply(eight, eight, seven) },
		"AddScaled":       func() { AddScaled(eight, 1, seven) },
		"Rotate":          func() { Rotate(eight, four, three) },
		"Mirror":          func() { Mirror(eight, 3) },
		"LayerNorm, y":    func() { LayerNorm(seven, eight, four, four, two, two) },
		"LayerNorm, x":    func() { LayerNorm(eight, seven, four, four, two, two) },
		"LayerNorm, bias": func() { LayerNorm(eight, eight, four, three, two, two) },
		"LayerNorm, rstd": func() { LayerNorm(eight, eight, four, four, two, one) },
		"its dx":          func() { LayerNormBackward(seven, eight, eight, eight, four, four, four, two, two) },
		"its skip":        func() { LayerNormBackward(eight, seven, eight, eight, four, four, four, two, two) },
		"its dy":          func() { LayerNormBackward(eight, eight, seven, eight, four, four, four, two, two) },
		"its x":           func() { LayerNormBackward(eight, eight, eight, seven, four, four, four, two, two) },
		"its dgain":       func() { LayerNormBackward(eight, eight, eight, eight, four, three, four, two, two) },
		"its dbias":       func() { LayerNormBackward(eight, eight, eight, eight, four, four, three, two, two) },
		"its rstd":        func() { LayerNormBackward(eight, eight, eight, eight, four, four, four, two, one) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

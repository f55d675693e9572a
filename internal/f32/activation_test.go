package f32

import (
	"math"
	"testing"
)

// unary is a kernel of one input, its portable twin and its formula in float64.
type unary struct {
	name     string
	kernel   func(dst, x []float32)
	portable func(dst, x []float32)
	formula  func(x float64) float64
	rel, abs float64
}

// geluFormula also returns the derivative.
func geluFormula(x float64) (y, slope float64) {
	c := math.Sqrt(2 / math.Pi)
	t := math.Tanh(c * (x + 0.044715*x*x*x))
	return 0.5 * x * (1 + t), 0.5*(1+t) + 0.5*x*(1-t*t)*c*(1+3*0.044715*x*x)
}

// slope makes a unary kernel of GELUBackward by dy = 1.
func slope(backward func(dx, x, dy []float32)) func(dst, x []float32) {
	return func(dst, x []float32) {
		ones := make([]float32, len(x))
		for i := range ones {
			ones[i] = 1
		}
		backward(dst, x, ones)
	}
}

var unaries = []unary{
	{"Exp", Exp, expPortable, math.Exp, 2e-7, 2e-38},
	{"GELU", GELU, geluPortable, func(x float64) float64 { y, _ := geluFormula(x); return y }, 4e-6, 1e-7},
	{"GELUBackward", slope(GELUBackward), slope(geluBackwardPortable), func(x float64) float64 { _, d := geluFormula(x); return d }, 5e-6, 1e-6},
}

func TestUnary(t *testing.T) {
	r := newRand()
	for _, u := range unaries {
		for _, n := range lengths() {
			x, dst := newGuarded(normal(r, n, 3)), newGuarded(make([]float32, n))
			u.kernel(dst.s, x.s)
			twin := make([]float32, n)
			u.portable(twin, x.s)
			for i, v := range x.s {
				near(t, u.name, i, dst.s[i], u.formula(float64(v)), u.rel, u.abs)
				near(t, u.name+" portable", i, dst.s[i], float64(twin[i]), u.rel, u.abs)
			}
			dst.check(t, u.name)
			x.check(t, u.name)
			u.kernel(x.s, x.s)
			sameBits(t, u.name+" in place", x.s, dst.s)
		}
	}
}

func TestExpRange(t *testing.T) {
	var x []float32
	for v := -86.9; v < 88.72; v += 0.00237 {
		x = append(x, float32(v))
	}
	y := make([]float32, len(x))
	Exp(y, x)
	worst := 0.0
	for i := range x {
		want := math.Exp(float64(x[i]))
		worst = max(worst, math.Abs(float64(y[i])-want)/want)
	}
	t.Logf("largest relative error %.2g", worst)
	if worst > 2e-7 {
		t.Error("relative error", worst)
	}
}

// Special values, in every lane of a vector and in a tail.
func TestUnarySpecials(t *testing.T) {
	specials := []float32{nan, inf, -inf, 0, 1000, -1000, 88.8, 1e-40, -1e-40, math.MaxFloat32}
	for _, u := range unaries {
		for _, v := range specials {
			twin := make([]float32, 1)
			u.portable(twin, []float32{v})
			for at := range 13 {
				x, y := make([]float32, 13), make([]float32, 13)
				x[at] = v
				u.kernel(y, x)
				if v == math.MaxFloat32 && u.name == "GELUBackward" {
					continue // x² overflows in float32, not in the twin's float64
				}
				for i := range y {
					want := float32(u.formula(0))
					if i == at {
						want = twin[0]
					}
					if y[i] != want && !(isNaN(y[i]) && isNaN(want)) && math.Abs(float64(y[i]-want)) > 1e-7 {
						t.Fatalf("%s(%v) = %v, want %v", u.name, x[i], y[i], want)
					}
				}
			}
		}
	}
}

func TestGELUBackward(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		x, dy, dx := newGuarded(normal(r, n, 2)), newGuarded(normal(r, n, 1)), newGuarded(make([]float32, n))
		GELUBackward(dx.s, x.s, dy.s)
		for i, v := range x.s {
			_, slope := geluFormula(float64(v))
			near(t, "dx", i, dx.s[i], slope*float64(dy.s[i]), 5e-6, 3e-6)
		}
		dx.check(t, "dx")
		GELUBackward(dy.s, x.s, dy.s)
		sameBits(t, "dx in dy", dy.s, dx.s)
		dy.check(t, "dy")
	}
}

func TestActivationAllocations(t *testing.T) {
	x, y := normal(newRand(), 100, 1), make([]float32, 100)
	noAllocations(t, "Exp", func() { Exp(y, x) })
	noAllocations(t, "GELU", func() { GELU(y, x) })
	noAllocations(t, "GELUBackward", func() { GELUBackward(y, x, x) })
}

package f32

import (
	"math"
	"slices"
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

// value and slope are the two results of GELUDerivative, each as a kernel of one input that may work in place.
func value(both func(y, d, x []float32)) func(dst, x []float32) {
	return func(dst, x []float32) { both(dst, make([]float32, len(x)), x) }
}

func slope(both func(y, d, x []float32)) func(dst, x []float32) {
	return func(dst, x []float32) { both(make([]float32, len(x)), dst, x) }
}

var unaries = []unary{
	{"Exp", Exp, expPortable, math.Exp, 2e-7, 2e-38},
	{"GELU", GELU, geluPortable, func(x float64) float64 { y, _ := geluFormula(x); return y }, 4e-6, 1e-7},
	{"GELUDerivative's value", value(GELUDerivative), value(geluDerivativePortable), func(x float64) float64 { y, _ := geluFormula(x); return y }, 4e-6, 1e-7},
	{"GELUDerivative", slope(GELUDerivative), slope(geluDerivativePortable), func(x float64) float64 { _, d := geluFormula(x); return d }, 5e-6, 1e-6},
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
				if v == math.MaxFloat32 && u.name == "GELUDerivative" {
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

// The value has the bits of GELU, and each result may stand in the input's place while the other is written beside it.
func TestGELUDerivative(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		x, y, d := newGuarded(normal(r, n, 2)), newGuarded(make([]float32, n)), newGuarded(make([]float32, n))
		GELUDerivative(y.s, d.s, x.s)
		plain := make([]float32, n)
		GELU(plain, x.s)
		sameBits(t, "y", y.s, plain)
		x2, other := newGuarded(slices.Clone(x.s)), newGuarded(make([]float32, n))
		GELUDerivative(other.s, x2.s, x2.s)
		sameBits(t, "y beside d in x", other.s, y.s)
		sameBits(t, "d in x", x2.s, d.s)
		GELUDerivative(x.s, other.s, x.s)
		sameBits(t, "y in x", x.s, y.s)
		sameBits(t, "d beside y in x", other.s, d.s)
		for _, g := range []guarded{x, y, d, x2, other} {
			g.check(t, "GELUDerivative")
		}
	}
}

func TestDropout(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		for _, threshold := range []uint32{0, 1 << 28, 1 << 31, 3 << 30, math.MaxUint32} {
			x, y, twin := newGuarded(normal(r, n, 1)), newGuarded(make([]float32, n)), make([]float32, n)
			seed := r.Uint32()
			Dropout(y.s, x.s, seed, threshold, 1.25)
			dropoutPortable(twin, x.s, seed, threshold, 1.25)
			sameBits(t, "Dropout", y.s, twin)
			y.check(t, "Dropout")
			Dropout(x.s, x.s, seed, threshold, 1.25)
			sameBits(t, "Dropout in place", x.s, twin)
			x.check(t, "Dropout")
		}
	}
	x, y := []float32{nan, inf, -inf, 1}, make([]float32, 4)
	if Dropout(y, x, 1, 0, 1); y[0] == y[0] || y[1] != inf || y[2] != -inf || y[3] != 1 {
		t.Errorf("nothing dropped of %v is %v", x, y)
	}
}

// The share that is dropped is the one asked for, and neither seeds nor neighbours agree more often than by chance.
func TestDropoutIsUniform(t *testing.T) {
	const n, rows = 1024, 200
	ones, before := make([]float32, n), make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	for _, p := range []float64{0.1, 0.5} {
		var kept, likeNeighbour, likeSeed float64
		for seed := range uint32(rows) {
			y := make([]float32, n)
			Dropout(y, ones, seed, uint32(p*(1<<32)), 1)
			for i, v := range y {
				kept += float64(v)
				likeNeighbour += float64(v * y[(i+1)%n])
				likeSeed += float64(v * before[i])
			}
			before = y
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{{"kept", kept, 1 - p}, {"kept with its neighbour", likeNeighbour, (1 - p) * (1 - p)}, {"kept by the next seed too", likeSeed, (1 - p) * (1 - p)}} {
			if got := c.got / n / rows; math.Abs(got-c.want) > 0.01 {
				t.Errorf("p = %v: %s: a share of %.3f, want %.3f", p, c.name, got, c.want)
			}
		}
	}
}

func TestActivationAllocations(t *testing.T) {
	x, y := normal(newRand(), 100, 1), make([]float32, 100)
	noAllocations(t, "Exp", func() { Exp(y, x) })
	noAllocations(t, "GELU", func() { GELU(y, x) })
	noAllocations(t, "Dropout", func() { Dropout(y, x, 1, 1<<30, 2) })
	noAllocations(t, "GELUDerivative", func() { GELUDerivative(y, x, x) })
}

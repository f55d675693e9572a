package f32

import (
	"math"
	"testing"
)

func TestAdamW(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		w, m, v := newGuarded(normal(r, n, 1)), newGuarded(make([]float32, n)), newGuarded(make([]float32, n))
		twinW, twinM, twinV := append([]float32(nil), w.s...), make([]float32, n), make([]float32, n)
		w64, m64, v64 := make([]float64, n), make([]float64, n), make([]float64, n)
		for i, x := range w.s {
			w64[i] = float64(x)
		}
		s := AdamWStep{LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1, GradScale: 0.25}
		for s.Step = 1; s.Step <= 10; s.Step++ {
			g := newGuarded(normal(r, n, 1))
			AdamW(w.s, g.s, m.s, v.s, s)
			g.check(t, "g")
			c := s.constants()
			adamWPortable(twinW, g.s, twinM, twinV, &c)
			for i := range w64 {
				grad := float64(g.s[i]) * s.GradScale
				m64[i] = s.Beta1*m64[i] + (1-s.Beta1)*grad
				v64[i] = s.Beta2*v64[i] + (1-s.Beta2)*grad*grad
				mHat := m64[i] / (1 - math.Pow(s.Beta1, float64(s.Step)))
				vHat := v64[i] / (1 - math.Pow(s.Beta2, float64(s.Step)))
				w64[i] -= s.LearningRate*s.WeightDecay*w64[i] + s.LearningRate*mHat/(math.Sqrt(vHat)+s.Eps)
			}
		}
		for i := range w64 {
			near(t, "w", i, w.s[i], w64[i], 2e-6, 2e-6)
			near(t, "m", i, m.s[i], m64[i], 2e-6, 1e-6)
			near(t, "v", i, v.s[i], v64[i], 5e-6, 0)
			near(t, "w against portable", i, w.s[i], float64(twinW[i]), 1e-6, 1e-6)
		}
		for _, g := range []guarded{w, m, v} {
			g.check(t, "AdamW")
		}
	}
}

func TestAdamWSpecials(t *testing.T) {
	s := AdamWStep{LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, GradScale: 1, Step: 1}
	for at := range 13 {
		for _, special := range []float32{nan, inf, -inf} { // of an infinity: m is it, v is +Inf, and w ∞/√∞
			w, g, m, v := make([]float32, 13), make([]float32, 13), make([]float32, 13), make([]float32, 13)
			g[at] = special
			AdamW(w, g, m, v, s)
			for i := range w {
				want := [3]float32{0, 0, 0}
				if i == at {
					want = [3]float32{nan, special, special * special}
				}
				for j, got := range []float32{w[i], m[i], v[i]} {
					if got != want[j] && !(isNaN(got) && isNaN(want[j])) {
						t.Fatalf("gradient %d is %v: w %v m %v v %v", at, special, w, m, v)
					}
				}
			}
		}
	}
	x := make([]float32, 5000)
	noAllocations(t, "AdamW", func() { AdamW(x, x, x, x, s) })
}

package optim

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestScheduleAt(t *testing.T) {
	s := Schedule{Max: 1e-3, Min: 1e-4, Warmup: 100, Total: 2000}
	for _, tt := range []struct {
		i    int
		want float64
	}{
		{0, 1e-3 / 101}, {49, 1e-3 * 50 / 101}, {99, 1e-3 * 100 / 101}, {100, 1e-3},
		{1050, 5.5e-4}, {2000, 1e-4}, {5000, 1e-4},
	} {
		if got := s.At(tt.i); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v.At(%d) = %v, want %v", s, tt.i, got, tt.want)
		}
	}
	for _, tt := range []struct {
		i        int
		fraction float64
		want     float64
	}{{0, 0.5, 1e-3 / 101}, {100, 0, 1e-3}, {500, 0.5, 5.5e-4}, {9000, 1, 1e-4}, {9000, 1.5, 1e-4}} {
		if got := s.AtFraction(tt.i, tt.fraction); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v.AtFraction(%d, %v) = %v, want %v", s, tt.i, tt.fraction, got, tt.want)
		}
	}
	if got := (Schedule{Max: 1, Min: 0, Warmup: 5, Total: 3}).At(5); got != 1 {
		t.Errorf("a warm-up longer than the run: At(5) = %v, want 1", got)
	}
}

func TestClipScale(t *testing.T) {
	for _, tt := range []struct{ norm, max, want float64 }{
		{0.5, 1, 1}, {2, 1, 0.5}, {2, 0, 1}, {0, 1, 1},
	} {
		if got := ClipScale(tt.norm, tt.max); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("ClipScale(%v, %v) = %v, want %v", tt.norm, tt.max, got, tt.want)
		}
	}
}

// adamwFormula is one element of AdamW as the paper writes it, in float64.
func adamwFormula(w, g, m, v, lr, wd float64, a AdamW, t int) (w1, m1, v1 float64) {
	m1 = a.Beta1*m + (1-a.Beta1)*g
	v1 = a.Beta2*v + (1-a.Beta2)*g*g
	mHat := m1 / (1 - math.Pow(a.Beta1, float64(t)))
	vHat := v1 / (1 - math.Pow(a.Beta2, float64(t)))
	return w - lr*wd*w - lr*mHat/(math.Sqrt(vHat)+a.Eps), m1, v1
}

func TestAdamWAgainstFormula(t *testing.T) {
	const n, lr = updateUnit + 1003, 1e-2
	for _, decay := range []bool{false, true} {
		for _, threads := range []int{1, 3} {
			a := AdamW{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1, Threads: threads}
			rng := rand.New(rand.NewPCG(7, 7))
			w, g := make([]float32, n), make([]float32, n)
			m, v := make([]float32, n), make([]float32, n)
			want, wantM, wantV := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range w {
				w[i] = float32(rng.NormFloat64())
				want[i] = float64(w[i])
			}
			for step := 1; step <= 5; step++ {
				for i := range g {
					g[i] = float32(rng.NormFloat64())
				}
				a.Step(w, g, m, v, lr, 0.5, step, decay)
				wd := 0.0
				if decay {
					wd = a.WeightDecay
				}
				for i := range w {
					want[i], wantM[i], wantV[i] = adamwFormula(want[i], 0.5*float64(g[i]), wantM[i], wantV[i], lr, wd, a, step)
				}
			}
			for i := range w {
				if math.Abs(float64(w[i])-want[i]) > 2e-6*math.Max(1, math.Abs(want[i])) {
					t.Fatalf("decay %v, %d threads: w[%d] = %v, want %v", decay, threads, i, w[i], want[i])
				}
			}
		}
	}
}

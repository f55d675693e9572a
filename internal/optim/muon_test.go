package optim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// newtonSchulz is the iteration as it is written, in float64: X = aX + (bA + cA²)X with A = XXᵀ.
func newtonSchulz(g []float64, rows, cols int) []float64 {
	if rows > cols {
		return transpose(newtonSchulz(transpose(g, rows, cols), cols, rows), cols, rows)
	}
	norm := 0.0
	for _, v := range g {
		norm += v * v
	}
	x := make([]float64, len(g))
	for i, v := range g {
		x[i] = v / (math.Sqrt(norm) + 1e-7)
	}
	for range muonIterations {
		a := multiply(x, transpose(x, rows, cols), rows, cols, rows)
		b := multiply(a, a, rows, rows, rows)
		for i := range b {
			b[i] = nsB*a[i] + nsC*b[i]
		}
		y := multiply(b, x, rows, rows, cols)
		for i := range x {
			x[i] = nsA*x[i] + y[i]
		}
	}
	return x
}

func transpose(x []float64, rows, cols int) []float64 {
	y := make([]float64, len(x))
	for i := range rows {
		for j := range cols {
			y[j*rows+i] = x[i*cols+j]
		}
	}
	return y
}

func multiply(a, b []float64, m, k, n int) []float64 {
	c := make([]float64, m*n)
	for i := range m {
		for p := range k {
			for j := range n {
				c[i*n+j] += a[i*k+p] * b[p*n+j]
			}
		}
	}
	return c
}

func TestMuonAgainstFormula(t *testing.T) {
	const lr, scale = 0.02, 0.5
	for _, shape := range [][2]int{{1, 1}, {3, 5}, {5, 3}, {16, 16}, {49, 97}, {97, 50}, {128, 512}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			rows, cols := shape[0], shape[1]
			n, rng := rows*cols, rand.New(rand.NewPCG(1, 2))
			x := Matrix{rows, cols, make([]float32, n), make([]float32, n), make([]float32, n)}
			want, buf := make([]float64, n), make([]float64, n)
			for i := range x.W {
				x.W[i] = float32(rng.NormFloat64())
				want[i] = float64(x.W[i])
			}
			m := Muon{Momentum: 0.95, WeightDecay: 0.01, Threads: 1, Matrices: []Matrix{x}}
			for range 3 {
				u := make([]float64, n)
				for i := range x.Grad {
					x.Grad[i] = float32(rng.NormFloat64())
					buf[i] = 0.95*buf[i] + scale*float64(x.Grad[i])
					u[i] = scale*float64(x.Grad[i]) + 0.95*buf[i]
				}
				m.Step(lr, scale)
				for i, v := range newtonSchulz(u, rows, cols) {
					want[i] = want[i]*(1-lr*0.01) - lr*math.Sqrt(max(1, float64(cols)/float64(rows)))*v
				}
			}
			for i, w := range want {
				if d := math.Abs(float64(x.W[i]) - w); d > 1e-5 {
					t.Fatalf("w[%d] = %v, want %v", i, x.W[i], w)
				}
			}
		})
	}
}

func TestMuonThreadsDoNotMatter(t *testing.T) {
	step := func(threads int) (all []float32) {
		rng := rand.New(rand.NewPCG(3, 4))
		m := Muon{Momentum: 0.95, Threads: threads}
		for i := range 7 {
			n := (10 + i) * 24
			x := Matrix{10 + i, 24, make([]float32, n), make([]float32, n), make([]float32, n)}
			for j := range x.Grad {
				x.Grad[j] = float32(rng.NormFloat64())
			}
			m.Matrices = append(m.Matrices, x)
		}
		m.Step(0.02, 1)
		for _, x := range m.Matrices {
			all = append(all, x.W...)
		}
		return all
	}
	want := step(1)
	for _, threads := range []int{2, 3, 20} {
		if !slices.Equal(step(threads), want) {
			t.Errorf("%d threads give another result than 1", threads)
		}
	}
}

// BenchmarkMuon steps all matrices of the cpu preset.
func BenchmarkMuon(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := Muon{Momentum: 0.95, WeightDecay: 0.01, Threads: 2}
	for range 4 {
		for _, s := range [][2]int{{128, 128}, {128, 128}, {128, 128}, {128, 128}, {128, 512}, {512, 128}} {
			n := s[0] * s[1]
			x := Matrix{s[0], s[1], make([]float32, n), make([]float32, n), make([]float32, n)}
			for j := range x.Grad {
				x.Grad[j] = float32(rng.NormFloat64())
			}
			m.Matrices = append(m.Matrices, x)
		}
	}
	for b.Loop() {
		m.Step(0.02, 1)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/step")
}

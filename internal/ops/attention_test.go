package ops

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomAttention is one layer's, of random queries, keys, values and gradients, on one thread.
func randomAttention(batch, t, heads, hs int) *attention {
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	n, c := batch*t, heads*hs
	return &attention{
		b: &Builder{Threads: 1}, batch: batch, t: t, heads: heads, width: c, hs: hs, ld: 3 * c,
		scale: float32(1 / math.Sqrt(float64(hs))), weights: make([]float32, batch*heads*t*t), scratch: make([]headScratch, 1),
		qkv: normal(n * 3 * c), y: normal(n * c), dqkv: normal(n * 3 * c), dy: normal(n * c),
	}
}

// TestAttentionFormula compares the weights, the output and the gradients of every head with the formulas in float64: of one
// block of queries and of several, of head sizes that leave tails in every kernel, and with dropout.
func TestAttentionFormula(t *testing.T) {
	for _, s := range []struct {
		batch, t, heads, hs int
		dropout             float64
	}{{1, 1, 1, 1, 0}, {2, 17, 3, 5, 0}, {2, 64, 2, 32, 0}, {1, 97, 2, 20, 0}, {2, 200, 2, 33, 0}, {2, 200, 2, 8, 0.3}} {
		a := randomAttention(s.batch, s.t, s.heads, s.hs)
		a.b.Random = &Random{Seed: 5}
		a.drop = a.b.mask(s.dropout)
		a.forwardHeads(0, s.batch*s.heads, 0)
		a.backwardHeads(0, s.batch*s.heads, 0)
		for pair := range s.batch * s.heads {
			in, out, weights := a.head(pair)
			at := func(x []float32, i, j int) float64 { return float64(x[i*a.ld+j]) }
			q, k, v := a.qkv[in:], a.qkv[in+a.width:], a.qkv[in+2*a.width:]
			dq, dk, dv := matrix64(s.t, s.hs), matrix64(s.t, s.hs), matrix64(s.t, s.hs)
			for i := range s.t {
				p, sum := make([]float64, i+1), 0.0
				for j := range p {
					for c := range s.hs {
						p[j] += at(q, i, c) * at(k, j, c) / math.Sqrt(float64(s.hs))
					}
					p[j] = math.Exp(p[j])
					sum += p[j]
				}
				y, dp, inner, keep := make([]float64, s.hs), make([]float64, i+1), 0.0, a.kept(pair, i)
				for j := range p {
					p[j] /= sum
					for c := range s.hs {
						dy := float64(a.dy[out+i*a.width+c])
						y[c] += p[j] * keep[j] * at(v, j, c)
						dp[j] += keep[j] * dy * at(v, j, c)
						dv[j][c] += p[j] * keep[j] * dy
					}
					inner += p[j] * dp[j]
				}
				for j := range p {
					ds := p[j] * (dp[j] - inner) / math.Sqrt(float64(s.hs))
					for c := range s.hs {
						dq[i][c] += ds * at(k, j, c)
						dk[j][c] += ds * at(q, i, c)
					}
				}
				for j := range s.t { // zero above the diagonal
					want := 0.0
					if j <= i {
						want = p[j]
					}
					a.near(t, "weights", pair, i, j, weights[i*s.t+j], want)
				}
				for c := range s.hs {
					a.near(t, "y", pair, i, c, a.y[out+i*a.width+c], y[c])
				}
			}
			for i := range s.t {
				for c := range s.hs {
					a.near(t, "dq", pair, i, c, a.dqkv[in+i*a.ld+c], dq[i][c])
					a.near(t, "dk", pair, i, c, a.dqkv[in+a.width+i*a.ld+c], dk[i][c])
					a.near(t, "dv", pair, i, c, a.dqkv[in+2*a.width+i*a.ld+c], dv[i][c])
				}
			}
		}
	}
}

// kept is what dropout multiplies the weights of query i by: 0 or 1/(1 − rate), and 1 without.
func (a *attention) kept(pair, i int) []float64 {
	keep, ones := make([]float64, i+1), make([]float32, i+1)
	for j := range ones {
		ones[j] = 1
	}
	if a.drop != nil {
		a.drop.apply(ones, ones, pair*a.t+i)
	}
	for j, v := range ones {
		keep[j] = float64(v)
	}
	return keep
}

func matrix64(rows, cols int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

// near fails unless element (i, j) of a head is right to some roundings of float32.
func (a *attention) near(t *testing.T, name string, pair, i, j int, got float32, want float64) {
	if !(math.Abs(float64(got)-want) <= 2e-5*(1+math.Abs(want))) {
		t.Helper()
		t.Fatalf("T=%d HS=%d, head %d: %s[%d,%d] = %v, want %v", a.t, a.hs, pair, name, i, j, got, want)
	}
}

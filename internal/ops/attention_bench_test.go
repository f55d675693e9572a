package ops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkAttention runs one layer's attention forward and backward on one thread: of operands in cache, and of so many layers
// in turn that they are not, as in a training step.
func BenchmarkAttention(b *testing.B) {
	for _, size := range []struct {
		name               string
		batch, t, heads, c int
	}{{"cpu", 6, 64, 4, 128}, {"default", 2, 256, 3, 96}, {"baby", 1, 256, 6, 384}} {
		for _, layers := range []int{1, 24} {
			b.Run(fmt.Sprintf("%s/layers=%d", size.name, layers), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				normal := func(n int) []float32 {
					x := make([]float32, n)
					for i := range x {
						x[i] = float32(r.NormFloat64())
					}
					return x
				}
				n := size.batch * size.t
				all := make([]*attention, layers)
				for i := range all {
					hs := size.c / size.heads
					all[i] = &attention{
						b: &Builder{Threads: 1}, batch: size.batch, t: size.t, heads: size.heads, a: size.c, hs: hs, ld: 3 * size.c,
						scale: float32(1 / math.Sqrt(float64(hs))), weights: make([]float32, size.batch*size.heads*size.t*size.t),
						scratch: make([]headScratch, 1),
						qkv:     normal(n * 3 * size.c), y: normal(n * size.c), dqkv: normal(n * 3 * size.c), dy: normal(n * size.c),
					}
				}
				pairs := size.batch * size.heads
				for b.Loop() {
					for _, a := range all {
						a.forwardHeads(0, pairs, 0)
					}
					for i := len(all) - 1; i >= 0; i-- {
						all[i].backwardHeads(0, pairs, 0)
					}
				}
				perLayer := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(layers)
				b.ReportMetric(perLayer/float64(pairs)/1e3, "µs/head")
				b.ReportMetric(12*float64(n*size.t*size.c)/perLayer, "GFLOP/s")
			})
		}
	}
}

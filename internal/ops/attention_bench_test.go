package ops

import (
	"fmt"
	"testing"
)

// BenchmarkAttention runs one layer's attention forward and backward on one thread: of operands in cache, and of so many layers
// in turn that they are not, as in a training step. All of the T×T scores count as arithmetic, as for a training step.
func BenchmarkAttention(b *testing.B) {
	for _, size := range []struct {
		name               string
		batch, t, heads, c int
	}{{"cpu", 6, 64, 4, 128}, {"default", 2, 256, 3, 96}, {"baby", 1, 256, 6, 384}} {
		for _, layers := range []int{1, 24} {
			b.Run(fmt.Sprintf("%s/layers=%d", size.name, layers), func(b *testing.B) {
				all := make([]*attention, layers)
				for i := range all {
					all[i] = randomAttention(size.batch, size.t, size.heads, size.c/size.heads)
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
				b.ReportMetric(12*float64(size.batch*size.t*size.t*size.c)/perLayer, "GFLOP/s")
			})
		}
	}
}

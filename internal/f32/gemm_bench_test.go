package f32

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// stopwatch times the calls of a benchmark in batches, and the FMA loop before and
// after them, so that a share of the peak means the same minute of a busy machine.
type stopwatch struct {
	batch, calls int
	start        time.Time
	seconds      []float64 // per call, of each batch
	peak         float64   // flop/s, 0 without assembly
}

// newStopwatch warms f up and sizes batches to 100 µs or one call.
func newStopwatch(f func()) *stopwatch {
	w := &stopwatch{peak: peakFlops()}
	f()
	start := time.Now()
	f()
	w.batch = 1 + int(100*time.Microsecond/(1+time.Since(start)))
	w.start = time.Now()
	return w
}

// peakFlops is the best rate of the FMA loop in some runs of about 75 µs.
func peakFlops() float64 {
	const n = 10_000 // 48 multiply-adds of 8 lanes each
	best := 0.0
	for range 60 {
		start := time.Now()
		if !fmaPeak(n) {
			return 0
		}
		best = max(best, n*48*8*2/time.Since(start).Seconds())
	}
	return best
}

// lap is called after every call.
func (w *stopwatch) lap() {
	if w.calls++; w.calls%w.batch == 0 {
		now := time.Now()
		w.seconds = append(w.seconds, now.Sub(w.start).Seconds()/float64(w.batch))
		w.start = now
	}
}

// best and median are seconds per call; a benchmark too short for a batch has none.
func (w *stopwatch) best() float64   { slices.Sort(w.seconds); return w.seconds[0] }
func (w *stopwatch) median() float64 { slices.Sort(w.seconds); return w.seconds[len(w.seconds)/2] }

// reportRate reports GFLOP/s, and the share of the peak reached by the best and by
// the median batch, for calls of so many flops.
func (w *stopwatch) reportRate(b *testing.B, flops float64) {
	if len(w.seconds) == 0 {
		return
	}
	b.ReportMetric(flops/w.best()/1e9, "GFLOP/s")
	if w.peak = max(w.peak, peakFlops()); w.peak > 0 {
		b.ReportMetric(w.peak/1e9, "peakGFLOP/s")
		b.ReportMetric(100*flops/w.best()/w.peak, "%peak")
		b.ReportMetric(100*flops/w.median()/w.peak, "%peak-median")
	}
}

func BenchmarkFMAPeak(b *testing.B) {
	if !fmaPeak(1) {
		b.Skip("needs assembly")
	}
	f := func() { fmaPeak(2000) }
	w := newStopwatch(f)
	for b.Loop() {
		f()
		w.lap()
	}
	w.reportRate(b, 2000*48*8*2)
}

// benchShape is one product of dense matrices.
type benchShape struct {
	name           string
	transA, transB bool
	m, n, k        int
}

func (s benchShape) run(b *testing.B, threads int) {
	r := rand.New(rand.NewPCG(3, 4))
	lda, ldb := s.k, s.n
	if s.transA {
		lda = s.m
	}
	if s.transB {
		ldb = s.k
	}
	x, y, z := normal(r, s.m*s.k, 1), normal(r, s.k*s.n, 1), normal(r, s.m*s.n, 1)
	f := func() { GemmThreads(threads, s.transA, s.transB, s.m, s.n, s.k, 1, x, lda, y, ldb, 0, z, s.n) }
	w := newStopwatch(f)
	for b.Loop() {
		f()
		w.lap()
	}
	w.reportRate(b, 2*float64(s.m)*float64(s.n)*float64(s.k))
}

// linearShapes are the three products of a Linear of k inputs and m outputs over
// rows positions.
func linearShapes(name string, rows, k, m int) []benchShape {
	dims := fmt.Sprintf("%s_%dto%d_", name, k, m)
	return []benchShape{
		{dims + "Y=XW", false, false, rows, m, k},
		{dims + "dX=dYWt", false, true, rows, k, m},
		{dims + "dW=XtdY", true, false, k, m, rows},
	}
}

// stepShapes are the products of one training step over micro-batches of so many
// rows, queries, keys and values in one.
func stepShapes(preset string, rows, c, v int) []benchShape {
	var s []benchShape
	s = append(s, linearShapes(preset+"/qkv", rows, c, 3*c)...)
	s = append(s, linearShapes(preset+"/proj", rows, c, c)...)
	s = append(s, linearShapes(preset+"/fc", rows, c, 4*c)...)
	s = append(s, linearShapes(preset+"/proj", rows, 4*c, c)...)
	s = append(s,
		benchShape{preset + "/tied_logits=XEt", false, true, rows, v, c},
		benchShape{preset + "/tied_dX=dLE", false, false, rows, c, v},
		benchShape{preset + "/tied_dE=dLtX", true, false, v, c, rows},
		benchShape{preset + "/head_logits=XW", false, false, rows, v, c},
		benchShape{preset + "/head_dX=dLWt", false, true, rows, c, v},
		benchShape{preset + "/head_dW=XtdL", true, false, c, v, rows},
	)
	return s
}

func BenchmarkGemm(b *testing.B) {
	shapes := append(stepShapes("cpu", 6*64, 128, 65), stepShapes("baby", 2*256, 384, 65)...)
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) { s.run(b, 1) })
	}
	b.Run("head", benchmarkHeads)
}

// benchmarkHeads times the products of one head of attention, with its operands in cache. Of a lower triangular matrix
// only that half counts as arithmetic.
func benchmarkHeads(b *testing.B) {
	for _, c := range []struct {
		name   string
		t, hs  int
		stride int // of queries, keys and values
	}{{"cpu", 64, 32, 384}, {"default", 256, 32, 288}, {"baby", 256, 64, 1152}} {
		r := rand.New(rand.NewPCG(3, 4))
		x, s, y := normal(r, c.t*c.stride, 1), normal(r, c.t*c.t, 1), make([]float32, c.t*c.hs)
		var rows, columns Panels
		rows.Pack(false, c.t, c.hs, x, c.stride)
		columns.Pack(true, c.hs, c.t, x, c.stride)
		const block = 96 // queries at a time, as in attention
		run := func(name string, f func(i, n int)) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				all := func() {
					for i := (c.t - 1) / block * block; i >= 0; i -= block { // the last block of queries first, as in a backward pass
						f(i, min(block, c.t-i))
					}
				}
				w := newStopwatch(all)
				for b.Loop() {
					all()
					w.lap()
				}
				w.reportRate(b, float64(c.t*(c.t+1)*c.hs))
			})
		}
		run("Scores", func(i, n int) { CausalScores(n, i, 1, x[i*c.stride:], c.stride, &columns, s[i*c.t:], c.t) })
		for i := range c.t {
			clear(s[i*c.t+i+1 : (i+1)*c.t])
		}
		run("Sum", func(i, n int) { CausalSum(n, i, 1, s[i*c.t:], c.t, &rows, y[i*c.hs:], c.hs) })
		run("SumTransposed", func(i, n int) { CausalSumTransposed(n, i, 1, s[i*c.t:], c.t, &rows, i+n < c.t, y, c.hs) })
		b.Run(c.name+"/Pack", func(b *testing.B) {
			for b.Loop() {
				rows.Pack(false, c.t, c.hs, x, c.stride)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.t*c.hs), "ns/element")
		})
	}
}

func BenchmarkGemmThreads(b *testing.B) {
	shapes := append(linearShapes("cpu", 6*64, 128, 512), linearShapes("baby", 2*256, 384, 1536)...)
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) { s.run(b, 2) })
	}
}

// Matrix-vector products are bound by reading W.
func BenchmarkGemv(b *testing.B) {
	for _, m := range []int{1, 8} {
		for _, s := range []benchShape{
			{"Y=XW_128to512", false, false, m, 512, 128},
			{"Y=XW_512to128", false, false, m, 128, 512},
			{"tied_logits=XEt", false, true, m, 65, 128},
		} {
			b.Run(fmt.Sprintf("rows=%d/%s", m, s.name), func(b *testing.B) { s.run(b, 1) })
		}
	}
}

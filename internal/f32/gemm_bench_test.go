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

// benchShape is one product; a stride of 0 stands for a dense matrix.
type benchShape struct {
	name           string
	transA, transB bool
	m, n, k        int
	lda, ldb, ldc  int
}

func (s benchShape) run(b *testing.B, threads int) {
	or := func(ld, dense int) int {
		if ld == 0 {
			return dense
		}
		return ld
	}
	r := rand.New(rand.NewPCG(3, 4))
	ar, ac, br, bc := s.m, s.k, s.k, s.n
	if s.transA {
		ar, ac = ac, ar
	}
	if s.transB {
		br, bc = bc, br
	}
	lda, ldb, ldc := or(s.lda, ac), or(s.ldb, bc), or(s.ldc, s.n)
	x, y, z := normal(r, ar*lda, 1), normal(r, br*ldb, 1), normal(r, s.m*ldc, 1)
	f := func() { GemmThreads(threads, s.transA, s.transB, s.m, s.n, s.k, 1, x, lda, y, ldb, 0, z, ldc) }
	w := newStopwatch(f)
	for b.Loop() {
		f()
		w.lap()
	}
	w.reportRate(b, 2*float64(s.m)*float64(s.n)*float64(s.k))
}

// linearShapes are the three products of a Linear of k inputs and m outputs over
// rows positions. Strides of 3C belong to activations that share a buffer.
func linearShapes(name string, rows, k, m, ldx, ldy int) []benchShape {
	dims := fmt.Sprintf("%s_%dto%d_", name, k, m)
	return []benchShape{
		{dims + "Y=XW", false, false, rows, m, k, ldx, 0, ldy},
		{dims + "dX=dYWt", false, true, rows, k, m, ldy, 0, ldx},
		{dims + "dW=XtdY", true, false, k, m, rows, ldx, ldy, 0},
	}
}

// stepShapes are the products of one training step.
func stepShapes(preset string, rows, t, c, hs, v int) []benchShape {
	var s []benchShape
	s = append(s, linearShapes(preset+"/qkv", rows, c, c, 0, 3*c)...)
	s = append(s, linearShapes(preset+"/proj", rows, c, c, 0, 0)...)
	s = append(s, linearShapes(preset+"/fc", rows, c, 4*c, 0, 0)...)
	s = append(s, linearShapes(preset+"/proj", rows, 4*c, c, 0, 0)...)
	s = append(s,
		benchShape{preset + "/tied_logits=XEt", false, true, rows, v, c, 0, 0, 0},
		benchShape{preset + "/tied_dX=dLE", false, false, rows, c, v, 0, 0, 0},
		benchShape{preset + "/tied_dE=dLtX", true, false, v, c, rows, 0, 0, 0},
		benchShape{preset + "/head_logits=XW", false, false, rows, v, c, 0, 0, 0},
		benchShape{preset + "/head_dX=dLWt", false, true, rows, c, v, 0, 0, 0},
		benchShape{preset + "/head_dW=XtdL", true, false, c, v, rows, 0, 0, 0},
		benchShape{preset + "/attn_S=QKt", false, true, t, t, hs, 3 * c, 3 * c, 0},
		benchShape{preset + "/attn_O=PV", false, false, t, hs, t, 0, 3 * c, 0},
		benchShape{preset + "/attn_dV=PtdO", true, false, t, hs, t, 0, 0, 3 * c},
		benchShape{preset + "/attn_dQ=dSK", false, false, t, hs, t, 0, 3 * c, 3 * c},
	)
	for _, rows := range []int{32, 64} { // causal attention works on blocks of rows
		n := min(t, 64)
		s = append(s,
			benchShape{fmt.Sprintf("%s/block%dx%d_S=QKt", preset, rows, n), false, true, rows, n, hs, 3 * c, 3 * c, 0},
			benchShape{fmt.Sprintf("%s/block%dx%d_O=PV", preset, rows, n), false, false, rows, hs, n, t, 3 * c, 0},
		)
	}
	return s
}

func BenchmarkGemm(b *testing.B) {
	shapes := append(stepShapes("cpu", 8*64, 64, 128, 32, 65), stepShapes("baby", 8*256, 256, 384, 64, 65)...)
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) { s.run(b, 1) })
	}
}

func BenchmarkGemmThreads(b *testing.B) {
	shapes := append(linearShapes("cpu", 512, 128, 512, 0, 0), linearShapes("baby", 2048, 384, 1536, 0, 0)...)
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) { s.run(b, 2) })
	}
}

// Matrix-vector products are bound by reading W.
func BenchmarkGemv(b *testing.B) {
	for _, m := range []int{1, 8} {
		for _, s := range []benchShape{
			{"Y=XW_128to512", false, false, m, 512, 128, 0, 0, 0},
			{"Y=XW_512to128", false, false, m, 128, 512, 0, 0, 0},
			{"tied_logits=XEt", false, true, m, 65, 128, 0, 0, 0},
		} {
			b.Run(fmt.Sprintf("rows=%d/%s", m, s.name), func(b *testing.B) { s.run(b, 1) })
		}
	}
}

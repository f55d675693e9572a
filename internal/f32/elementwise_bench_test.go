package f32

import (
	"strconv"
	"testing"
)

// benchElements reports ns per element of a kernel that works on n elements a call.
func benchElements(b *testing.B, n int, f func()) {
	w := newStopwatch(f)
	b.ReportAllocs()
	for b.Loop() {
		f()
		w.lap()
	}
	if len(w.seconds) > 0 {
		b.ReportMetric(w.best()*1e9/float64(n), "ns/element")
		b.ReportMetric(w.median()*1e9/float64(n), "ns/element-median")
	}
}

const benchSize = 4096 // fits L1 and L2 with all operands

func BenchmarkExp(b *testing.B) {
	x, y := normal(newRand(), benchSize, 1), make([]float32, benchSize)
	benchElements(b, benchSize, func() { Exp(y, x) })
}

func BenchmarkGELU(b *testing.B) {
	x, y := normal(newRand(), benchSize, 1), make([]float32, benchSize)
	benchElements(b, benchSize, func() { GELU(y, x) })
}

func BenchmarkGELUDerivative(b *testing.B) {
	x, y, d := normal(newRand(), benchSize, 1), make([]float32, benchSize), make([]float32, benchSize)
	benchElements(b, benchSize, func() { GELUDerivative(y, d, x) })
}

func BenchmarkDropout(b *testing.B) {
	x, y := normal(newRand(), benchSize, 1), make([]float32, benchSize)
	benchElements(b, benchSize, func() { Dropout(y, x, 7, 1<<29, 1.1) })
}

// Rows as long as those of the presets: keys of a context, channels, vocabulary.
func BenchmarkSoftmax(b *testing.B) {
	for _, n := range []int{33, 64, 256} {
		x, y := normal(newRand(), n, 1), make([]float32, n)
		b.Run(rowName(n), func(b *testing.B) {
			benchElements(b, n, func() { Softmax(y, x) })
		})
	}
}

func BenchmarkSoftmaxBackward(b *testing.B) {
	for _, n := range []int{33, 64, 256} {
		p, dp, ds := normal(newRand(), n, 1), normal(newRand(), n, 1), make([]float32, n)
		b.Run(rowName(n), func(b *testing.B) {
			benchElements(b, n, func() { SoftmaxBackward(ds, p, dp) })
		})
	}
}

// The strips of attention: the whole of T = 64, and the last 64 queries of T = 256. Only the lower half counts as elements.
// Every call works on a fresh copy of the whole strip, whose time counts too.
func BenchmarkCausalSoftmax(b *testing.B) {
	for _, c := range []struct{ m, first int }{{64, 0}, {64, 192}} {
		width := c.first + c.m
		values, s, w := normal(newRand(), c.m*width, 1), make([]float32, c.m*width), normal(newRand(), c.m*width, 1)
		CausalSoftmax(c.m, c.first, w, width)
		elements := c.m * (c.first + 1 + width) / 2
		b.Run(rowName(width), func(b *testing.B) {
			benchElements(b, elements, func() {
				copy(s, values)
				CausalSoftmax(c.m, c.first, s, width)
			})
		})
		b.Run(rowName(width)+"/backward", func(b *testing.B) {
			benchElements(b, elements, func() {
				copy(s, values)
				CausalSoftmaxBackward(c.m, c.first, s, width, w, width)
			})
		})
	}
}

func BenchmarkLayerNorm(b *testing.B) {
	const rows = 16
	for _, n := range []int{128, 384} {
		x, y, gain := normal(newRand(), rows*n, 1), make([]float32, rows*n), normal(newRand(), n, 1)
		mean, rstd := make([]float32, rows), make([]float32, rows)
		b.Run(rowName(n), func(b *testing.B) {
			benchElements(b, rows*n, func() { LayerNorm(y, x, gain, nil, mean, rstd) })
		})
	}
}

func BenchmarkLayerNormBackward(b *testing.B) {
	const rows = 16
	for _, n := range []int{128, 384} {
		x, dy, gain := normal(newRand(), rows*n, 1), normal(newRand(), rows*n, 1), normal(newRand(), n, 1)
		dx, dgain := make([]float32, rows*n), make([]float32, n)
		mean, rstd := normal(newRand(), rows, 0.1), normal(newRand(), rows, 1)
		b.Run(rowName(n), func(b *testing.B) {
			benchElements(b, rows*n, func() { LayerNormBackward(dx, x, dy, x, gain, dgain, nil, mean, rstd) })
		})
	}
}

func BenchmarkCrossEntropy(b *testing.B) {
	x, y := normal(newRand(), 65, 1), make([]float32, 65)
	benchElements(b, 65, func() { CrossEntropy(y, x, 7) })
}

func BenchmarkAdamW(b *testing.B) {
	r := newRand()
	w, g, m, v := normal(r, benchSize, 1), normal(r, benchSize, 1), make([]float32, benchSize), make([]float32, benchSize)
	s := AdamWStep{LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1, GradScale: 1, Step: 5}
	benchElements(b, benchSize, func() { AdamW(w, g, m, v, s) })
}

func BenchmarkAdd(b *testing.B) {
	x, y := normal(newRand(), benchSize, 1), make([]float32, benchSize)
	benchElements(b, benchSize, func() { Add(y, y, x) })
}

func BenchmarkSumSquares(b *testing.B) {
	x := normal(newRand(), benchSize, 1)
	benchElements(b, benchSize, func() { SumSquares(x) })
}

func rowName(n int) string { return "row=" + strconv.Itoa(n) }

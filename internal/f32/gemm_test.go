package f32

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// operands is a product with random operands and guarded memory.
type operands struct {
	transA, transB bool
	m, n, k        int
	alpha, beta    float32
	a, b, c        guarded
	lda, ldb, ldc  int
}

// newOperands pads every stride by pad.
func newOperands(r *rand.Rand, transA, transB bool, m, n, k, pad int, alpha, beta float32) *operands {
	o := &operands{transA: transA, transB: transB, m: m, n: n, k: k, alpha: alpha, beta: beta, ldc: n + pad}
	matrix := func(trans bool, rows, cols int) (guarded, int) {
		if trans {
			rows, cols = cols, rows
		}
		ld := cols + pad
		return newGuarded(normal(r, max(0, (rows-1)*ld+cols), 1)), ld // ends with the last element
	}
	o.a, o.lda = matrix(transA, m, k)
	o.b, o.ldb = matrix(transB, k, n)
	o.c, _ = matrix(false, m, n)
	return o
}

func (o *operands) String() string {
	return fmt.Sprintf("%v,%v m=%d n=%d k=%d alpha=%v beta=%v ldc=%d", o.transA, o.transB, o.m, o.n, o.k, o.alpha, o.beta, o.ldc)
}

func (o *operands) gemm() { o.gemmThreads(1) }

func (o *operands) gemmThreads(threads int) {
	GemmThreads(threads, o.transA, o.transB, o.m, o.n, o.k, o.alpha, o.a.s, o.lda, o.b.s, o.ldb, o.beta, o.c.s, o.ldc)
}

// reference computes element (i, j) in float64, and the sum of the terms' sizes.
func (o *operands) reference(i, j int, c float32) (want, size float64) {
	for p := range o.k {
		x, y := o.a.s, o.b.s
		var u, v float64
		if o.transA {
			u = float64(x[p*o.lda+i])
		} else {
			u = float64(x[i*o.lda+p])
		}
		if o.transB {
			v = float64(y[j*o.ldb+p])
		} else {
			v = float64(y[p*o.ldb+j])
		}
		want += u * v
		size += math.Abs(u * v)
	}
	want *= float64(o.alpha)
	size *= math.Abs(float64(o.alpha))
	if o.beta != 0 {
		want += float64(o.beta) * float64(c)
		size += math.Abs(float64(o.beta) * float64(c))
	}
	return want, size
}

// check runs f, which computes the product, and compares C with the reference.
func (o *operands) check(t *testing.T, f func()) {
	t.Helper()
	if o.beta == 0 { // must not be read
		for i := range o.m {
			for j := range o.n {
				o.c.s[i*o.ldc+j] = nan
			}
		}
	}
	before := append([]float32(nil), o.c.s...)
	f()
	sample := o.m * o.n * o.k / 300_000 // of a large product, only so many elements and the edges
	for i, v := range o.c.s {
		row, col := i/o.ldc, i%o.ldc
		if col >= o.n {
			if v != before[i] {
				t.Fatalf("%v: wrote between the rows of C", o)
			}
			continue
		}
		if sample > 1 && (7*row+col)%sample != 0 && row < o.m-7 && col < o.n-2 {
			continue
		}
		want, size := o.reference(row, col, before[i])
		if d := math.Abs(float64(v) - want); !(d <= 4e-7*size*math.Sqrt(float64(o.k)+4)) {
			t.Fatalf("%v: C[%d,%d] = %v, want %v", o, row, col, v, want)
		}
	}
	o.a.check(t, "A")
	o.b.check(t, "B")
	o.c.check(t, "C")
}

// eachTranspose calls f for the four combinations.
func eachTranspose(f func(transA, transB bool)) {
	for i := range 4 {
		f(i&1 != 0, i&2 != 0)
	}
}

func choose[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// checkGemm goes through many shapes with the implementation f.
func checkGemm(t *testing.T, f func(o *operands)) {
	r := newRand()
	var shapes [][3]int
	count := 250
	if slow() {
		count = 25
	}
	for range count {
		d := func() int {
			return choose(r, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 24, 31, 33, 64, 65, 70, 1+r.IntN(70))
		}
		shapes = append(shapes, [3]int{d(), d(), d()})
	}
	shapes = append(shapes, [3]int{120, 131, 137}, [3]int{1, 512, 128}, [3]int{8, 513, 131}, [3]int{130, 67, 300})
	if !slow() {
		shapes = append(shapes, [3]int{205, 131, 1037}, [3]int{201, 1040, 530}, [3]int{130, 67, 1024}, [3]int{50, 66, 2048}, [3]int{7, 66, 2048}, [3]int{1040, 3, 520})
	}
	for _, s := range shapes {
		eachTranspose(func(transA, transB bool) {
			o := newOperands(r, transA, transB, s[0], s[1], s[2], choose(r, 0, 0, 1, 7),
				choose[float32](r, 1, 1, 0.5, -2), choose[float32](r, 0, 1, 1, 0.25))
			o.check(t, func() { f(o) })
		})
	}
}

func TestGemm(t *testing.T) { checkGemm(t, (*operands).gemm) }

func TestGemmThreads(t *testing.T) {
	checkGemm(t, func(o *operands) { o.gemmThreads(3) })
}

func TestGemmPortable(t *testing.T) {
	checkGemm(t, func(o *operands) {
		if o.beta != 0 && o.beta != 1 {
			scaleMatrix(o.m, o.n, o.beta, o.c.s, o.ldc)
		}
		gemmPortable(o.transA, o.transB, o.m, o.n, o.k, o.alpha, o.a.s, o.lda, o.b.s, o.ldb, o.beta != 0, o.c.s, o.ldc)
	})
}

func TestGemmEmpty(t *testing.T) {
	c := []float32{1, 2}
	Gemm(false, false, 0, 2, 1, 1, nil, 1, []float32{1, 1}, 2, 0, c, 2)
	Gemm(false, false, 1, 2, 0, 1, nil, 0, nil, 2, 1, c, 2)
	Gemm(false, false, 1, 2, 1, 0, []float32{nan}, 1, []float32{1, 1}, 2, 2, c, 2)
	sameBits(t, "C", c, []float32{2, 4})
	Gemm(false, false, 1, 2, 0, 1, nil, 0, nil, 2, 0, c, 2)
	sameBits(t, "C", c, []float32{0, 0})
}

func TestGemmPanics(t *testing.T) {
	x := make([]float32, 6)
	for name, f := range map[string]func(){
		"short A":   func() { Gemm(false, false, 3, 2, 2, 1, x[:5], 2, x, 2, 0, x, 2) },
		"short B":   func() { Gemm(false, true, 3, 2, 2, 1, x, 2, x[:3], 2, 0, x, 2) },
		"short C":   func() { Gemm(false, false, 3, 2, 2, 1, x, 2, x, 2, 0, x[:5], 2) },
		"stride":    func() { Gemm(true, false, 3, 2, 2, 1, x, 2, x, 2, 0, x, 2) },
		"dimension": func() { Gemm(false, false, -1, 2, 2, 1, x, 2, x, 2, 0, x, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("did not panic")
				}
			}()
			f()
		})
	}
}

// A NaN or an infinity in row i of A or column j of B reaches row i or column j of C, and nothing else.
func TestGemmSpecials(t *testing.T) {
	for _, size := range []int{1, 5, 12, 33, 65} {
		eachTranspose(func(transA, transB bool) {
			for _, bad := range []float32{nan, inf, -inf} {
				o := newOperands(newRand(), transA, transB, size, size, size, 0, 1, 0)
				at := size / 2 // on the diagonal, so that transposing changes nothing
				o.a.s[at*size+at] = bad
				o.gemm()
				for i, v := range o.c.s {
					if finite := v-v == 0; finite != (i/size != at) {
						t.Fatalf("%v: A holds %v, C[%d,%d] = %v", o, bad, i/size, i%size, v)
					}
				}
				o = newOperands(newRand(), transA, transB, size, size, size, 0, 1, 0)
				o.b.s[at*size+at] = bad
				o.gemm()
				for i, v := range o.c.s {
					if finite := v-v == 0; finite != (i%size != at) {
						t.Fatalf("%v: B holds %v, C[%d,%d] = %v", o, bad, i/size, i%size, v)
					}
				}
			}
		})
	}
}

func TestGemmAllocations(t *testing.T) {
	r := newRand()
	for _, shape := range [][3]int{{1, 128, 128}, {5, 65, 70}, {40, 67, 120}, {130, 130, 130}} {
		eachTranspose(func(transA, transB bool) {
			o := newOperands(r, transA, transB, shape[0], shape[1], shape[2], 0, 1, 0)
			noAllocations(t, "Gemm "+o.String(), o.gemm)
		})
	}
}

func FuzzGemm(f *testing.F) {
	f.Add(uint64(1), uint8(1), uint8(1), uint8(1), uint8(0), uint8(0), float32(1), float32(0))
	f.Add(uint64(2), uint8(8), uint8(65), uint8(100), uint8(2), uint8(3), float32(-0.5), float32(1))
	f.Add(uint64(3), uint8(9), uint8(16), uint8(33), uint8(1), uint8(1), float32(2), float32(0.25))
	f.Add(uint64(4), uint8(103), uint8(130), uint8(97), uint8(3), uint8(0), float32(1), float32(1))
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k, trans, pad uint8, alpha, beta float32) {
		if !(math.Abs(float64(alpha)) < 1e3 && math.Abs(float64(beta)) < 1e3) || math.Abs(float64(alpha)) < 1e-3 {
			t.Skip("rounding is only bounded for ordinary numbers")
		}
		r := rand.New(rand.NewPCG(seed, 0))
		o := newOperands(r, trans&1 != 0, trans&2 != 0, int(m), int(n), int(k), int(pad%9), alpha, beta)
		if m > 0 && n > 0 {
			o.check(t, func() { o.gemmThreads(1 + int(seed%3)) })
		}
	})
}

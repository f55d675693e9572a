//go:build !openblas

package f32

import "testing"

var rowShapes = []struct{ n, k int }{{1, 7}, {2, 40}, {3, 128}, {5, 9}, {12, 31}, {16, 32}, {17, 64}, {33, 100}, {65, 128}, {130, 131}, {67, 530}}

// firstRows recomputes the first m rows of o alone.
func (o *operands) firstRows(m int) []float32 {
	c := make([]float32, len(o.c.s))
	Gemm(o.transA, o.transB, m, o.n, o.k, o.alpha, o.a.s, o.lda, o.b.s, o.ldb, o.beta, c, o.ldc)
	return c[:m*o.ldc]
}

// A row of C does not depend on how many others there are, from 9 rows on and up to 8.
func TestGemmRowInvariance(t *testing.T) {
	r := newRand()
	for _, s := range rowShapes {
		eachTranspose(func(transA, transB bool) {
			for _, most := range []int{8, 125} {
				o := newOperands(r, transA, transB, most, s.n, s.k, 0, 0.5, 0)
				o.gemm()
				least := 1
				if most > 8 {
					least = 9
				}
				step := 1
				if slow() && most > 8 {
					step = 9
				}
				for m := least; m <= most; m += step {
					sameBits(t, o.String(), o.firstRows(m), o.c.s[:m*o.ldc])
				}
			}
		})
	}
}

// A row of C does not depend on which row it is.
func TestGemmRowPlace(t *testing.T) {
	r := newRand()
	for _, s := range rowShapes {
		eachTranspose(func(_, transB bool) {
			for _, m := range []int{8, 60} {
				o := newOperands(r, false, transB, m, s.n, s.k, 0, 1, 0)
				for i := 1; i < m; i++ {
					copy(o.a.s[i*o.lda:(i+1)*o.lda], o.a.s[:o.lda])
				}
				o.gemm()
				for i := range m {
					sameBits(t, o.String(), o.c.s[i*o.ldc:(i+1)*o.ldc], o.c.s[:o.ldc])
				}
			}
		})
	}
}

// Columns computed in pieces that start at multiples of 16 have the same bits.
func TestGemmColumnInvariance(t *testing.T) {
	r := newRand()
	for _, m := range []int{1, 8, 9, 50} {
		eachTranspose(func(transA, transB bool) {
			const n, k = 131, 75
			o := newOperands(r, transA, transB, m, n, k, 0, 1, 1)
			c := append([]float32(nil), o.c.s...)
			o.gemm()
			for j := 0; j < n; j += 48 {
				b := o.b.s[j:]
				if transB {
					b = o.b.s[j*o.ldb:]
				}
				Gemm(transA, transB, m, min(48, n-j), k, 1, o.a.s, o.lda, b, o.ldb, 1, c[j:], o.ldc)
			}
			sameBits(t, o.String(), c, o.c.s)
		})
	}
}

func TestGemmThreadsSameBits(t *testing.T) {
	r := newRand()
	shapes := [][3]int{{1, 2048, 1100}, {8, 700, 500}, {9, 700, 400}, {300, 65, 128}, {65, 128, 300}, {121, 131, 300}, {512, 16, 400}}
	most := 9
	if slow() {
		shapes, most = shapes[3:6], 3
	}
	for _, s := range shapes {
		eachTranspose(func(transA, transB bool) {
			o := newOperands(r, transA, transB, s[0], s[1], s[2], 1, 1, 1)
			before := append([]float32(nil), o.c.s...)
			o.gemm()
			want := append([]float32(nil), o.c.s...)
			for threads := 2; threads <= most; threads++ {
				copy(o.c.s, before)
				o.gemmThreads(threads)
				sameBits(t, o.String(), o.c.s, want)
			}
		})
	}
}

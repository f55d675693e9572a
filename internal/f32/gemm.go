package f32

import "sync"

// Gemm computes C = alpha·op(A)·op(B) + beta·C, where op transposes if its flag
// says so: C is m×n, op(A) m×k, op(B) k×n, all row-major with strides ldc, lda
// and ldb. With beta = 0, C is only written, so it may hold anything before.
//
// Without -tags openblas a row of C has the same bits whatever m is, for all
// m ≥ 9 and, separately, for all m from 1 to 8; a column has the same bits when
// C is computed in pieces split at multiples of 16 columns.
func Gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	checkMatrix("A", transA, m, k, a, lda)
	checkMatrix("B", transB, k, n, b, ldb)
	checkMatrix("C", false, m, n, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		scaleMatrix(m, n, beta, c, ldc)
		return
	}
	if beta != 0 && beta != 1 {
		scaleMatrix(m, n, beta, c, ldc)
	}
	gemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta != 0, c, ldc)
}

// checkMatrix panics unless s holds op(X) of rows×cols with stride ld.
func checkMatrix(name string, trans bool, rows, cols int, s []float32, ld int) {
	if rows < 0 || cols < 0 {
		panic("f32: negative dimension of " + name)
	}
	if trans {
		rows, cols = cols, rows
	}
	if ld < cols {
		panic("f32: stride of " + name + " is shorter than a row")
	}
	if rows > 0 && cols > 0 && len(s) < (rows-1)*ld+cols {
		panic("f32: slice of " + name + " is too short")
	}
}

// scaleMatrix computes C = beta·C; beta = 0 does not read C.
func scaleMatrix(m, n int, beta float32, c []float32, ldc int) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		switch beta {
		case 0:
			clear(row)
		case 1:
		default:
			Scale(row, beta)
		}
	}
}

const (
	splitRows = 6  // rows of C in one unit of work
	splitCols = 16 // columns of C in one unit of work
	// A piece has at least two units of rows: 12 of them, so that it stays among the
	// products of 9 rows and more, whose rows do not depend on their number.
	minUnits = 2
	// Below this many multiply-adds a goroutine, starting it costs more than it saves.
	minWork = 1 << 19
)

// gemmCall is a product being split over goroutines.
type gemmCall struct {
	transA, transB bool
	m, n, k        int
	alpha, beta    float32
	a, b, c        []float32
	lda, ldb, ldc  int
	rows, cols     func(lo, hi, worker int) // g.rowPiece and g.colPiece, bound once
}

var gemmCalls = sync.Pool{New: func() any {
	g := new(gemmCall)
	g.rows, g.cols = g.rowPiece, g.colPiece
	return g
}}

// GemmThreads is Gemm split over at most threads goroutines by rows or by columns
// of C, never along k: every thread count gives the bits of Gemm.
func GemmThreads(threads int, transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	rowUnits, colUnits := m/splitRows, (n+splitCols-1)/splitCols
	byRows := rowUnits/minUnits >= colUnits
	units := colUnits
	if byRows {
		units = rowUnits
		threads = min(threads, rowUnits/minUnits)
	}
	threads = min(threads, m*n*k/minWork)
	if threads <= 1 || units <= 1 {
		Gemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	g := gemmCalls.Get().(*gemmCall)
	g.transA, g.transB, g.m, g.n, g.k, g.alpha, g.beta = transA, transB, m, n, k, alpha, beta
	g.a, g.b, g.c, g.lda, g.ldb, g.ldc = a, b, c, lda, ldb, ldc
	if byRows {
		ForRange(threads, units, g.rows)
	} else {
		ForRange(threads, units, g.cols)
	}
	g.a, g.b, g.c = nil, nil, nil
	gemmCalls.Put(g)
}

// rowPiece computes units lo to hi of rows; the last unit takes what is left over.
func (g *gemmCall) rowPiece(lo, hi, _ int) {
	from, to := lo*splitRows, hi*splitRows
	if hi == g.m/splitRows {
		to = g.m
	}
	a := from * g.lda
	if g.transA {
		a = from
	}
	Gemm(g.transA, g.transB, to-from, g.n, g.k, g.alpha, g.a[a:], g.lda, g.b, g.ldb, g.beta, g.c[from*g.ldc:], g.ldc)
}

// colPiece computes units lo to hi of columns.
func (g *gemmCall) colPiece(lo, hi, _ int) {
	from, to := lo*splitCols, min(hi*splitCols, g.n)
	b := from
	if g.transB {
		b = from * g.ldb
	}
	Gemm(g.transA, g.transB, g.m, to-from, g.k, g.alpha, g.a, g.lda, g.b[b:], g.ldb, g.beta, g.c[from:], g.ldc)
}

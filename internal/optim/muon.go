package optim

import (
	"math"

	"chargpt/internal/f32"
)

// Muon steps along the nearest orthogonal matrix to the momentum of a matrix's gradient (Jordan 2024):
//
//	buf = μ buf + g        u = orthogonalise(g + μ buf)
//	W = W (1 − lr λ) − lr √max(1, out/in) u
//
// for each W (in, out) on its own.
type Muon struct {
	Momentum    float64 // μ
	WeightDecay float64 // λ
	Threads     int
	Matrices    []Matrix

	workers []muonWorkspace
}

// Matrix is a weight (Rows, Cols) = (in, out), its gradient and its momentum, all row-major.
type Matrix struct {
	Rows, Cols        int
	W, Grad, Momentum []float32
}

// muonIterations is how many Newton-Schulz iterations bring the singular values near 1.
const muonIterations = 5

// The coefficients of an iteration, X = aX + b(XXᵀ)X + c(XXᵀ)²X, chosen to grow small singular values fast (Jordan 2024).
const nsA, nsB, nsC = 3.4445, -4.7750, 2.0315

// Step updates all matrices from their gradients times gradScale.
func (m *Muon) Step(lr, gradScale float64) {
	if m.workers == nil {
		m.workers = make([]muonWorkspace, max(m.Threads, 1))
	}
	f32.ForRange(m.Threads, len(m.Matrices), func(lo, hi, worker int) {
		for _, x := range m.Matrices[lo:hi] {
			m.update(x, lr, gradScale, &m.workers[worker])
		}
	})
}

func (m *Muon) update(x Matrix, lr, gradScale float64, ws *muonWorkspace) {
	ws.fit(x.Rows, x.Cols)
	u := ws.u[:len(x.W)]
	f32.Scale(x.Momentum, float32(m.Momentum))
	f32.AddScaled(x.Momentum, float32(gradScale), x.Grad)
	clear(u)
	f32.AddScaled(u, float32(gradScale), x.Grad)
	f32.AddScaled(u, float32(m.Momentum), x.Momentum)
	ws.orthogonalise(u, x.Rows, x.Cols)
	f32.Scale(x.W, float32(1-lr*m.WeightDecay))
	f32.AddScaled(x.W, float32(-lr*math.Sqrt(max(1, float64(x.Cols)/float64(x.Rows)))), ws.y[:len(x.W)])
}

// muonWorkspace is the memory of one goroutine: u and the result y (Rows, Cols), and square matrices of the shorter side.
type muonWorkspace struct {
	u, y                      []float32
	gram, step, poly, product []float32
}

func (ws *muonWorkspace) fit(rows, cols int) {
	if n := rows * cols; len(ws.u) < n {
		ws.u, ws.y = make([]float32, n), make([]float32, n)
	}
	if r := min(rows, cols); len(ws.gram) < r*r {
		for _, s := range []*[]float32{&ws.gram, &ws.step, &ws.poly, &ws.product} {
			*s = make([]float32, r*r)
		}
	}
}

// orthogonalise sets y to the orthogonal factor of u (rows, cols) by Newton-Schulz iterations, and scales u to norm 1.
func (ws *muonWorkspace) orthogonalise(u []float32, rows, cols int) {
	f32.Scale(u, float32(1/(math.Sqrt(f32.SumSquares(u))+1e-7)))
	if rows == cols {
		ws.iterate(u, rows)
	} else {
		ws.iterateGram(u, rows, cols)
	}
}

// iterate is for square u (r, r), whose iterates X cost no more than polynomials of them:
//
//	G = XXᵀ        S = aI + bG + cG²        X = S X
func (ws *muonWorkspace) iterate(u []float32, r int) {
	gram, step, x, y := ws.gram[:r*r], ws.step[:r*r], u, ws.y[:r*r]
	for range muonIterations {
		symmetric(gram, r, func(i, end int) { gramRows(gram, x, r, r, i, end) })
		polynomial(step, gram, r)
		f32.Gemm(false, false, r, r, r, nsB, step, r, x, r, 0, y, r)
		x, y = y, x
	}
	copy(ws.y, x) // muonIterations is odd: it is there already
}

// iterateGram is for u with one side longer. All iterates are polynomials of the Gram matrix G of the shorter side times u,
// and such polynomials commute and are symmetric. So it iterates on the small matrices alone, X_k = P_k u and G_k = P_k² G,
// with half of each product computed:
//
//	S = aI + bG + cG²        P = S P        G = S² G
func (ws *muonWorkspace) iterateGram(u []float32, rows, cols int) {
	r := min(rows, cols)
	gram, step, poly, product := ws.gram[:r*r], ws.step[:r*r], ws.poly[:r*r], ws.product[:r*r]
	symmetric(gram, r, func(i, end int) { gramRows(gram, u, rows, cols, i, end) })
	for k := range muonIterations {
		polynomial(step, gram, r)
		if k == 0 {
			copy(poly, step)
			f32.Scale(poly, nsB)
		} else {
			multiplySymmetric(nsB, step, poly, 0, product, r)
			poly, product = product, poly
		}
		if k+1 < muonIterations {
			multiplySymmetric(nsB, step, gram, 0, product, r)
			multiplySymmetric(nsB, step, product, 0, gram, r)
		}
	}
	y := ws.y[:rows*cols]
	if rows <= cols {
		f32.Gemm(false, false, rows, cols, r, 1, poly, r, u, cols, 0, y, cols) // P u
	} else {
		f32.Gemm(false, false, rows, cols, r, 1, u, cols, poly, r, 0, y, cols) // u P
	}
}

// polynomial sets step to S/b = (a/b) I + G + (c/b) G². The product with S multiplies by b: a pass over step less.
func polynomial(step, gram []float32, r int) {
	copy(step, gram)
	multiplySymmetric(nsC/nsB, gram, gram, 1, step, r)
	for i := range r {
		step[i*r+i] += nsA / nsB
	}
}

// gramRows computes rows i to end of u uᵀ (of uᵀ u where u is tall), up to the diagonal block.
func gramRows(gram, u []float32, rows, cols, i, end int) {
	if rows <= cols {
		f32.Gemm(false, true, end-i, end, cols, 1, u[i*cols:], cols, u, cols, 0, gram[i*rows:], rows)
		return
	}
	f32.Gemm(true, false, end-i, end, rows, 1, u[i:], cols, u, cols, 0, gram[i*cols:], cols)
}

// multiplySymmetric is dst = alpha a b + beta dst for commuting symmetric a and b (r, r), whose product is symmetric too.
func multiplySymmetric(alpha float32, a, b []float32, beta float32, dst []float32, r int) {
	symmetric(dst, r, func(i, end int) {
		f32.Gemm(false, false, end-i, end, r, alpha, a[i*r:], r, b, r, beta, dst[i*r:], r)
	})
}

// symmetricBlock is how many rows of a symmetric product are computed at once, up to the diagonal.
const symmetricBlock = 48

// symmetric lets fill compute blocks of rows of dst (r, r) up to the diagonal and mirrors them.
func symmetric(dst []float32, r int, fill func(i, end int)) {
	for i := 0; i < r; i += symmetricBlock {
		fill(i, min(i+symmetricBlock, r))
	}
	f32.Mirror(dst, r)
}

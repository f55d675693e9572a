package f32

// panelCols is how many columns a panel has.
const panelCols = 16

// Panels is a matrix copied into panels of 16 columns, one after the other, zeros
// beyond the last: what stands to the right in the products of one head is read from
// there again and again. The zero value is empty. Its memory is used again, for the
// next matrix, and by the products: goroutines must not share one.
type Panels struct {
	data []float32
	k, n int
	tile [6 * panelCols]float32 // a tile of fewer columns than the kernels write
}

// Pack copies op(B), k×n, which transposes if its flag says so. b has the stride ldb.
// It allocates when the matrix is larger than all before it.
func (p *Panels) Pack(transB bool, k, n int, b []float32, ldb int) {
	checkMatrix("B", transB, k, n, b, ldb)
	p.k, p.n = k, n
	size := (n + panelCols - 1) / panelCols * panelCols * k
	if cap(p.data) < size {
		p.data = make([]float32, size)
	}
	p.data = p.data[:size]
	for j := 0; j < n; j += panelCols {
		packPanel(transB, k, j, min(panelCols, n-j), b, ldb, p.panel(j))
	}
}

// panel is the panel that starts at column j.
func (p *Panels) panel(j int) []float32 { return p.data[j*p.k:][:p.k*panelCols] }

// packPanelPortable copies width columns of op(B) from column j on into a panel.
func packPanelPortable(transB bool, k, j, width int, b []float32, ldb int, panel []float32) {
	clear(panel)
	for i := range k {
		for c := range width {
			if transB {
				panel[i*panelCols+c] = b[(j+c)*ldb+i]
			} else {
				panel[i*panelCols+c] = b[i*ldb+j+c]
			}
		}
	}
}

// CausalScores computes the values of the strip S = alpha·A·B, with A m×k and B k×n,
// n ≥ first+m; the package's documentation says what a strip is. What is above the
// diagonal may hold anything afterwards. Like the other products it panics if a slice
// or B is too small, first is negative, or m or k is 0.
func CausalScores(m, first int, alpha float32, a []float32, lda int, b *Panels, s []float32, lds int) {
	checkMatrix("A", false, m, b.k, a, lda)
	checkStrip(m, first, s, lds)
	checkPanels(b, b.k, first+m)
	causalScores(m, first, alpha, a, lda, b, s, lds)
}

// CausalSum computes C = alpha·S·B, m×n, with the first first+m rows of B, k×n.
func CausalSum(m, first int, alpha float32, s []float32, lds int, b *Panels, c []float32, ldc int) {
	checkStrip(m, first, s, lds)
	checkMatrix("C", false, m, b.n, c, ldc)
	checkPanels(b, first+m, b.n)
	causalSum(m, first, alpha, s, lds, b, c, ldc)
}

// CausalSumTransposed computes C = alpha·Sᵀ·B, (first+m)×n, with rows first to first+m
// of B, or C += that if add is set.
func CausalSumTransposed(m, first int, alpha float32, s []float32, lds int, b *Panels, add bool, c []float32, ldc int) {
	checkStrip(m, first, s, lds)
	checkMatrix("C", false, first+m, b.n, c, ldc)
	checkPanels(b, first+m, b.n)
	causalSumTransposed(m, first, alpha, s, lds, b, add, c, ldc)
}

// CausalSoftmax turns a strip of scores into weights, in place: row i of S becomes the
// softmax of its first+i+1 values (see [Softmax]), and zeros after them, whatever was
// there. A NaN or +Inf among the values makes all of the row's NaN. It panics as the
// products do.
func CausalSoftmax(m, first int, s []float32, lds int) {
	checkStrip(m, first, s, lds)
	causalSoftmax(m, first, s, lds)
}

// CausalSoftmaxBackward turns the gradient S of a strip of weights into that of their
// scores, in place, as [SoftmaxBackward] does for a row, with zeros after the values.
// W, m×(first+m) with stride ldw, is the weights as CausalSoftmax leaves them: its
// zeros above the diagonal must be there. It panics as the products do.
func CausalSoftmaxBackward(m, first int, s []float32, lds int, w []float32, ldw int) {
	checkStrip(m, first, s, lds)
	checkStrip(m, first, w, ldw)
	causalSoftmaxBackward(m, first, s, lds, w, ldw)
}

func checkStrip(m, first int, s []float32, lds int) {
	if m < 1 || first < 0 {
		panic("f32: S has no rows, or begins before the first")
	}
	checkMatrix("S", false, m, first+m, s, lds)
}

// checkPanels panics unless B has at least k rows and n columns, and one of each.
func checkPanels(b *Panels, k, n int) {
	if b.k < max(k, 1) || b.n < max(n, 1) {
		panic("f32: B is too small")
	}
}

func causalScoresPortable(m, first int, alpha float32, a []float32, lda int, b *Panels, s []float32, lds int) {
	for i := range m {
		for j := 0; j <= first+i; j += panelCols {
			sums := panelSums(b.k, a[i*lda:], 1, b.panel(j))
			storeSums(s[i*lds+j:][:min(panelCols, first+i+1-j)], alpha, &sums, false)
		}
	}
}

func causalSumPortable(m, first int, alpha float32, s []float32, lds int, b *Panels, c []float32, ldc int) {
	for i := range m {
		for j := 0; j < b.n; j += panelCols {
			sums := panelSums(first+i+1, s[i*lds:], 1, b.panel(j))
			storeSums(c[i*ldc+j:][:min(panelCols, b.n-j)], alpha, &sums, false)
		}
	}
}

func causalSumTransposedPortable(m, first int, alpha float32, s []float32, lds int, b *Panels, add bool, c []float32, ldc int) {
	for i := range first + m {
		from := max(0, i-first) // the first row of S with a value in column i
		for j := 0; j < b.n; j += panelCols {
			sums := panelSums(m-from, s[from*lds+i:], lds, b.panel(j)[(first+from)*panelCols:])
			storeSums(c[i*ldc+j:][:min(panelCols, b.n-j)], alpha, &sums, add)
		}
	}
}

// causalSoftmaxRows is the slow twin, one row after the other, and works on strips that the kernel does not take.
func causalSoftmaxRows(m, first int, s []float32, lds int) {
	for i := range m {
		row := s[i*lds:][:first+m]
		values := row[:first+i+1]
		Softmax(values, values)
		clear(row[first+i+1:])
	}
}

// causalSoftmaxBackwardRows is to CausalSoftmaxBackward what causalSoftmaxRows is to CausalSoftmax.
func causalSoftmaxBackwardRows(m, first int, s []float32, lds int, w []float32, ldw int) {
	for i := range m {
		row := s[i*lds:][:first+m]
		values := row[:first+i+1]
		SoftmaxBackward(values, w[i*ldw:][:first+i+1], values)
		clear(row[first+i+1:])
	}
}

// panelSums returns Σ x[p·step]·panel[p] over the first k rows of a panel.
func panelSums(k int, x []float32, step int, panel []float32) (sums [panelCols]float32) {
	for p := range k {
		v := x[p*step]
		for j, b := range panel[p*panelCols:][:panelCols] {
			sums[j] += v * b
		}
	}
	return sums
}

// storeSums writes alpha times the sums, or adds them.
func storeSums(dst []float32, alpha float32, sums *[panelCols]float32, add bool) {
	for j := range dst {
		v := alpha * sums[j]
		if add {
			v += dst[j]
		}
		dst[j] = v
	}
}

//go:build amd64 && !noasm && !openblas

package f32

// gemvCols is how many columns of B are taken at a time if several rows of A meet
// them: 8 rows of as many fill half of L1.
const gemvCols = 512

// gemv computes a few rows of C, each as if it were alone, but reads B once for all
// of them. So does decoding: W is read once, whatever the number of samples.
func gemv(transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, add bool, c []float32, ldc int) {
	if transB {
		gemvTransposed(m, n, k, alpha, a, lda, b, ldb, add, c, ldc)
		return
	}
	if !add {
		scaleMatrix(m, n, 0, c, ldc)
	}
	cols := n
	if m > 1 {
		cols = gemvCols
	}
	for j := 0; j < n; j += cols {
		width := min(cols, n-j)
		for p := 0; p < k; {
			rows := rowsAtOnce(k - p)
			for i := range m {
				var x [8]float32
				for r, v := range a[i*lda+p:][:rows] {
					x[r] = alpha * v
				}
				addRowsOf(rows, width, &x[0], &b[p*ldb+j], 4*ldb, &c[i*ldc+j])
			}
			p += rows
		}
	}
}

// gemvTransposed is gemv for Bᵀ: dot products of rows, four rows of B at a time.
func gemvTransposed(m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, add bool, c []float32, ldc int) {
	for j := 0; j < n; {
		width, stride := 4, 4*ldb
		if n-j < 4 {
			width, stride = 1, 0 // the same row four times: the order of the sums is the same
		}
		for i := range m {
			var y [4]float32
			dot4(k, &a[i*lda], &b[j*ldb], stride, &y[0])
			row := c[i*ldc+j:][:width]
			for r := range row {
				v := alpha * y[r]
				if add {
					v += row[r]
				}
				row[r] = v
			}
		}
		j += width
	}
}

// rowsAtOnce is how many of the rows left one call of addRowsOf takes.
func rowsAtOnce(left int) int {
	switch {
	case left >= 8:
		return 8
	case left >= 4:
		return 4
	}
	return 1
}

// addRowsOf computes y += Σ_r x[r]·W[r] for 8, 4 or 1 rows of n elements, stride bytes apart.
func addRowsOf(rows, n int, x, w *float32, stride int, y *float32) {
	switch rows {
	case 8:
		addRows8(n, x, w, stride, y)
	case 4:
		addRows4(n, x, w, stride, y)
	default:
		addRows1(n, x, w, stride, y)
	}
}

// thinTail computes a panel of at most 3 columns as products of op(A) with a vector.
func (p *product) thinTail(b *block, c []float32) {
	x, y := p.bufThin[:b.depth], p.bufThin[b.depth:][:b.rows]
	for j := range b.width {
		for i := range x {
			x[i] = p.alpha * *below(b.panel, 4*(i*tileCols+j))
		}
		if p.transA {
			b.columnsTimes(x, y)
		} else {
			b.rowsTimes(x, y)
		}
		for i, v := range y {
			to := &c[i*p.ldc+j]
			if b.add != 0 {
				v += *to
			}
			*to = v
		}
	}
}

// columnsTimes computes y = op(A)·x for an A that is stored transposed.
func (b *block) columnsTimes(x, y []float32) {
	clear(y)
	for i := 0; i < len(x); {
		rows := rowsAtOnce(len(x) - i)
		addRowsOf(rows, len(y), &x[i], &b.a[i*(b.aStride/4)], b.aStride, &y[0])
		i += rows
	}
}

// rowsTimes computes y = A·x.
func (b *block) rowsTimes(x, y []float32) {
	i := 0
	for ; i+4 <= len(y); i += 4 {
		dot4(len(x), &x[0], &b.a[i*(b.aStride/4)], b.aStride, &y[i])
	}
	for ; i < len(y); i++ {
		var same [4]float32
		dot4(len(x), &x[0], &b.a[i*(b.aStride/4)], 0, &same[0])
		y[i] = same[0]
	}
}

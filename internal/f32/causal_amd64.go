//go:build amd64 && !noasm

package f32

func packPanel(transB bool, k, j, width int, b []float32, ldb int, panel []float32) {
	switch {
	case !haveAVX2 || width < panelCols || k == 0:
		packPanelPortable(transB, k, j, width, b, ldb, panel)
	case !transB:
		packRows16(k, 1, &panel[0], 0, &b[j], 4*ldb)
	default:
		packTransposed(k, panel, b[j*ldb:], ldb)
	}
}

func causalScores(m, first int, alpha float32, a []float32, lda int, b *Panels, s []float32, lds int) {
	if !haveAVX2 {
		causalScoresPortable(m, first, alpha, a, lda, b, s, lds)
		return
	}
	for j := 0; j < first+m; j += panelCols {
		i := max(0, j-first) // the first row that has column j
		t := causalTiles{b: b, in: &tilesInRows, width: min(panelCols, first+m-j), k: b.k, aStride: 4 * lda, panel: b.panel(j), ldc: lds, alpha: alpha}
		six, last := tileHeights(m - i)
		if six > 0 {
			t.run(six, tileRows, a[i*lda:], s[i*lds+j:])
		}
		i += six * tileRows
		for _, rows := range last {
			if rows > 0 {
				t.run(1, rows, a[i*lda:], s[i*lds+j:])
				i += rows
			}
		}
	}
}

func causalSum(m, first int, alpha float32, s []float32, lds int, b *Panels, c []float32, ldc int) {
	if !haveAVX2 {
		causalSumPortable(m, first, alpha, s, lds, b, c, ldc)
		return
	}
	for j := 0; j < b.n; j += panelCols {
		t := causalTiles{b: b, in: &tilesInRows, width: min(panelCols, b.n-j), aStride: 4 * lds, panel: b.panel(j), ldc: ldc, alpha: alpha}
		for i := 0; i < m; {
			rows := nextTile(m - i)
			t.k = first + i + rows
			t.run(1, rows, s[i*lds:], c[i*ldc+j:])
			i += rows
		}
	}
}

func causalSumTransposed(m, first int, alpha float32, s []float32, lds int, b *Panels, add bool, c []float32, ldc int) {
	if !haveAVX2 {
		causalSumTransposedPortable(m, first, alpha, s, lds, b, add, c, ldc)
		return
	}
	for j := 0; j < b.n; j += panelCols {
		t := causalTiles{b: b, in: &tilesInColumns, width: min(panelCols, b.n-j), aStride: 4 * lds, ldc: ldc, alpha: alpha}
		if add {
			t.add = 1
		}
		panel := b.panel(j)
		for i := 0; i < first+m; {
			rows := nextTile(first + m - i)
			from := max(0, i-first) // the first row of S with a value in column i
			t.k, t.panel = m-from, panel[(first+from)*panelCols:]
			t.run(1, rows, s[from*lds+i:], c[i*ldc+j:])
			i += rows
		}
	}
}

// causalTiles is what the tiles of one panel have in common.
type causalTiles struct {
	in       *[tileRows][2]tileKernel
	b        *Panels
	panel    []float32
	width, k int
	aStride  int // bytes
	ldc, add int
	alpha    float32
}

// run computes count tiles of so many rows, one below the other; more than one only of tilesInRows.
func (t *causalTiles) run(count, rows int, a, c []float32) {
	kernel := t.in[rows-1][(t.width-1)/8]
	if t.width%8 == 0 {
		kernel(count, t.k, &a[0], t.aStride, rows*t.aStride, &t.panel[0], 4*panelCols, &c[0], 4*t.ldc, t.alpha, t.add)
		return
	}
	for tile := range count {
		i := tile * rows
		kernel(1, t.k, &a[i*t.aStride/4], t.aStride, 0, &t.panel[0], 4*panelCols, &t.b.tile[0], 4*panelCols, t.alpha, 0)
		storeTail(t.b.tile[:], rows, t.width, c[i*t.ldc:], t.ldc, t.add)
	}
}

// inPairs says whether a strip's rows are what the kernels of causal softmax take: pairs, the first of an odd number of
// values, whose vectors of 8 do not reach past the strip.
func inPairs(m, first int) bool { return haveAVX2 && first%2 == 0 && (first+m)%8 == 0 }

// stripRows is how many rows of a strip one call of these kernels takes, two at least: as many as have four spans of
// values, which take some 10 µs.
func stripRows(m, first int) int { return max(2, 4*span/(first+m)&^1) }

func causalSoftmax(m, first int, s []float32, lds int) {
	if !inPairs(m, first) {
		causalSoftmaxRows(m, first, s, lds)
		return
	}
	rows := stripRows(m, first)
	for i := 0; i < m; i += rows {
		causalSoftmaxAVX2(min(rows, m-i)/2, first+i+1, first+m, &s[i*lds], 4*lds)
	}
}

func causalSoftmaxBackward(m, first int, s []float32, lds int, w []float32, ldw int) {
	if !inPairs(m, first) {
		causalSoftmaxBackwardRows(m, first, s, lds, w, ldw)
		return
	}
	rows := stripRows(m, first)
	for i := 0; i < m; i += rows {
		causalSoftmaxBackwardAVX2(min(rows, m-i)/2, first+i+1, first+m, &s[i*lds], 4*lds, &w[i*ldw], 4*ldw)
	}
}

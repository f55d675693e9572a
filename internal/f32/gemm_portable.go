package f32

import "sync"

const (
	portableDepth = 256 // values of k in one packed block
	portableRows  = 4   // rows and columns of C held in registers
	portableCols  = 2
)

// portableBuffers holds packed operands between calls of gemmPortable.
type portableBuffers struct {
	a [portableDepth * portableRows]float32
	b []float32
}

var portablePool = sync.Pool{New: func() any { return new(portableBuffers) }}

// gemmPortable computes C = alpha·op(A)·op(B), or C += that if add is set. A block
// of at most portableDepth values of k is packed and goes through tiles of 4×2
// sums, each accumulated in the order of k.
func gemmPortable(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, add bool, c []float32, ldc int) {
	buf := portablePool.Get().(*portableBuffers)
	defer portablePool.Put(buf)
	if need := min(k, portableDepth) * (n + 1); len(buf.b) < need {
		buf.b = make([]float32, need)
	}
	for k0 := 0; k0 < k; k0 += portableDepth {
		depth := min(portableDepth, k-k0)
		for j := 0; j < n; j += portableCols {
			packStrips(buf.b[j*depth:], portableCols, depth, b, ldb, transB, j, n, k0)
		}
		for i := 0; i < m; i += portableRows {
			packStrips(buf.a[:], portableRows, depth, a, lda, !transA, i, m, k0)
			for j := 0; j < n; j += portableCols {
				sums := tile4x2(buf.a[:portableRows*depth], buf.b[j*depth:(j+portableCols)*depth])
				storeTile(&sums, alpha, add || k0 > 0, c, ldc, i, min(m, i+portableRows), j, min(n, j+portableCols))
			}
		}
	}
}

// packStrips copies strips first, first+1, ... (width of them, zeros from limit on)
// for the values k0 to k0+depth of k side by side: dst[p*width+s]. A strip runs
// along the rows of x if alongRows is set (Bᵀ, A), else down its columns.
func packStrips(dst []float32, width, depth int, x []float32, ld int, alongRows bool, first, limit, k0 int) {
	for s := range width {
		switch {
		case first+s >= limit:
			for p := range depth {
				dst[p*width+s] = 0
			}
		case alongRows:
			for p, v := range x[(first+s)*ld+k0:][:depth] {
				dst[p*width+s] = v
			}
		default:
			for p := range depth {
				dst[p*width+s] = x[(k0+p)*ld+first+s]
			}
		}
	}
}

// tile4x2 returns Σ_p a[4p+i]·b[2p+j] at 2i+j.
func tile4x2(a, b []float32) [8]float32 {
	var c00, c01, c10, c11, c20, c21, c30, c31 float32
	for len(a) >= 4 && len(b) >= 2 {
		b0, b1 := b[0], b[1]
		c00 += a[0] * b0
		c01 += a[0] * b1
		c10 += a[1] * b0
		c11 += a[1] * b1
		c20 += a[2] * b0
		c21 += a[2] * b1
		c30 += a[3] * b0
		c31 += a[3] * b1
		a, b = a[4:], b[2:]
	}
	return [8]float32{c00, c01, c10, c11, c20, c21, c30, c31}
}

// storeTile writes alpha times the sums to C[i0:i1, j0:j1], or adds them.
func storeTile(sums *[8]float32, alpha float32, add bool, c []float32, ldc, i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		row := c[i*ldc+j0 : i*ldc+j1]
		for j := range row {
			v := alpha * sums[portableCols*(i-i0)+j]
			if add {
				v += row[j]
			}
			row[j] = v
		}
	}
}

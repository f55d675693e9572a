//go:build openblas

package f32

import "chargpt/internal/f32/openblas"

// gemm hands the product to OpenBLAS. How it sums, and so the last bits of a row,
// may depend on the number of rows and columns.
func gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, add bool, c []float32, ldc int) {
	beta := float32(0)
	if add {
		beta = 1
	}
	openblas.Gemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

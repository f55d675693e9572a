//go:build (!amd64 || noasm) && !openblas

package f32

func gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, add bool, c []float32, ldc int) {
	gemmPortable(transA, transB, m, n, k, alpha, a, lda, b, ldb, add, c, ldc)
}

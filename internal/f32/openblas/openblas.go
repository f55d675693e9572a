//go:build openblas

// Package openblas computes matrix products with OpenBLAS, through cgo and gonum's
// binding. It is apart from f32 because a package with Go assembly cannot use cgo.
package openblas

/*
#cgo LDFLAGS: -lopenblas
void openblas_set_num_threads(int n);
*/
import "C"

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/netlib/blas/netlib"
)

// The caller splits the work itself, so OpenBLAS keeps to the calling thread.
func init() { C.openblas_set_num_threads(1) }

// Gemm computes C = alpha·op(A)·op(B) + beta·C, row-major, for sizes of at least 1.
func Gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	netlib.Implementation{}.Sgemm(transpose(transA), transpose(transB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func transpose(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

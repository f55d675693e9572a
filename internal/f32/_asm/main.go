// Command _asm generates the AVX2 and FMA kernels of internal/f32 with avo;
// run it through go generate in the folder above.
//
// avo takes operands in Go's order, the destination last: VSUBPS(b, a, d) is
// d = a − b, and VFMADD231PS(a, b, d) is d += a·b.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	fmaPeak()

	for rows := 6; rows >= 1; rows-- {
		for _, vectors := range []int{2, 1} {
			tile(inRows, rows, vectors, nothing)
			tile(inColumns, rows, vectors, nothing)
		}
	}
	tile(inRows, 6, 2, prefetching)
	tile(inColumns, 6, 2, packingA)
	tile(inRows, 6, 2, packingB)
	tile(inColumns, 6, 2, packingB)
	packRows()
	transpose()
	prefetch()
	for _, rows := range []int{8, 4, 1} {
		addRows(rows)
	}
	dot4()

	exp()
	gelu()
	geluDerivative()
	softmax()
	softmaxBackward()
	causalSoftmax()
	causalSoftmaxBackward()
	layerNorm("layerNormAVX2", 1)
	layerNorm("layerNormPairAVX2", 2)
	layerNormBackward("layerNormBackwardAVX2", 1)
	layerNormBackward("layerNormBackwardPairAVX2", 2)
	adamW()
	rotate()
	dropout()
	binary("addAVX2", VADDPS)
	binary("multiplyAVX2", VMULPS)
	addScaled()
	scale()
	dot()
	Generate()
}

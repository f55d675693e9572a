//go:build !amd64 || noasm

package f32

func exp(dst, x []float32)             { expPortable(dst, x) }
func gelu(y, x []float32)              { geluPortable(y, x) }
func geluDerivative(y, d, x []float32) { geluDerivativePortable(y, d, x) }
func dropout(y, x []float32, seed, threshold uint32, keep float32) {
	dropoutPortable(y, x, seed, threshold, keep)
}
func softmax(dst, x []float32) (top, sum float32)         { return softmaxPortable(dst, x) }
func softmaxBackward(ds, p, dp []float32)                 { softmaxBackwardPortable(ds, p, dp) }
func adamW(w, g, m, v []float32, c *adamWConstants)       { adamWPortable(w, g, m, v, c) }
func rotate(x, cos, sin []float32)                        { rotatePortable(x, cos, sin) }
func mirror(x []float32, n int)                           { mirrorPortable(x, n, 0) }
func add(dst, x, y []float32)                             { addPortable(dst, x, y) }
func multiply(dst, x, y []float32)                        { multiplyPortable(dst, x, y) }
func addScaled(dst []float32, alpha float32, x []float32) { addScaledPortable(dst, alpha, x) }
func scale(dst []float32, alpha float32)                  { scalePortable(dst, alpha) }
func dot(x, y []float32) float32                          { return dotPortable(x, y) }

func layerNorm(y, x, gain, bias, mean, rstd []float32) {
	layerNormPortable(y, x, gain, bias, mean, rstd)
}

func layerNormBackward(dx, skip, dy, x, gain, dgain, dbias, mean, rstd []float32) {
	layerNormBackwardPortable(dx, skip, dy, x, gain, dgain, dbias, mean, rstd)
}

func packPanel(transB bool, k, j, width int, b []float32, ldb int, panel []float32) {
	packPanelPortable(transB, k, j, width, b, ldb, panel)
}

func causalScores(m, first int, alpha float32, a []float32, lda int, b *Panels, s []float32, lds int) {
	causalScoresPortable(m, first, alpha, a, lda, b, s, lds)
}

func causalSum(m, first int, alpha float32, s []float32, lds int, b *Panels, c []float32, ldc int) {
	causalSumPortable(m, first, alpha, s, lds, b, c, ldc)
}

func causalSumTransposed(m, first int, alpha float32, s []float32, lds int, b *Panels, add bool, c []float32, ldc int) {
	causalSumTransposedPortable(m, first, alpha, s, lds, b, add, c, ldc)
}

func causalSoftmax(m, first int, s []float32, lds int) { causalSoftmaxRows(m, first, s, lds) }

func causalSoftmaxBackward(m, first int, s []float32, lds int, w []float32, ldw int) {
	causalSoftmaxBackwardRows(m, first, s, lds, w, ldw)
}

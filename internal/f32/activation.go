package f32

// Exp computes dst[i] = exp(x[i]) for every i of x; dst may be x. The relative
// error is about 1e-7; results below 2e-38 may become 0.
func Exp(dst, x []float32) {
	exp(take(dst, len(x)), x)
}

// Dropout computes y = x·keep where a hash of the seed and the index is at least threshold, and 0 elsewhere: of all hashes,
// which are uniform in 32 bits, a share of threshold/2³² is dropped. y may be x.
func Dropout(y, x []float32, seed, threshold uint32, keep float32) {
	dropout(take(y, len(x)), x, seed, threshold, keep)
}

// GELU computes the tanh form of the Gaussian error linear unit, as GPT-2 does:
// y = ½·x·(1 + tanh u), u = √(2/π)·(x + 0.044715·x³). y may be x.
func GELU(y, x []float32) {
	gelu(take(y, len(x)), x)
}

// GELUDerivative computes y = GELU(x) and d = GELU'(x), which a backward pass multiplies by. One of y and d may be x.
func GELUDerivative(y, d, x []float32) {
	geluDerivative(take(y, len(x)), take(d, len(x)), x)
}

package f32

const layerNormEps = 1e-5

// LayerNorm normalises one row x of C values, of any length from 1:
// y = x̂∘gain + bias with x̂ = (x − mean)·rstd and rstd = 1/√(variance + 1e-5).
// It returns what LayerNormBackward needs. bias may be nil; y may be x.
func LayerNorm(y, x, gain, bias []float32) (mean, rstd float32) {
	n := len(x)
	if bias != nil {
		bias = bias[:n]
	}
	return layerNorm(y[:n], x[:n:n], gain[:n], bias)
}

// LayerNormBackward adds one row to the gradients of gain and bias and computes the
// gradient of x, on top of the gradient skip that reaches x past the layer:
//
//	dgain += dy∘x̂
//	dbias += dy
//	dx     = skip + rstd·(g − mean(g) − x̂·mean(g∘x̂)),  g = dy∘gain
//
// skip may be nil for 0, and dbias nil. dx may be dy or skip.
func LayerNormBackward(dx, skip, dy, x, gain, dgain, dbias []float32, mean, rstd float32) {
	n := len(x)
	if skip != nil {
		skip = skip[:n]
	}
	if dbias != nil {
		dbias = dbias[:n]
	}
	layerNormBackward(dx[:n], skip, dy[:n], x, gain[:n], dgain[:n], dbias, mean, rstd)
}

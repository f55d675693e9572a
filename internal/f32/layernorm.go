package f32

const layerNormEps = 1e-5

// LayerNorm normalises rows of C ≥ 1 values, one after the other:
// y = x̂∘gain + bias with x̂ = (x − mean)·rstd and rstd = 1/√(variance + 1e-5).
// x and y are (rows, C), gain and bias (C). It fills mean and rstd (rows), whose length
// is the number of rows: LayerNormBackward needs them. bias may be nil; y may be x.
func LayerNorm(y, x, gain, bias, mean, rstd []float32) {
	c, n := len(gain), len(mean)*len(gain)
	if bias != nil {
		bias = take(bias, c)
	}
	layerNorm(take(y, n), take(x, n), gain, bias, mean, take(rstd, len(mean)))
}

// LayerNormBackward adds the rows of dy (rows, C), in their order, to the gradients of
// gain and bias (C), and computes the gradient of x (rows, C), on top of the gradient
// skip (rows, C) that reaches x past the layer, from the mean and rstd of LayerNorm:
//
//	dgain += dy∘x̂
//	dbias += dy
//	dx     = skip + rstd·(g − mean(g) − x̂·mean(g∘x̂)),  g = dy∘gain
//
// skip may be nil for 0, and dbias nil. dx may be dy or skip.
func LayerNormBackward(dx, skip, dy, x, gain, dgain, dbias, mean, rstd []float32) {
	c, n := len(gain), len(mean)*len(gain)
	if skip != nil {
		skip = take(skip, n)
	}
	if dbias != nil {
		dbias = take(dbias, c)
	}
	layerNormBackward(take(dx, n), skip, take(dy, n), take(x, n), gain, take(dgain, c), dbias, mean, take(rstd, len(mean)))
}

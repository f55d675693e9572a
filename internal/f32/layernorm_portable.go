package f32

import "math"

func layerNormPortable(y, x, gain, bias, mean, rstd []float32) {
	c := len(gain)
	for i := range mean {
		mean[i], rstd[i] = layerNormRow(y[i*c:][:c], x[i*c:][:c], gain, bias)
	}
}

func layerNormRow(y, x, gain, bias []float32) (mean, rstd float32) {
	n := float64(len(x))
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	mean = float32(sum / n)
	squares := 0.0
	for _, v := range x {
		d := float64(v - mean)
		squares += d * d
	}
	rstd = float32(1 / math.Sqrt(squares/n+layerNormEps))
	for i, v := range x {
		y[i] = (v - mean) * rstd * gain[i]
		if bias != nil {
			y[i] += bias[i]
		}
	}
	return mean, rstd
}

func layerNormBackwardPortable(dx, skip, dy, x, gain, dgain, dbias, mean, rstd []float32) {
	c := len(gain)
	for i := range mean {
		var skipRow []float32
		if skip != nil {
			skipRow = skip[i*c:][:c]
		}
		layerNormBackwardRow(dx[i*c:][:c], skipRow, dy[i*c:][:c], x[i*c:][:c], gain, dgain, dbias, mean[i], rstd[i])
	}
}

func layerNormBackwardRow(dx, skip, dy, x, gain, dgain, dbias []float32, mean, rstd float32) {
	var sumG, sumGX float64
	for i, d := range dy {
		xhat := (x[i] - mean) * rstd
		dgain[i] += d * xhat
		if dbias != nil {
			dbias[i] += d
		}
		sumG += float64(d * gain[i])
		sumGX += float64(d * gain[i] * xhat)
	}
	meanG, meanGX := float32(sumG/float64(len(x))), float32(sumGX/float64(len(x)))
	for i, d := range dy {
		xhat := (x[i] - mean) * rstd
		v := rstd * (d*gain[i] - meanG - xhat*meanGX)
		if skip != nil {
			v += skip[i]
		}
		dx[i] = v
	}
}

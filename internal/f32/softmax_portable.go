package f32

import "math"

// softmaxPortable also returns the largest x and Σ exp(x − max x).
func softmaxPortable(dst, x []float32) (top, sum float32) {
	top = x[0]
	for _, v := range x {
		top = max(top, v)
	}
	total := 0.0
	for i, v := range x {
		e := math.Exp(float64(v - top))
		total += e
		dst[i] = float32(e)
	}
	for i, e := range dst {
		dst[i] = float32(float64(e) / total)
	}
	return top, float32(total)
}

func softmaxBackwardPortable(ds, p, dp []float32) {
	dot := dotPortable(p, dp)
	for i := range p {
		ds[i] = p[i] * (dp[i] - dot)
	}
}

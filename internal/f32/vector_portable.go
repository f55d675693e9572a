package f32

func addPortable(dst, x, y []float32) {
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func addScaledPortable(dst []float32, alpha float32, x []float32) {
	for i, v := range x {
		dst[i] += alpha * v
	}
}

func scalePortable(dst []float32, alpha float32) {
	for i := range dst {
		dst[i] *= alpha
	}
}

func dotPortable(x, y []float32) float32 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return float32(sum)
}

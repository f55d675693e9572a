package f32

func addPortable(dst, x, y []float32) {
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func multiplyPortable(dst, x, y []float32) {
	for i := range dst {
		dst[i] = x[i] * y[i]
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

func rotatePortable(x, cos, sin []float32) {
	for half := len(cos); len(x) > 0; x = x[2*half:] {
		for j, c := range cos {
			x1, x2 := x[j], x[half+j]
			x[j], x[half+j] = x1*c-x2*sin[j], x1*sin[j]+x2*c
		}
	}
}

// mirrorPortable mirrors rows from on, in squares of the floats of a cache line.
func mirrorPortable(x []float32, n, from int) {
	const square = 16
	for i := from; i < n; i += square {
		for j := 0; j <= i; j += square {
			mirrorBlock(x, n, i, min(i+square, n), j, j+square)
		}
	}
}

// mirrorBlock mirrors columns j to jEnd of rows i to iEnd, as far as they are below the diagonal.
func mirrorBlock(x []float32, n, i, iEnd, j, jEnd int) {
	for ; i < iEnd; i++ {
		for k := j; k < min(jEnd, i); k++ {
			x[k*n+i] = x[i*n+k]
		}
	}
}

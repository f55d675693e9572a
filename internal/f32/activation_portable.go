package f32

import "math"

func expPortable(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Exp(float64(v)))
	}
}

// dropoutStep keeps the hashed numbers of neighbours apart: 2³² divided by the golden ratio.
const dropoutStep = 0x9e3779b9

func dropoutPortable(y, x []float32, seed, threshold uint32, keep float32) {
	for i, v := range x {
		h := seed + uint32(i)*dropoutStep // the finalizer of MurmurHash3, a bijection that spreads every bit
		h = (h ^ h>>16) * 0x85ebca6b
		h = (h ^ h>>13) * 0xc2b2ae35
		if h ^= h >> 16; h < threshold {
			y[i] = 0
		} else {
			y[i] = v * keep
		}
	}
}

const (
	geluScale = 0.79788456080286535588 // √(2/π)
	geluCubic = 0.044715
)

func geluPortable(y, x []float32) {
	for i, v := range x {
		x := float64(v)
		u := geluScale * (x + geluCubic*x*x*x)
		y[i] = float32(0.5 * x * (1 + math.Tanh(u)))
	}
}

func geluDerivativePortable(y, d, x []float32) {
	for i, v := range x {
		x := float64(v)
		t := math.Tanh(geluScale * (x + geluCubic*x*x*x))
		du := geluScale * (1 + 3*geluCubic*x*x)
		y[i], d[i] = float32(0.5*x*(1+t)), float32(0.5*(1+t)+0.5*x*(1-t*t)*du)
	}
}

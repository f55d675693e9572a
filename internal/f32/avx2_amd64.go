//go:build amd64 && !noasm

package f32

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// haveAVX2 says whether this processor runs the kernels of kernels_amd64.s.
var haveAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// span is how many elements one call of a kernel takes: the runtime cannot stop a
// goroutine inside assembly, so a call should not last longer than some 20 µs.
const span = 4096

func exp(dst, x []float32) {
	if !haveAVX2 {
		expPortable(dst, x)
		return
	}
	for i := 0; i < len(x); i += span {
		expAVX2(min(span, len(x)-i), &dst[i], &x[i])
	}
}

func gelu(y, x []float32) {
	if !haveAVX2 {
		geluPortable(y, x)
		return
	}
	for i := 0; i < len(x); i += span {
		geluAVX2(min(span, len(x)-i), &y[i], &x[i])
	}
}

func geluDerivative(y, d, x []float32) {
	if !haveAVX2 {
		geluDerivativePortable(y, d, x)
		return
	}
	for i := 0; i < len(x); i += span {
		geluDerivativeAVX2(min(span, len(x)-i), &y[i], &d[i], &x[i])
	}
}

func softmax(dst, x []float32) (top, sum float32) {
	if !haveAVX2 {
		return softmaxPortable(dst, x)
	}
	return softmaxAVX2(len(x), &dst[0], &x[0])
}

func softmaxBackward(ds, p, dp []float32) {
	if !haveAVX2 {
		softmaxBackwardPortable(ds, p, dp)
		return
	}
	softmaxBackwardAVX2(len(p), unsafe.SliceData(ds), unsafe.SliceData(p), unsafe.SliceData(dp))
}

func layerNorm(y, x, gain, bias, mean, rstd []float32) {
	if !haveAVX2 {
		layerNormPortable(y, x, gain, bias, mean, rstd)
		return
	}
	n, inverse := len(gain), 1/float32(len(gain))
	for i := 0; i < len(mean); i += 2 {
		kernel := layerNormPairAVX2
		if i+1 == len(mean) {
			kernel = layerNormAVX2
		}
		kernel(n, &y[i*n], &x[i*n], &gain[0], unsafe.SliceData(bias), inverse, layerNormEps, &mean[i], &rstd[i])
	}
}

func layerNormBackward(dx, skip, dy, x, gain, dgain, dbias, mean, rstd []float32) {
	if !haveAVX2 {
		layerNormBackwardPortable(dx, skip, dy, x, gain, dgain, dbias, mean, rstd)
		return
	}
	n, inverse := len(gain), 1/float32(len(gain))
	for i := 0; i < len(mean); i += 2 {
		kernel := layerNormBackwardPairAVX2
		if i+1 == len(mean) {
			kernel = layerNormBackwardAVX2
		}
		var skipRow *float32
		if skip != nil {
			skipRow = &skip[i*n]
		}
		kernel(n, &dx[i*n], skipRow, &dy[i*n], &x[i*n], &gain[0], &dgain[0], unsafe.SliceData(dbias), inverse, &mean[i], &rstd[i])
	}
}

func adamW(w, g, m, v []float32, c *adamWConstants) {
	if !haveAVX2 {
		adamWPortable(w, g, m, v, c)
		return
	}
	for i := 0; i < len(w); i += span {
		adamWAVX2(min(span, len(w)-i), &w[i], &g[i], &m[i], &v[i], (*float32)(unsafe.Pointer(c)))
	}
}

func rotate(x, cos, sin []float32) {
	if !haveAVX2 {
		rotatePortable(x, cos, sin)
		return
	}
	rotateAVX2(len(x)/2/len(cos), len(cos), &x[0], &cos[0], &sin[0])
}

func dropout(y, x []float32, seed, threshold uint32, keep float32) {
	if !haveAVX2 {
		dropoutPortable(y, x, seed, threshold, keep)
		return
	}
	for i := 0; i < len(x); i += span {
		dropoutAVX2(min(span, len(x)-i), &y[i], &x[i], seed+uint32(i)*dropoutStep, threshold, keep)
	}
}

func mirror(x []float32, n int) {
	if !haveAVX2 {
		mirrorPortable(x, n, 0)
		return
	}
	for i := 0; i+8 <= n; i += 8 {
		if i > 0 {
			transpose8(i/8, &x[i], 4*n, &x[i*n], 4*n)
		}
		mirrorBlock(x, n, i, i+8, i, i+8)
	}
	mirrorPortable(x, n, n&^7)
}

func add(dst, x, y []float32) {
	if !haveAVX2 {
		addPortable(dst, x, y)
		return
	}
	for i := 0; i < len(dst); i += span {
		addAVX2(min(span, len(dst)-i), &dst[i], &x[i], &y[i])
	}
}

func multiply(dst, x, y []float32) {
	if !haveAVX2 {
		multiplyPortable(dst, x, y)
		return
	}
	for i := 0; i < len(dst); i += span {
		multiplyAVX2(min(span, len(dst)-i), &dst[i], &x[i], &y[i])
	}
}

func addScaled(dst []float32, alpha float32, x []float32) {
	if !haveAVX2 {
		addScaledPortable(dst, alpha, x)
		return
	}
	for i := 0; i < len(dst); i += span {
		addScaledAVX2(min(span, len(dst)-i), &dst[i], alpha, &x[i])
	}
}

func scale(dst []float32, alpha float32) {
	if !haveAVX2 {
		scalePortable(dst, alpha)
		return
	}
	for i := 0; i < len(dst); i += span {
		scaleAVX2(min(span, len(dst)-i), &dst[i], alpha)
	}
}

func dot(x, y []float32) (sum float32) {
	if !haveAVX2 {
		return dotPortable(x, y)
	}
	for i := 0; i < len(x); i += span {
		sum += dotAVX2(min(span, len(x)-i), &x[i], &y[i])
	}
	return sum
}

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// softmax: dst = exp(x − top)/sum for one row of n ≥ 1, top = max x, sum = Σ exp(x − top).
// A NaN may get lost in top, but not in sum.
func softmax() {
	function("softmaxAVX2", "func(n int, dst, x *float32) (top, sum float32)")
	n, dst, x := param("n"), param("dst"), param("x")
	lowest := inRegister(math.Inf(-1))
	acc := make([]reg.VecVirtual, 2)
	for i := range acc {
		acc[i] = YMM()
		VMOVAPS(lowest, acc[i])
	}
	forEach(n, 2, func(l lanes) {
		v := l.load(x)
		if l.mask != nil {
			VBLENDVPS(l.mask, v, lowest, v)
		}
		VMAXPS(v, acc[l.number], acc[l.number])
	})
	top := reduce(acc, VMAXPS)
	storeResult(top, "top")

	e := newExponential()
	total := accumulators(1)
	forEach(n, 1, func(l lanes) {
		v := l.load(x)
		VSUBPS(top, v, v)
		p := e.of(v)
		l.clear(p)
		VADDPS(p, total[0], total[0])
		l.store(p, dst)
	})
	s, inverse := sum(total), inRegister(1)
	storeResult(s, "sum")
	VDIVPS(s, inverse, inverse)
	forEach(n, 2, func(l lanes) {
		v := l.load(dst)
		VMULPS(inverse, v, v)
		l.store(v, dst)
	})
	done()
}

// softmaxBackward: ds = p∘(dp − Σ p·dp) for one row.
func softmaxBackward() {
	function("softmaxBackwardAVX2", "func(n int, ds, p, dp *float32)")
	n, ds, p, dp := param("n"), param("ds"), param("p"), param("dp")
	acc := accumulators(2)
	forEach(n, 2, func(l lanes) {
		VFMADD231PS(l.load(p), l.load(dp), acc[l.number])
	})
	dot := sum(acc)
	forEach(n, 2, func(l lanes) {
		v := l.load(dp)
		VSUBPS(dot, v, v)
		VMULPS(l.load(p), v, v)
		l.store(v, ds)
	})
	done()
}

// optional emits body(true) for a pointer that is set and body(false) for nil.
func optional(p reg.Register, body func(set bool)) {
	isNil, end := label("nil"), label("end")
	TESTQ(p, p)
	JZ(LabelRef(isNil))
	body(true)
	JMP(LabelRef(end))
	Label(isNil)
	body(false)
	Label(end)
}

// layerNorm: y = (x − mean)·rstd∘gain + bias for one row; bias may be nil, inverse is 1/n.
func layerNorm() {
	function("layerNormAVX2", "func(n int, y, x, gain, bias *float32, inverse, eps float32) (mean, rstd float32)")
	n, y, x, gain, bias := param("n"), param("y"), param("x"), param("gain"), param("bias")
	inverse := broadcast("inverse")
	acc := accumulators(4)
	forEach(n, 4, func(l lanes) {
		VADDPS(l.load(x), acc[l.number], acc[l.number])
	})
	mean := sum(acc)
	VMULPS(inverse, mean, mean)
	storeResult(mean, "mean")

	acc = accumulators(4)
	forEach(n, 4, func(l lanes) {
		v := l.load(x)
		VSUBPS(mean, v, v)
		l.clear(v)
		VFMADD231PS(v, v, acc[l.number])
	})
	rstd, variance := inRegister(1), sum(acc)
	VFMADD213PS(broadcast("eps"), inverse, variance) // plus eps
	VSQRTPS(variance, variance)
	VDIVPS(variance, rstd, rstd)
	storeResult(rstd, "rstd")

	optional(bias, func(set bool) {
		forEach(n, 2, func(l lanes) {
			v := l.load(x)
			VSUBPS(mean, v, v)
			VMULPS(rstd, v, v)
			if set {
				VFMADD213PS(l.load(bias), l.load(gain), v)
			} else {
				VMULPS(l.load(gain), v, v)
			}
			l.store(v, y)
		})
	})
	done()
}

// layerNormBackward: dgain += dy∘x̂, dbias += dy, dx = skip + rstd·(g − mean(g) − x̂·mean(g∘x̂))
// with g = dy∘gain for one row; skip and dbias may be nil, inverse is 1/n.
func layerNormBackward() {
	function("layerNormBackwardAVX2", "func(n int, dx, skip, dy, x, gain, dgain, dbias *float32, inverse, mean, rstd float32)")
	n, dx, skip, dy, x := param("n"), param("dx"), param("skip"), param("dy"), param("x")
	gain, dgain, dbias := param("gain"), param("dgain"), param("dbias")
	mean, rstd := broadcast("mean"), broadcast("rstd")
	normalised := func(l lanes) reg.VecVirtual {
		v := l.load(x)
		VSUBPS(mean, v, v)
		VMULPS(rstd, v, v)
		return v
	}

	sumG, sumGX := accumulators(2), accumulators(2)
	optional(dbias, func(set bool) {
		forEach(n, 2, func(l lanes) {
			g, xhat := l.load(dy), normalised(l)
			if set {
				d := l.load(dbias)
				VADDPS(g, d, d)
				l.store(d, dbias)
			}
			d := l.load(dgain)
			VFMADD231PS(g, xhat, d)
			l.store(d, dgain)
			VMULPS(l.load(gain), g, g)
			VADDPS(g, sumG[l.number], sumG[l.number])
			VFMADD231PS(g, xhat, sumGX[l.number])
		})
	})
	meanG, meanGX, inverse := sum(sumG), sum(sumGX), broadcast("inverse")
	VMULPS(inverse, meanG, meanG)
	VMULPS(inverse, meanGX, meanGX)

	optional(skip, func(set bool) {
		forEach(n, 2, func(l lanes) {
			g, xhat := l.load(dy), normalised(l)
			VFMSUB132PS(l.load(gain), meanG, g) // g·gain − mean(g)
			VFNMADD231PS(meanGX, xhat, g)
			if set {
				VFMADD213PS(l.load(skip), rstd, g)
			} else {
				VMULPS(rstd, g, g)
			}
			l.store(g, dx)
		})
	})
	done()
}

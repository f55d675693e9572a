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

// below is the same elements of the row that is bytes after.
func (l lanes) below(bytes reg.Register) lanes {
	offset := GP64()
	LEAQ(Mem{Base: l.offset, Index: bytes, Scale: 1}, offset)
	l.offset = offset
	return l
}

// normRows is one row of n values, or two, one right after the other: the processor works on both at once, where it would
// wait for the sums of one.
type normRows struct {
	count int
	bytes reg.Register // of a row, for two
}

func newNormRows(count int, n reg.Register) normRows {
	r := normRows{count: count}
	if count > 1 {
		r.bytes = GP64()
		MOVQ(n, r.bytes)
		SHLQ(Imm(2), r.bytes)
	}
	return r
}

// of returns the lanes of each row.
func (r normRows) of(l lanes) []lanes {
	if r.count == 1 {
		return []lanes{l}
	}
	return []lanes{l, l.below(r.bytes)}
}

// accumulators returns n for each row.
func (r normRows) accumulators(n int) [][]reg.VecVirtual {
	var acc [][]reg.VecVirtual
	for range r.count {
		acc = append(acc, accumulators(n))
	}
	return acc
}

// means are the sums of the accumulators over a row, times inverse.
func means(acc [][]reg.VecVirtual, inverse reg.VecVirtual) []reg.VecVirtual {
	var mean []reg.VecVirtual
	for _, a := range acc {
		m := sum(a)
		VMULPS(inverse, m, m)
		mean = append(mean, m)
	}
	return mean
}

// broadcastEach loads the first value of each row.
func (r normRows) broadcastEach(x reg.Register) []reg.VecVirtual {
	var values []reg.VecVirtual
	for i := range r.count {
		v := YMM()
		VBROADCASTSS(Mem{Base: x, Disp: 4 * i}, v)
		values = append(values, v)
	}
	return values
}

// layerNorm: y = (x − mean)·rstd∘gain + bias for so many rows; bias may be nil, inverse is 1/n.
func layerNorm(name string, rows int) {
	function(name, "func(n int, y, x, gain, bias *float32, inverse, eps float32, mean, rstd *float32)")
	n, y, x, gain, bias := param("n"), param("y"), param("x"), param("gain"), param("bias")
	r, inverse := newNormRows(rows, n), broadcast("inverse")
	acc := r.accumulators(4)
	forEach(n, 4, func(l lanes) {
		for i, l := range r.of(l) {
			VADDPS(l.load(x), acc[i][l.number], acc[i][l.number])
		}
	})
	mean := means(acc, inverse)
	storeEach(mean, "mean")

	acc = r.accumulators(4)
	forEach(n, 4, func(l lanes) {
		for i, l := range r.of(l) {
			v := l.load(x)
			VSUBPS(mean[i], v, v)
			l.clear(v)
			VFMADD231PS(v, v, acc[i][l.number])
		}
	})
	var rstd []reg.VecVirtual
	for _, a := range acc {
		one, variance := inRegister(1), sum(a)
		VFMADD213PS(broadcast("eps"), inverse, variance) // plus eps
		VSQRTPS(variance, variance)
		VDIVPS(variance, one, one)
		rstd = append(rstd, one)
	}
	storeEach(rstd, "rstd")

	optional(bias, func(set bool) {
		forEach(n, 2, func(l lanes) {
			for i, row := range r.of(l) {
				v := row.load(x)
				VSUBPS(mean[i], v, v)
				VMULPS(rstd[i], v, v)
				if set {
					VFMADD213PS(l.load(bias), l.load(gain), v)
				} else {
					VMULPS(l.load(gain), v, v)
				}
				row.store(v, y)
			}
		})
	})
	done()
}

// storeEach stores the first lane of each vector in a slice.
func storeEach(values []reg.VecVirtual, name string) {
	dst := param(name)
	for i, v := range values {
		VMOVSS(v.AsX(), Mem{Base: dst, Disp: 4 * i})
	}
}

// layerNormBackward: dgain += dy∘x̂, dbias += dy, dx = skip + rstd·(g − mean(g) − x̂·mean(g∘x̂))
// with g = dy∘gain for so many rows; skip and dbias may be nil, inverse is 1/n.
func layerNormBackward(name string, rows int) {
	function(name, "func(n int, dx, skip, dy, x, gain, dgain, dbias *float32, inverse float32, mean, rstd *float32)")
	n, dx, skip, dy, x := param("n"), param("dx"), param("skip"), param("dy"), param("x")
	gain, dgain, dbias := param("gain"), param("dgain"), param("dbias")
	r := newNormRows(rows, n)
	mean, rstd := r.broadcastEach(param("mean")), r.broadcastEach(param("rstd"))
	normalised := func(i int, l lanes) reg.VecVirtual {
		v := l.load(x)
		VSUBPS(mean[i], v, v)
		VMULPS(rstd[i], v, v)
		return v
	}

	sumG, sumGX := r.accumulators(2), r.accumulators(2)
	optional(dbias, func(set bool) {
		forEach(n, 2, func(l lanes) {
			for i, row := range r.of(l) {
				g, xhat := row.load(dy), normalised(i, row)
				if set {
					d := l.load(dbias)
					VADDPS(g, d, d)
					l.store(d, dbias)
				}
				d := l.load(dgain)
				VFMADD231PS(g, xhat, d)
				l.store(d, dgain)
				VMULPS(l.load(gain), g, g)
				VADDPS(g, sumG[i][l.number], sumG[i][l.number])
				VFMADD231PS(g, xhat, sumGX[i][l.number])
			}
		})
	})
	inverse := broadcast("inverse")
	meanG, meanGX := means(sumG, inverse), means(sumGX, inverse)

	optional(skip, func(set bool) {
		forEach(n, 2, func(l lanes) {
			for i, row := range r.of(l) {
				g, xhat := row.load(dy), normalised(i, row)
				VFMSUB132PS(l.load(gain), meanG[i], g) // g·gain − mean(g)
				VFNMADD231PS(meanGX[i], xhat, g)
				if set {
					VFMADD213PS(row.load(skip), rstd[i], g)
				} else {
					VMULPS(rstd[i], g, g)
				}
				row.store(g, dx)
			}
		})
	})
	done()
}

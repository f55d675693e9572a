package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponential computes exp of a vector; its constants that are used twice or stand
// where an instruction wants a register stay in registers.
type exponential struct{ high, low, log2e, p5, two reg.VecVirtual }

func newExponential() exponential {
	return exponential{
		high:  inRegister(89),    // exp overflows to +Inf from 88.73
		low:   inRegister(-87.3), // n = -126: exp gives 0 from -87 down
		log2e: inRegister(math.Log2E),
		p5:    inRegister(2 * 1.9875691500e-4),
		two:   inRegister(2),
	}
}

// roundToInt is 1.5·2²³: a small number added to it is rounded to an integer, which
// stands in the low bits of the sum.
const roundToInt = 12582912

// of returns exp(x) and destroys x, by exp(x) = 2ⁿ·exp(r) with n = round(x·log₂e) and
// r = x − n·ln 2. The polynomial (Cephes expf) is computed twice as large as it is and
// then multiplied by 2ⁿ⁻¹, so that n = 128 gives what it must, up to +Inf.
// VMINPS and VMAXPS return their first operand here if it is NaN, so NaN passes.
func (e exponential) of(x reg.VecVirtual) reg.VecVirtual {
	const bias = 126 // of the exponent n-1
	magic := constant(roundToInt + bias)
	VMINPS(x, e.high, x)
	VMAXPS(x, e.low, x)
	t, n := YMM(), YMM()
	VMOVAPS(x, t)
	VFMADD213PS(magic, e.log2e, t)
	VSUBPS(magic, t, n)
	VFNMADD231PS(constant(0.693359375), n, x) // ln 2 in two parts, the first one short
	VFNMADD231PS(constant(-2.12194440e-4), n, x)

	// 2·exp(r) = 2 + 2r + r²·((p0 + p1·r) + r²·((p2 + p3·r) + r²·(p4 + p5·r)))
	p, q, r2 := YMM(), YMM(), YMM()
	VMULPS(x, x, r2)
	VMOVAPS(e.p5, p)
	VFMADD213PS(constant(2*1.3981999507e-3), x, p)
	VMOVUPS(constant(2*8.3334519073e-3), q)
	VFMADD213PS(constant(2*4.1665795894e-2), x, q)
	VFMADD213PS(q, r2, p)
	VMOVUPS(constant(2*1.6666665459e-1), q)
	VFMADD213PS(constant(2*5.0000001201e-1), x, q)
	VFMADD213PS(q, r2, p)
	VFMADD213PS(e.two, e.two, x)
	VFMADD213PS(x, r2, p)

	VPSLLD(Imm(23), t, t) // the low bits hold n-1+127: move them into the exponent
	VMULPS(t, p, p)
	return p
}

// exp: dst[i] = exp(x[i]).
func exp() {
	function("expAVX2", "func(n int, dst, x *float32)")
	n, dst, x := param("n"), param("dst"), param("x")
	e := newExponential()
	forEach(n, 1, func(l lanes) { l.store(e.of(l.load(x)), dst) })
	done()
}

// GELU in its tanh form is x·s with the sigmoid s = 1/(1 + exp(x·(geluA + geluB·x²))).
const (
	geluA = -2 * 0.79788456080286535588 // -2·√(2/π)
	geluB = geluA * 0.044715
)

// sigmoid returns s for the vector x and its square.
func (e exponential) sigmoid(x, square, one reg.VecVirtual) reg.VecVirtual {
	u := YMM()
	VMOVUPS(constant(geluA), u)
	VFMADD231PS(constant(geluB), square, u)
	VMULPS(x, u, u)
	s := e.of(u)
	VADDPS(one, s, s)
	VDIVPS(s, one, s)
	return s
}

// gelu: y[i] = GELU(x[i]).
func gelu() {
	function("geluAVX2", "func(n int, y, x *float32)")
	n, y, x := param("n"), param("y"), param("x")
	e, one := newExponential(), inRegister(1)
	forEach(n, 1, func(l lanes) {
		v, square := l.load(x), YMM()
		VMULPS(v, v, square)
		s := e.sigmoid(v, square, one)
		VMULPS(v, s, s)
		l.store(s, y)
	})
	done()
}

// geluDerivative: y[i] = GELU(x[i]), d[i] = s − x·s·(1 − s)·(geluA + 3·geluB·x²), its derivative.
func geluDerivative() {
	function("geluDerivativeAVX2", "func(n int, y, d, x *float32)")
	n, y, d, x := param("n"), param("y"), param("d"), param("x")
	e, one := newExponential(), inRegister(1)
	forEach(n, 1, func(l lanes) {
		v, square, slope := l.load(x), YMM(), YMM()
		VMULPS(v, v, square)
		VMOVUPS(constant(geluA), slope)
		VFMADD231PS(constant(3*geluB), square, slope)
		s := e.sigmoid(v, square, one)
		VMULPS(s, v, v)
		l.store(v, y)
		VFNMADD231PS(s, v, v) // x·s − x·s·s
		VFNMADD213PS(s, slope, v)
		l.store(v, d)
	})
	done()
}

// adamW: one step; c holds the fields of adamWConstants in their order. (A parameter
// cannot be named g: the assembler would read its register.)
func adamW() {
	function("adamWAVX2", "func(n int, w, grad, m, v, c *float32)")
	n, w, g, m, v, c := param("n"), param("w"), param("grad"), param("m"), param("v"), param("c")
	var k [9]reg.VecVirtual
	for i := range k {
		k[i] = YMM()
		VBROADCASTSS(Mem{Base: c, Disp: 4 * i}, k[i])
	}
	gradScale, beta1, oneMinus1, beta2, oneMinus2, rate, unbiasRoot, eps, decay := k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], k[8]
	forEach(n, 1, func(l lanes) {
		grad, first, second, weight := l.load(g), l.load(m), l.load(v), l.load(w)
		VMULPS(gradScale, grad, grad)
		VMULPS(beta1, first, first)
		VFMADD231PS(grad, oneMinus1, first)
		l.store(first, m)
		VMULPS(grad, grad, grad)
		VMULPS(beta2, second, second)
		VFMADD231PS(grad, oneMinus2, second)
		l.store(second, v)
		VSQRTPS(second, second)
		VFMADD213PS(eps, unbiasRoot, second)
		VMULPS(rate, first, first)
		VDIVPS(second, first, first)
		VFMSUB213PS(first, decay, weight)
		l.store(weight, w)
	})
	done()
}

// rotate: for each of heads runs of 2·half values, in place,
// x[j], x[half+j] = x[j]·cos[j] − x[half+j]·sin[j], x[j]·sin[j] + x[half+j]·cos[j].
func rotate() {
	function("rotateAVX2", "func(heads, half int, x, cos, sin *float32)")
	heads, half, x, cos, sin := param("heads"), param("half"), param("x"), param("cos"), param("sin")
	second := GP64()
	loop := label("head")
	Label(loop)
	LEAQ(Mem{Base: x, Index: half, Scale: 4}, second)
	forEach(half, 1, func(l lanes) {
		x1, x2, c, s := l.load(x), l.load(second), l.load(cos), l.load(sin)
		y1, y2 := YMM(), YMM()
		VMULPS(x2, s, y1)
		VFMSUB231PS(x1, c, y1)
		VMULPS(x1, s, y2)
		VFMADD231PS(x2, c, y2)
		l.store(y1, x)
		l.store(y2, second)
	})
	LEAQ(Mem{Base: second, Index: half, Scale: 4}, x)
	DECQ(heads)
	JNZ(LabelRef(loop))
	done()
}

// The hash of dropout: the finalizer of MurmurHash3, of seed + i·dropoutStep.
const (
	dropoutStep = 0x9e3779b9
	dropoutMul1 = 0x85ebca6b
	dropoutMul2 = 0xc2b2ae35
	signBit     = 0x80000000
)

// dropout: y[i] = x[i]·keep where the hash of i, as an unsigned number, is at least threshold, else 0.
func dropout() {
	function("dropoutAVX2", "func(n int, y, x *float32, seed, threshold uint32, keep float32)")
	n, y, x := param("n"), param("y"), param("x")
	counter, limit, keep := broadcast("seed"), broadcast("threshold"), broadcast("keep")
	VPADDD(sequence(), counter, counter) // of the 8 elements at hand
	VPXOR(word(signBit), limit, limit)   // there is no unsigned comparison: both sides are moved by half the range
	forEach(n, 1, func(l lanes) {
		h, t := YMM(), YMM()
		VMOVDQU(counter, h)
		VPADDD(word(8*dropoutStep&math.MaxUint32), counter, counter)
		for _, round := range []struct {
			shift  uint64
			factor uint32
		}{{16, dropoutMul1}, {13, dropoutMul2}, {16, 0}} {
			VPSRLD(Imm(round.shift), h, t)
			VPXOR(t, h, h)
			if round.factor != 0 {
				VPMULLD(word(round.factor), h, h)
			}
		}
		VPXOR(word(signBit), h, h)
		VPCMPGTD(h, limit, h) // ones where threshold > hash: dropped
		v := l.load(x)
		VMULPS(keep, v, v)
		VANDNPS(v, h, v)
		l.store(v, y)
	})
	done()
}

// binary: dst[i] = x[i] op y[i], for VADDPS or VMULPS.
func binary(name string, op func(...Op)) {
	function(name, "func(n int, dst, x, y *float32)")
	n, dst, x, y := param("n"), param("dst"), param("x"), param("y")
	forEach(n, 4, func(l lanes) {
		v := l.load(x)
		op(l.load(y), v, v)
		l.store(v, dst)
	})
	done()
}

// addScaled: dst[i] += alpha·x[i].
func addScaled() {
	function("addScaledAVX2", "func(n int, dst *float32, alpha float32, x *float32)")
	n, dst, x, alpha := param("n"), param("dst"), param("x"), broadcast("alpha")
	forEach(n, 4, func(l lanes) {
		v := l.load(dst)
		VFMADD231PS(l.load(x), alpha, v)
		l.store(v, dst)
	})
	done()
}

// scale: dst[i] *= alpha.
func scale() {
	function("scaleAVX2", "func(n int, dst *float32, alpha float32)")
	n, dst, alpha := param("n"), param("dst"), broadcast("alpha")
	forEach(n, 4, func(l lanes) {
		v := l.load(dst)
		VMULPS(alpha, v, v)
		l.store(v, dst)
	})
	done()
}

// dot: Σ x[i]·y[i].
func dot() {
	function("dotAVX2", "func(n int, x, y *float32) (sum float32)")
	n, x, y := param("n"), param("x"), param("y")
	acc := accumulators(4)
	forEach(n, 4, func(l lanes) {
		VFMADD231PS(l.load(x), l.load(y), acc[l.number])
	})
	storeResult(sum(acc), "sum")
	done()
}

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pair is two rows of a lower triangular matrix, one below the other, of n and n+1 values, n odd. Both have the same number
// of vectors, and the last of each is masked, though the second row's mask may be all ones. The processor works on both at
// once, where it would wait for the sums of one.
type pair struct {
	row    [2]reg.Register
	offset reg.Register // of the vector at hand, bytes
	last   reg.Register // offset of the last vector, bytes
	mask   reg.Register // where the first row's mask lies; that of the second, one lane longer, lies a word before it
}

// eachPair emits a loop of body over pairs of rows from x on, stride bytes apart, the first of which has n values.
func eachPair(pairs, n, x, stride reg.Register, body func(pair)) {
	p := pair{row: [2]reg.Register{x, GP64()}, offset: GP64(), last: GP64(), mask: GP64()}
	loop := label("pair")
	Label(loop)
	LEAQ(Mem{Base: x, Index: stride, Scale: 1}, p.row[1])
	left := GP64()
	MOVQ(n, left)
	ANDQ(Imm(7), left)
	MOVQ(n, p.last)
	SUBQ(left, p.last)
	SHLQ(Imm(2), p.last)
	NEGQ(left)
	LEAQ(masks(), p.mask)
	LEAQ(Mem{Base: p.mask, Index: left, Scale: 4, Disp: 32}, p.mask)
	body(p)
	LEAQ(Mem{Base: x, Index: stride, Scale: 2}, x)
	ADDQ(Imm(2), n)
	DECQ(pairs)
	JNZ(LabelRef(loop))
}

// at is the address of the vector at hand in row i, number vectors on.
func (p pair) at(i, number int) Mem {
	return Mem{Base: p.row[i], Index: p.offset, Scale: 1, Disp: 32 * number}
}

func (p pair) load(i, number int) reg.VecVirtual {
	v := YMM()
	VMOVUPS(p.at(i, number), v)
	return v
}

// clear makes v zero beyond the end of row i.
func (p pair) clear(v reg.VecVirtual, i int) { VANDPS(Mem{Base: p.mask, Disp: -4 * i}, v, v) }

// vectors emits body for both rows' vectors before the last, unroll at a time, then for a single one, and leaves the offset
// at the last. number is the vector's place among the unrolled.
func (p pair) vectors(unroll int, body func(i, number int)) {
	XORQ(p.offset, p.offset)
	for count := unroll; count > 0; count /= 2 {
		loop, end, limit := label("vectors"), label("vectorsEnd"), GP64()
		LEAQ(Mem{Base: p.last, Disp: -32 * (count - 1)}, limit)
		CMPQ(p.offset, limit)
		JGE(LabelRef(end))
		Label(loop)
		for number := range count {
			for i := range p.row {
				body(i, number)
			}
		}
		ADDQ(Imm(uint64(32*count)), p.offset)
		CMPQ(p.offset, limit)
		JLT(LabelRef(loop))
		Label(end)
	}
}

// fill writes zeros after the last vector, up to end.
func (p pair) fill(end reg.Register) {
	loop, done, nought := label("fill"), label("filled"), zero()
	Label(loop)
	ADDQ(Imm(32), p.offset)
	CMPQ(p.offset, end)
	JGE(LabelRef(done))
	for i := range p.row {
		VMOVUPS(nought, p.at(i, 0))
	}
	JMP(LabelRef(loop))
	Label(done)
}

// causalSoftmax does to each row what softmax does, in place, and writes zeros after it, up to end values, a multiple of 8.
// n and end are values, stride is bytes.
func causalSoftmax() {
	function("causalSoftmaxAVX2", "func(pairs, n, end int, x *float32, stride int)")
	pairs, n, end, x, stride := param("pairs"), param("n"), param("end"), param("x"), param("stride")
	SHLQ(Imm(2), end)
	e := newExponential()
	eachPair(pairs, n, x, stride, func(p pair) {
		lowest := inRegister(math.Inf(-1))
		var top, total [2]reg.VecVirtual
		for i := range top {
			top[i] = YMM()
			VMOVAPS(lowest, top[i])
		}
		p.vectors(1, func(i, _ int) {
			VMAXPS(p.load(i, 0), top[i], top[i])
		})
		for i := range top {
			v, mask := p.load(i, 0), YMM()
			VMOVUPS(Mem{Base: p.mask, Disp: -4 * i}, mask)
			VBLENDVPS(mask, v, lowest, v)
			VMAXPS(v, top[i], top[i])
			reduce(top[i:i+1], VMAXPS)
			total[i] = zero()
		}
		weight := func(i int, last bool) {
			v := p.load(i, 0)
			VSUBPS(top[i], v, v)
			w := e.of(v)
			if last {
				p.clear(w, i)
			}
			VADDPS(w, total[i], total[i])
			VMOVUPS(w, p.at(i, 0))
		}
		p.vectors(1, func(i, _ int) { weight(i, false) })
		var inverse [2]reg.VecVirtual
		for i := range total {
			weight(i, true)
			sum(total[i : i+1])
			inverse[i] = inRegister(1)
			VDIVPS(total[i], inverse[i], inverse[i])
		}
		normalise := func(i int, last bool) {
			v := p.load(i, 0)
			VMULPS(inverse[i], v, v)
			if last {
				p.clear(v, i) // 0 times NaN is NaN
			}
			VMOVUPS(v, p.at(i, 0))
		}
		p.vectors(1, func(i, _ int) { normalise(i, false) })
		normalise(0, true)
		normalise(1, true)
		p.fill(end)
	})
	done()
}

// causalSoftmaxBackward does to each row what softmaxBackward does, in place of dp, and writes zeros after it, up to end
// values, a multiple of 8. n and end are values, strides are bytes.
func causalSoftmaxBackward() {
	function("causalSoftmaxBackwardAVX2", "func(pairs, n, end int, dp *float32, stride int, p *float32, pStride int)")
	pairs, n, end, dp, stride := param("pairs"), param("n"), param("end"), param("dp"), param("stride")
	weights, weightStride := [2]reg.Register{param("p"), GP64()}, param("pStride")
	SHLQ(Imm(2), end)
	eachPair(pairs, n, dp, stride, func(p pair) {
		LEAQ(Mem{Base: weights[0], Index: weightStride, Scale: 1}, weights[1])
		weight := func(i, number int) Mem {
			return Mem{Base: weights[i], Index: p.offset, Scale: 1, Disp: 32 * number}
		}
		acc := [2][]reg.VecVirtual{accumulators(2), accumulators(2)}
		p.vectors(2, func(i, number int) {
			VFMADD231PS(weight(i, number), p.load(i, number), acc[i][number])
		})
		for i := range acc {
			v := p.load(i, 0)
			p.clear(v, i)
			if i == 0 {
				VFMADD231PS(weight(i, 0), v, acc[i][0])
				continue
			}
			// softmaxBackward adds a last vector that is whole, if its place is odd, to the other sum.
			whole, added, place := label("whole"), label("added"), GP64()
			MOVQ(n, place)
			ANDQ(Imm(15), place)
			CMPQ(place, Imm(15))
			JEQ(LabelRef(whole))
			VFMADD231PS(weight(i, 0), v, acc[i][0])
			JMP(LabelRef(added))
			Label(whole)
			VFMADD231PS(weight(i, 0), v, acc[i][1])
			Label(added)
		}
		dot := [2]reg.VecVirtual{sum(acc[0]), sum(acc[1])}
		score := func(i int, last bool) {
			v := p.load(i, 0)
			VSUBPS(dot[i], v, v)
			VMULPS(weight(i, 0), v, v)
			if last {
				p.clear(v, i)
			}
			VMOVUPS(v, p.at(i, 0))
		}
		p.vectors(1, func(i, _ int) { score(i, false) })
		score(0, true)
		score(1, true)
		p.fill(end)
		LEAQ(Mem{Base: weights[0], Index: weightStride, Scale: 2}, weights[0])
	})
	done()
}

package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// function starts a kernel that keeps no pointer it is given.
func function(name, signature string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
}

// done ends a kernel. Dirty upper halves would slow down every SSE instruction after it.
func done() {
	VZEROUPPER()
	RET()
}

func param(name string) reg.Register { return Load(Param(name), GP64()) }

// broadcast loads a float32 or uint32 parameter into all lanes. (Load would emit MOVSS, a
// legacy SSE instruction that stalls while upper halves are dirty.)
func broadcast(name string) reg.VecVirtual {
	v := YMM()
	VBROADCASTSS(address(Param(name)), v)
	return v
}

func storeResult(x reg.VecVirtual, name string) {
	VMOVSS(x.AsX(), address(Return(name)))
}

func address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

var labels int

// label makes a name that is new in the file.
func label(what string) string {
	labels++
	return fmt.Sprintf("%s%d", what, labels)
}

var constants = map[float32]Mem{}

// constant is 32 bytes of read-only memory with v in every lane.
func constant(v float64) Mem {
	f := float32(v)
	if m, ok := constants[f]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("lanes%08x", math.Float32bits(f)), RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(math.Float32bits(f))) // F32(1) would print as the integer 1
	}
	constants[f] = m
	return m
}

var words = map[uint32]Mem{}

// word is 32 bytes of read-only memory with the integer v in every lane.
func word(v uint32) Mem {
	if m, ok := words[v]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("words%08x", v), RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(v))
	}
	words[v] = m
	return m
}

// sequence is 32 bytes of read-only memory with i·dropoutStep in lane i.
func sequence() Mem {
	m := GLOBL("sequence", RODATA|NOPTR)
	for i := range uint32(8) {
		DATA(int(4*i), U32(i*dropoutStep))
	}
	return m
}

// inRegister loads a constant that a loop uses often.
func inRegister(v float64) reg.VecVirtual {
	r := YMM()
	VMOVUPS(constant(v), r)
	return r
}

func zero() reg.VecVirtual {
	r := YMM()
	VXORPS(r, r, r)
	return r
}

var maskTable *Mem

// masks is a table of 8 words of ones, then 8 of zeros.
func masks() Mem {
	if maskTable == nil {
		m := GLOBL("masks", RODATA|NOPTR)
		for i := range 16 {
			word := U32(0)
			if i < 8 {
				word = math.MaxUint32
			}
			DATA(4*i, word)
		}
		maskTable = &m
	}
	return *maskTable
}

// maskFor returns a vector whose first left lanes are ones, 1 ≤ left ≤ 7; it destroys left.
func maskFor(left reg.Register) reg.VecVirtual {
	table, mask := GP64(), YMM()
	LEAQ(masks(), table)
	NEGQ(left)
	VMOVUPS(Mem{Base: table, Index: left, Scale: 4, Disp: 32}, mask)
	return mask
}

// lanes are the 8 elements of each slice that a piece of code works on: those from a
// byte offset on, or only the first few of them if there is a mask.
type lanes struct {
	offset reg.Register
	disp   int
	mask   reg.Register // nil for all 8
	number int          // position in an unrolled loop: chooses an accumulator
}

func (l lanes) of(p reg.Register) Mem {
	return Mem{Base: p, Index: l.offset, Scale: 1, Disp: l.disp}
}

// load returns the elements at p; those masked out read as 0.
func (l lanes) load(p reg.Register) reg.VecVirtual { return l.loadFrom(l.of(p)) }

func (l lanes) store(v reg.VecVirtual, p reg.Register) { l.storeTo(v, l.of(p)) }

func (l lanes) loadFrom(m Mem) reg.VecVirtual {
	v := YMM()
	if l.mask != nil {
		VMASKMOVPS(m, l.mask, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (l lanes) storeTo(v reg.VecVirtual, m Mem) {
	if l.mask != nil {
		VMASKMOVPS(v, l.mask, m)
	} else {
		VMOVUPS(v, m)
	}
}

// clear makes v zero where masked out, so that sums are not disturbed.
func (l lanes) clear(v reg.VecVirtual) {
	if l.mask != nil {
		VANDPS(l.mask, v, v)
	}
}

// forEach runs body over n elements: in groups of unroll vectors, then single
// vectors, then masked for the last n%8.
func forEach(n reg.Register, unroll int, body func(lanes)) {
	left, offset := GP64(), GP64()
	MOVQ(n, left)
	XORQ(offset, offset)
	groups := []int{unroll, 1}
	if unroll == 1 {
		groups = groups[1:]
	}
	for _, count := range groups {
		loop, end := label("loop"), label("end")
		SUBQ(Imm(uint64(8*count)), left)
		JLT(LabelRef(end))
		Label(loop)
		for i := range count {
			body(lanes{offset: offset, disp: 32 * i, number: i})
		}
		ADDQ(Imm(uint64(32*count)), offset)
		SUBQ(Imm(uint64(8*count)), left)
		JGE(LabelRef(loop))
		Label(end)
		ADDQ(Imm(uint64(8*count)), left)
	}
	finished := label("finished")
	JZ(LabelRef(finished))
	body(lanes{offset: offset, mask: maskFor(left)})
	Label(finished)
}

// accumulators returns n vectors of zeros.
func accumulators(n int) []reg.VecVirtual {
	acc := make([]reg.VecVirtual, n)
	for i := range acc {
		acc[i] = zero()
	}
	return acc
}

// reduce combines all lanes of all accumulators with op (VADDPS or VMAXPS) into every lane of acc[0].
func reduce(acc []reg.VecVirtual, op func(...Op)) reg.VecVirtual {
	for step := 1; step < len(acc); step *= 2 {
		for i := 0; i+step < len(acc); i += 2 * step {
			op(acc[i+step], acc[i], acc[i])
		}
	}
	v, t := acc[0], YMM()
	VPERM2F128(Imm(1), v, v, t) // swap the halves
	op(t, v, v)
	VPERMILPS(Imm(0x4e), v, t) // swap pairs
	op(t, v, v)
	VPERMILPS(Imm(0xb1), v, t) // swap neighbours
	op(t, v, v)
	return v
}

func sum(acc []reg.VecVirtual) reg.VecVirtual { return reduce(acc, VADDPS) }

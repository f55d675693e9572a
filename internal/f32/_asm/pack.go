package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packRows copies k rows of 16 floats, rows stride bytes apart, to dst without gaps,
// and so for each of count panels side by side, dstStep bytes apart in dst.
func packRows() {
	function("packRows16", "func(k, count int, dst *float32, dstStep int, src *float32, stride int)")
	count, dst0, dstStep := param("count"), param("dst"), param("dstStep")
	src0, stride := param("src"), param("stride")
	Label("panel")
	k, dst, src := param("k"), GP64(), GP64()
	MOVQ(dst0, dst)
	MOVQ(src0, src)
	Label("loop")
	low, high := YMM(), YMM()
	VMOVUPS(Mem{Base: src}, low)
	VMOVUPS(Mem{Base: src, Disp: 32}, high)
	VMOVUPS(low, Mem{Base: dst})
	VMOVUPS(high, Mem{Base: dst, Disp: 32})
	ADDQ(stride, src)
	ADDQ(Imm(64), dst)
	DECQ(k)
	JNZ(LabelRef("loop"))
	ADDQ(dstStep, dst0)
	ADDQ(Imm(64), src0)
	DECQ(count)
	JNZ(LabelRef("panel"))
	done()
}

// transpose transposes 8 rows of src, stride bytes apart and 8·count long, into rows of 8 that are dstStride bytes apart:
// row p of dst holds element p of each row of src.
func transpose() {
	function("transpose8", "func(count int, dst *float32, dstStride int, src *float32, stride int)")
	count, dst, dstStride, src, stride := param("count"), param("dst"), param("dstStride"), param("src"), param("stride")
	stride3, src4 := GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	LEAQ(Mem{Base: src, Index: stride, Scale: 4}, src4)
	Label("loop")
	for half := range 2 { // columns 0-3, then 4-7
		var x, y, z [4]reg.VecVirtual
		for r := range x { // row r in the lower half of a register, r+4 in the upper
			x[r], y[r], z[r] = YMM(), YMM(), YMM()
			VMOVUPS(rowOf(src, stride, stride3, r, 16*half), x[r].AsX())
			VINSERTF128(Imm(1), rowOf(src4, stride, stride3, r, 16*half), x[r], x[r])
		}
		for i := range 2 {
			VUNPCKLPS(x[2*i+1], x[2*i], y[2*i])
			VUNPCKHPS(x[2*i+1], x[2*i], y[2*i+1])
		}
		for i := range 2 {
			VUNPCKLPD(y[2+i], y[i], z[2*i])
			VUNPCKHPD(y[2+i], y[i], z[2*i+1])
		}
		for i := range z {
			VMOVUPS(z[i], Mem{Base: dst})
			ADDQ(dstStride, dst)
		}
	}
	ADDQ(Imm(32), src)
	ADDQ(Imm(32), src4)
	DECQ(count)
	JNZ(LabelRef("loop"))
	done()
}

// rowOf is the address of row r < 4 below base.
func rowOf(base, stride, stride3 reg.Register, r, disp int) Mem {
	switch r {
	case 0:
		return Mem{Base: base, Disp: disp}
	case 3:
		return Mem{Base: base, Index: stride3, Scale: 1, Disp: disp}
	}
	return Mem{Base: base, Index: stride, Scale: uint8(r), Disp: disp}
}

// prefetch fetches count rows of lines·64 bytes, stride bytes apart, in order, before a product reads them column by
// column: the processor foresees only the former.
func prefetch() {
	function("prefetchRows", "func(count, lines int, src *float32, stride int)")
	count, src0, stride := param("count"), param("src"), param("stride")
	Label("row")
	lines, src := param("lines"), GP64()
	MOVQ(src0, src)
	Label("line")
	PREFETCHT0(Mem{Base: src})
	ADDQ(Imm(64), src)
	DECQ(lines)
	JNZ(LabelRef("line"))
	ADDQ(stride, src0)
	DECQ(count)
	JNZ(LabelRef("row"))
	done()
}

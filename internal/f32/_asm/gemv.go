package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addRows adds a fixed number of rows of W, stride bytes apart, to y: y += Σ_r x[r]·W[r],
// n ≥ 1 elements. Two sums hide the latency; every element goes the same way, so its
// bits do not depend on its place.
func addRows(rows int) {
	function(fmt.Sprintf("addRows%d", rows), "func(n int, x, w *float32, stride int, y *float32)")
	n, x, w, stride, y := param("n"), param("x"), param("w"), param("stride"), param("y")
	stride3, w4 := GP64(), GP64()
	if rows > 1 {
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	}
	if rows > 4 {
		LEAQ(Mem{Base: w, Index: stride, Scale: 4}, w4)
	}
	factors := make([]reg.VecVirtual, rows)
	for r := range factors {
		factors[r] = YMM()
		VBROADCASTSS(Mem{Base: x, Disp: 4 * r}, factors[r])
	}
	row := func(r int) Mem {
		if r >= 4 {
			return rowOf(w4, stride, stride3, r-4, 0)
		}
		return rowOf(w, stride, stride3, r, 0)
	}
	vector := func(mask reg.Register) {
		at := lanes{mask: mask}
		read := func(m Mem) Op {
			if mask == nil {
				return m
			}
			return at.loadFrom(m)
		}
		sums := [2]reg.VecVirtual{at.loadFrom(Mem{Base: y}), YMM()}
		VFMADD231PS(read(row(0)), factors[0], sums[0])
		if rows > 1 {
			VMULPS(read(row(1)), factors[1], sums[1])
		}
		for r := 2; r < rows; r++ {
			VFMADD231PS(read(row(r)), factors[r], sums[r%2])
		}
		if rows > 1 {
			VADDPS(sums[1], sums[0], sums[0])
		}
		at.storeTo(sums[0], Mem{Base: y})
	}
	SUBQ(Imm(8), n)
	JLT(LabelRef("tail"))
	Label("loop")
	vector(nil)
	ADDQ(Imm(32), w)
	if rows > 4 {
		ADDQ(Imm(32), w4)
	}
	ADDQ(Imm(32), y)
	SUBQ(Imm(8), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(8), n)
	JZ(LabelRef("end"))
	vector(maskFor(n))
	Label("end")
	done()
}

// dot4: y[r] = Σ x·W[r] for r < 4 over k ≥ 1 elements, rows of W stride bytes apart.
func dot4() {
	function("dot4", "func(k int, x, w *float32, stride int, y *float32)")
	k, x, w, stride := param("k"), param("x"), param("w"), param("stride")
	stride3 := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	even, odd := accumulators(4), accumulators(4)
	SUBQ(Imm(16), k)
	JLT(LabelRef("tail"))
	Label("loop")
	for i, sums := range [][]reg.VecVirtual{even, odd} {
		v := YMM()
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v)
		for r, sum := range sums {
			VFMADD231PS(rowOf(w, stride, stride3, r, 32*i), v, sum)
		}
	}
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), w)
	SUBQ(Imm(16), k)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(8), k)
	JLT(LabelRef("short"))
	v := YMM()
	VMOVUPS(Mem{Base: x}, v)
	for r, sum := range even {
		VFMADD231PS(rowOf(w, stride, stride3, r, 0), v, sum)
	}
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), w)
	SUBQ(Imm(8), k)
	Label("short")
	ADDQ(Imm(8), k)
	JZ(LabelRef("end"))
	mask := maskFor(k)
	v = YMM()
	VMASKMOVPS(Mem{Base: x}, mask, v)
	for r, sum := range odd {
		t := YMM()
		VMASKMOVPS(rowOf(w, stride, stride3, r, 0), mask, t)
		VFMADD231PS(t, v, sum)
	}
	Label("end")
	for r := range even {
		VADDPS(odd[r], even[r], even[r])
	}
	VHADDPS(even[1], even[0], even[0])
	VHADDPS(even[3], even[2], even[2])
	VHADDPS(even[2], even[0], even[0])
	high := XMM()
	VEXTRACTF128(Imm(1), even[0], high)
	VADDPS(high, even[0].AsX(), high)
	VMOVUPS(high, Mem{Base: param("y")})
	done()
}

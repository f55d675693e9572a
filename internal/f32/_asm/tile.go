package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fmaPeak runs n·48 independent multiply-adds of 8 lanes: the peak that benchmarks compare with.
func fmaPeak() {
	function("fmaPeakAVX2", "func(n int)")
	n := param("n")
	acc, a, b := accumulators(12), zero(), zero()
	Label("loop")
	for range 4 {
		for _, sum := range acc {
			VFMADD231PS(a, b, sum)
		}
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	done()
}

// layout says how op(A) lies in memory.
type layout string

const (
	inRows    layout = "Rows"    // element (i, p) at a + i·stride + 4p
	inColumns layout = "Columns" // element (i, p) at a + 4i + p·stride: Aᵀ, or a packed panel
)

// extra is what a tile does besides, for the first panel of B that meets its rows of A
// or the other way round. Next to the multiply-adds the copies cost almost nothing.
type extra string

const (
	nothing     extra = ""
	prefetching extra = "Prefetch" // fetch the rows of the next tile of A
	packingA    extra = "PackA"    // copy A to packed, k×6 for each tile
	packingB    extra = "PackB"    // copy B to packed, k×16
)

// tile multiplies rows × k of A by k × 8·vectors of B, for count tiles below one another:
//
//	C = alpha·A·B, or C += alpha·A·B if add is not 0; then a += aStep, c += rows·cStride
//
// Strides and steps are in bytes.
func tile(in layout, rows, vectors int, does extra) {
	signature := "func(count, k int, a *float32, aStride, aStep int, b *float32, bStride int, c *float32, cStride int, alpha float32, add int)"
	if does == packingA || does == packingB {
		signature = signature[:len(signature)-1] + ", packed *float32)"
	}
	function(fmt.Sprintf("tile%s%dx%d%s", in, rows, 8*vectors, does), signature)
	t := tileRegisters{layout: in, rows: rows, vectors: vectors}
	t.load(does)
	Label("tile")
	t.start()
	k := param("k")
	SUBQ(Imm(4), k)
	JLT(LabelRef("tail"))
	Label("loop")
	for u := range 4 {
		t.multiply(u)
		t.fetchNext(u)
		t.packA(u)
	}
	t.advance(4)
	SUBQ(Imm(4), k)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(4), k)
	JZ(LabelRef("store"))
	Label("single")
	t.multiply(0)
	t.packA(0)
	t.advance(1)
	DECQ(k)
	JNZ(LabelRef("single"))
	Label("store")
	t.store()
	Load(Param("aStep"), k)
	ADDQ(k, t.a0)
	DECQ(t.count)
	JNZ(LabelRef("tile"))
	done()
}

type tileRegisters struct {
	layout        layout
	rows, vectors int
	count, a0, b0 reg.Register // tiles to go; A and B at the tile's start
	a, a3, b, c   reg.Register // A, A three strides on, B, C
	stride        reg.Register // of A
	stride3       reg.Register // three of them
	bStride       reg.Register
	cStride       reg.Register
	next, next3   reg.Register // where the next tile's rows are prefetched, or nil
	packedA       reg.Register // where A is copied to, or nil
	packedB       reg.Register // where B is copied to, or nil
	ahead         reg.Register // the place of A, or the distance from B, that is prefetched meanwhile
	sums          [][]reg.VecVirtual
	bRow          []reg.VecVirtual
	aElement      [2]reg.VecVirtual
}

func (t *tileRegisters) load(does extra) {
	t.count, t.a0, t.b0, t.c = param("count"), param("a"), param("b"), param("c")
	t.stride, t.bStride, t.cStride = param("aStride"), param("bStride"), param("cStride")
	t.sums = make([][]reg.VecVirtual, t.rows)
	for i := range t.sums {
		for range t.vectors {
			t.sums[i] = append(t.sums[i], YMM())
		}
	}
	for range t.vectors {
		t.bRow = append(t.bRow, YMM())
	}
	t.aElement = [2]reg.VecVirtual{YMM(), YMM()}
	t.a, t.a3, t.b, t.stride3 = GP64(), GP64(), GP64(), GP64()
	switch does {
	case prefetching:
		t.next, t.next3 = GP64(), GP64()
	case packingA:
		t.packedA, t.ahead = param("packed"), GP64()
	case packingB:
		t.packedB, t.ahead = param("packed"), GP64()
		MOVQ(t.bStride, t.ahead)
		SHLQ(Imm(4), t.ahead)
	}
	LEAQ(Mem{Base: t.stride, Index: t.stride, Scale: 2}, t.stride3)
}

// start clears the sums and touches C, so that it arrives while the products run.
func (t *tileRegisters) start() {
	for _, row := range t.sums {
		for _, sum := range row {
			VXORPS(sum, sum, sum)
		}
	}
	MOVQ(t.a0, t.a)
	MOVQ(t.b0, t.b)
	row := GP64()
	MOVQ(t.c, row)
	for i := range t.rows {
		PREFETCHT0(Mem{Base: row})
		if i < t.rows-1 {
			ADDQ(t.cStride, row)
		}
	}
	if t.layout == inRows && t.rows > 3 {
		LEAQ(Mem{Base: t.a, Index: t.stride3, Scale: 1}, t.a3)
	}
	if t.packedA != nil {
		MOVQ(t.stride, t.ahead)
		SHLQ(Imm(4), t.ahead)
		ADDQ(t.a, t.ahead)
	}
	if t.next != nil {
		LEAQ(Mem{Base: t.a3, Index: t.stride3, Scale: 1}, t.next)
		LEAQ(Mem{Base: t.next, Index: t.stride3, Scale: 1}, t.next3)
	}
}

// packB copies the row of B that has just been loaded.
func (t *tileRegisters) packB() {
	if t.packedB == nil {
		return
	}
	for j, v := range t.bRow {
		VMOVUPS(v, Mem{Base: t.packedB, Disp: 32 * j})
	}
	ADDQ(Imm(uint64(32*t.vectors)), t.packedB)
	PREFETCHT0(Mem{Base: t.b, Index: t.ahead, Scale: 1})
}

// packA copies the six values of A that multiply has just used.
func (t *tileRegisters) packA(u int) {
	if t.packedA == nil {
		return
	}
	four, two := t.aElement[0].AsX(), t.aElement[1].AsX() // free again
	PREFETCHT0(Mem{Base: t.ahead})
	ADDQ(t.stride, t.ahead)
	VMOVUPS(t.element(0, u), four)
	VMOVUPS(four, Mem{Base: t.packedA, Disp: 24 * u})
	VMOVQ(t.element(4, u), two)
	VMOVQ(two, Mem{Base: t.packedA, Disp: 24*u + 16})
}

// strides is the address of base plus n strides of A, n < 3.
func (t *tileRegisters) strides(base reg.Register, n, disp int) Mem {
	if n == 0 {
		return Mem{Base: base, Disp: disp}
	}
	return Mem{Base: base, Index: t.stride, Scale: uint8(n), Disp: disp}
}

// element is the address of row i of A, u values of k on.
func (t *tileRegisters) element(i, u int) Mem {
	switch {
	case t.layout == inRows && i < 3:
		return t.strides(t.a, i, 4*u)
	case t.layout == inRows:
		return t.strides(t.a3, i-3, 4*u)
	case u < 3:
		return t.strides(t.a, u, 4*i)
	}
	return Mem{Base: t.a, Index: t.stride3, Scale: 1, Disp: 4 * i}
}

// multiply adds the outer product of a column of A, u on, with a row of B.
func (t *tileRegisters) multiply(u int) {
	for j, v := range t.bRow {
		VMOVUPS(Mem{Base: t.b, Disp: 32 * j}, v)
	}
	t.packB()
	ADDQ(t.bStride, t.b)
	for i, row := range t.sums {
		x := t.aElement[i%2]
		VBROADCASTSS(t.element(i, u), x)
		for j, v := range t.bRow {
			VFMADD231PS(x, v, row[j])
		}
	}
}

// fetchNext prefetches two of the six rows of the next tile, four values of k at a time.
func (t *tileRegisters) fetchNext(u int) {
	if t.next != nil && u < 3 {
		PREFETCHT0(t.strides(t.next, u, 0))
		PREFETCHT0(t.strides(t.next3, u, 0))
	}
}

// advance moves A by n values of k.
func (t *tileRegisters) advance(n int) {
	if t.packedA != nil {
		ADDQ(Imm(uint64(24*n)), t.packedA)
	}
	if t.layout == inColumns {
		LEAQ(Mem{Base: t.a, Index: t.stride, Scale: uint8(n)}, t.a)
		return
	}
	ADDQ(Imm(uint64(4*n)), t.a)
	if t.rows > 3 {
		ADDQ(Imm(uint64(4*n)), t.a3)
	}
	if t.next != nil && n == 4 {
		ADDQ(Imm(16), t.next)
		ADDQ(Imm(16), t.next3)
	}
}

// store writes the tile to C, or adds it, and moves C to the next tile.
func (t *tileRegisters) store() {
	alpha, add := t.bRow[0], GP64()
	VBROADCASTSS(address(Param("alpha")), alpha)
	Load(Param("add"), add)
	TESTQ(add, add)
	JNZ(LabelRef("add"))
	for _, row := range t.sums {
		for j, sum := range row {
			VMULPS(alpha, sum, sum)
			VMOVUPS(sum, Mem{Base: t.c, Disp: 32 * j})
		}
		ADDQ(t.cStride, t.c)
	}
	JMP(LabelRef("stored"))
	Label("add")
	for _, row := range t.sums {
		for j, sum := range row {
			VFMADD213PS(Mem{Base: t.c, Disp: 32 * j}, alpha, sum)
			VMOVUPS(sum, Mem{Base: t.c, Disp: 32 * j})
		}
		ADDQ(t.cStride, t.c)
	}
	Label("stored")
}

//go:build amd64 && !noasm && !openblas

package f32

import (
	"sync"
	"unsafe"
)

// The product is cut into blocks that stay in cache: blockDepth values of k and
// blockCols columns of op(B), packed once, then blockRows rows of op(A) at a time.
// Inside, tiles of tileRows×tileCols of C live in registers.
const (
	blockDepth = 512
	blockCols  = 512
	blockRows  = 96

	packBRows  = 24   // rows of C from which packing B, if not transposed, pays
	lateRows   = 256  // rows of C below which B is packed by the first tile that meets it
	smallB     = 4096 // floats of B that are read in place: half of L1
	packACols  = 32   // columns of C from which packing Aᵀ pays
	packStripe = 16   // rows of B packed at a time, over all panels
	thinCols   = 3    // column tails up to this wide are matrix-vector products
	gemvRows   = 8    // rows of C up to which the whole product is made of these
)

// gemm computes C = alpha·op(A)·op(B), or C += that if add is set; no size is 0.
func gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, add bool, c []float32, ldc int) {
	if !haveAVX2 {
		gemmPortable(transA, transB, m, n, k, alpha, a, lda, b, ldb, add, c, ldc)
		return
	}
	if m <= gemvRows && !transA {
		gemv(transB, m, n, k, alpha, a, lda, b, ldb, add, c, ldc)
		return
	}
	p := products.Get().(*product)
	p.transA, p.transB, p.m, p.n, p.k, p.alpha, p.add = transA, transB, m, n, k, alpha, add
	p.a, p.b, p.c, p.lda, p.ldb, p.ldc = a, b, c, lda, ldb, ldc
	p.run()
	p.a, p.b, p.c = nil, nil, nil
	products.Put(p)
}

// product is one call of gemm and its scratch memory.
type product struct {
	transA, transB, add bool
	m, n, k             int
	alpha               float32
	a, b, c             []float32
	lda, ldb, ldc       int

	packB, latePackB             bool // pack op(B); all panels but the first while the first rows meet them
	packA, copyA                 bool
	bufA, bufB, bufTail, bufThin []float32
}

var products = sync.Pool{New: func() any { return new(product) }}

// evenBlock splits n into equal blocks of at most limit and rounds their size up to a multiple of unit.
func evenBlock(n, limit, unit int) int {
	blocks := (n + limit - 1) / limit
	size := (n + blocks - 1) / blocks
	return (size + unit - 1) / unit * unit
}

// resize returns s with at least n elements, starting on a cache line.
func resize(s []float32, n int) []float32 {
	if len(s) >= n {
		return s
	}
	const line = 16 // floats
	s = make([]float32, n+line)
	past := int(uintptr(unsafe.Pointer(&s[0])) / 4 % line)
	return s[(line-past)%line:][:n]
}

func (p *product) run() {
	depth := evenBlock(p.k, blockDepth, 8)
	cols := evenBlock(p.n, blockCols, tileCols)
	p.plan(min(depth, p.k), cols)
	for k0 := 0; k0 < p.k; k0 += depth {
		b := block{k0: k0, depth: min(depth, p.k-k0)}
		if p.add || k0 > 0 {
			b.add = 1
		}
		for b.j0 = 0; b.j0 < p.n; b.j0 += cols {
			b.cols = min(cols, p.n-b.j0)
			if p.packB {
				p.packPanels(&b)
			}
			for b.i0 = 0; b.i0 < p.m; b.i0 += b.rows {
				b.rows = p.m - b.i0
				if b.rows > blockRows+tileRows {
					b.rows = blockRows
				}
				p.takeRows(&b)
				p.multiply(&b)
			}
		}
	}
}

// plan chooses what to pack and makes room for it.
func (p *product) plan(depth, cols int) {
	p.packB = p.transB || p.m >= packBRows && p.k*p.ldb > smallB
	p.latePackB = p.packB && !p.transB && p.m < lateRows
	p.packA = p.transA && p.n > packACols && p.k > packACols
	// Rows of A that lie a multiple of 4 KiB apart would share one set of L1.
	p.copyA = !p.transA && p.lda%1024 == 0 && p.n > 2*tileCols
	if p.packB {
		p.bufB = resize(p.bufB, depth*cols)
	} else if p.n%tileCols != 0 {
		p.bufB = resize(p.bufB, depth*tileCols)
	}
	rows := min(p.m, blockRows+tileRows)
	if p.packA || p.copyA {
		p.bufA = resize(p.bufA, rows*(depth+tileCols))
	}
	if p.n%tileCols != 0 {
		p.bufTail = resize(p.bufTail, rows*tileCols)
		p.bufThin = resize(p.bufThin, depth+rows)
	}
}

// block is the part of the product being computed: C[i0:i0+rows, j0:j0+cols] with
// depth values of k from k0 on. Strides and steps are in bytes, for the kernels.
type block struct {
	k0, depth, j0, cols, i0, rows int
	add                           int // 0: C is overwritten

	six  int    // how many tiles of 6 rows
	last [2]int // rows of the tiles after them, 0 for none

	a, tiles              []float32 // op(A), and op(A) for the tiles of 6 rows
	aStride               int
	tileStride, tilesStep int

	j, width    int      // the panel at hand: columns j0+j to j0+j+width
	panel       *float32 // depth × 16, zeros beyond width
	panelStride int
}

// takeRows finds the block's rows of op(A), copying them if planned.
func (p *product) takeRows(b *block) {
	b.six, b.last = tileHeights(b.rows)
	b.aStride = 4 * p.lda
	if p.transA {
		b.a = p.a[b.k0*p.lda+b.i0:]
		b.tiles, b.tileStride, b.tilesStep = b.a, b.aStride, 4*tileRows
		if p.packA {
			prefetchRows(b.depth, (4*b.rows+63)/64, &b.a[0], 4*p.lda)
		}
		return
	}
	b.a = p.a[b.i0*p.lda+b.k0:]
	if p.copyA {
		stride := b.depth + tileCols
		for i := range b.rows {
			copy(p.bufA[i*stride:][:b.depth], b.a[i*p.lda:])
		}
		b.a, b.aStride = p.bufA, 4*stride
	}
	b.tiles, b.tileStride, b.tilesStep = b.a, b.aStride, tileRows*b.aStride
}

// multiply computes the block, one panel of 16 columns after the other.
func (p *product) multiply(b *block) {
	for j := 0; j < b.cols; j += tileCols {
		p.takePanel(b, j)
		c := p.c[b.i0*p.ldc+b.j0+j:]
		switch {
		case b.width == tileCols:
			p.tiles(b, &c[0], 4*p.ldc, b.add)
		case b.width > thinCols:
			p.tiles(b, &p.bufTail[0], 4*tileCols, 0)
			storeTail(p.bufTail, b.rows, b.width, c, p.ldc, b.add)
		default:
			p.thinTail(b, c)
		}
	}
}

// takePanel finds the panel of op(B) that starts at column j of the block.
func (p *product) takePanel(b *block, j int) {
	b.j, b.width = j, min(tileCols, b.cols-j)
	b.panelStride = 4 * tileCols
	switch {
	case p.packB:
		b.panel = &p.bufB[j*b.depth]
	case b.width == tileCols:
		b.panel, b.panelStride = &p.b[b.k0*p.ldb+b.j0+j], 4*p.ldb
	default:
		p.packTail(b, p.bufB, j, b.width)
		b.panel = &p.bufB[0]
	}
}

// tiles multiplies the block's rows by its panel. The first panel that meets the rows
// also packs or prefetches them, and the first tile that meets the panel may pack it.
func (p *product) tiles(b *block, c *float32, cStride, add int) {
	vectors := (b.width - 1) / 8
	in := &tilesInRows
	if p.transA {
		in = &tilesInColumns
	}
	first := b.j == 0 && b.width == tileCols
	six, a := b.six, &b.tiles[0]
	switch {
	case six == 0:
	case first && p.packA: // from here on, the block's tiles of 6 rows are packed
		tileColumns6x16PackA(six, b.depth, a, b.tileStride, b.tilesStep, b.panel, b.panelStride, c, cStride, p.alpha, add, &p.bufA[0])
		b.tiles, b.tileStride, b.tilesStep = p.bufA, 4*tileRows, 4*tileRows*b.depth
	case first && !p.transA:
		tileRows6x16Prefetch(six, b.depth, a, b.tileStride, b.tilesStep, b.panel, b.panelStride, c, cStride, p.alpha, add)
	case p.latePackB && b.i0 == 0 && b.width == tileCols:
		p.packTile(b, c, cStride, add)
		if six > 1 {
			in[tileRows-1][vectors](six-1, b.depth, below(a, b.tilesStep), b.tileStride, b.tilesStep, b.panel, b.panelStride, below(c, tileRows*cStride), cStride, p.alpha, add)
		}
	default:
		in[tileRows-1][vectors](six, b.depth, a, b.tileStride, b.tilesStep, b.panel, b.panelStride, c, cStride, p.alpha, add)
	}
	row := six * tileRows
	for _, rows := range b.last {
		if rows == 0 {
			continue
		}
		a := row
		if !p.transA {
			a *= b.aStride / 4
		}
		in[rows-1][vectors](1, b.depth, &b.a[a], b.aStride, 0, b.panel, b.panelStride, below(c, row*cStride), cStride, p.alpha, add)
		row += rows
	}
}

// packTile computes the first tile from B in place, packing the panel for the others.
func (p *product) packTile(b *block, c *float32, cStride, add int) {
	tile := tileRows6x16PackB
	if p.transA {
		tile = tileColumns6x16PackB
	}
	tile(1, b.depth, &b.tiles[0], b.tileStride, b.tilesStep, &p.b[b.k0*p.ldb+b.j0+b.j], 4*p.ldb, c, cStride, p.alpha, add, b.panel)
}

// below returns the address some bytes after c.
func below(c *float32, bytes int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(c), bytes))
}

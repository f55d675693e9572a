//go:build amd64 && !noasm && !openblas

package f32

// packPanels packs the block's columns of op(B) in panels of 16 columns, depth×16 each.
func (p *product) packPanels(b *block) {
	full := b.cols / tileCols
	if p.transB {
		for j := range full {
			p.packTransposedPanel(b, j*tileCols)
		}
	} else if full > 0 {
		now := full
		if p.latePackB {
			now = 1
		}
		for i := 0; i < b.depth; i += packStripe {
			src := p.b[(b.k0+i)*p.ldb+b.j0:]
			packRows16(min(packStripe, b.depth-i), now, &p.bufB[i*tileCols], 4*tileCols*b.depth, &src[0], 4*p.ldb)
		}
	}
	if j := full * tileCols; j < b.cols {
		p.packTail(b, p.bufB[j*b.depth:], j, b.cols-j)
	}
}

// packTransposedPanel packs 16 rows of B as the columns of a panel.
func (p *product) packTransposedPanel(b *block, j int) {
	dst := p.bufB[j*b.depth:][:b.depth*tileCols]
	src := p.b[(b.j0+j)*p.ldb+b.k0:]
	if eights := b.depth / 8; eights > 0 {
		transpose8(eights, &dst[0], 4*tileCols, &src[0], 4*p.ldb)
		transpose8(eights, &dst[8], 4*tileCols, &src[8*p.ldb], 4*p.ldb)
	}
	for i := b.depth &^ 7; i < b.depth; i++ {
		for r := range tileCols {
			dst[i*tileCols+r] = src[r*p.ldb+i]
		}
	}
}

// packTail packs a last panel of width < 16 columns, filled up with zeros.
func (p *product) packTail(b *block, dst []float32, j, width int) {
	dst = dst[:b.depth*tileCols]
	clear(dst)
	if p.transB {
		for r := range width {
			src := p.b[(b.j0+j+r)*p.ldb+b.k0:][:b.depth]
			for i, v := range src {
				dst[i*tileCols+r] = v
			}
		}
		return
	}
	for i := range b.depth {
		copy(dst[i*tileCols:][:width], p.b[(b.k0+i)*p.ldb+b.j0+j:])
	}
}

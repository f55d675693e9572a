//go:build amd64 && !noasm && !openblas

package f32

// packPanels packs the block's columns of op(B) in panels of 16 columns, depth×16 each.
func (p *product) packPanels(b *block) {
	full := b.cols / tileCols
	if p.transB {
		for j := range full {
			packTransposed(b.depth, p.bufB[j*tileCols*b.depth:], p.b[(b.j0+j*tileCols)*p.ldb+b.k0:], p.ldb)
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

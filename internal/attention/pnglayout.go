package attention

import (
	"image"
	"math"
)

// Sizes of a picture, in pixels.
const (
	pngCap       = 4096 // the longest side of a picture that can be kept to
	pngCellMax   = 28   // of one weight
	pngCellLabel = 9    // the least at which every key has its label
	pngPanel     = 704  // the side of a heat map that a cell's size aims at
	pngHeader    = 64
	pngGap       = 24 // between heat maps, and around
	pngTitle     = 18
	pngWidthMin  = 520 // the header needs it
)

// pngLayout is where everything lies in a picture: a grid of panels, each a title over a square of cells, with row labels on
// the left and column labels below.
type pngLayout struct {
	tokens        int
	cell          int // pixels a weight, 1 or more
	pool          int // weights a cell along each side: more than 1 only if not even one pixel a weight fits the cap
	rows, columns int // panels
	left, bottom  int // room for a panel's labels
	stride        int // every which cell has a label
	fontSize      int
	labelWidth    int // of the widest label
	positionWidth int
	rotated       bool // column labels are turned by a quarter
}

// newPNGLayout arranges the views of s; text measures in the font.
func newPNGLayout(t *Trace, views int, s Selection, text *pngText) pngLayout {
	l := pngLayout{tokens: len(t.Tokens), pool: 1}
	l.rows, l.columns = panelGrid(t.Shape, views, s)
	l.cell = max(pngCellLabel, min(pngCellMax, pngPanel/l.tokens))
	for l.measure(t, text); l.oversized(); l.measure(t, text) {
		if l.cell > 1 {
			l.cell--
			continue
		}
		if l.pool >= l.tokens {
			break // the labels alone are too large: so many panels that nothing helps
		}
		l.pool++
	}
	return l
}

// panelGrid is layers × heads if both vary, else nearly square.
func panelGrid(shape Shape, views int, s Selection) (rows, columns int) {
	if s.Layer == All && s.Head == All && shape.NHead > 1 && shape.NLayer > 1 {
		return shape.NLayer, shape.NHead
	}
	columns = max(1, int(math.Ceil(math.Sqrt(float64(views)))))
	return (views + columns - 1) / columns, columns
}

// measure fills in what follows from the size of a cell.
func (l *pngLayout) measure(t *Trace, text *pngText) {
	l.fontSize = max(8, min(14, l.cell-1))
	l.stride = (pngCellLabel + l.cell - 1) / l.cell
	l.labelWidth, l.positionWidth = 0, text.width("0", l.fontSize)*len(itoa(l.tokens-1))
	for _, c := range t.Labels {
		l.labelWidth = max(l.labelWidth, text.width(text.label(c), l.fontSize))
	}
	l.left = l.positionWidth + l.labelWidth + 12
	l.rotated = l.labelWidth > max(l.cell*l.stride, l.fontSize)
	l.bottom = 2*l.fontSize + 8
	if l.rotated {
		l.bottom = l.labelWidth + l.fontSize + 8
	}
}

func (l *pngLayout) oversized() bool {
	size := l.size()
	return size.X > pngCap || size.Y > pngCap
}

// cells is the number of cells along a panel's side.
func (l *pngLayout) cells() int { return (l.tokens + l.pool - 1) / l.pool }

// side is the length of a panel's square of cells.
func (l *pngLayout) side() int { return l.cells() * l.cell }

func (l *pngLayout) size() image.Point {
	return image.Pt(
		max(pngWidthMin, pngGap+l.columns*(l.left+l.side()+pngGap)),
		pngHeader+l.rows*(pngTitle+l.side()+l.bottom+pngGap))
}

// panel is the square of cells of the view at the given place.
func (l *pngLayout) panel(at int) image.Rectangle {
	row, column := at/l.columns, at%l.columns
	x := pngGap + column*(l.left+l.side()+pngGap) + l.left
	y := pngHeader + row*(pngTitle+l.side()+l.bottom+pngGap) + pngTitle
	return image.Rect(x, y, x+l.side(), y+l.side())
}

// cellAt is the cell of the given row and column in panel at.
func (l *pngLayout) cellAt(at, row, column int) image.Rectangle {
	p := l.panel(at).Min.Add(image.Pt(column*l.cell, row*l.cell))
	return image.Rectangle{p, p.Add(image.Pt(l.cell, l.cell))}
}

// pooled is the weight that a cell shows: the largest of those it stands for, so that a thin line of strong weights stays visible.
func (l *pngLayout) pooled(weights []float32, row, column int) float32 {
	w := float32(0)
	for i := row * l.pool; i < min(l.tokens, (row+1)*l.pool); i++ {
		for j := column * l.pool; j < min(i+1, (column+1)*l.pool); j++ {
			w = max(w, weights[i*l.tokens+j])
		}
	}
	return w
}

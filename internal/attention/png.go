package attention

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// maskedColour is that of the keys that a query may not see, which is none of the scale's.
func maskedColour() color.RGBA { return color.RGBA{0xEC, 0xEC, 0xEC, 255} }

// WritePNG draws the views that s selects as heat maps in a grid, layers downwards and heads to the right if both vary: rows
// are queries, columns keys, and every weight is a square of its [WeightColour]. Characters that the font lacks are labelled
// U+XXXX. Cells shrink, and labels thin out, so that no side is longer than 4096 pixels; where not even a pixel a weight
// fits, a pixel shows the largest of several weights. The same trace gives the same bytes.
func WritePNG(w io.Writer, t *Trace, s Selection) error {
	views, err := t.checked(s)
	if err != nil {
		return err
	}
	if len(views) == 0 {
		return fmt.Errorf("attention: the model has no attention layers to draw")
	}
	text := newPNGText()
	p := pngPicture{trace: t, views: views, text: text, layout: newPNGLayout(t, len(views), s, text)}
	size := p.layout.size()
	// At 72 dots an inch a point of vg is a pixel.
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(size.X), vg.Length(size.Y)), vgimg.UseDPI(72))
	text.onto(vgdraw.New(canvas), size.Y)
	p.draw(canvas.Image())
	return png.Encode(w, canvas.Image())
}

type pngPicture struct {
	trace  *Trace
	views  []view
	text   *pngText
	layout pngLayout
}

func (p *pngPicture) draw(img draw.Image) {
	p.header(img)
	for at, v := range p.views {
		r := p.layout.panel(at)
		p.text.draw(p.text.line(v.Title), float64(r.Min.X), float64(r.Min.Y-6), 12, 0, 0, 0)
		p.rowLabels(r)
		p.columnLabels(r)
		p.cells(img, at, v)
	}
}

// cells fills whole pixels itself: polygons of vg would have blurred edges.
func (p *pngPicture) cells(img draw.Image, at int, v view) {
	for i := range p.layout.cells() {
		for j := range p.layout.cells() {
			c := maskedColour()
			if j <= i {
				c = WeightColour(float64(p.layout.pooled(v.Weights, i, j)))
			}
			draw.Draw(img, p.layout.cellAt(at, i, j), image.NewUniform(c), image.Point{}, draw.Src)
		}
	}
}

// header is the source and the colour bar.
func (p *pngPicture) header(img draw.Image) {
	title := []rune(p.text.line(fmt.Sprintf("%s, step %d", p.trace.Source, p.trace.Step)))
	room := p.layout.size().X - 2*pngGap
	for cut := false; p.text.width(string(title), 12) > room && len(title) > 2; cut = true {
		if title = title[1:]; cut {
			title = title[1:]
		}
		title = append([]rune("…"), title...)
	}
	p.text.draw(string(title), pngGap, 20, 12, 0, 0, 0)
	p.text.draw("rows: queries, columns: keys; weight", pngGap, 40, 11, 0, 0, 0)
	const left, width = pngGap + 250, 220
	for x := range width {
		shade := image.NewUniform(Viridis(float64(x) / (width - 1)))
		draw.Draw(img, image.Rect(left+x, 30, left+x+1, 42), shade, image.Point{}, draw.Src)
	}
	for _, weight := range []float64{0, 0.01, 0.05, 0.15, 0.3, 0.6, 1} {
		x := left + Shade(weight)*(width-1)
		p.text.draw(strconv.FormatFloat(weight, 'g', -1, 64), x, 44, 9, -0.5, -1, 0)
	}
}

func (p *pngPicture) rowLabels(r image.Rectangle) {
	l := p.layout
	right := float64(r.Min.X - 4)
	for i := 0; i < l.cells(); i += l.stride {
		at := i * l.pool
		y := float64(r.Min.Y) + (float64(i)+0.5)*float64(l.cell)
		p.text.draw(p.text.label(p.trace.Labels[at]), right-float64(l.labelWidth), y, l.fontSize, 0, -0.5, 0)
		p.text.draw(itoa(at), right-float64(l.labelWidth)-5, y, l.fontSize, -1, -0.5, 0)
	}
}

// columnLabels writes the characters below the cells, and below them some positions.
func (p *pngPicture) columnLabels(r image.Rectangle) {
	l := p.layout
	every := l.stride * max(1, int(math.Ceil(float64(l.positionWidth+4)/float64(l.stride*l.cell))))
	for j := 0; j < l.cells(); j += l.stride {
		at := j * l.pool
		x := float64(r.Min.X) + (float64(j)+0.5)*float64(l.cell)
		label := p.text.label(p.trace.Labels[at])
		if l.rotated && strokes(label) == nil {
			p.text.draw(label, x, float64(r.Max.Y+4), l.fontSize, -1, -0.5, math.Pi/2)
		} else {
			p.text.draw(label, x, float64(r.Max.Y+3), l.fontSize, -0.5, -1, 0)
		}
		if j%every == 0 {
			p.text.draw(itoa(at), x, float64(r.Max.Y+l.bottom), l.fontSize, -0.5, 0, 0)
		}
	}
}

func itoa(i int) string { return strconv.Itoa(i) }

package chart

import (
	"bytes"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"chargpt/internal/atomicfile"
)

// The size of a picture, and how many pixels of a PNG an inch has.
const (
	width  = 8 * vg.Inch
	height = 5.5 * vg.Inch
	dpi    = 144
)

// write draws the picture in both formats.
func (p *picture) write(out string) error {
	svg := vgsvg.NewWith(vgsvg.UseWH(width, height))
	drawn, err := p.encode(svg)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(out+".svg", Fallback(drawn)); err != nil {
		return err
	}
	drawn, err = p.encode(vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))})
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(out+".png", drawn)
}

// Fallback names more fonts in an SVG of gonum's: Liberation Sans is not embedded, and Arial and Helvetica have its widths.
func Fallback(svg []byte) []byte {
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
}

// encode draws the picture on a canvas, and returns the canvas as a file's content.
func (p *picture) encode(canvas vg.CanvasWriterTo) ([]byte, error) {
	p.draw(draw.New(canvas))
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
}

func (p *picture) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	legend, loss, rate := p.layout(c)
	p.drawLegend(legend)
	p.loss.Draw(loss)
	p.rate.Draw(rate)
}

// layout puts the legend at the top, the losses under it, and the learning rate at the bottom.
func (p *picture) layout(c draw.Canvas) (legend, loss, rate draw.Canvas) {
	const margin, legendHeight, rateHeight = 10, 26, 118
	c = draw.Crop(c, margin, -2*margin, margin, -margin)
	h := c.Max.Y - c.Min.Y
	loss, rate = draw.Crop(c, 0, 0, rateHeight+margin, -legendHeight), draw.Crop(c, 0, 0, 0, -(h-rateHeight))
	alignLeft(p.loss, &loss, p.rate, &rate)
	return c, loss, rate
}

// alignLeft narrows one of two canvases so that the data of both panels begin at the same x.
func alignLeft(p *plot.Plot, a *draw.Canvas, q *plot.Plot, b *draw.Canvas) {
	difference := p.DataCanvas(*a).Min.X - q.DataCanvas(*b).Min.X
	if difference < 0 {
		a.Min.X -= difference
	} else {
		b.Min.X += difference
	}
}

// drawLegend draws the entries in a row, which no curve can cross.
func (p *picture) drawLegend(c draw.Canvas) {
	c.Min.X += 44 // about where the data begin
	for _, e := range p.legend {
		l := plot.NewLegend()
		l.Top, l.Left = true, true
		l.TextStyle.Font = sans(11)
		l.ThumbnailWidth = vg.Points(22)
		l.YPosition = draw.PosCenter
		l.Add(e.text, e.icon...)
		l.Draw(c)
		r := l.Rectangle(c)
		c.Min.X += r.Max.X - r.Min.X + 18
	}
}

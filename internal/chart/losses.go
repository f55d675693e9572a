package chart

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Losses draws a metrics file (a run's metrics.csv) as out.svg and out.png: the loss of training and validation, the bigram
// baseline, the best validation loss, and the learning rate below. Files that are there are replaced at once. A column that
// is missing or empty is left out; it is an error if there is no training loss at all.
func Losses(metrics, out string) error {
	t, err := readTable(metrics)
	if err != nil {
		return err
	}
	p, err := newPicture(t)
	if err != nil {
		return err
	}
	return p.write(out)
}

// Colours that people with any kind of colour blindness tell apart (Okabe and Ito 2008).
const (
	blue      = 0x0072B2
	vermilion = 0xD55E00
	green     = 0x009E73
	grey      = 0x555555
	pale      = 0xE4E4E4
)

// rgb is a colour written as in a web page.
func rgb(c uint32) color.RGBA { return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255} }

// picture is two panels with the same iterations, and a legend.
type picture struct {
	loss, rate *plot.Plot
	legend     []entry
}

// entry is one of the legend.
type entry struct {
	text string
	icon []plot.Thumbnailer
}

func newPicture(t table) (*picture, error) {
	p := &picture{loss: newPanel("loss, nats a character"), rate: newPanel("learning rate")}
	p.rate.X.Label.Text = "iteration"
	p.rate.Y.Tick.Marker = ticks{count: 3}
	// The thin line comes last, to be seen where the two are one.
	if err := p.curve(p.loss, t.points(valLoss), "validation", vermilion, 2.4); err != nil {
		return nil, err
	}
	if err := p.curve(p.loss, t.points(trainLoss), "training", blue, 1.2); err != nil {
		return nil, err
	}
	if err := p.best(t.points(valLoss)); err != nil {
		return nil, err
	}
	if bigram := t.points(bigramLoss); len(bigram) > 0 {
		p.baseline(bigram[len(bigram)-1].Y)
	}
	if err := p.curve(p.rate, t.points(learningRate), "", green, 1.5); err != nil {
		return nil, err
	}
	p.setRanges(t.points(trainLoss))
	return p, nil
}

// setRanges gives both panels the same iterations, and curves some room.
func (p *picture) setRanges(points plotter.XYs) {
	last := max(1, points[len(points)-1].X)
	for _, panel := range []*plot.Plot{p.loss, p.rate} {
		panel.X.Min, panel.X.Max = 0, last
	}
	room := max(0.04*(p.loss.Y.Max-p.loss.Y.Min), 1e-3)
	p.loss.Y.Min, p.loss.Y.Max = p.loss.Y.Min-room, p.loss.Y.Max+room
	p.rate.Y.Min = 0
	if p.rate.Y.Max *= 1.06; p.rate.Y.Max <= 0 { // none, or always 0
		p.rate.Y.Max = 1e-3
	}
}

// newPanel is an empty plot with a grid.
func newPanel(label string) *plot.Plot {
	p := plot.New()
	p.Y.Label.Text = label
	p.X.Tick.Marker = ticks{count: 8, smallest: 1}
	p.Y.Tick.Marker = ticks{count: 5}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = sans(11)
		axis.Tick.Label.Font = sans(10)
		axis.Color, axis.Tick.Color = rgb(grey), rgb(grey)
		axis.Padding = 0
	}
	p.Y.Label.Padding = vg.Points(6)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = rgb(pale), rgb(pale)
	p.Add(grid)
	return p
}

func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

// fewPoints is how many points a curve has at most for each of them to be marked.
const fewPoints = 30

// curve adds a line through points, and their marks where they are few: a single point makes no line.
func (p *picture) curve(panel *plot.Plot, points plotter.XYs, name string, colour uint32, width vg.Length) error {
	if len(points) == 0 {
		return nil
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = rgb(colour), width
	marks.Color, marks.Shape, marks.Radius = rgb(colour), draw.CircleGlyph{}, 0.5+width
	panel.Add(line)
	if len(points) <= fewPoints {
		panel.Add(marks)
	}
	if name != "" {
		p.legend = append(p.legend, entry{name, []plot.Thumbnailer{line}})
	}
	return nil
}

// baseline adds the loss of the bigram Markov chain, which does not depend on the iteration.
func (p *picture) baseline(loss float64) {
	line := plotter.NewFunction(func(float64) float64 { return loss })
	line.Color, line.Width = rgb(grey), vg.Points(1.2)
	line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	line.Samples = 2
	p.loss.Add(line)
	p.loss.Y.Min, p.loss.Y.Max = min(p.loss.Y.Min, loss), max(p.loss.Y.Max, loss) // a function has no range of its own
	p.legend = append(p.legend, entry{fmt.Sprintf("bigram %.4f", loss), []plot.Thumbnailer{line}})
}

// best marks the lowest of the validation losses.
func (p *picture) best(points plotter.XYs) error {
	if len(points) == 0 {
		return nil
	}
	lowest := points[0]
	for _, x := range points {
		if x.Y < lowest.Y {
			lowest = x
		}
	}
	ring, err := plotter.NewScatter(plotter.XYs{lowest})
	if err != nil {
		return err
	}
	ring.Color, ring.Shape, ring.Radius = color.Black, thickRing{}, vg.Points(5.5)
	p.loss.Add(ring)
	p.legend = append(p.legend, entry{fmt.Sprintf("best validation %.4f at %.0f", lowest.Y, lowest.X), []plot.Thumbnailer{ring}})
	return nil
}

// thickRing is a circle that a line under it does not hide.
type thickRing struct{}

// DrawGlyph strokes the circle.
func (thickRing) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: vg.Points(1.6)})
	var path vg.Path
	path.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
	path.Arc(at, style.Radius, 0, 2*math.Pi)
	path.Close()
	c.Stroke(path)
}

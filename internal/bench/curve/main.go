// Command curve draws the loss against minutes of training beside what nanoGPT's README publishes for the same text. The
// name of a run in the ledger decides whether it is drawn: "default preset, 3 minutes" and so on, "larger model, 60 minutes",
// or "… minutes' iterations" of one that was made in another time, with as many iterations as that time holds.
//
//	go run ./internal/bench/curve docs/ledger.csv docs/recipe.svg
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"image/color"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"chargpt/internal/atomicfile"
	"chargpt/internal/chart"
	"chargpt/internal/cli"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

func main() { cli.Main("internal/bench/curve", run) }

func run(_ context.Context, env cli.Env) error {
	fs := cli.NewFlags("curve", "draws the losses of a ledger", "go run ./internal/bench/curve docs/ledger.csv docs/recipe.svg")
	fs.Group("After the flags: LEDGER.csv PICTURE.svg")
	files, err := fs.ParseMore(env.Args, env.Stdout)
	if err != nil {
		return err
	}
	if len(files) != 2 || filepath.Ext(files[1]) != ".svg" {
		return cli.Usagef("give a ledger and the picture to draw, LEDGER.csv PICTURE.svg")
	}
	return drawLedger(files[0], files[1])
}

// drawLedger draws a ledger's runs into a picture, whole or not at all.
func drawLedger(ledger, picture string) error {
	points, err := read(ledger, preset)
	if err != nil {
		return err
	}
	if len(points) == 0 {
		return fmt.Errorf("%s has no run named %q", ledger, preset+"N minutes")
	}
	others, err := read(ledger, larger)
	if err != nil {
		return err
	}
	p, err := newPlot(points, others)
	if err != nil {
		return err
	}
	canvas := vgsvg.New(8*vg.Inch, 5*vg.Inch)
	const margin = 8 // points
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	return atomicfile.WriteBytes(picture, chart.Fallback(svg.Bytes()))
}

// columns is how many fields a row of the ledger has; the last is the loss.
const columns = 8

// What is drawn: runs by the beginning of their name.
const (
	preset = "default preset, "
	larger = "larger model, "
)

// read returns minutes and losses of a series. Minutes are those that were asked for, which the name ends with.
func read(ledger, series string) (plotter.XYs, error) {
	f, err := os.Open(ledger)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = columns
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ledger, err)
	}
	var points plotter.XYs
	for _, row := range rows {
		minutes, ok := minutesOf(row[2], series)
		if !ok {
			continue // another run
		}
		loss, err := strconv.ParseFloat(row[columns-1], 64)
		if err != nil || !(loss > 0 && loss < 100 && minutes > 0 && minutes < 1e6) {
			return nil, fmt.Errorf("%s: %q with the loss %q cannot be drawn: both must be positive numbers", ledger, row[2], row[columns-1])
		}
		points = append(points, plotter.XY{X: minutes, Y: loss})
	}
	return points, nil
}

// minutesOf reads the minutes of a run from its name; it is false for a run of another series, or of other flags, such as
// "default preset, 3 layers, 3 minutes".
func minutesOf(name, series string) (float64, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(name, "' iterations"), series)
	number, unit, _ := strings.Cut(rest, " ")
	minutes, err := strconv.ParseFloat(number, 64)
	return minutes, ok && err == nil && (unit == "minutes" || unit == "minute")
}

// means are the mean losses by minutes, in order.
func means(points plotter.XYs) (mean plotter.XYs) {
	byMinutes := map[float64][]float64{}
	for _, p := range points {
		byMinutes[p.X] = append(byMinutes[p.X], p.Y)
	}
	for _, minutes := range slices.Sorted(maps.Keys(byMinutes)) {
		sum := 0.0
		for _, loss := range byMinutes[minutes] {
			sum += loss
		}
		mean = append(mean, plotter.XY{X: minutes, Y: sum / float64(len(byMinutes[minutes]))})
	}
	return mean
}

// published are nanoGPT's own numbers: "about 3 minutes" each, on a laptop's processor and on one A100.
var published = []struct {
	minutes, loss float64
	name          string
	left          bool // of the point is where the name stands
}{
	{3, 1.88, "nanoGPT, 0.8 M parameters, a laptop's CPU: 1.88", false},
	{3, a100, "nanoGPT, 10.7 M, one A100: 1.4697", true},
}

const a100 = 1.4697

var (
	blue      = color.RGBA{0x00, 0x72, 0xB2, 255}
	vermilion = color.RGBA{0xD5, 0x5E, 0x00, 255}
	grey      = color.RGBA{0x55, 0x55, 0x55, 255}
	pale      = color.RGBA{0xE4, 0xE4, 0xE4, 255}
)

func newPlot(points, others plotter.XYs) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "minutes of training", "validation loss, nats a character"
	p.X.Scale, p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogScale{}, minuteTicks{}, lossTicks{}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = sans(11), sans(10)
		axis.Color, axis.Tick.Color = grey, grey
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = pale, pale
	line, err := plotter.NewLine(means(points))
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = blue, vg.Points(1.5)
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return nil, err
	}
	dots.Color, dots.Shape, dots.Radius = blue, draw.CircleGlyph{}, vg.Points(2.5)
	p.Add(grid, line, dots)
	p.X.Min, p.X.Max = min(0.8, p.X.Min), max(70, p.X.Max)
	p.Y.Min, p.Y.Max = min(p.Y.Min, a100)-0.03, max(p.Y.Max, a100)+0.08 // room for the legend
	if err := addPublished(p); err != nil {
		return nil, err
	}
	p.Legend.Top, p.Legend.Padding, p.Legend.TextStyle.Font = true, vg.Points(3), sans(11)
	p.Legend.Add("chargpt, -preset default, two CPU cores: runs and their mean", line, dots)
	if len(others) > 0 {
		rings, err := plotter.NewScatter(others)
		if err != nil {
			return nil, err
		}
		rings.Color, rings.Shape, rings.Radius = blue, draw.RingGlyph{}, vg.Points(3.5)
		p.Add(rings)
		p.Legend.Add("4 or more layers", rings)
	}
	return p, nil
}

// addPublished marks nanoGPT's points and draws its lower loss through. A loss far above all others stands at the edge.
func addPublished(p *plot.Plot) error {
	best := plotter.NewFunction(func(float64) float64 { return a100 })
	best.Color, best.Dashes, best.Samples = vermilion, []vg.Length{vg.Points(4), vg.Points(3)}, 2
	p.Add(best)
	for _, n := range published {
		edge := p.Y.Max - (p.Y.Max-p.Y.Min)/5 // under the legend
		at := plotter.XYs{{X: n.minutes, Y: min(n.loss, edge)}}
		if n.loss > edge {
			n.name += ", far above ↑"
		}
		mark, err := plotter.NewScatter(at)
		if err != nil {
			return err
		}
		mark.Color, mark.Shape, mark.Radius = vermilion, draw.PyramidGlyph{}, vg.Points(4.5)
		label, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: []string{n.name}})
		if err != nil {
			return err
		}
		label.TextStyle[0].Font, label.TextStyle[0].Color = sans(10), vermilion
		label.Offset = vg.Point{X: 8, Y: -3}
		if n.left { // and under the line, away from the curve
			label.TextStyle[0].XAlign, label.Offset = draw.XRight, vg.Point{X: -8, Y: -12}
		}
		p.Add(mark, label)
	}
	return nil
}

func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

// minuteTicks are the ticks of a logarithmic axis of minutes.
type minuteTicks struct{}

// Ticks is gonum's plot.Ticker.
func (minuteTicks) Ticks(lo, hi float64) (marks []plot.Tick) {
	for _, m := range []float64{0.25, 0.5, 1, 2, 3, 6, 10, 15, 30, 60, 120, 240} {
		if m >= lo*(1-1e-9) && m <= hi*(1+1e-9) {
			marks = append(marks, plot.Tick{Value: m, Label: strings.TrimSuffix(fmt.Sprintf("%.2f", math.Round(m*100)/100), ".00")})
		}
	}
	return marks
}

// lossTicks are the ticks of an axis of losses, every 0.05.
type lossTicks struct{}

// Ticks is gonum's plot.Ticker.
func (lossTicks) Ticks(lo, hi float64) (marks []plot.Tick) {
	const step = 0.05
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		marks = append(marks, plot.Tick{Value: i * step, Label: fmt.Sprintf("%.2f", i*step)})
	}
	return marks
}

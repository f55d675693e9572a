package chart

import (
	"image"
	"image/color"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// region is where the data of a panel are in the PNG.
type region struct {
	image.Image
	area image.Rectangle
	x, y func(float64) vg.Length // from the left and from below
}

func newRegion(img image.Image, p *plot.Plot, c draw.Canvas) region {
	data := p.DataCanvas(c)
	r := region{Image: img}
	r.x, r.y = p.Transforms(&data)
	r.area = image.Rectangle{r.at(p.X.Min, p.Y.Max), r.at(p.X.Max, p.Y.Min)}
	return r
}

// at is the pixel of a point.
func (r region) at(x, y float64) image.Point {
	return image.Pt(int(r.x(x)*dpi/vg.Inch), int((height-r.y(y))*dpi/vg.Inch))
}

// has tells whether there is a colour around a pixel.
func (r region) has(c color.RGBA, at image.Point) bool {
	return count(r, image.Rectangle{at.Sub(image.Pt(6, 6)), at.Add(image.Pt(7, 7))}, c) >= 4
}

// TestWhere: each curve goes through its points in its panel, the learning rate's below; the lowest validation loss alone
// has a ring, and the bigram baseline goes from side to side.
func TestWhere(t *testing.T) {
	for _, tt := range []struct {
		name, metrics string
		best, bigram  float64
	}{
		{"run", header + "0,4.2,4.6,3.3,2.2,1e-5,1\n250,2.9,3.4,3.3,2.2,9e-4,2\n500,2,2.7,3.3,2.2,5e-4,3\n750,1.4,3,3.3,2.2,2e-4,4\n", 500, 2.2},
		{"one row", header + "0,3.2,4.1,3.3,2.5,1e-5,1\n", 0, 2.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := losses(t, tt.metrics)
			if err != nil {
				t.Fatal(err)
			}
			table, err := readTable(filepath.Join(filepath.Dir(out), "metrics.csv"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := newPicture(table)
			if err != nil {
				t.Fatal(err)
			}
			_, top, bottom := p.layout(draw.New(vgimg.New(width, height)))
			img := decodePNG(t, out+".png")
			loss, rate := newRegion(img, p.loss, top), newRegion(img, p.rate, bottom)
			if loss.area.Max.Y >= rate.area.Min.Y || loss.area.Min.X != rate.area.Min.X {
				t.Errorf("the losses are at %v, the learning rate at %v, want it below", loss.area, rate.area)
			}
			checkCurve(t, "training", loss, blue, table.points(trainLoss))
			checkCurve(t, "validation", loss, vermilion, table.points(valLoss))
			checkCurve(t, "learning rate", rate, green, table.points(learningRate))
			checkRing(t, loss, table.points(valLoss), tt.best)
			checkBaseline(t, loss, tt.bigram)
		})
	}
}

// checkCurve checks that there is a colour at every point, and half way to the next.
func checkCurve(t *testing.T, name string, r region, c uint32, points plotter.XYs) {
	t.Helper()
	for i, p := range points {
		before := points[max(0, i-1)]
		for _, q := range []plotter.XY{p, {X: (before.X + p.X) / 2, Y: (before.Y + p.Y) / 2}} {
			if !r.has(rgb(c), r.at(q.X, q.Y)) {
				t.Errorf("%s: nothing is drawn at iteration %v, %v", name, q.X, q.Y)
			}
		}
	}
}

// checkRing checks that the point of one iteration has a ring around it, and no other.
func checkRing(t *testing.T, r region, points plotter.XYs, iteration float64) {
	t.Helper()
	for _, p := range points {
		above := r.at(p.X, p.Y).Sub(image.Pt(0, 11)) // the radius is 5.5 points
		if got, want := r.has(color.RGBA{A: 255}, above), p.X == iteration; got != want {
			t.Errorf("a ring at iteration %v, %v: %v, want %v", p.X, p.Y, got, want)
		}
	}
}

// checkBaseline checks that every eighth of the panel's width has dashes at a height.
func checkBaseline(t *testing.T, r region, y float64) {
	t.Helper()
	const parts = 8
	for i := range parts {
		part := r.area.Dx() / parts
		left := image.Pt(r.area.Min.X+i*part, r.at(0, y).Y)
		if n := count(r, image.Rectangle{left.Sub(image.Pt(0, 2)), left.Add(image.Pt(part, 3))}, rgb(grey)); n < part/3 {
			t.Errorf("the baseline at %v has %d pixels in part %d of %d, want %d or more", y, n, i, parts, part/3)
		}
	}
}

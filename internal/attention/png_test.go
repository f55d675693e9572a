package attention

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

func drawn(t *testing.T, tr *Trace, s Selection) (image.Image, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := WritePNG(&b, tr, s); err != nil {
		t.Fatal(err)
	}
	data := bytes.Clone(b.Bytes())
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img, data
}

// TestWritePNG decodes the picture: every pixel of every cell has the colour of its weight.
func TestWritePNG(t *testing.T) {
	for _, c := range []struct {
		text   string
		nl, nh int
		s      Selection
	}{
		{"hello wo", 2, 3, EveryHead()}, {hostile, 2, 2, PerLayer()}, {"h", 1, 1, Selection{}},
		{strings.Repeat("to be ", 6), 2, 2, Selection{1, All}},
	} {
		tr := testTrace(c.text, c.nl, c.nh)
		img, _ := drawn(t, tr, c.s)
		views, _ := tr.views(c.s)
		l := newPNGLayout(tr, len(views), c.s, newPNGText())
		if img.Bounds().Size() != l.size() {
			t.Fatalf("size %v, want %v", img.Bounds().Size(), l.size())
		}
		for at, v := range views {
			checkCells(t, img, l, at, v.Weights, len(tr.Tokens))
		}
	}
}

func checkCells(t *testing.T, img image.Image, l pngLayout, at int, weights []float32, n int) {
	t.Helper()
	for i := range n {
		for j := range n {
			want := color.RGBA{0xEC, 0xEC, 0xEC, 255}
			if j <= i {
				want = WeightColour(float64(weights[i*n+j]))
			}
			r := l.cellAt(at, i, j)
			for _, p := range []image.Point{r.Min, r.Max.Sub(image.Pt(1, 1)), r.Min.Add(r.Size().Div(2))} {
				if got := color.RGBAModel.Convert(img.At(p.X, p.Y)); got != want {
					t.Fatalf("panel %d, query %d, key %d: colour %v at %v, want %v", at, i, j, got, p, want)
				}
			}
		}
	}
}

func TestWritePNGDeterministic(t *testing.T) {
	_, a := drawn(t, testTrace(hostile, 1, 2), EveryHead())
	_, b := drawn(t, testTrace(hostile, 1, 2), EveryHead())
	if !bytes.Equal(a, b) {
		t.Error("the same trace gave two pictures")
	}
}

// TestPNGLayoutCap: no picture is too large, panels do not overlap, and each key of 64 tokens has its label.
func TestPNGLayoutCap(t *testing.T) {
	text := newPNGText()
	for _, c := range []struct{ tokens, nl, nh, cell, pool, stride int }{
		{8, 1, 1, 28, 1, 1}, {64, 4, 4, 11, 1, 1}, {64, 6, 6, 9, 1, 1}, {256, 1, 1, 9, 1, 1}, {256, 6, 6, 2, 1, 5},
		{1024, 6, 6, 1, 2, 9}, {1024, 12, 12, 1, 4, 9},
	} {
		tr := &Trace{Shape: Shape{NLayer: c.nl, NHead: c.nh}, Tokens: make([]int32, c.tokens), Labels: strings.Split(strings.Repeat("a", c.tokens), "")}
		l := newPNGLayout(tr, c.nl*c.nh, EveryHead(), text)
		if size := l.size(); size.X > pngCap || size.Y > pngCap {
			t.Errorf("%+v: size %v", c, size)
		}
		if l.cell != c.cell || l.pool != c.pool || l.stride != c.stride {
			t.Errorf("%+v: cell %d, pool %d, stride %d", c, l.cell, l.pool, l.stride)
		}
		if c.nl*c.nh > 1 && l.panel(0).Max.X+l.left > l.panel(1).Min.X {
			t.Errorf("%+v: panels %v and %v overlap", c, l.panel(0), l.panel(1))
		}
	}
}

func TestPooled(t *testing.T) {
	l := pngLayout{tokens: 3, pool: 2}
	weights := []float32{1, 0, 0, 0.3, 0.7, 0, 0.2, 0.5, 0.3}
	for i, want := range []float32{1, 0, 0.5, 0.3} {
		if got := l.pooled(weights, i/2, i%2); got != want {
			t.Errorf("cell %d, %d shows %v, want %v", i/2, i%2, got, want)
		}
	}
}

func TestPNGLabel(t *testing.T) {
	text := newPNGText()
	for char, want := range map[string]string{
		"a": "a", "é": "é", " ": "␣", "\n": "⏎", "\t": "⇥", "日": "U+65E5", "🙂": "U+1F642", "\u0301": "◌\u0301",
		"\x00": "U+0000", "\u200b": "U+200B", "\r": "U+000D", "\xff": `\xFF`, "␣": "U+2423",
	} {
		if got := text.label(char); got != want {
			t.Errorf("label(%q) = %q, want %q", char, got, want)
		}
	}
}

func TestWritePNGNoLayers(t *testing.T) {
	if err := WritePNG(&bytes.Buffer{}, testTrace("abc", 0, 1), EveryHead()); err == nil {
		t.Error("a picture of no heads")
	}
}

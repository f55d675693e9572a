package attention

import (
	"image/color"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pngText draws text at pixel positions counted from the top left; a canvas of vg counts points from the bottom left.
type pngText struct {
	canvas  draw.Canvas
	height  int
	fonts   *font.Cache
	handler text.Handler
}

func newPNGText() *pngText {
	fonts := font.NewCache(liberation.Collection())
	return &pngText{fonts: fonts, handler: text.Plain{Fonts: fonts}}
}

// onto sets where to draw: measuring needs no canvas.
func (p *pngText) onto(c draw.Canvas, height int) { p.canvas, p.height = c, height }

func pngFont(size int) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Mono", Size: vg.Length(size)}
}

// width is the pixels that s takes up.
func (p *pngText) width(s string, size int) int {
	if strokes(s) != nil {
		s = "x"
	}
	face := p.fonts.Lookup(pngFont(size), vg.Length(size))
	return int(math.Ceil(float64(face.Width(s))))
}

// has reports whether the font can draw all of s.
func (p *pngText) has(s string) bool {
	var buffer sfnt.Buffer
	face := p.fonts.Lookup(pngFont(10), 10)
	for _, r := range s {
		if i, err := face.Face.GlyphIndex(&buffer, r); err != nil || i == 0 {
			return false
		}
	}
	return true
}

// label is a character's Label, or its code points as U+XXXX if the font has no glyphs for that.
func (p *pngText) label(char string) string {
	l := Label(char)
	if strokes(l) != nil || p.has(l) {
		return l
	}
	return codePoints(char)
}

// line is s with code points in the place of what the font lacks.
func (p *pngText) line(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		if p.has(string(r)) {
			b.WriteRune(r)
		} else {
			b.WriteString(codePoint(r))
		}
	}
	return b.String()
}

func codePoints(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			b.WriteString(Label(s[:1]))
		} else {
			b.WriteString(codePoint(r))
		}
		s = s[size:]
	}
	return b.String()
}

// draw writes s with the given point at its left, centre or right (ax 0, −0.5, −1) and bottom, middle or top (ay alike).
func (p *pngText) draw(s string, x, y float64, size int, ax, ay, rotation float64) {
	at := vg.Point{X: vg.Length(x), Y: vg.Length(float64(p.height) - y)}
	if lines := strokes(s); lines != nil {
		p.stroke(lines, at, float64(size), ax, ay)
		return
	}
	p.canvas.FillText(draw.TextStyle{Color: color.Black, Font: pngFont(size), Rotation: rotation,
		XAlign: text.XAlignment(ax), YAlign: text.YAlignment(ay), Handler: p.handler}, at, s)
}

// stroke draws a glyph of lines in a box of 0.6 by 0.85 of the font's size, always upright.
func (p *pngText) stroke(lines [][]vg.Point, at vg.Point, size, ax, ay float64) {
	style := draw.LineStyle{Color: color.Black, Width: vg.Length(max(0.8, size/12))}
	for _, line := range lines {
		moved := make([]vg.Point, len(line))
		for i, q := range line {
			moved[i] = vg.Point{X: at.X + vg.Length(size)*(q.X+vg.Length(0.6*ax)), Y: at.Y + vg.Length(size)*(q.Y+vg.Length(0.85*ay))}
		}
		p.canvas.StrokeLines(style, moved)
	}
}

// strokes are the lines of the three stand-ins that nearly every text has and the font lacks, nil for any other string.
func strokes(label string) [][]vg.Point {
	switch label {
	case "␣":
		return [][]vg.Point{{{X: 0.05, Y: 0.2}, {X: 0.05, Y: 0}, {X: 0.55, Y: 0}, {X: 0.55, Y: 0.2}}}
	case "⏎":
		return [][]vg.Point{{{X: 0.55, Y: 0.65}, {X: 0.55, Y: 0.25}, {X: 0.05, Y: 0.25}}, {{X: 0.25, Y: 0.45}, {X: 0.05, Y: 0.25}, {X: 0.25, Y: 0.05}}}
	case "⇥":
		return [][]vg.Point{{{X: 0, Y: 0.3}, {X: 0.48, Y: 0.3}}, {{X: 0.28, Y: 0.5}, {X: 0.48, Y: 0.3}, {X: 0.28, Y: 0.1}}, {{X: 0.57, Y: 0.55}, {X: 0.57, Y: 0.05}}}
	}
	return nil
}

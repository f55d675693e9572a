package attention

import (
	"fmt"
	"strings"
)

// ramp are the shades without colour, from the smallest weight up. A key that a query may not see is blank.
const ramp = ".:-=+*#%@"

// rampIndex is the shade of a weight: even steps of [Shade].
func rampIndex(weight float64) int {
	return min(len(ramp)-1, int(Shade(weight)*float64(len(ramp))))
}

// shadeCell is one weight as width columns of a terminal.
func shadeCell(weight float32, width int, mode ColourMode) string {
	if mode == NoColour {
		return strings.Repeat(string(ramp[rampIndex(float64(weight))]), width)
	}
	c := WeightColour(float64(weight))
	return fmt.Sprintf("\x1b[48;2;%d;%d;%dm%s\x1b[0m", c.R, c.G, c.B, strings.Repeat(" ", width))
}

func writeLegend(b *strings.Builder, o TextOptions) {
	b.WriteString("rows are queries, columns their keys\nweight")
	if o.Colour == TrueColour {
		for _, w := range []float32{0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.7, 1} {
			fmt.Fprintf(b, " %s %g", shadeCell(w, 2, o.Colour), w)
		}
		b.WriteString("\n")
		return
	}
	b.WriteString(" from")
	for i, r := range ramp {
		from := float64(i) / float64(len(ramp))
		fmt.Fprintf(b, "  %c %.2g", r, from*from)
	}
	b.WriteString("\n")
}

// grid is how one heat map lies on the terminal.
type grid struct {
	labels   []string
	digits   int // of the largest position
	label    int // columns of the widest label
	cell     int // columns a key, 1 or 2
	from, to int // the keys shown: the last ones, if not all fit
}

// newGrid prefers cells of two columns, which are nearly square, then of one, then leaves out the first keys.
func newGrid(labels []string, width int) grid {
	n := len(labels)
	g := grid{labels: labels, digits: len(fmt.Sprint(n - 1)), label: widest(labels), cell: 2, to: n}
	room := max(1, width-g.margin())
	if 2*n > room && g.widestGlyph() == 1 {
		g.cell = 1
	}
	g.from = max(0, n-max(1, room/g.cell))
	return g
}

// margin is the room of a row's label: position, character and the spaces around.
func (g grid) margin() int { return g.digits + 1 + g.label + 1 }

// widestGlyph is the least width of a column whose label is written downwards.
func (g grid) widestGlyph() int {
	w := 1
	for _, l := range g.labels {
		w = max(w, widest(graphemes(l)))
	}
	return w
}

func writeHeatMap(b *strings.Builder, t *Trace, v view, o TextOptions) {
	g := newGrid(t.labels(), o.width())
	n := len(t.Tokens)
	if g.from > 0 {
		fmt.Fprintf(b, "(keys and queries %d to %d; those before do not fit in %d columns)\n", g.from, g.to-1, o.width())
	}
	g.writeRuler(b)
	g.writeColumnLabels(b)
	for i := g.from; i < g.to; i++ {
		b.WriteString(g.rowLabel(i))
		for j := g.from; j <= i; j++ {
			b.WriteString(shadeCell(v.Weights[i*n+j], g.cell, o.Colour))
		}
		b.WriteByte('\n')
	}
}

func (g grid) rowLabel(i int) string {
	return fmt.Sprintf("%*d %s ", g.digits, i, padRight(g.labels[i], g.label))
}

// writeRuler numbers every tenth column of the terminal's, or so.
func (g grid) writeRuler(b *strings.Builder) {
	line := []byte(strings.Repeat(" ", g.margin()+g.cell*(g.to-g.from)+g.digits))
	every := 10 / g.cell
	for j := g.from; j < g.to; j++ {
		if j%every == 0 {
			copy(line[g.margin()+g.cell*(j-g.from):], fmt.Sprint(j))
		}
	}
	b.WriteString(strings.TrimRight(string(line), " ") + "\n")
}

// writeColumnLabels writes each key's label downwards, the last glyph next to the cells.
func (g grid) writeColumnLabels(b *strings.Builder) {
	glyphs := make([][]string, 0, g.to-g.from)
	height := 0
	for _, l := range g.labels[g.from:g.to] {
		glyphs = append(glyphs, graphemes(l))
		height = max(height, len(glyphs[len(glyphs)-1]))
	}
	for row := range height {
		var line strings.Builder
		line.WriteString(strings.Repeat(" ", g.margin()))
		for _, gs := range glyphs {
			glyph := ""
			if at := row - (height - len(gs)); at >= 0 {
				glyph = gs[at]
			}
			line.WriteString(padRight(glyph, g.cell))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

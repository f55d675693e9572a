package attention

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// ColourMode says what a terminal can show.
type ColourMode int

// The values of a [ColourMode].
const (
	NoColour   ColourMode = iota // shades are characters, from . to @
	TrueColour                   // shades are 24-bit background colours
)

// TextOptions are the options of [WriteText] and [WriteCompare]. The zero value shows head 0 of layer 0 without colour;
// set Selection to [PerLayer] for the usual first look.
type TextOptions struct {
	Selection Selection
	Top       int // keys listed for each query, the strongest first; 0 means 3
	Colour    ColourMode
	Width     int // columns of the terminal; 0 means no limit
}

func (o TextOptions) top() int {
	if o.Top <= 0 {
		return 3
	}
	return o.Top
}

// width is the room in columns: a very large number without a limit, and never less than a label and a few cells need.
func (o TextOptions) width() int {
	if o.Width <= 0 {
		return math.MaxInt32
	}
	return max(20, o.Width)
}

// WriteText shows t in a terminal: for each selected view its heat map (rows are queries, columns keys) and its inquiry (each
// query's strongest keys), then the next-character table. Raw and scaled scores are listed for single heads only: the
// mean of several heads' scores is not what gave the mean of their weights.
func WriteText(w io.Writer, t *Trace, o TextOptions) error {
	views, err := t.checked(o.Selection)
	if err != nil {
		return err
	}
	var b strings.Builder
	writeHeader(&b, t, o)
	if len(views) == 0 {
		b.WriteString("\nThe model has no attention layers.\n")
	} else {
		b.WriteByte('\n')
		writeLegend(&b, o)
	}
	for _, v := range views {
		fmt.Fprintf(&b, "\n%s\n%s\n\n", v.Title, summaryLine(Summarise(Head{Weights: v.Weights}, t.Tokens)))
		writeHeatMap(&b, t, v, o)
		b.WriteByte('\n')
		writeInquiry(&b, t, v, o)
	}
	b.WriteByte('\n')
	writeNext(&b, t)
	_, err = io.WriteString(w, b.String())
	return err
}

func writeHeader(b *strings.Builder, t *Trace, o TextOptions) {
	s := t.Shape
	fmt.Fprintf(b, "%s, step %d\n%s, %s of size %d, %d channels, %s positions\n", plain(t.Source), t.Step,
		count(s.NLayer, "layer"), count(s.NHead, "head"), s.HeadSize, s.NEmbd, plain(s.Position))
	what := fmt.Sprintf("context, %s: ", count(len(t.Tokens), "character"))
	b.WriteString(what + tail(t.labels(), o.width()-columns(what)) + "\n")
	if t.Dropped > 0 {
		fmt.Fprintf(b, "(%s before it left out: the context holds %d at most)\n", count(t.Dropped, "character"), s.BlockSize)
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// tail joins the last labels that fit in width columns (10 at least); an ellipsis stands for the others.
func tail(labels []string, width int) string {
	width = max(10, width)
	used, first := 1, len(labels)
	for first > 0 && used+columns(labels[first-1]) <= width {
		first--
		used += columns(labels[first])
	}
	text := strings.Join(labels[first:], "")
	if first > 0 {
		return "…" + text
	}
	return text
}

func summaryLine(s Summary) string {
	return fmt.Sprintf("entropy %.2f nats, distance %.1f, previous %s, first %s, same %s, self %s",
		s.Entropy, s.MeanDistance, percent(s.Previous), percent(s.First), percent(s.Same), percent(s.Self))
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// bar is a horizontal bar of the given share of width columns, drawn to an eighth of a column.
func bar(share float64, width int) string {
	eighths := int(math.Round(min(1, max(0, share)) * float64(8*width)))
	partial := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	return strings.Repeat("█", eighths/8) + partial[eighths%8]
}

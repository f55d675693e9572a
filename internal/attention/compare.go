package attention

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteCompare shows the same final characters in two contexts, a and b, which must be of one model: for each selected view
// what the last character's query gives to the characters of the shared suffix (the longest sequence of tokens that both
// contexts end in), and the two next-character distributions. If the last characters differ it is [ErrNothingToCompare].
func WriteCompare(w io.Writer, a, b *Trace, o TextOptions) error {
	av, err := a.checked(o.Selection)
	if err != nil {
		return fmt.Errorf("the first context: %w", err)
	}
	bv, err := b.checked(o.Selection)
	if err != nil {
		return fmt.Errorf("the second context: %w", err)
	}
	c, err := newComparison(a, b)
	if err != nil {
		return err
	}
	var text strings.Builder
	c.writeHeader(&text, o)
	for i := range av {
		text.WriteByte('\n')
		c.writeView(&text, av[i], bv[i], o.Colour)
	}
	text.WriteByte('\n')
	c.writeNext(&text, o.Colour)
	_, err = io.WriteString(w, text.String())
	return err
}

// ErrNothingToCompare says that two contexts have no last character in common.
var ErrNothingToCompare = errors.New("nothing to compare")

// comparison is two contexts whose last suffix tokens are the same.
type comparison struct {
	a, b   *Trace
	suffix int
	labels []string // of the suffix
}

func newComparison(a, b *Trace) (comparison, error) {
	if a.Shape != b.Shape || !slices.Equal(a.Vocab, b.Vocab) {
		return comparison{}, errors.New("attention: the contexts to compare are of different models")
	}
	n := commonSuffix(a.Tokens, b.Tokens)
	if n == 0 {
		return comparison{}, fmt.Errorf("%w: one context ends in %s, the other in %s, and both must end in the same characters", ErrNothingToCompare,
			Label(a.Labels[len(a.Labels)-1]), Label(b.Labels[len(b.Labels)-1]))
	}
	return comparison{a, b, n, a.labels()[len(a.Tokens)-n:]}, nil
}

// commonSuffix is the length of the longest sequence that both a and b end in.
func commonSuffix(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

func (c comparison) writeHeader(w *strings.Builder, o TextOptions) {
	fmt.Fprintf(w, "%s, step %d\n", plain(c.a.Source), c.a.Step)
	for _, x := range []struct {
		name  string
		trace *Trace
	}{{"A", c.a}, {"B", c.b}} {
		what := fmt.Sprintf("%s, %s: ", x.name, count(len(x.trace.Tokens), "character"))
		w.WriteString(what + tail(x.trace.labels(), o.width()-columns(what)) + "\n")
	}
	what := fmt.Sprintf("both end in %s: ", count(c.suffix, "character"))
	w.WriteString(what + tail(c.labels, o.width()-columns(what)) + "\n")
	if c.suffix == len(c.a.Tokens) && c.suffix == len(c.b.Tokens) {
		w.WriteString("(the two contexts are the same)\n")
	}
}

// writeView lists the last query's weights: a line for each key of the suffix, and one for all the keys before it together.
func (c comparison) writeView(w *strings.Builder, av, bv view, mode ColourMode) {
	na, nb := len(c.a.Tokens), len(c.b.Tokens)
	fmt.Fprintf(w, "%s: what the last character, %s, looks at\n", av.Title, c.labels[c.suffix-1])
	width := max(3, widest(c.labels))
	fmt.Fprintf(w, "%6s %6s  %s  %s\n", "A at", "B at", padRight("key", width), pairHeading("A", "B"))
	aRow, bRow := av.Weights[(na-1)*na:], bv.Weights[(nb-1)*nb:]
	aRest, bRest := float32(1), float32(1)
	for i, label := range c.labels {
		at, bt := na-c.suffix+i, nb-c.suffix+i
		fmt.Fprintf(w, "%6d %6d  %s  %s\n", at, bt, padRight(label, width), pair(aRow[at], bRow[bt], mode))
		aRest, bRest = aRest-aRow[at], bRest-bRow[bt]
	}
	fmt.Fprintf(w, "%s  %s\n", padRight("  all before", 15+width), pair(max(0, aRest), max(0, bRest), mode))
}

// writeNext lists the characters that are likeliest in either context.
func (c comparison) writeNext(w *strings.Builder, mode ColourMode) {
	either := make([]float32, len(c.a.Next))
	for i := range either {
		either[i] = max(c.a.Next[i], c.b.Next[i])
	}
	ids := likeliest(either, nextCharacters)
	width := max(4, widest(c.a.vocabLabels(ids)))
	last := c.labels[c.suffix-1]
	fmt.Fprintf(w, "the next character: a Markov chain reads %s alone, so it is the same for A and B\n", last)
	fmt.Fprintf(w, "%s  %s  %s\n", padRight("char", width), pairHeading("A", "B"), "Markov")
	for _, id := range ids {
		fmt.Fprintf(w, "%s  %s  %.4f\n", padRight(Label(c.a.Vocab[id]), width), pair(c.a.Next[id], c.b.Next[id], mode), c.a.Bigram[id])
	}
	tv := TotalVariation(c.a.Next, c.b.Next)
	ab, ba := KL(c.a.Next, float64s(c.b.Next)), KL(c.b.Next, float64s(c.a.Next))
	a, b := KL(c.a.Next, c.a.Bigram), KL(c.b.Next, c.b.Bigram)
	fmt.Fprintf(w, "total variation %.4f\n", tv)
	for _, kl := range []struct {
		of   string
		nats float64
	}{{"A ‖ B", ab}, {"B ‖ A", ba}, {"A ‖ Markov", a}, {"B ‖ Markov", b}} {
		fmt.Fprintf(w, "%-14s = %.4f nats = %.4f bits\n", "KL("+kl.of+")", kl.nats, Bits(kl.nats))
	}
}

const pairBar = 10 // columns of a bar

func pairHeading(a, b string) string {
	return padRight(a, 7+pairBar) + "  " + padRight(b, 7+pairBar) + "  " + b + " − " + a
}

// pair is two shares side by side, and the change from the first to the second: growth is vermilion, loss blue, a pair that
// colour-blind people tell apart and that shows on light and on dark.
func pair(a, b float32, mode ColourMode) string {
	change := fmt.Sprintf("%+.4f", b-a)
	if mode == TrueColour && b != a {
		rgb := "213;94;0"
		if b < a {
			rgb = "0;114;178"
		}
		change = "\x1b[38;2;" + rgb + "m" + change + "\x1b[0m"
	}
	return share(a) + "  " + share(b) + "  " + change
}

func share(x float32) string {
	return fmt.Sprintf("%.4f %s", x, padRight(bar(float64(x), pairBar), pairBar))
}

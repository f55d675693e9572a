package attention

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestWriteDOT(t *testing.T) {
	for file, c := range map[string]struct {
		text string
		s    Selection
		min  float64
	}{
		"mean.dot": {"hello", PerLayer(), 0.2}, "hostile.dot": {hostile, Selection{1, 0}, 0.1},
	} {
		var b bytes.Buffer
		if err := WriteDOT(&b, testTrace(c.text, 2, 2), c.s, c.min); err != nil {
			t.Fatal(err)
		}
		golden(t, file, b.Bytes())
	}
}

func TestWriteDOTMinWeight(t *testing.T) {
	tr := testTrace("hello world", 1, 1)
	for _, least := range []float64{0, 0.1, 0.5, 2} {
		want := 0
		for i := range tr.Tokens {
			for j := range i + 1 {
				if float64(tr.Heads[0][0].Weights[i*len(tr.Tokens)+j]) >= least {
					want++
				}
			}
		}
		var b strings.Builder
		if err := WriteDOT(&b, tr, Selection{}, least); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "penwidth"); got != want {
			t.Errorf("%d edges of at least %v, want %d", got, least, want)
		}
	}
}

// TestGraphviz: dot draws a hostile text, and every label is in the drawing as it is.
func TestGraphviz(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz's dot is not installed")
	}
	tr := testTrace(hostile+"&lt;\\N\\n\"]; #{|}%s é", 2, 1)
	tr.Source = `a "b" \n &lt; <i>` + "\x1b\n"
	var graph bytes.Buffer
	if err := WriteDOT(&graph, tr, EveryHead(), 0.05); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dot, "-Tsvg")
	cmd.Stdin = &graph
	var warnings bytes.Buffer
	cmd.Stderr = &warnings
	svg, err := cmd.Output()
	if err != nil || strings.Contains(warnings.String(), "syntax") {
		t.Fatalf("dot: %v\n%s", err, warnings.String())
	}
	texts := svgTexts(t, svg)
	for i, l := range tr.labels() {
		at := slices.Index(texts, itoa(i))
		if at < 1 || texts[at-1] != l {
			t.Errorf("character %d: the drawing has no label %q; its texts are %q", i, l, texts)
		}
	}
	if !slices.Contains(texts, `a "b" \n &lt; <i>␛⏎, step 2000; weights of at least 0.05`) {
		t.Errorf("the title is missing; texts are %q", texts)
	}
}

// svgTexts are the contents of all text elements, in order.
func svgTexts(t *testing.T, svg []byte) []string {
	t.Helper()
	var out []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			var s string
			if err := d.DecodeElement(&s, &start); err != nil {
				t.Fatal(err)
			}
			out = append(out, strings.ReplaceAll(s, "\u00a0", " "))
		}
	}
}

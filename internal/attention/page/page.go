package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"

	"chargpt/internal/attention"
)

// The largest size, in bytes of base64, up to which the numbers of a page keep their finer precision.
const (
	pageBudget  = 4_600_000  // one trace; the whole file promises to stay below 5 MB for 256 tokens × 6 × 6
	probeBudget = 20_000_000 // a list of traces
)

// document is what varies between pages: everything else is in web/.
type document struct {
	Title   string
	Heading string // what kind of page this is
	Connect bool   // may the page talk to the server it came from?
	Worker  bool   // may it run a program of its own beside itself?
	Data    any    // becomes the JSON that web/source.js reads
}

// recorded is the data of a page whose traces are inside the file.
type recorded struct {
	Kind   string      `json:"kind"` // "recorded"
	Source string      `json:"source"`
	View   View        `json:"view"`
	Model  wireModel   `json:"model"`
	Traces []wireTrace `json:"traces"` // in order of training steps
	Other  *wireTrace  `json:"other"`  // another context to compare with, or null
}

// View is the head that a page shows first.
type View struct {
	Layer int `json:"layer"`
	Head  int `json:"head"`
}

// WriteHTML writes one self-contained page about a trace. It opens from disk, needs no network, and stays below 5 MB
// for 256 tokens in 6 layers of 6 heads: weights, queries, keys and values are rounded to 16 or, when that would be too
// large, 8 bits a number. The JSON renderer has the exact numbers.
//
// The head view draws a line from a query to each of its keys, whatever the weight: i+1 lines for query i. A weight that
// it shows is off by at most half of its row's largest weight divided by 65535, or by 255 with 8 bits.
func WriteHTML(w io.Writer, t *attention.Trace, v View) error {
	return writeRecorded(w, []*attention.Trace{t}, nil, v, pageBudget)
}

// WriteCompareHTML writes the page of WriteHTML about a, which also compares it with b: the same last characters in another
// context. They are of one model.
func WriteCompareHTML(w io.Writer, a, b *attention.Trace, v View) error {
	if err := checkTrace(b); err != nil {
		return fmt.Errorf("page: the context to compare with: %w", err)
	}
	if a.Shape != b.Shape || !slices.Equal(a.Vocab, b.Vocab) {
		return fmt.Errorf("page: the contexts to compare are of different models")
	}
	return writeRecorded(w, []*attention.Trace{a}, b, v, pageBudget)
}

// WriteProbeHTML writes the page of WriteHTML with a slider over training steps. The traces are of one text and one
// model, in order of their steps.
func WriteProbeHTML(w io.Writer, traces []*attention.Trace, v View) error {
	if len(traces) == 0 {
		return fmt.Errorf("page: no traces to show")
	}
	return writeRecorded(w, traces, nil, v, probeBudget)
}

func writeRecorded(w io.Writer, traces []*attention.Trace, other *attention.Trace, v View, budget int) error {
	if err := checkSeries(traces); err != nil {
		return err
	}
	all := traces
	if other != nil {
		all = append(slices.Clone(traces), other)
	}
	first, p := traces[0], precisionFor(all, budget)
	data := recorded{Kind: "recorded", Source: first.Source, View: v, Model: encodeModel(first.Shape, first.Vocab)}
	for _, t := range traces {
		data.Traces = append(data.Traces, encodeTrace(t, p))
	}
	if other != nil {
		o := encodeTrace(other, p)
		data.Other = &o
	}
	return render(w, document{Title: titleOf(first.Source), Heading: inspector, Data: data})
}

// inspector is the heading of the pages about attention.
const inspector = "attention inspector"

func titleOf(source string) string {
	if source == "" {
		return "chargpt attention"
	}
	return "chargpt attention: " + source
}

// render writes the whole file. encoding/json escapes <, >, & and U+2028/9, so the data can never end its own script
// element; the script and the style are allowed by their hashes, so nothing else could ever run.
func render(w io.Writer, d document) error {
	data, err := json.Marshal(d.Data)
	if err != nil {
		return fmt.Errorf("page: encode the data: %w", err)
	}
	script, style := script(), style()
	err = skeleton().Execute(w, map[string]any{
		"Title":   d.Title,
		"Heading": d.Heading,
		"Policy":  policy(script, style, d),
		"Style":   template.CSS(style),
		"Script":  template.JS(script),
		"Data":    template.JS(data),
	})
	if err != nil {
		return fmt.Errorf("page: write: %w", err)
	}
	return nil
}

// policy is the page's Content-Security-Policy: its own script and style, a server and a worker only when there is one.
func policy(script, style string, d document) string {
	p := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
		hash(script), hash(style))
	if d.Connect {
		p += "; connect-src 'self'"
	}
	if d.Worker {
		p += "; worker-src blob:"
	}
	return p
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

package attention

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// FormatVersion is the "format_version" of JSON and CSV. It grows when a field changes its meaning or goes away; a new
// field alone does not change it.
const FormatVersion = 1

// WriteJSON writes all numbers of t as one JSON object; FORMAT.md beside this file describes it. The "heads" are those that
// s selects ([EveryHead] for all); a mean of heads has weights and a summary, and null for what a mean has not. Numbers are the
// shortest decimals that parse back to the same float32 (probabilities of the Markov chain, summaries: float64).
// A row of a matrix is a line.
func WriteJSON(w io.Writer, t *Trace, s Selection) error {
	views, err := t.checked(s)
	if err != nil {
		return err
	}
	j := jsonWriter{w: bufio.NewWriter(w)}
	j.text("{\n")
	j.writeContext(t)
	j.text("\"heads\": [")
	for i, v := range views {
		if i > 0 {
			j.text(",")
		}
		j.writeHead(t, v)
	}
	j.text("]\n}\n")
	if j.err != nil {
		return j.err
	}
	return j.w.Flush()
}

// jsonWriter streams: a trace of many heads is tens of megabytes, and encoding/json would hold all of it at once. Write
// errors stay in the bufio.Writer until its Flush; err is that of encoding a value.
type jsonWriter struct {
	w   *bufio.Writer
	err error
}

func (j *jsonWriter) text(s string) { j.w.WriteString(s) }

func (j *jsonWriter) field(name string, value any) {
	data, err := json.Marshal(value)
	if err != nil && j.err == nil {
		j.err = fmt.Errorf("attention: %s: %w", name, err)
	}
	fmt.Fprintf(j.w, "%q: %s,\n", name, data)
}

// writeContext writes all fields but the heads.
func (j *jsonWriter) writeContext(t *Trace) {
	kl := KL(t.Next, t.Bigram)
	j.field("format_version", FormatVersion)
	j.field("source", t.Source)
	j.field("step", t.Step)
	j.field("config", t.Shape)
	j.field("dropped", t.Dropped)
	j.field("tokens", t.Tokens)
	j.field("chars", t.Labels)
	j.field("labels", t.labels())
	j.field("vocab", t.Vocab)
	j.field("next", t.Next)
	j.field("bigram", t.Bigram)
	j.field("kl_nats", jsonNumber(kl))
	j.field("kl_bits", jsonNumber(Bits(kl)))
}

// jsonNumber is x, or nil (null), since JSON has no infinity.
func jsonNumber(x float64) any {
	if math.IsInf(x, 0) {
		return nil
	}
	return x
}

func (j *jsonWriter) writeHead(t *Trace, v view) {
	n, hs := len(t.Tokens), t.Shape.HeadSize
	j.text("{\n")
	j.field("layer", indexOrMean(v.Layer))
	j.field("head", indexOrMean(v.Head))
	j.field("summary", Summarise(Head{Weights: v.Weights}, t.Tokens))
	head := Head{}
	if v.source != nil {
		head = *v.source
	}
	j.matrix("weights", v.Weights, n, ",")
	j.matrix("scores", head.Scores, n, ",")
	j.matrix("q", head.Q, hs, ",")
	j.matrix("k", head.K, hs, ",")
	j.matrix("v", head.V, hs, "")
	j.text("}")
}

func indexOrMean(i int) any {
	if i == Mean {
		return "mean"
	}
	return i
}

// matrix writes x, rows of the given width, as an array of arrays; null if there is none.
func (j *jsonWriter) matrix(name string, x []float32, width int, after string) {
	fmt.Fprintf(j.w, "%q: ", name)
	if x == nil {
		j.text("null" + after + "\n")
		return
	}
	line := []byte("[\n")
	for from := 0; from < len(x); from += width {
		line = append(line, '[')
		for i, v := range x[from : from+width] {
			if i > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
		}
		line = append(line, ']')
		if from+width < len(x) {
			line = append(line, ',')
		}
		j.w.Write(append(line, '\n'))
		line = line[:0]
	}
	j.text("]" + after + "\n")
}

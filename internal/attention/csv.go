package attention

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// WriteCSV writes t as one long table; FORMAT.md beside this file describes it. The column "record" says what a row is:
//
//   - "attention", one a layer, head, query and key ≤ query: the columns up to weight;
//   - "summary", a number of [Summary] for a layer and head: measure is its name, value the number;
//   - "next", for each character of the vocabulary (in key_char): measure is "model" or "bigram", value its probability;
//   - "config", a number about the model or the whole context: measure is its name, value the number.
//
// Columns that a record does not have are empty. Layers and heads are those that s selects ([EveryHead] for all); a mean
// says "mean" in its column and has no scores. Characters are written as their [Label], so that no cell holds a newline.
func WriteCSV(w io.Writer, t *Trace, s Selection) error {
	views, err := t.checked(s)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(w)
	c := csvWriter{out: csv.NewWriter(buffered), trace: t, labels: t.labels()}
	c.out.Write([]string{"format_version", "record", "layer", "head", "query", "key", "query_char", "key_char",
		"score", "scaled_score", "weight", "measure", "value"})
	c.writeConfig()
	c.writeNext()
	for _, v := range views {
		c.writeSummary(v)
	}
	for _, v := range views {
		c.writeAttention(v)
	}
	if c.out.Flush(); c.out.Error() != nil {
		return c.out.Error()
	}
	return buffered.Flush()
}

type csvWriter struct {
	out    *csv.Writer
	trace  *Trace
	labels []string
}

// csvRow holds the cells of one row in the order of the header, without the version.
type csvRow struct {
	record, layer, head, query, key, queryChar, keyChar, score, scaled, weight, measure, value string
}

// write leaves errors to the csv.Writer, which keeps the first.
func (c csvWriter) write(r csvRow) {
	c.out.Write([]string{strconv.Itoa(FormatVersion), r.record, r.layer, r.head, r.query, r.key, r.queryChar, r.keyChar,
		r.score, r.scaled, r.weight, r.measure, r.value})
}

func (c csvWriter) writeConfig() {
	s := c.trace.Shape
	for _, m := range []struct {
		name  string
		value int
	}{
		{"n_layer", s.NLayer}, {"n_head", s.NHead}, {"n_embd", s.NEmbd}, {"head_size", s.HeadSize},
		{"block_size", s.BlockSize}, {"vocab_size", s.VocabSize},
		{"step", c.trace.Step}, {"tokens", len(c.trace.Tokens)}, {"dropped", c.trace.Dropped},
	} {
		c.write(csvRow{record: "config", measure: m.name, value: strconv.Itoa(m.value)})
	}
	kl := KL(c.trace.Next, c.trace.Bigram)
	c.write(csvRow{record: "config", measure: "kl_nats", value: float(kl)})
	c.write(csvRow{record: "config", measure: "kl_bits", value: float(Bits(kl))})
}

func (c csvWriter) writeNext() {
	for id, char := range c.trace.Vocab {
		label := Label(char)
		c.write(csvRow{record: "next", keyChar: label, measure: "model", value: float(c.trace.Next[id])})
		c.write(csvRow{record: "next", keyChar: label, measure: "bigram", value: float(c.trace.Bigram[id])})
	}
}

func (c csvWriter) writeSummary(v view) {
	s := Summarise(Head{Weights: v.Weights}, c.trace.Tokens)
	for _, m := range []struct {
		name  string
		value float64
	}{
		{"entropy", s.Entropy}, {"mean_distance", s.MeanDistance}, {"previous", s.Previous},
		{"first", s.First}, {"same", s.Same}, {"self", s.Self},
	} {
		c.write(csvRow{record: "summary", layer: fmt.Sprint(indexOrMean(v.Layer)), head: fmt.Sprint(indexOrMean(v.Head)),
			measure: m.name, value: float(m.value)})
	}
}

func (c csvWriter) writeAttention(v view) {
	n := len(c.labels)
	row := csvRow{record: "attention", layer: fmt.Sprint(indexOrMean(v.Layer)), head: fmt.Sprint(indexOrMean(v.Head))}
	for i := range n {
		row.query, row.queryChar = strconv.Itoa(i), c.labels[i]
		for j := range i + 1 {
			row.key, row.keyChar, row.weight = strconv.Itoa(j), c.labels[j], float(v.Weights[i*n+j])
			if v.source != nil {
				score := v.source.Scores[i*n+j]
				row.score, row.scaled = float(score), float(c.trace.scaled(score))
			}
			c.write(row)
		}
	}
}

// float is the shortest decimal that parses back to the same number of the same type.
func float[F float32 | float64](x F) string {
	bits := 64
	if _, ok := any(x).(float32); ok {
		bits = 32
	}
	return strconv.FormatFloat(float64(x), 'g', -1, bits)
}

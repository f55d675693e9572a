package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"chargpt/model"
	"chargpt/model/sample"
)

// separator stands between samples, and between the continuations of -i, on a line of its own.
const separator = "---"

// generate prints the samples: a single one as it is drawn, several whole and in order.
func (m *loaded) generate(ctx context.Context, prompt []int32, o *options, stdout io.Writer) error {
	for first := 0; first < o.samples; first += model.MaxDecodeBatch {
		batch := min(model.MaxDecodeBatch, o.samples-first)
		if err := m.generateBatch(ctx, first, batch, prompt, o, stdout); err != nil {
			return err
		}
	}
	return nil
}

func (m *loaded) generateBatch(ctx context.Context, first, batch int, prompt []int32, o *options, stdout io.Writer) error {
	d, err := m.NewDecoder(batch)
	if err != nil {
		return err
	}
	defer d.Close()
	if o.samples == 1 {
		return m.draw(ctx, d, first, prompt, o, stdout)
	}
	texts := make([]bytes.Buffer, batch)
	writers := make([]io.Writer, batch)
	for i := range texts {
		writers[i] = &texts[i]
	}
	if err := m.draw(ctx, d, first, prompt, o, writers...); err != nil {
		return err
	}
	for i := range texts {
		if first+i > 0 && o.plain() {
			fmt.Fprintln(stdout, separator) // cli.Output keeps its error
		}
		if _, err := texts[i].WriteTo(stdout); err != nil {
			return err
		}
	}
	return nil
}

// draw continues a prompt once for each writer, in samples numbered from first.
func (m *loaded) draw(ctx context.Context, d *model.Decoder, first int, prompt []int32, o *options, writers ...io.Writer) error {
	text := m.tokenizer.Decode(prompt)
	outputs := make([]*output, len(writers))
	for i, w := range writers {
		outputs[i] = &output{options: o, model: m, number: first + i, prompt: text, w: w}
		if err := outputs[i].begin(); err != nil {
			return err
		}
	}
	p := &recorder{Predictor: d}
	return sample.Generate(ctx, p, len(writers), first, m.context(prompt), m.tokenizer.Char, o.Options, func(e sample.Event) error {
		i, v := e.Sample-first, m.Config.VocabSize
		return outputs[i].event(e, p.logits[i*v:(i+1)*v])
	})
}

// recorder keeps the logits that a character is drawn from.
type recorder struct {
	sample.Predictor
	logits []float32 // (B, V)
}

// Next is sample.Predictor's.
func (r *recorder) Next(tokens []int32) (logits []float32, err error) {
	r.logits, err = r.Predictor.Next(tokens)
	return r.logits, err
}

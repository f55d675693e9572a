package sample

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Predictor continues B sequences by one token each and returns the logits of the characters that follow, (B, V).
// *model.Decoder is one.
type Predictor interface {
	Next(tokens []int32) (logits []float32, err error)
}

// Options says how [Generate] continues a prompt.
type Options struct {
	Sampler
	MaxNewTokens int      // characters a sample at most
	Seed         uint64   // sample i depends on (Seed, i) alone
	Stop         []string // a sample ends before the first of these strings
}

// Validate reports the first setting that makes no sense, by the name of its flag.
func (o Options) Validate() error {
	if o.MaxNewTokens < 0 {
		return fmt.Errorf("max_new_tokens is %d; it must be at least 0", o.MaxNewTokens)
	}
	for _, s := range o.Stop {
		if s == "" {
			return fmt.Errorf("stop is empty; give the text to stop at")
		}
	}
	return o.Sampler.Validate()
}

// Event is one drawn character, or the end of a sample.
type Event struct {
	Sample      int     // its number
	Text        string  // what can be shown now; empty while it may be the start of a stop string
	ID          int32   // the character drawn
	Probability float64 // of that character among the candidates it was drawn from
	Done        bool    // the sample has ended; the other fields are not set, but for text held back
}

// Generate continues the prompt (at least one token; give at most the model's block size) in batch samples, numbered
// from first, and hands what it draws to emit as it is drawn. decode gives the text of one token. It stops early, with
// the context's cause, when ctx is done, and with emit's error when that fails.
func Generate(ctx context.Context, p Predictor, batch, first int, prompt []int32, decode func(int32) string, o Options, emit func(Event) error) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if len(prompt) == 0 || batch < 1 {
		return fmt.Errorf("sample: a prompt of %d tokens for %d samples; there must be at least one of each", len(prompt), batch)
	}
	g := newGeneration(batch, first, decode, o, emit)
	logits, err := g.feed(ctx, p, prompt)
	for i := 0; err == nil && i < o.MaxNewTokens && g.running > 0; i++ {
		if err = g.draw(logits); err == nil && g.running > 0 && i+1 < o.MaxNewTokens {
			if err = context.Cause(ctx); err == nil {
				logits, err = p.Next(g.tokens)
			}
		}
	}
	if err != nil {
		return err
	}
	return g.finish()
}

// generation is the state of one call of Generate.
type generation struct {
	o       Options
	decode  func(int32) string
	emit    func(Event) error
	first   int
	tokens  []int32 // (B), the last token of each sample
	random  []*rand.Rand
	hold    []holdback
	done    []bool
	running int
	scratch []Candidate
}

func newGeneration(batch, first int, decode func(int32) string, o Options, emit func(Event) error) *generation {
	g := &generation{o: o, decode: decode, emit: emit, first: first, running: batch,
		tokens: make([]int32, batch), hold: make([]holdback, batch), done: make([]bool, batch)}
	for i := range batch {
		g.random = append(g.random, stream(o.Seed, first+i))
	}
	return g
}

// feed gives every sample the prompt.
func (g *generation) feed(ctx context.Context, p Predictor, prompt []int32) (logits []float32, err error) {
	for _, id := range prompt {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		for i := range g.tokens {
			g.tokens[i] = id
		}
		if logits, err = p.Next(g.tokens); err != nil {
			return nil, err
		}
	}
	return logits, nil
}

// draw chooses the next character of every running sample.
func (g *generation) draw(logits []float32) error {
	v := len(logits) / len(g.tokens)
	for i := range g.tokens {
		if g.done[i] {
			continue // its sequence goes on in the batch, unseen
		}
		var err error
		if g.scratch, err = g.o.Candidates(g.scratch, logits[i*v:(i+1)*v]); err != nil {
			return err
		}
		c := draw(g.scratch, g.random[i].Float64())
		g.tokens[i] = c.ID
		text, stopped := g.hold[i].add(g.decode(c.ID), g.o.Stop)
		if err := g.emit(Event{Sample: g.first + i, Text: text, ID: c.ID, Probability: c.Probability}); err != nil {
			return err
		}
		if stopped {
			if err := g.end(i, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish ends the samples that reached their length; what was held back for a stop string is shown after all.
func (g *generation) finish() error {
	for i := range g.tokens {
		if !g.done[i] {
			if err := g.end(i, g.hold[i].text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *generation) end(i int, text string) error {
	g.done[i] = true
	g.running--
	return g.emit(Event{Sample: g.first + i, Text: text, Done: true})
}

// holdback keeps the end of a text that may be the start of a stop string.
type holdback struct{ text string }

// add appends s and returns what can be shown: everything before a stop string, or before what may become one.
func (h *holdback) add(s string, stop []string) (show string, stopped bool) {
	h.text += s
	keep, end := 0, -1
	for _, x := range stop {
		if i := strings.Index(h.text, x); i >= 0 && (end < 0 || i < end) {
			end = i
		}
		keep = max(keep, overlap(h.text, x))
	}
	if end >= 0 {
		return h.text[:end], true
	}
	show, h.text = h.text[:len(h.text)-keep], h.text[len(h.text)-keep:]
	return show, false
}

// overlap is the length of the longest end of text that begins x.
func overlap(text, x string) int {
	for n := min(len(text), len(x)-1); n > 0; n-- {
		if strings.HasSuffix(text, x[:n]) {
			return n
		}
	}
	return 0
}

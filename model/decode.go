package model

import (
	"fmt"

	"chargpt/internal/ops"

	"gorgonia.org/gorgonia"
)

// MaxDecodeBatch is how many sequences a [Decoder] continues together at most. Up to it, a sequence's logits have the
// same bits however many others there are.
const MaxDecodeBatch = 8

// Decoder continues B sequences one character at a time. Inside BlockSize it runs a graph of one new character with
// cached keys and values; past it, the window over the last BlockSize characters slides, every character of the window
// gets a new position, and the logits are those of a full forward pass over the window.
type Decoder struct {
	B int

	model   *Model
	history [][]int32 // the last BlockSize tokens of each sequence
	fed     int       // tokens given so far

	tokens, positions []int32 // (B), inputs of the graph of one character
	machine           *ops.Machine
	logits            *gorgonia.Node
	window            *Graph    // the full pass over BlockSize tokens, made when first needed
	last              []float32 // (B, V), logits of the window's last token
}

// NewDecoder returns a decoder of B sequences, from 1 to [MaxDecodeBatch]. Close it after use.
func (m *Model) NewDecoder(batch int) (d *Decoder, err error) {
	if batch < 1 || batch > MaxDecodeBatch {
		return nil, fmt.Errorf("model: a decoder of %d sequences; it takes from 1 to %d", batch, MaxDecodeBatch)
	}
	defer recoverTo(&err)
	d = &Decoder{B: batch, model: m, history: make([][]int32, batch), tokens: make([]int32, batch), positions: make([]int32, batch)}
	g := m.newGPT(batch, 1, ops.NewBuilder(m.Threads, nil))
	g.decoding = true
	g.tokens = g.InputIDs("tokens", d.tokens)
	g.positions = g.InputIDs("positions", d.positions)
	d.logits = g.forward()
	if err := g.Err(); err != nil {
		return nil, err
	}
	d.machine, err = ops.NewMachine(g.Graph)
	return d, err
}

// Next appends one token to each sequence and returns the logits of the characters that follow, (B, V), overwritten by
// the next call.
func (d *Decoder) Next(tokens []int32) (logits []float32, err error) {
	defer recoverTo(&err)
	if err := d.append(tokens); err != nil {
		return nil, err
	}
	if d.fed > d.model.Config.BlockSize {
		return d.slide()
	}
	copy(d.tokens, tokens)
	for i := range d.positions {
		d.positions[i] = int32(d.fed - 1)
	}
	if err := d.machine.RunAll(); err != nil {
		return nil, err
	}
	return ops.Output(d.logits), nil
}

// append checks and remembers the new tokens.
func (d *Decoder) append(tokens []int32) error {
	if len(tokens) != d.B {
		return fmt.Errorf("model: %d tokens for %d sequences", len(tokens), d.B)
	}
	for _, id := range tokens {
		if id < 0 || int(id) >= d.model.Config.VocabSize {
			return fmt.Errorf("model: token %d; ids are from 0 to %d", id, d.model.Config.VocabSize-1)
		}
	}
	t := d.model.Config.BlockSize
	for i, id := range tokens {
		h := append(d.history[i], id)
		if len(h) > t {
			h = append(h[:0], h[1:]...)
		}
		d.history[i] = h
	}
	d.fed++
	return nil
}

// slide runs the full pass over the last BlockSize tokens of each sequence.
func (d *Decoder) slide() ([]float32, error) {
	t, v := d.model.Config.BlockSize, d.model.Config.VocabSize
	if d.window == nil {
		window, err := d.model.NewGraph(d.B, t, Inference, 0)
		if err != nil {
			return nil, err
		}
		d.window, d.last = window, make([]float32, d.B*v)
	}
	for i, h := range d.history {
		copy(d.window.Tokens[i*t:], h)
	}
	if err := d.window.Run(0); err != nil {
		return nil, err
	}
	logits := d.window.Logits()
	for i := range d.B {
		end := (i + 1) * t * v
		copy(d.last[i*v:(i+1)*v], logits[end-v:end])
	}
	return d.last, nil
}

// Reset forgets all sequences.
func (d *Decoder) Reset() {
	d.fed = 0
	for i := range d.history {
		d.history[i] = d.history[i][:0]
	}
}

// Close frees the machines.
func (d *Decoder) Close() error {
	if d.window != nil {
		if err := d.window.Close(); err != nil {
			return err
		}
	}
	return d.machine.Close()
}

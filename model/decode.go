package model

import (
	"errors"
	"fmt"

	"chargpt/internal/f32"
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
	lanes   []decodeLane
	logits  []float32 // (B, V)
	run     func(lo, hi, worker int)
}

// decodeLane continues some of the sequences, beside the other lanes.
type decodeLane struct {
	first, count      int     // of the sequences
	tokens, positions []int32 // (count), inputs of the graph of one character
	machine           *ops.Machine
	logits            *gorgonia.Node
	window            *Graph // the full pass over BlockSize tokens, made when first needed
	err               error
}

// NewDecoder returns a decoder of B sequences, from 1 to [MaxDecodeBatch]. Close it after use.
func (m *Model) NewDecoder(batch int) (d *Decoder, err error) {
	if batch < 1 || batch > MaxDecodeBatch {
		return nil, fmt.Errorf("model: a decoder of %d sequences; it takes from 1 to %d", batch, MaxDecodeBatch)
	}
	defer recoverTo(&err)
	d = &Decoder{B: batch, model: m, history: make([][]int32, batch), logits: make([]float32, batch*m.Config.VocabSize)}
	d.lanes = make([]decodeLane, max(1, min(m.Threads, batch/2)))
	d.run = d.runLanes
	for i := range d.lanes {
		l := &d.lanes[i]
		l.first = i * batch / len(d.lanes)
		l.count = (i+1)*batch/len(d.lanes) - l.first
		l.tokens, l.positions = make([]int32, l.count), make([]int32, l.count)
		g := m.newGPT(l.count, 1, ops.NewBuilder(m.Threads/len(d.lanes), nil))
		g.decoding = true
		g.tokens = g.InputIDs("tokens", l.tokens)
		g.positions = g.InputIDs("positions", l.positions)
		l.logits = g.forward()
		if err := g.Err(); err != nil {
			return nil, err
		}
		if l.machine, err = ops.NewMachine(g.Graph); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Next appends one token to each sequence and returns the logits of the characters that follow, (B, V), overwritten by
// the next call.
func (d *Decoder) Next(tokens []int32) (logits []float32, err error) {
	defer recoverTo(&err)
	if err := d.append(tokens); err != nil {
		return nil, err
	}
	f32.ForRange(len(d.lanes), len(d.lanes), d.run)
	for i := range d.lanes {
		if err := d.lanes[i].err; err != nil {
			return nil, err
		}
	}
	return d.logits, nil
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

// runLanes computes the logits of the lanes' sequences.
func (d *Decoder) runLanes(lo, hi, _ int) {
	v := d.model.Config.VocabSize
	for i := lo; i < hi; i++ {
		l := &d.lanes[i]
		var logits []float32
		if d.fed > d.model.Config.BlockSize {
			logits, l.err = d.slide(l)
		} else {
			logits, l.err = d.step(l)
		}
		copy(d.logits[l.first*v:], logits)
	}
}

// step runs the graph of one new character.
func (d *Decoder) step(l *decodeLane) ([]float32, error) {
	for i := range l.tokens {
		h := d.history[l.first+i]
		l.tokens[i], l.positions[i] = h[len(h)-1], int32(d.fed-1)
	}
	return ops.Output(l.logits), l.machine.RunAll()
}

// slide runs the full pass over the last BlockSize tokens of each sequence.
func (d *Decoder) slide(l *decodeLane) ([]float32, error) {
	t := d.model.Config.BlockSize
	if l.window == nil {
		window, err := d.model.newGraph(l.count, t, lastOnly, 0, d.model.Threads/len(d.lanes), nil)
		if err != nil {
			return nil, err
		}
		l.window = window
	}
	for i := range l.count {
		copy(l.window.Tokens[i*t:], d.history[l.first+i])
	}
	return l.window.Logits(), l.window.Run(0)
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
	var errs []error
	for _, l := range d.lanes {
		if l.window != nil {
			errs = append(errs, l.window.Close())
		}
		errs = append(errs, l.machine.Close())
	}
	return errors.Join(errs...)
}

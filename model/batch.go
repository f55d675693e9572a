package model

import (
	"errors"
	"math"

	"chargpt/internal/f32"
)

// lanes is how many micro-batches run side by side, each lane with gradients of its own. It is fixed, so that the order
// in which gradients are added does not depend on the number of threads.
const lanes = 2

// Batch computes the loss and the gradients of B sequences of T tokens, as a Training [Graph] of that size would, to
// rounding. It cuts the batch into micro-batches, so small that what a forward pass keeps for its backward pass is still
// in cache when that needs it, and runs them in lanes. Write Tokens and Targets, call [Batch.Run], and read
// [Batch.Loss], [Batch.GradNorm] and [Parameter.Grad].
type Batch struct {
	Tokens  []int32 // (B·T), ids of the characters
	Targets []int32 // (B·T), ids of the characters that follow, −1 to ignore

	model   *Model
	micros  int // micro-batches
	lanes   []lane
	squares []float64 // sums over addUnit gradients each
	run     func(lo, hi, worker int)
	add     func(lo, hi, worker int)

	iteration, targets int // of the run
}

// lane runs every lanes-th micro-batch.
type lane struct {
	graph *Graph
	grads []float32 // laid out as the parameters
	loss  float64
	err   error
}

// NewBatch builds the graphs for batches of B sequences of T tokens. seed drives the dropout masks. Close it after use.
func (m *Model) NewBatch(batch, t int, seed uint64) (*Batch, error) {
	if err := m.checkShape(batch, t); err != nil {
		return nil, err
	}
	size := microBatch(batch, t)
	b := &Batch{Tokens: make([]int32, batch*t), Targets: make([]int32, batch*t), model: m, micros: divideUp(batch, size)}
	m.makeGradients()
	b.lanes = make([]lane, min(lanes, b.micros))
	for i := range b.lanes {
		grads := m.grads
		if i > 0 {
			grads = make([]float32, len(m.flat))
		}
		g, err := m.newGraph(size, t, Training, seed, m.Threads/len(b.lanes), grads)
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		b.lanes[i] = lane{graph: g, grads: grads}
	}
	b.squares = make([]float64, divideUp(len(m.grads), addUnit))
	b.run, b.add = b.runLanes, b.addLanes
	return b, nil
}

// microTokens is about how many tokens a micro-batch has: fewer cost more in copies of the weights, more do not stay in
// cache. Whole sequences, as many in each, may make it up to twice that, and one sequence may have more.
const microTokens = 512

// microBatch is how many sequences of T tokens run at once. The last micro-batch may have fewer: it is filled up with
// ignored targets.
func microBatch(batch, t int) int {
	lane := divideUp(batch, lanes)
	micros := min(lane, divideUp(lane*t, microTokens))
	return divideUp(lane, micros)
}

// SequencesAtWork is how many sequences of T tokens the graphs of a [Batch] have room for at once.
func SequencesAtWork(batch, t int) int {
	batch = min(batch, 1<<30) // more change nothing, and products of them would overflow
	size := microBatch(batch, t)
	return size * min(lanes, divideUp(batch, size))
}

func divideUp(a, b int) int { return (a + b - 1) / b }

// Run passes Tokens and Targets through the graphs. iteration selects the dropout masks.
func (b *Batch) Run(iteration int) error {
	b.iteration, b.targets = iteration, 0
	for _, id := range b.Targets {
		if id >= 0 {
			b.targets++
		}
	}
	f32.ForRange(b.model.Threads, len(b.lanes), b.run)
	for i := range b.lanes {
		if err := b.lanes[i].err; err != nil {
			return err
		}
	}
	f32.ForRange(b.model.Threads, len(b.squares), b.add)
	return nil
}

func (b *Batch) runLanes(lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		b.lanes[i].err = b.runLane(i)
	}
}

// runLane runs the lane's micro-batches one after the other and accumulates their gradients and losses.
func (b *Batch) runLane(i int) error {
	l := &b.lanes[i]
	l.loss = 0
	n := len(l.graph.Tokens)
	for micro := i; micro < b.micros; micro += len(b.lanes) {
		copy(l.graph.Tokens, b.Tokens[micro*n:])
		given := copy(l.graph.Targets, b.Targets[micro*n:])
		for j := given; j < n; j++ {
			l.graph.Targets[j] = -1
		}
		l.graph.gpt.Pass.Targets = b.targets
		l.graph.gpt.Pass.Accumulate = micro != i
		if err := l.graph.Run(b.iteration*b.micros + micro); err != nil { // each has dropout masks of its own
			return err
		}
		l.loss += float64(l.graph.Loss())
	}
	return nil
}

// addUnit is how many gradients are added at a time: fixed, so that the order in which the norm is summed is.
const addUnit = 1 << 14

// addLanes adds the lanes' gradients, and squares the sums while they are in cache.
func (b *Batch) addLanes(lo, hi, _ int) {
	for unit := lo; unit < hi; unit++ {
		from, to := unit*addUnit, min((unit+1)*addUnit, len(b.model.grads))
		sum := b.model.grads[from:to]
		for _, l := range b.lanes[1:] {
			f32.Add(sum, sum, l.grads[from:to])
		}
		b.squares[unit] = f32.SumSquares(sum)
	}
}

// Loss is the mean cross-entropy of the targets that are not ignored, in nats a character.
func (b *Batch) Loss() float32 {
	var sum float64
	for i := range b.lanes {
		sum += b.lanes[i].loss
	}
	return float32(sum)
}

// GradNorm is the Euclidean norm of all gradients together. It is NaN or infinite if one of them is.
func (b *Batch) GradNorm() float64 {
	var sum float64
	for _, s := range b.squares {
		sum += s
	}
	return math.Sqrt(sum)
}

// Close frees the graphs.
func (b *Batch) Close() error {
	var err error
	for _, l := range b.lanes {
		if l.graph != nil {
			err = errors.Join(err, l.graph.Close())
		}
	}
	return err
}

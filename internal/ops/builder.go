package ops

import (
	"errors"
	"fmt"

	"chargpt/internal/f32"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Builder adds operations to one gorgonia graph. Its first error sticks: later calls return nil and do nothing, so that
// a forward pass reads without error handling; check [Builder.Err] at the end.
type Builder struct {
	Graph      *gorgonia.ExprGraph
	Threads    int     // at most this many goroutines an operation
	Random     *Random // of the dropout masks; nil in a graph without dropout
	Pass       Pass    // set before each run of a graph with gradients
	deposits   map[*gorgonia.Node]*gorgonia.Node
	attentions map[*gorgonia.Node]*attention
	shared     map[int][]float32 // by size: see gradientMemory
	count      int
	err        error
}

// Pass is how one run of a graph takes part in an iteration whose batch is cut into micro-batches.
type Pass struct {
	Accumulate bool // add to the gradients of the parameters, instead of overwriting them
	Targets    int  // the loss is a mean over so many targets: those of the whole batch; 0 for this graph's own
}

// beta is what a gradient of a parameter is multiplied by before the new one is added.
func (p Pass) beta() float32 {
	if p.Accumulate {
		return 1
	}
	return 0
}

// NewBuilder returns a builder on a new graph.
func NewBuilder(threads int, random *Random) *Builder {
	return &Builder{
		Graph:      gorgonia.NewGraph(),
		Threads:    max(threads, 1),
		Random:     random,
		deposits:   map[*gorgonia.Node]*gorgonia.Node{},
		attentions: map[*gorgonia.Node]*attention{},
		shared:     map[int][]float32{},
	}
}

// Err returns the first error of a call to the builder.
func (b *Builder) Err() error { return b.err }

// Input adds an input node of the given shape over data, which stays the caller's.
func (b *Builder) Input(name string, data []float32, shape ...int) *gorgonia.Node {
	value := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
	return gorgonia.NewTensor(b.Graph, tensor.Float32, len(shape),
		gorgonia.WithShape(shape...), gorgonia.WithName(name), gorgonia.WithValue(value))
}

// InputIDs adds an input node of token ids or positions over data, which stays the caller's.
func (b *Builder) InputIDs(name string, data []int32) *gorgonia.Node {
	value := tensor.New(tensor.WithShape(len(data)), tensor.WithBacking(data))
	return gorgonia.NewVector(b.Graph, tensor.Int32,
		gorgonia.WithShape(len(data)), gorgonia.WithName(name), gorgonia.WithValue(value))
}

// Gradients adds the derivative of loss with respect to each parameter and returns those nodes, in order.
func (b *Builder) Gradients(loss *gorgonia.Node, parameters gorgonia.Nodes) (gorgonia.Nodes, error) {
	if b.err != nil {
		return nil, b.err
	}
	grads, err := gorgonia.Grad(loss, parameters...)
	if err != nil {
		return nil, err
	}
	if len(b.deposits) != 0 {
		return nil, errors.New("ops: a gradient was deposited and never collected")
	}
	return grads, nil
}

// operation starts an operation; the caller sets forward, and backward where it can be differentiated.
func (b *Builder) operation(name string, shape tensor.Shape, in ...hm.Type) *operation {
	b.count++
	return &operation{name: name, number: b.count, in: in, shape: shape, differentiable: make([]bool, len(in))}
}

// apply adds o to the graph, for a forward pass.
func (b *Builder) apply(o *operation, in ...*gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, err := gorgonia.ApplyOp(o, in...)
	if err != nil {
		b.err = fmt.Errorf("ops: %s: %w", o.name, err)
		return nil
	}
	return n
}

// applyAll adds gradient operations; operation i reads the nodes in[i].
func applyAll(operations []*operation, in ...gorgonia.Nodes) (gorgonia.Nodes, error) {
	out := make(gorgonia.Nodes, len(operations))
	for i, o := range operations {
		n, err := gorgonia.ApplyOp(o, in[i]...)
		if err != nil {
			return nil, fmt.Errorf("ops: %s: %w", o.name, err)
		}
		out[i] = n
	}
	return out, nil
}

// fail records that an operation cannot be built. It reports whether the builder has failed.
func (b *Builder) fail(condition bool, format string, args ...any) bool {
	if b.err == nil && condition {
		b.err = fmt.Errorf("ops: "+format, args...)
	}
	return b.err != nil
}

// deposit leaves grad, one part of n's gradient, for the operation that computes the other part to add to. The
// depositor declares itself not differentiable in n. It works because gorgonia differentiates a consumer of a result before the
// operations that led to it: the residual addition before its branch's LayerNorm, the LM head before the embedding.
func (b *Builder) deposit(n, grad *gorgonia.Node) { b.deposits[n] = grad }

// collect returns what was deposited for n, or nil.
func (b *Builder) collect(n *gorgonia.Node) *gorgonia.Node {
	grad := b.deposits[n]
	delete(b.deposits, n)
	return grad
}

// gradientMemory is the memory of an activation's gradient, which all gradients of that size share. A backward pass is a
// chain: one operation reads such a gradient, computes all that follows from it, weight gradients included, and by the
// time the next one of that size is written nothing needs it any more. So a backward pass touches a few megabytes that
// stay in cache, whatever the number of layers. The gradient of the residual stream is not one of them: see inPlace. An
// operation whose incoming gradient lies there gets memory of its own.
func (b *Builder) gradientMemory(size int, incoming *gorgonia.Node) []float32 {
	if b.shared[size] == nil {
		b.shared[size] = make([]float32, size)
	}
	if o, ok := incoming.Op().(*operation); ok && len(o.buffer) == size && &o.buffer[0] == &b.shared[size][0] {
		return make([]float32, size)
	}
	return b.shared[size]
}

// inPlace lets o write over the output of the operation of n, which nothing else needs afterwards.
func (o *operation) inPlace(n *gorgonia.Node) {
	if before, ok := n.Op().(*operation); ok && before.shape.TotalSize() == o.shape.TotalSize() {
		o.buffer = before.memory()
	}
}

// view is an operation whose output another one, that it depends on, has written.
func (b *Builder) view(name string, shape tensor.Shape) *operation {
	o := b.operation(name, shape, matrix())
	o.forward = func([]float32, []gorgonia.Value) {}
	return o
}

// rowUnit is how many rows are never split: at least 9, where f32.Gemm's results do not depend on the number of rows.
const rowUnit = 24

// minElements is the size under which an elementwise pass stays on one goroutine: a fork costs a few microseconds.
const minElements = 1 << 15

// rows runs f over ranges of n rows of the given work (in elementwise operations a row), on several threads where it pays.
func (b *Builder) rows(n, work int, f func(lo, hi, worker int)) {
	if n*work < minElements || b.Threads == 1 || n < 2*rowUnit {
		f(0, n, 0)
		return
	}
	b.split(n, rowUnit, f)
}

// split runs f over ranges of n things in units of at least unit; the last unit takes the rest.
func (b *Builder) split(n, unit int, f func(lo, hi, worker int)) {
	units := max(n/unit, 1)
	f32.ForRange(b.Threads, units, func(lo, hi, worker int) {
		end := hi * unit
		if hi == units {
			end = n
		}
		f(lo*unit, end, worker)
	})
}

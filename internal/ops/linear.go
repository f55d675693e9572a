package ops

import (
	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Linear multiplies every row by a weight matrix:
//
//	y = x W + bias + residual
//
// x (N, I), w (I, O), bias (O) or nil, residual (N, O) or nil → (N, O). A residual is the stream that a block adds to;
// its gradient, which is dy itself, is deposited for the LayerNorm at the start of the branch.
func (b *Builder) Linear(x, w, bias, residual *gorgonia.Node) *gorgonia.Node {
	return b.linear(x, w, bias, residual, false)
}

// TiedHead is the LM head that shares the token embedding:
//
//	logits = x wteᵀ
//
// x (N, C), wte (V, C) → (N, V). Its gradient of wte is deposited for the embedding.
func (b *Builder) TiedHead(x, wte *gorgonia.Node) *gorgonia.Node {
	return b.linear(x, wte, nil, nil, true)
}

type linear struct {
	b          *Builder
	n, in, out int
	transposed bool // w is (out, in)
	ldw        int
	bias       int // index of the input, 0 for none
	residual   int
}

func (b *Builder) linear(x, w, bias, residual *gorgonia.Node, transposed bool) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	l := &linear{b: b, n: x.Shape()[0], in: w.Shape()[0], out: w.Shape()[1], ldw: w.Shape()[1], transposed: transposed}
	if transposed {
		l.in, l.out = l.out, l.in
	}
	if b.fail(x.Shape()[1] != l.in, "linear: x has %d columns, w takes %d", x.Shape()[1], l.in) {
		return nil
	}
	o := b.operation("linear", tensor.Shape{l.n, l.out}, matrix(), matrix())
	in := gorgonia.Nodes{x, w}
	o.differentiable = []bool{true, !transposed}
	if bias != nil {
		l.bias = len(in)
		o.in, in, o.differentiable = append(o.in, vector()), append(in, bias), append(o.differentiable, true)
	}
	if residual != nil {
		l.residual = len(in)
		o.in, in, o.differentiable = append(o.in, matrix()), append(in, residual), append(o.differentiable, false)
	}
	o.forward = l.forward
	o.backward = l.derive
	return b.apply(o, in...)
}

func (l *linear) forward(y []float32, in []gorgonia.Value) {
	var bias, residual []float32
	if l.bias > 0 {
		bias = floats(in[l.bias])
	}
	if l.residual > 0 {
		residual = floats(in[l.residual])
	}
	beta := start(y, bias, residual, l.n, l.out, l.out)
	f32.GemmThreads(l.b.Threads, false, l.transposed, l.n, l.out, l.in, 1, floats(in[0]), l.in, floats(in[1]), l.ldw, beta, y, l.out)
}

// start fills y (n rows of c, ld apart; with a residual ld is c) with bias + residual, so that a product can be accumulated onto it. It returns
// the beta for that product: 0 where there is nothing to add to.
func start(y, bias, residual []float32, n, c, ld int) (beta float32) {
	switch {
	case residual != nil:
		copy(y, residual)
		if bias != nil {
			for i := range n {
				f32.Add(y[i*ld:i*ld+c], y[i*ld:i*ld+c], bias)
			}
		}
	case bias != nil:
		for i := range n {
			copy(y[i*ld:i*ld+c], bias)
		}
	default:
		return 0
	}
	return 1
}

// derive adds one operation that computes all gradients, and views of those of the weight and the bias.
func (l *linear) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	dx := l.b.operation("linear.dx", tensor.Shape{l.n, l.in}, matrix(), matrix(), matrix())
	dx.buffer = l.b.gradientMemory(l.n*l.in, grad)
	dw := l.b.view("linear.dw", in[1].Shape().Clone())
	db := l.b.view("linear.dbias", tensor.Shape{l.out})
	dx.forward = func(dx []float32, in []gorgonia.Value) {
		dy, w, x := floats(in[0]), floats(in[1]), floats(in[2])
		l.weightGradient(dw.memory(), x, dy)
		if l.bias > 0 {
			columnSums(db.memory(), dy, l.n, l.out, l.b.Pass.beta())
		}
		f32.GemmThreads(l.b.Threads, false, !l.transposed, l.n, l.in, l.out, 1, dy, l.out, w, l.ldw, 0, dx, l.in) // dx = dy Wᵀ
	}
	grads := make(gorgonia.Nodes, len(in))
	var err error
	if grads[0], err = gorgonia.ApplyOp(dx, grad, in[1], in[0]); err != nil {
		return nil, err
	}
	if grads[1], err = gorgonia.ApplyOp(dw, grads[0]); err != nil {
		return nil, err
	}
	if l.transposed {
		l.b.deposit(in[1], grads[1])
		grads[1] = nil
	}
	if l.residual > 0 {
		l.b.deposit(in[l.residual], grad)
	}
	if l.bias > 0 {
		grads[l.bias], err = gorgonia.ApplyOp(db, grads[0])
	}
	return grads, err
}

// weightGradient is dW = xᵀ dy, or dyᵀ x where w is (out, in): that one is deposited, and accumulated where it is collected.
func (l *linear) weightGradient(dw, x, dy []float32) {
	if l.transposed {
		f32.GemmThreads(l.b.Threads, true, false, l.out, l.in, l.n, 1, dy, l.out, x, l.in, 0, dw, l.in)
		return
	}
	f32.GemmThreads(l.b.Threads, true, false, l.in, l.out, l.n, 1, x, l.in, dy, l.out, l.b.Pass.beta(), dw, l.out)
}

// columnSums is the gradient of a bias: the sum of the n rows of dy (n, c), added to beta times the sum before.
func columnSums(sum, dy []float32, n, c int, beta float32) {
	if beta == 0 {
		clear(sum)
	}
	for i := range n {
		f32.Add(sum, sum, row(dy, i, c))
	}
}

package ops

import (
	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// QKV projects every token to its query, key and value for all heads (Vaswani et al. 2017, section 3.2.2):
//
//	qkv = [x W_Q + b_Q | x W_K + b_K | x W_V + b_V]
//
// x (N, C), three weights (C, A) with A = NH·HS, three biases (A) or none → (N, 3A), side by side, so that attention
// reads a head by stride and copies nothing. One output also means one gradient to propagate.
func (b *Builder) QKV(x *gorgonia.Node, weights, biases gorgonia.Nodes) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	p := &projection{b: b, n: x.Shape()[0], c: x.Shape()[1], width: weights[0].Shape()[1]}
	p.w = make([]float32, p.c*3*p.width)
	o := b.operation("qkv", tensor.Shape{p.n, 3 * p.width}, matrix(), matrix(), matrix(), matrix())
	o.differentiable = []bool{true, true, true, true}
	for range biases {
		o.in, o.differentiable = append(o.in, vector()), append(o.differentiable, true)
	}
	o.forward = p.forward
	o.backward = p.derive
	in := append(gorgonia.Nodes{x}, weights...)
	return b.apply(o, append(in, biases...)...)
}

// sideBySide is the number of rows from which the three products are one, with the weights side by side: a copy of a few
// weights then costs less than passing over all activations three times.
const sideBySide = 128

// projection is one layer's.
type projection struct {
	b           *Builder
	n, c, width int       // width is A
	w           []float32 // (C, 3A), W_Q | W_K | W_V, set by forward and valid until the weights change
	dw          []float32 // (C, 3A), their gradients
	db          []float32 // (3A), those of the biases
}

func (p *projection) forward(qkv []float32, in []gorgonia.Value) {
	beta := float32(0)
	for j := range len(in) - 4 {
		beta = start(qkv[j*p.width:], floats(in[4+j]), nil, p.n, p.width, 3*p.width)
	}
	if p.dw == nil && p.n < sideBySide { // dw: a backward pass needs them side by side
		for j := range 3 {
			f32.GemmThreads(p.b.Threads, false, false, p.n, p.width, p.c, 1, floats(in[0]), p.c, floats(in[1+j]), p.width, beta, qkv[j*p.width:], 3*p.width)
		}
		return
	}
	for j := range 3 {
		copyColumns(p.w[j*p.width:], 3*p.width, floats(in[1+j]), p.width, p.c, p.width)
	}
	f32.GemmThreads(p.b.Threads, false, false, p.n, 3*p.width, p.c, 1, floats(in[0]), p.c, p.w, 3*p.width, beta, qkv, 3*p.width)
}

// give moves one of three gradients that lie side by side to its own memory, or adds it there.
func (p *projection) give(grad, joined []float32, rows int) {
	if !p.b.Pass.Accumulate {
		copyColumns(grad, p.width, joined, 3*p.width, rows, p.width)
		return
	}
	for i := range rows {
		g := row(grad, i, p.width)
		f32.Add(g, g, joined[i*3*p.width:][:p.width])
	}
}

// copyColumns copies a matrix of c columns whose rows are ld apart.
func copyColumns(dst []float32, ldDst int, src []float32, ldSrc, rows, c int) {
	for i := range rows {
		copy(dst[i*ldDst:i*ldDst+c], src[i*ldSrc:i*ldSrc+c])
	}
}

// derive adds one operation that computes all gradients, and views of those of the weights and biases.
func (p *projection) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	p.dw, p.db = make([]float32, p.c*3*p.width), make([]float32, 3*p.width)
	dx := p.b.operation("qkv.dx", tensor.Shape{p.n, p.c}, matrix(), matrix())
	dx.buffer = p.b.gradientMemory(p.n*p.c, grad)
	var views []*operation
	for j := range len(in) - 1 {
		shape := tensor.Shape{p.c, p.width}
		if j >= 3 {
			shape = tensor.Shape{p.width}
		}
		views = append(views, p.b.view("qkv.d"+[]string{"w_q", "w_k", "w_v", "b_q", "b_k", "b_v"}[j], shape))
	}
	dx.forward = func(dx []float32, in []gorgonia.Value) {
		p.backward(dx, floats(in[0]), floats(in[1]), views)
	}
	node, err := gorgonia.ApplyOp(dx, grad, in[0])
	if err != nil {
		return nil, err
	}
	inputs := make([]gorgonia.Nodes, len(views))
	for i := range inputs {
		inputs[i] = gorgonia.Nodes{node}
	}
	grads, err := applyAll(views, inputs...)
	return append(gorgonia.Nodes{node}, grads...), err
}

// backward, with all three side by side:
//
//	[dW_Q | dW_K | dW_V] = xᵀ [dq | dk | dv]        dx = dq W_Qᵀ + dk W_Kᵀ + dv W_Vᵀ
func (p *projection) backward(dx, dqkv, x []float32, grads []*operation) {
	f32.GemmThreads(p.b.Threads, true, false, p.c, 3*p.width, p.n, 1, x, p.c, dqkv, 3*p.width, 0, p.dw, 3*p.width)
	for j := range 3 {
		p.give(grads[j].memory(), p.dw[j*p.width:], p.c)
	}
	if len(grads) > 3 {
		columnSums(p.db, dqkv, p.n, 3*p.width, 0)
		for j := range 3 {
			p.give(grads[3+j].memory(), p.db[j*p.width:], 1)
		}
	}
	f32.GemmThreads(p.b.Threads, false, true, p.n, p.c, 3*p.width, 1, dqkv, 3*p.width, p.w, 3*p.width, 0, dx, p.c)
}

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

// projection is one layer's.
type projection struct {
	b           *Builder
	n, c, width int // width is A
}

func (p *projection) forward(qkv []float32, in []gorgonia.Value) {
	x, beta := floats(in[0]), float32(0)
	for j := range len(in) - 4 {
		beta = start(qkv[j*p.width:], floats(in[4+j]), nil, p.n, p.width, 3*p.width)
	}
	for j := range 3 {
		f32.GemmThreads(p.b.Threads, false, false, p.n, p.width, p.c, 1, x, p.c, floats(in[1+j]), p.width, beta, qkv[j*p.width:], 3*p.width)
	}
}

// derive adds one operation that computes all gradients, and views of those of the weights and biases.
func (p *projection) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	dx := p.b.operation("qkv.dx", tensor.Shape{p.n, p.c}, matrix(), matrix(), matrix(), matrix(), matrix())
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
		p.backward(dx, in, views)
	}
	node, err := gorgonia.ApplyOp(dx, grad, in[0], in[1], in[2], in[3])
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

// backward, for q, k and v:
//
//	dW_Q = xᵀ dq        dx = dq W_Qᵀ + dk W_Kᵀ + dv W_Vᵀ
func (p *projection) backward(dx []float32, in []gorgonia.Value, grads []*operation) {
	dqkv, x := floats(in[0]), floats(in[1])
	for j := range 3 {
		f32.GemmThreads(p.b.Threads, true, false, p.c, p.width, p.n, 1, x, p.c, dqkv[j*p.width:], 3*p.width, p.b.Pass.beta(), grads[j].memory(), p.width)
	}
	for j := range len(grads) - 3 {
		columnSums(grads[3+j].memory(), dqkv[j*p.width:], p.n, p.width, 3*p.width, p.b.Pass.beta())
	}
	for j := range 3 {
		f32.GemmThreads(p.b.Threads, false, true, p.n, p.c, p.width, 1, dqkv[j*p.width:], 3*p.width, floats(in[2+j]), p.width, min(float32(j), 1), dx, p.c)
	}
}

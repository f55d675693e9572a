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
	p := &projection{b: b, n: x.Shape()[0], c: x.Shape()[1], a: weights[0].Shape()[1]}
	p.w = make([]float32, p.c*3*p.a)
	o := b.operation("qkv", tensor.Shape{p.n, 3 * p.a}, matrix(), matrix(), matrix(), matrix())
	o.differentiable = []bool{true, true, true, true}
	for range biases {
		o.in, o.differentiable = append(o.in, vector()), append(o.differentiable, true)
	}
	o.forward = p.forward
	o.backward = p.derive
	in := append(gorgonia.Nodes{x}, weights...)
	return b.apply(o, append(in, biases...)...)
}

// projection is one layer's. The three products are one, with the weights side by side: a copy of a few weights costs less
// than passing over all activations three times.
type projection struct {
	b       *Builder
	n, c, a int
	w       []float32 // (C, 3A), W_Q | W_K | W_V, set by forward and valid until the weights change
	dw      []float32 // (C, 3A), their gradients
}

func (p *projection) forward(qkv []float32, in []gorgonia.Value) {
	for j := range 3 {
		copyColumns(p.w[j*p.a:], 3*p.a, floats(in[1+j]), p.a, p.c, p.a)
	}
	beta := float32(0)
	for j := range len(in) - 4 {
		beta = start(qkv[j*p.a:], floats(in[4+j]), nil, p.n, p.a, 3*p.a)
	}
	f32.GemmThreads(p.b.Threads, false, false, p.n, 3*p.a, p.c, 1, floats(in[0]), p.c, p.w, 3*p.a, beta, qkv, 3*p.a)
}

// copyColumns copies a matrix of c columns whose rows are ld apart.
func copyColumns(dst []float32, ldDst int, src []float32, ldSrc, rows, c int) {
	for i := range rows {
		copy(dst[i*ldDst:i*ldDst+c], src[i*ldSrc:i*ldSrc+c])
	}
}

func (p *projection) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	p.dw = make([]float32, p.c*3*p.a)
	dx := p.b.operation("qkv.dx", tensor.Shape{p.n, p.c}, matrix())
	dx.forward = func(dx []float32, in []gorgonia.Value) { // dx = dq W_Qᵀ + dk W_Kᵀ + dv W_Vᵀ
		f32.GemmThreads(p.b.Threads, false, true, p.n, p.c, 3*p.a, 1, floats(in[0]), 3*p.a, p.w, 3*p.a, 0, dx, p.c)
	}
	dwq := p.b.operation("qkv.dw_q", tensor.Shape{p.c, p.a}, matrix(), matrix())
	dwq.forward = func(dw []float32, in []gorgonia.Value) { // [dW_Q | dW_K | dW_V] = xᵀ [dq | dk | dv]
		f32.GemmThreads(p.b.Threads, true, false, p.c, 3*p.a, p.n, 1, floats(in[0]), p.c, floats(in[1]), 3*p.a, 0, p.dw, 3*p.a)
		copyColumns(dw, p.a, p.dw, 3*p.a, p.c, p.a)
	}
	grads, err := applyAll([]*operation{dx, dwq}, gorgonia.Nodes{grad}, gorgonia.Nodes{in[0], grad})
	if err != nil {
		return nil, err
	}
	operations, inputs := []*operation{}, []gorgonia.Nodes{}
	for j, name := range []string{"qkv.dw_k", "qkv.dw_v"} {
		operations, inputs = append(operations, p.weightGradient(name, j+1)), append(inputs, gorgonia.Nodes{grads[1]})
	}
	for j := range len(in) - 4 {
		operations, inputs = append(operations, p.b.columnSums("qkv.db", p.n, p.a, 3*p.a, j*p.a)), append(inputs, gorgonia.Nodes{grad})
	}
	rest, err := applyAll(operations, inputs...)
	return append(grads, rest...), err
}

// weightGradient is the j-th of the three gradients, which dw_q has computed: it depends on that node.
func (p *projection) weightGradient(name string, j int) *operation {
	o := p.b.operation(name, tensor.Shape{p.c, p.a}, matrix())
	o.forward = func(dw []float32, _ []gorgonia.Value) {
		copyColumns(dw, p.a, p.dw[j*p.a:], 3*p.a, p.c, p.a)
	}
	return o
}

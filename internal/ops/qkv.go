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

type projection struct {
	b       *Builder
	n, c, a int
}

func (p *projection) forward(qkv []float32, in []gorgonia.Value) {
	for j := range 3 {
		var bias []float32
		if len(in) > 4 {
			bias = floats(in[4+j])
		}
		beta := start(qkv[j*p.a:], bias, nil, p.n, p.a, 3*p.a)
		f32.GemmThreads(p.b.Threads, false, false, p.n, p.a, p.c, 1, floats(in[0]), p.c, floats(in[1+j]), p.a, beta, qkv[j*p.a:], 3*p.a)
	}
}

func (p *projection) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	dx := p.b.operation("qkv.dx", tensor.Shape{p.n, p.c}, matrix(), matrix(), matrix(), matrix())
	dx.forward = func(dx []float32, in []gorgonia.Value) { // dx = dq W_Qᵀ + dk W_Kᵀ + dv W_Vᵀ
		for j := range 3 {
			f32.GemmThreads(p.b.Threads, false, true, p.n, p.c, p.a, 1, floats(in[0])[j*p.a:], 3*p.a, floats(in[1+j]), p.a, float32(min(j, 1)), dx, p.c)
		}
	}
	operations := []*operation{dx}
	inputs := []gorgonia.Nodes{{grad, in[1], in[2], in[3]}}
	for j, name := range []string{"qkv.dw_q", "qkv.dw_k", "qkv.dw_v"} {
		operations = append(operations, p.weightGradient(name, j))
		inputs = append(inputs, gorgonia.Nodes{in[0], grad})
	}
	for j := range len(in) - 4 {
		operations = append(operations, p.b.columnSums("qkv.db", p.n, p.a, 3*p.a, j*p.a))
		inputs = append(inputs, gorgonia.Nodes{grad})
	}
	return applyAll(operations, inputs...)
}

// weightGradient is dW = xᵀ dy for the j-th of the three.
func (p *projection) weightGradient(name string, j int) *operation {
	o := p.b.operation(name, tensor.Shape{p.c, p.a}, matrix(), matrix())
	o.forward = func(dw []float32, in []gorgonia.Value) {
		f32.GemmThreads(p.b.Threads, true, false, p.c, p.a, p.n, 1, floats(in[0]), p.c, floats(in[1])[j*p.a:], 3*p.a, 0, dw, p.a)
	}
	return o
}

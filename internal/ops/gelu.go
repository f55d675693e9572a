package ops

import (
	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
)

// GELU is the Gaussian error linear unit in its tanh form (Hendrycks and Gimpel 2016, section 2):
//
//	y = x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))
//
// x (N, C) → (N, C).
func (b *Builder) GELU(x *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, c := x.Shape()[0], x.Shape()[1]
	var in0, dy, out []float32
	forward := func(lo, hi, _ int) { f32.GELU(out[lo*c:hi*c], in0[lo*c:hi*c]) }
	backward := func(lo, hi, _ int) { f32.GELUBackward(out[lo*c:hi*c], in0[lo*c:hi*c], dy[lo*c:hi*c]) }

	o := b.operation("gelu", x.Shape().Clone(), matrix())
	o.differentiable = []bool{true}
	o.forward = func(y []float32, in []gorgonia.Value) {
		out, in0 = y, floats(in[0])
		b.rows(n, c, forward)
	}
	o.backward = func(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		dx := b.operation("gelu.dx", in[0].Shape().Clone(), matrix(), matrix())
		dx.inPlace(grad)
		dx.forward = func(dx []float32, in []gorgonia.Value) {
			out, in0, dy = dx, floats(in[0]), floats(in[1])
			b.rows(n, c, backward)
		}
		return applyAll([]*operation{dx}, gorgonia.Nodes{in[0], grad})
	}
	return b.apply(o, x)
}

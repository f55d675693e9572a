package ops

import (
	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
)

// GELU is the Gaussian error linear unit in its tanh form (Hendrycks and Gimpel 2016, section 2):
//
//	y = x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))
//
// x (N, C) → (N, C). Where a backward pass follows, the derivative, which shares an exponential with y, is computed
// beside it and written over x, which nothing else reads.
func (b *Builder) GELU(x *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	g := &gelu{b: b, n: x.Shape()[0], c: x.Shape()[1]}
	forward := g.forwardRows
	o := b.operation("gelu", x.Shape().Clone(), matrix())
	o.differentiable = []bool{true}
	o.forward = func(y []float32, in []gorgonia.Value) {
		g.y, g.x = y, floats(in[0])
		b.rows(g.n, g.c, forward)
	}
	o.backward = g.derive
	return b.apply(o, x)
}

type gelu struct {
	b          *Builder
	n, c       int
	derivative []float32 // (N, C), nil without a backward pass

	x, y, dy []float32 // of the running pass
}

func (g *gelu) forwardRows(lo, hi, _ int) {
	lo, hi = lo*g.c, hi*g.c
	if g.derivative == nil {
		f32.GELU(g.y[lo:hi], g.x[lo:hi])
		return
	}
	f32.GELUDerivative(g.y[lo:hi], g.derivative[lo:hi], g.x[lo:hi])
}

// derive: dx = dy ∘ GELU'(x), written over dy.
func (g *gelu) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if before, ok := in[0].Op().(*operation); ok {
		g.derivative = before.memory()
	} else {
		g.derivative = make([]float32, g.n*g.c)
	}
	dx := g.b.operation("gelu.dx", in[0].Shape().Clone(), matrix())
	dx.inPlace(grad)
	backward := g.backwardRows
	dx.forward = func(dx []float32, in []gorgonia.Value) {
		g.y, g.dy = dx, floats(in[0])
		g.b.rows(g.n, g.c, backward)
	}
	return applyAll([]*operation{dx}, gorgonia.Nodes{grad})
}

func (g *gelu) backwardRows(lo, hi, _ int) {
	lo, hi = lo*g.c, hi*g.c
	f32.Multiply(g.y[lo:hi], g.dy[lo:hi], g.derivative[lo:hi])
}

package ops

import (
	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// normPiece is how many rows share one partial sum of the gain's gradient: fixed, so that the order of that sum does not
// depend on the number of threads.
const normPiece = 64

// LayerNorm normalises every row and scales it (Ba et al. 2016, eq. 4, over the channels of one token):
//
//	y = (x − mean(x)) / √(var(x) + 1e-5) · gain + bias
//
// x (N, C), gain (C), bias (C) or nil → (N, C).
func (b *Builder) LayerNorm(x, gain, bias *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, c := x.Shape()[0], x.Shape()[1]
	o := b.operation("layernorm", tensor.Shape{n, c}, matrix(), vector())
	in := gorgonia.Nodes{x, gain}
	o.differentiable = []bool{true, true}
	if bias != nil {
		o.in, in, o.differentiable = append(o.in, vector()), append(in, bias), append(o.differentiable, true)
	}
	s := &normState{b: b, n: n, c: c, mean: make([]float32, n), rstd: make([]float32, n)}
	s.piece = s.forwardRows
	o.forward = s.forward
	o.backward = s.derive
	return b.apply(o, in...)
}

// normState is what the forward pass keeps, and the operands of the pass that is running.
type normState struct {
	b          *Builder
	n, c       int
	mean, rstd []float32 // (N)

	x, gain, bias, y     []float32 // of the running pass
	dx, dy, skip         []float32
	dgainPart, dbiasPart []float32 // (pieces, C), partial sums
	piece, backPiece     func(lo, hi, worker int)
}

func (s *normState) forward(y []float32, in []gorgonia.Value) {
	s.y, s.x, s.gain, s.bias = y, floats(in[0]), floats(in[1]), nil
	if len(in) > 2 {
		s.bias = floats(in[2])
	}
	s.b.rows(s.n, s.c, s.piece)
}

func (s *normState) forwardRows(lo, hi, _ int) {
	f32.LayerNorm(s.y[lo*s.c:], s.x[lo*s.c:], s.gain, s.bias, s.mean[lo:hi], s.rstd[lo:hi])
}

// derive adds dx, dgain and dbias. The dx operation computes the partial sums of all three; the other two, which depend
// on it, add those up.
func (s *normState) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	pieces := (s.n + normPiece - 1) / normPiece
	s.dgainPart = make([]float32, pieces*s.c)
	s.backPiece = s.backwardPieces
	o := s.b.operation("layernorm.dx", tensor.Shape{s.n, s.c}, matrix(), vector(), matrix())
	inputs := gorgonia.Nodes{in[0], in[1], grad}
	if skip := s.b.collect(in[0]); skip != nil {
		o.in, inputs = append(o.in, matrix()), append(inputs, skip)
		o.inPlace(skip) // the gradient of the residual stream stays in one place through all layers
	}
	o.forward = s.backward
	dx, err := gorgonia.ApplyOp(o, inputs...)
	if err != nil {
		return nil, err
	}
	dgain, err := gorgonia.ApplyOp(s.b.sumPieces("layernorm.dgain", s.dgainPart, s.c), dx)
	if err != nil || len(in) == 2 {
		return gorgonia.Nodes{dx, dgain}, err
	}
	s.dbiasPart = make([]float32, pieces*s.c)
	dbias, err := gorgonia.ApplyOp(s.b.sumPieces("layernorm.dbias", s.dbiasPart, s.c), dx)
	return gorgonia.Nodes{dx, dgain, dbias}, err
}

func (s *normState) backward(dx []float32, in []gorgonia.Value) {
	s.dx, s.x, s.gain, s.dy, s.skip = dx, floats(in[0]), floats(in[1]), floats(in[2]), nil
	if len(in) > 3 {
		s.skip = floats(in[3])
	}
	clear(s.dgainPart)
	clear(s.dbiasPart)
	pieces := len(s.dgainPart) / s.c
	if s.n*s.c < minElements {
		s.backPiece(0, pieces, 0)
		return
	}
	f32.ForRange(s.b.Threads, pieces, s.backPiece)
}

func (s *normState) backwardPieces(lo, hi, _ int) {
	for p := lo; p < hi; p++ {
		first, end := p*normPiece, min((p+1)*normPiece, s.n)
		at := first * s.c
		dgain, dbias, skip := row(s.dgainPart, p, s.c), []float32(nil), []float32(nil)
		if s.dbiasPart != nil {
			dbias = row(s.dbiasPart, p, s.c)
		}
		if s.skip != nil {
			skip = s.skip[at:]
		}
		f32.LayerNormBackward(s.dx[at:], skip, s.dy[at:], s.x[at:], s.gain, dgain, dbias, s.mean[first:end], s.rstd[first:end])
	}
}

// sumPieces adds the partial sums of a vector's gradient, in order.
func (b *Builder) sumPieces(name string, parts []float32, c int) *operation {
	o := b.operation(name, tensor.Shape{c}, matrix())
	o.forward = func(out []float32, _ []gorgonia.Value) {
		if !b.Pass.Accumulate {
			clear(out)
		}
		for p := range len(parts) / c {
			f32.Add(out, out, row(parts, p, c))
		}
	}
	return o
}

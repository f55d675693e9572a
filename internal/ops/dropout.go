package ops

import (
	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
)

// Random drives the dropout masks of a graph: a mask is a function of the seed, the iteration, the operation and the
// row, so that it does not depend on threads and a resumed run draws the same ones.
type Random struct {
	Seed      uint64
	Iteration uint64 // set before each run
}

// Dropout sets each activation to zero with probability p and scales the others by 1/(1−p) (Srivastava et al. 2014):
//
//	y = x ∘ mask / (1−p) + residual
//
// x (N, C), residual (N, C) or nil → (N, C). As in [Builder.Linear], the gradient of a residual is deposited.
func (b *Builder) Dropout(x, residual *gorgonia.Node, p float64) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, c, m := x.Shape()[0], x.Shape()[1], b.mask(p)
	if b.fail(m == nil, "dropout: rate %v needs a random source and a rate over 0", p) {
		return nil
	}
	o := b.operation("dropout", x.Shape().Clone(), matrix())
	in := gorgonia.Nodes{x}
	o.differentiable = []bool{true}
	if residual != nil {
		o.in, in, o.differentiable = append(o.in, matrix()), append(in, residual), append(o.differentiable, false)
	}
	o.forward = b.maskRows(n, c, m)
	o.backward = func(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		dx := b.operation("dropout.dx", in[0].Shape().Clone(), matrix())
		dx.forward = b.maskRows(n, c, m)
		grads, err := applyAll([]*operation{dx}, gorgonia.Nodes{grad})
		if err == nil && len(in) > 1 {
			b.deposit(in[1], grad)
			grads = append(grads, nil)
		}
		return grads, err
	}
	return b.apply(o, in...)
}

// maskRows is a pass y = mask(x) + residual over all rows.
func (b *Builder) maskRows(n, c int, m *mask) func(y []float32, in []gorgonia.Value) {
	var x, y, residual []float32
	piece := func(lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			m.apply(row(y, i, c), row(x, i, c), i)
			if residual != nil {
				f32.Add(row(y, i, c), row(y, i, c), row(residual, i, c))
			}
		}
	}
	return func(out []float32, in []gorgonia.Value) {
		x, y = floats(in[0]), out
		if len(in) > 1 {
			residual = floats(in[1])
		}
		b.rows(n, c, piece)
	}
}

// mask is the random pattern of one dropout.
type mask struct {
	random    *Random
	operation uint64
	threshold uint32  // an activation whose 32 random bits are under it is dropped
	keep      float32 // 1/(1−p)
}

// mask returns nil where nothing is dropped.
func (b *Builder) mask(p float64) *mask {
	if p == 0 || b.Random == nil {
		return nil
	}
	b.count++
	return &mask{b.Random, uint64(b.count), uint32(p * (1 << 32)), float32(1 / (1 - p))}
}

// apply writes x with the mask of row i to y; y may be x.
func (m *mask) apply(y, x []float32, i int) {
	seed := mix(m.random.Seed ^ mix(m.random.Iteration^mix(m.operation<<40^uint64(i))))
	f32.Dropout(y, x, uint32(seed>>32), m.threshold, m.keep)
}

// mix is the finalizer of SplitMix64 (Steele et al. 2014): a bijection that spreads every input bit.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

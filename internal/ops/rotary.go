package ops

import (
	"math"

	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
)

// rotaryBase is the base of the rotation frequencies (Su et al. 2021, section 3.2.2).
const rotaryBase = 10000

// Rotary turns queries and keys by their position, so that q·k depends on the distance (Su et al. 2021). Channels j and
// j + HS/2 of a head are a pair, turned by the angle position · 10000^(−j/(HS/2)):
//
//	x₁, x₂ = x₁ cos − x₂ sin, x₁ sin + x₂ cos
//
// qkv (N, 3A), positions (N), under maxPosition → (N, 3A), written over qkv; the values pass unchanged.
func (b *Builder) Rotary(qkv, positions *gorgonia.Node, heads, maxPosition int) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, ld := qkv.Shape()[0], qkv.Shape()[1]
	r := &rotary{b: b, n: n, width: ld / 3, heads: heads}
	r.fillTables(maxPosition)
	o := b.operation("rotary", qkv.Shape().Clone(), matrix(), ids())
	o.inPlace(qkv)
	o.differentiable = []bool{true, false}
	o.forward = r.run(r.sin)
	o.backward = func(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		dx := b.operation("rotary.dx", in[0].Shape().Clone(), matrix(), ids())
		dx.inPlace(grad)
		dx.forward = r.run(r.negativeSin) // the inverse of a rotation is its transpose
		return applyWithNil(dx, grad, in[1])
	}
	return b.apply(o, qkv, positions)
}

type rotary struct {
	b                     *Builder
	n, width, heads       int
	cos, sin, negativeSin []float32 // (maxPosition, HS/2)
}

func (r *rotary) half() int { return r.width / r.heads / 2 }

func (r *rotary) fillTables(maxPosition int) {
	h := r.half()
	for _, table := range []*[]float32{&r.cos, &r.sin, &r.negativeSin} {
		*table = make([]float32, maxPosition*h)
	}
	for j := range h {
		frequency := math.Pow(rotaryBase, -float64(j)/float64(h))
		for p := range maxPosition {
			s, c := math.Sincos(float64(p) * frequency)
			r.cos[p*h+j], r.sin[p*h+j], r.negativeSin[p*h+j] = float32(c), float32(s), float32(-s)
		}
	}
}

// run is the operation that turns by the angles of a table of sines.
func (r *rotary) run(sin []float32) func([]float32, []gorgonia.Value) {
	var (
		y         []float32
		positions []int32
		h, ld     = r.half(), 3 * r.width
	)
	turn := func(lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			at := int(positions[i])
			f32.Rotate(y[i*ld:i*ld+2*r.width], row(r.cos, at, h), row(sin, at, h)) // the queries' heads, then the keys'
		}
	}
	return func(out []float32, in []gorgonia.Value) {
		y, positions = out, tokensOf(in[1])
		if x := floats(in[0]); &x[0] != &y[0] {
			copy(y, x)
		}
		r.b.rows(r.n, ld, turn)
	}
}

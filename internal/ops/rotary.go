package ops

import (
	"math"

	"gorgonia.org/gorgonia"
)

// rotaryBase is the base of the rotation frequencies (Su et al. 2021, section 3.2.2).
const rotaryBase = 10000

// Rotary turns queries and keys by their position, so that q·k depends on the distance (Su et al. 2021). Channels j and
// j + HS/2 of a head are a pair, turned by the angle position · 10000^(−j/(HS/2)):
//
//	x₁, x₂ = x₁ cos − x₂ sin, x₁ sin + x₂ cos
//
// qkv (N, 3A), positions (N), under maxPosition → (N, 3A); the values pass unchanged.
func (b *Builder) Rotary(qkv, positions *gorgonia.Node, heads, maxPosition int) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, ld := qkv.Shape()[0], qkv.Shape()[1]
	r := &rotary{b: b, n: n, a: ld / 3, heads: heads}
	r.fillTables(maxPosition)
	piece := r.rotateRows
	run := func(sign float32) func([]float32, []gorgonia.Value) {
		return func(y []float32, in []gorgonia.Value) {
			r.y, r.x, r.positions, r.sign = y, floats(in[0]), tokensOf(in[1]), sign
			b.rows(n, 2*ld, piece)
		}
	}
	o := b.operation("rotary", qkv.Shape().Clone(), matrix(), ids())
	o.differentiable = []bool{true, false}
	o.forward = run(1)
	o.backward = func(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		dx := b.operation("rotary.dx", in[0].Shape().Clone(), matrix(), ids())
		dx.inPlace(grad)
		dx.forward = run(-1) // the inverse of a rotation is its transpose
		return applyWithNil(dx, grad, in[1])
	}
	return b.apply(o, qkv, positions)
}

type rotary struct {
	b           *Builder
	n, a, heads int
	cos, sin    []float32 // (maxPosition, HS/2)

	x, y      []float32
	positions []int32
	sign      float32
}

func (r *rotary) half() int { return r.a / r.heads / 2 }

func (r *rotary) fillTables(maxPosition int) {
	h := r.half()
	r.cos, r.sin = make([]float32, maxPosition*h), make([]float32, maxPosition*h)
	for j := range h {
		frequency := math.Pow(rotaryBase, -float64(j)/float64(h))
		for p := range maxPosition {
			s, c := math.Sincos(float64(p) * frequency)
			r.cos[p*h+j], r.sin[p*h+j] = float32(c), float32(s)
		}
	}
}

func (r *rotary) rotateRows(lo, hi, _ int) {
	h := r.half()
	for i := lo; i < hi; i++ {
		x, y := row(r.x, i, 3*r.a), row(r.y, i, 3*r.a)
		copy(y[2*r.a:], x[2*r.a:])
		cos, sin := row(r.cos, int(r.positions[i]), h), row(r.sin, int(r.positions[i]), h)
		for head := range 2 * r.heads { // the queries' heads, then the keys'
			r.rotateHead(y[head*2*h:(head+1)*2*h], x[head*2*h:(head+1)*2*h], cos, sin)
		}
	}
}

func (r *rotary) rotateHead(y, x, cos, sin []float32) {
	h := len(cos)
	x1, x2, y1, y2 := x[:h], x[h:2*h], y[:h], y[h:2*h]
	for j, c := range cos {
		s := r.sign * sin[j]
		y1[j], y2[j] = x1[j]*c-x2[j]*s, x1[j]*s+x2[j]*c
	}
}

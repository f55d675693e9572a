package ops

import (
	"math"

	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CachedAttention is [Builder.Attention] for one new token a sequence, with the keys and values of the earlier ones kept
// from run to run: the new query asks all of them.
//
// qkv (B, 3A), positions (B), all the same, from 0 in order and under t → (B, A).
func (b *Builder) CachedAttention(qkv, positions *gorgonia.Node, t, heads int) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	batch, a := qkv.Shape()[0], qkv.Shape()[1]/3
	c := &cache{t: t, heads: heads, width: a, hs: a / heads,
		keys: make([]float32, batch*t*a), values: make([]float32, batch*t*a), weights: make([]float32, t),
		scale: float32(1 / math.Sqrt(float64(a/heads)))}
	o := b.operation("attention.cached", tensor.Shape{batch, a}, matrix(), ids())
	o.forward = func(y []float32, in []gorgonia.Value) {
		qkv := floats(in[0])
		for s, position := range tokensOf(in[1]) {
			for h := range heads {
				c.attend(row(y, s, a)[h*c.hs:], row(qkv, s, 3*a)[h*c.hs:], s*heads+h, int(position))
			}
		}
	}
	return b.apply(o, qkv, positions)
}

type cache struct {
	t, heads, width, hs int
	scale               float32
	keys, values        []float32 // (B, NH, T, HS)
	weights             []float32 // (T), of the query at hand
}

// attend computes one head's output for the token at the position; qkv starts at the head's query.
func (c *cache) attend(y, qkv []float32, pair, position int) {
	keys, values := c.keys[pair*c.t*c.hs:], c.values[pair*c.t*c.hs:]
	copy(row(keys, position, c.hs), qkv[c.width:])
	copy(row(values, position, c.hs), qkv[2*c.width:])
	w := c.weights[:position+1]
	f32.Gemm(false, true, 1, position+1, c.hs, c.scale, qkv, c.hs, keys, c.hs, 0, w, position+1)
	f32.Softmax(w, w)
	f32.Gemm(false, false, 1, c.hs, position+1, 1, w, position+1, values, c.hs, 0, y, c.hs)
}

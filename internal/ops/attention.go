package ops

import (
	"math"

	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// queryBlock is how many queries attend at once: their scores, weights and weighted sum stay in cache.
const queryBlock = 96

// Attention is causal multi-head self-attention (Vaswani et al. 2017, eq. 1), for each sequence and head:
//
//	scores  = Q Kᵀ / √HS            (T, T), first product
//	weights = softmax over the keys up to the query, 0 for later ones
//	y       = weights V             (T, HS), second product; a weighted bag of the values
//
// qkv (N, 3A) from [Builder.QKV] → (N, A), the heads side by side. With dropout the weights that multiply V are dropped
// at that rate; those that [Builder.AttentionWeights] shows are not.
func (b *Builder) Attention(qkv *gorgonia.Node, batch, t, heads int, dropout float64) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	c := qkv.Shape()[1] / 3
	a := &attention{
		b: b, batch: batch, t: t, heads: heads, width: c, hs: c / heads, ld: 3 * c,
		scale:   float32(1 / math.Sqrt(float64(c/heads))),
		weights: make([]float32, batch*heads*t*t),
		drop:    b.mask(dropout),
	}
	a.scratch = make([]headScratch, b.Threads)
	o := b.operation("attention", tensor.Shape{batch * t, c}, matrix())
	o.differentiable = []bool{true}
	forward := a.forwardHeads
	o.forward = func(y []float32, in []gorgonia.Value) {
		a.qkv, a.y = floats(in[0]), y
		a.perHead(forward)
	}
	o.backward = a.derive
	n := b.apply(o, qkv)
	if n != nil {
		b.attentions[n] = a
	}
	return n
}

// AttentionWeights is a view of the weights of an attention node, before dropout: (B, NH, T, T), rows are queries and
// sum to 1 over the keys, zero above the diagonal.
func (b *Builder) AttentionWeights(attention *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	a := b.attentions[attention]
	o := b.operation("attention.weights", tensor.Shape{a.batch, a.heads, a.t, a.t}, matrix())
	o.buffer = a.weights
	o.forward = func([]float32, []gorgonia.Value) {}
	return b.apply(o, attention)
}

// attention is one layer's: its sizes, what forward keeps for backward, and the operands of the running pass.
type attention struct {
	b                *Builder
	batch, t, heads  int
	width, hs, ld    int // channels of all heads, of one, and columns of qkv
	scale            float32
	weights          []float32 // (B, NH, T, T)
	drop             *mask
	scratch          []headScratch // a worker's
	qkv, y, dqkv, dy []float32
}

// perHead runs f over all sequences and heads.
func (a *attention) perHead(f func(lo, hi, worker int)) {
	pairs := a.batch * a.heads
	if pairs*a.t*a.t*a.hs < minElements {
		f(0, pairs, 0)
		return
	}
	f32.ForRange(a.b.Threads, pairs, f)
}

// head is the offsets of one sequence and head: of its first row in qkv and in y, and its weights.
func (a *attention) head(pair int) (in, out int, weights []float32) {
	sequence, h := pair/a.heads, pair%a.heads
	tt := a.t * a.t
	return sequence*a.t*a.ld + h*a.hs, sequence*a.t*a.width + h*a.hs, a.weights[pair*tt : (pair+1)*tt]
}

// headScratch is what one worker has of the head at hand: the matrices that its products read again and again.
type headScratch struct {
	q, k, v, dy       f32.Panels
	dropped, dweights []float32 // (queryBlock, T): weights after dropout, nil without; gradient of the weights, nil before the first backward pass
}

func (a *attention) workspace(worker int) *headScratch {
	s := &a.scratch[worker]
	if a.drop != nil && s.dropped == nil {
		s.dropped = make([]float32, min(queryBlock, a.t)*a.t)
	}
	return s
}

func (a *attention) forwardHeads(lo, hi, worker int) {
	s := a.workspace(worker)
	for pair := lo; pair < hi; pair++ {
		in, out, weights := a.head(pair)
		q := a.qkv[in:]
		s.k.Pack(true, a.hs, a.t, a.qkv[in+a.width:], a.ld)
		s.v.Pack(false, a.t, a.hs, a.qkv[in+2*a.width:], a.ld)
		for i := 0; i < a.t; i += queryBlock {
			end := min(i+queryBlock, a.t)
			w := weights[i*a.t:] // (end-i, end) of (T, T)
			f32.CausalScores(end-i, i, a.scale, q[i*a.ld:], a.ld, &s.k, w, a.t)
			f32.CausalSoftmax(end-i, i, w, a.t)
			w = a.dropBlock(s.dropped, w, pair, i, end)
			f32.CausalSum(end-i, i, 1, w, a.t, &s.v, a.y[out+i*a.width:], a.width)
		}
	}
}

// dropBlock returns the weights of queries i to end after dropout: w itself when there is none.
func (a *attention) dropBlock(dropped, w []float32, pair, i, end int) []float32 {
	if a.drop == nil {
		return w
	}
	for r := range end - i {
		a.drop.apply(dropped[r*a.t:r*a.t+end], w[r*a.t:r*a.t+end], pair*a.t+i+r)
	}
	return dropped
}

// derive adds one node for the gradients of q, k and v, side by side as qkv is.
func (a *attention) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	o := a.b.operation("attention.dqkv", tensor.Shape{a.batch * a.t, a.ld}, matrix(), matrix())
	o.buffer = a.b.gradientMemory(a.batch*a.t*a.ld, grad)
	backward := a.backwardHeads
	o.forward = func(dqkv []float32, in []gorgonia.Value) {
		a.qkv, a.dy, a.dqkv = floats(in[0]), floats(in[1]), dqkv
		a.perHead(backward)
	}
	return applyAll([]*operation{o}, gorgonia.Nodes{in[0], grad})
}

// backwardHeads, for a block of queries, with P the weights and P' the dropped ones:
//
//	dV += P'ᵀ dY    dP = drop(dY Vᵀ)    dS = P ∘ (dP − rowsum(P ∘ dP))    dQ = dS K / √HS    dK += dSᵀ Q / √HS
//
// The last block sees all keys and comes first: it sets dK and dV, the others add to them.
func (a *attention) backwardHeads(lo, hi, worker int) {
	s := a.workspace(worker)
	if s.dweights == nil {
		s.dweights = make([]float32, min(queryBlock, a.t)*a.t)
	}
	last := (a.t - 1) / queryBlock * queryBlock
	for pair := lo; pair < hi; pair++ {
		in, out, weights := a.head(pair)
		dq, dk, dv := a.dqkv[in:], a.dqkv[in+a.width:], a.dqkv[in+2*a.width:]
		s.q.Pack(false, a.t, a.hs, a.qkv[in:], a.ld)
		s.k.Pack(false, a.t, a.hs, a.qkv[in+a.width:], a.ld)
		s.v.Pack(true, a.hs, a.t, a.qkv[in+2*a.width:], a.ld)
		s.dy.Pack(false, a.t, a.hs, a.dy[out:], a.width)
		for i := last; i >= 0; i -= queryBlock {
			end, add := min(i+queryBlock, a.t), i != last
			rows, dw := end-i, s.dweights
			w := a.dropBlock(s.dropped, weights[i*a.t:], pair, i, end)
			f32.CausalSumTransposed(rows, i, 1, w, a.t, &s.dy, add, dv, a.ld)
			f32.CausalScores(rows, i, 1, a.dy[out+i*a.width:], a.width, &s.v, dw, a.t)
			a.dropGradient(dw, pair, i, end)
			f32.CausalSoftmaxBackward(rows, i, dw, a.t, weights[i*a.t:], a.t)
			f32.CausalSum(rows, i, a.scale, dw, a.t, &s.k, dq[i*a.ld:], a.ld)
			f32.CausalSumTransposed(rows, i, a.scale, dw, a.t, &s.q, add, dk, a.ld)
		}
	}
}

// dropGradient turns the gradient of the dropped weights of queries i to end into that of the weights, in place.
func (a *attention) dropGradient(dw []float32, pair, i, end int) {
	if a.drop == nil {
		return
	}
	for r := i; r < end; r++ {
		d := dw[(r-i)*a.t:][:r+1]
		a.drop.apply(d, d, pair*a.t+r)
	}
}

package ops

import (
	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CrossEntropy is the mean negative log-likelihood of the targets under softmax(logits), in nats:
//
//	loss = mean over i with target[i] ≥ 0 of  logsumexp(logits[i]) − logits[i, target[i]]
//
// logits (N, V), targets (N), −1 is ignored → scalar; 0 if all are ignored.
func (b *Builder) CrossEntropy(logits, targets *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, v := logits.Shape()[0], logits.Shape()[1]
	s := &crossEntropy{b: b, n: n, v: v, probs: make([]float32, n*v), losses: make([]float64, n)}
	piece := s.forwardRows
	o := b.operation("crossentropy", nil, matrix(), ids())
	o.differentiable = []bool{true, false}
	o.forward = func(out []float32, in []gorgonia.Value) {
		s.logits, s.targets = floats(in[0]), tokensOf(in[1])
		b.rows(n, 8*v, piece) // an exponential costs as much as some 8 additions
		out[0] = s.mean()
	}
	o.backward = s.derive
	return b.apply(o, logits, targets)
}

type crossEntropy struct {
	b       *Builder
	n, v    int
	probs   []float32 // (N, V), softmax(logits), kept for the backward pass
	losses  []float64 // (N)
	counted int       // targets that the mean is over

	logits  []float32
	targets []int32
	dlogits []float32
	scale   float32
}

func (s *crossEntropy) forwardRows(lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		s.losses[i] = f32.CrossEntropy(row(s.probs, i, s.v), row(s.logits, i, s.v), s.targets[i])
	}
}

// mean adds the losses in order, whatever the number of threads. A micro-batch gives its share of the batch's mean.
func (s *crossEntropy) mean() float32 {
	var sum float64
	s.counted = 0
	for i, t := range s.targets {
		if t >= 0 {
			sum += s.losses[i]
			s.counted++
		}
	}
	if s.b.Pass.Targets > 0 {
		s.counted = s.b.Pass.Targets
	}
	return float32(sum / float64(max(s.counted, 1)))
}

// derive: dlogits = (softmax(logits) − onehot(target)) · dloss / counted, 0 for ignored rows.
func (s *crossEntropy) derive(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	o := s.b.operation("crossentropy.dlogits", tensor.Shape{s.n, s.v}, matrix(), ids(), tensor.Float32)
	o.buffer = s.probs // in place: nothing else needs them
	piece := s.backwardRows
	o.forward = func(dlogits []float32, in []gorgonia.Value) {
		s.dlogits, s.targets = dlogits, tokensOf(in[1])
		s.scale = float32(*in[2].(*gorgonia.F32)) / float32(max(s.counted, 1))
		s.b.rows(s.n, s.v, piece)
	}
	return applyWithNil(o, in[0], in[1], grad)
}

func (s *crossEntropy) backwardRows(lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		d := row(s.dlogits, i, s.v)
		if s.targets[i] < 0 {
			clear(d)
			continue
		}
		f32.Scale(d, s.scale)
		d[s.targets[i]] -= s.scale
	}
}

// applyWithNil adds the gradient of an operation's first input; its second has none.
func applyWithNil(o *operation, in ...*gorgonia.Node) (gorgonia.Nodes, error) {
	grads, err := applyAll([]*operation{o}, in)
	return append(grads, nil), err
}

package attention

import (
	"fmt"
	"math"
)

// sumTolerance is how far from 1 the sum of a distribution may be: float32 softmax over a few hundred keys stays well inside.
const sumTolerance = 1e-4

// Validate reports the first thing about t that no forward pass can produce: lengths that disagree, a number that is
// not finite, a row of weights or a distribution that does not sum to 1 (within 1e-4), a weight above the diagonal.
// The renderers of this package call it before they write anything.
func (t *Trace) Validate() error {
	if err := t.validateShape(); err != nil {
		return err
	}
	for l, heads := range t.Heads {
		if len(heads) != t.Shape.NHead {
			return fmt.Errorf("attention: layer %d has %d heads, the shape says %d", l, len(heads), t.Shape.NHead)
		}
		for h, head := range heads {
			if err := t.validateHead(head); err != nil {
				return fmt.Errorf("attention: layer %d head %d: %w", l, h, err)
			}
		}
	}
	if err := validateDistribution(float64s(t.Next)); err != nil {
		return fmt.Errorf("attention: the next-character distribution %w", err)
	}
	if err := validateDistribution(t.Bigram); err != nil {
		return fmt.Errorf("attention: the bigram distribution %w", err)
	}
	return nil
}

func (t *Trace) validateShape() error {
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"labels", len(t.Labels), len(t.Tokens)},
		{"layers", len(t.Heads), t.Shape.NLayer},
		{"characters in the vocabulary", len(t.Vocab), t.Shape.VocabSize},
		{"next-character probabilities", len(t.Next), t.Shape.VocabSize},
		{"bigram probabilities", len(t.Bigram), t.Shape.VocabSize},
	} {
		if c.got != c.want {
			return fmt.Errorf("attention: %d %s, want %d", c.got, c.what, c.want)
		}
	}
	switch {
	case len(t.Tokens) == 0:
		return fmt.Errorf("attention: a trace of no tokens")
	case t.Shape.HeadSize < 1:
		return fmt.Errorf("attention: head size %d, want at least 1", t.Shape.HeadSize)
	case t.Dropped < 0:
		return fmt.Errorf("attention: %d characters left out, want 0 or more", t.Dropped)
	}
	for i, id := range t.Tokens {
		if id < 0 || int(id) >= len(t.Vocab) {
			return fmt.Errorf("attention: token %d has id %d, the vocabulary ends at %d", i, id, len(t.Vocab)-1)
		}
	}
	return nil
}

func (t *Trace) validateHead(h Head) error {
	n, hs := len(t.Tokens), t.Shape.HeadSize
	for _, m := range []struct {
		name   string
		values []float32
		want   int
	}{
		{"weights", h.Weights, n * n}, {"scores", h.Scores, n * n},
		{"q", h.Q, n * hs}, {"k", h.K, n * hs}, {"v", h.V, n * hs},
	} {
		if len(m.values) != m.want {
			return fmt.Errorf("%d numbers in %s, want %d", len(m.values), m.name, m.want)
		}
		for i, x := range m.values {
			if !finite(float64(x)) {
				return fmt.Errorf("number %d of %s is %v", i, m.name, x)
			}
		}
	}
	for i := range n {
		if err := validateRow(h.Weights[i*n:(i+1)*n], h.Scores[i*n:(i+1)*n], i); err != nil {
			return fmt.Errorf("query %d: %w", i, err)
		}
	}
	return nil
}

// validateRow checks one query's weights and scores: nothing after the query itself, and a distribution before.
func validateRow(weights, scores []float32, query int) error {
	for j := query + 1; j < len(weights); j++ {
		if weights[j] != 0 || scores[j] != 0 {
			return fmt.Errorf("weight %v and score %v for key %d, which comes later", weights[j], scores[j], j)
		}
	}
	if err := validateDistribution(float64s(weights[:query+1])); err != nil {
		return fmt.Errorf("the row of weights %w", err)
	}
	return nil
}

func validateDistribution(p []float64) error {
	sum := 0.0
	for i, x := range p {
		if !finite(x) || x < 0 {
			return fmt.Errorf("has %v at %d", x, i)
		}
		sum += x
	}
	if math.Abs(sum-1) > sumTolerance {
		return fmt.Errorf("sums to %.6g, want 1", sum)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func float64s(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

package model_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chargpt/model"
)

// fillBatch draws tokens and targets, some of them ignored.
func fillBatch(tokens, targets []int32, vocab int) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range tokens {
		tokens[i], targets[i] = rng.Int32N(int32(vocab)), rng.Int32N(int32(vocab))
		if rng.IntN(9) == 0 {
			targets[i] = -1
		}
	}
}

// globalNorm is the Euclidean norm of all gradients, in float64.
func globalNorm(grads []float32) float64 {
	sum := 0.0
	for _, g := range grads {
		sum += float64(g) * float64(g)
	}
	return math.Sqrt(sum)
}

// Micro-batches give the loss and the gradients of one graph for the whole batch, to rounding.
func TestBatchIsOneGraph(t *testing.T) {
	shapes := []struct{ batch, t, embd int }{
		{1, 8, 12}, {2, 8, 12}, {3, 5, 12}, {12, 64, 12}, {5, 300, 12}, {9, 200, 12}, {33, 33, 12},
		{1, 9, 68}, {3, 5, 68}, // gradients of several units that are added, the last one not whole
	}
	for _, position := range []string{model.PositionLearned, model.PositionRope} {
		for _, tied := range []bool{true, false} {
			for _, s := range shapes {
				c := model.Config{VocabSize: 11, BlockSize: s.t, NLayer: 2, NHead: 2, NEmbd: s.embd, Bias: !tied, Tied: tied, Position: position}
				m := newModel(t, c)
				g, err := m.NewGraph(s.batch, s.t, model.Training, 0)
				if err != nil {
					t.Fatal(err)
				}
				fillBatch(g.Tokens, g.Targets, c.VocabSize)
				if err := g.Run(0); err != nil {
					t.Fatal(err)
				}
				want, wantLoss := slices.Clone(m.Gradients()), g.Loss()
				b, err := m.NewBatch(s.batch, s.t, 0)
				if err != nil {
					t.Fatal(err)
				}
				copy(b.Tokens, g.Tokens)
				copy(b.Targets, g.Targets)
				for range 2 { // the second run must not add to the first
					if err := b.Run(0); err != nil {
						t.Fatal(err)
					}
				}
				if d := math.Abs(float64(b.Loss() - wantLoss)); d > 1e-6 {
					t.Errorf("%+v, tied %v: loss %v, want %v", s, tied, b.Loss(), wantLoss)
				}
				for i, got := range m.Gradients() {
					if d := math.Abs(float64(got - want[i])); d > 2e-6 {
						t.Fatalf("%+v, tied %v, %s: gradient %d = %v, want %v", s, tied, position, i, got, want[i])
					}
				}
				if got, want := b.GradNorm(), globalNorm(m.Gradients()); math.Abs(got-want) > 1e-6*want {
					t.Errorf("%+v, tied %v, %s: gradient norm %v, want %v", s, tied, position, got, want)
				}
				b.Close()
				g.Close()
			}
		}
	}
}

// A gradient that is not finite shows in the norm: of a batch of one lane and of two.
func TestGradNormNotFinite(t *testing.T) {
	for _, batch := range []int{1, 4} {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			m := newModel(t, model.Config{VocabSize: 11, BlockSize: 8, NLayer: 1, NHead: 2, NEmbd: 8, Tied: true})
			b, err := m.NewBatch(batch, 8, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			fillBatch(b.Tokens, b.Targets, m.Config.VocabSize)
			m.Flat()[len(m.Flat())-1] = float32(bad) // a gain of the last LayerNorm
			if err := b.Run(0); err != nil {
				t.Fatal(err)
			}
			if got := b.GradNorm(); !math.IsNaN(got) && !math.IsInf(got, 1) {
				t.Errorf("batch %d, with a weight %v: gradient norm %v", batch, bad, got)
			}
		}
	}
}

// No two micro-batches drop the same activations: with the same tokens everywhere, each must give another loss.
func TestBatchMasksDiffer(t *testing.T) {
	c := model.Config{VocabSize: 5, BlockSize: 300, NLayer: 1, NHead: 1, NEmbd: 8, Dropout: 0.5, Tied: true}
	m := newModel(t, c)
	b, err := m.NewBatch(4, 300, 1) // one sequence a micro-batch
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	losses := map[float32]bool{}
	for keep := range 4 {
		for i := range b.Targets {
			b.Tokens[i], b.Targets[i] = int32(i%300%5), -1
			if i/300 == keep {
				b.Targets[i] = int32(i % 300 % 3)
			}
		}
		if err := b.Run(0); err != nil {
			t.Fatal(err)
		}
		losses[b.Loss()] = true
	}
	if len(losses) != 4 {
		t.Errorf("4 micro-batches of the same text have %d different losses under dropout", len(losses))
	}
}

func TestBatchRefuses(t *testing.T) {
	m := newModel(t, variants["default"])
	for _, bt := range [][2]int{{0, 1}, {-1, 4}, {1, 0}, {2, 1 << 20}} {
		if _, err := m.NewBatch(bt[0], bt[1], 0); err == nil {
			t.Errorf("NewBatch(%d, %d) succeeds", bt[0], bt[1])
		}
	}
}

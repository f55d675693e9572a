package model_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"chargpt/internal/optim"
	"chargpt/model"
)

// Attention weights are a distribution over the keys up to the query.
func TestAttentionWeights(t *testing.T) {
	for name, c := range variants {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, c)
			g, err := m.NewGraph(3, c.BlockSize, model.Training, 1) // dropout must not show in the weights
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			for i := range g.Tokens {
				g.Tokens[i] = int32(i * 5 % c.VocabSize)
			}
			if err := g.Run(0); err != nil {
				t.Fatal(err)
			}
			for layer := range c.NLayer {
				checkRows(t, g.AttentionWeights(layer), c.BlockSize)
			}
		})
	}
}

func checkRows(t *testing.T, weights []float32, n int) {
	t.Helper()
	for r := range len(weights) / n {
		sum, query := 0.0, r%n
		for key, w := range weights[r*n : (r+1)*n] {
			sum += float64(w)
			if key > query && w != 0 {
				t.Fatalf("row %d: weight %v on key %d after query %d", r, w, key, query)
			}
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("row %d sums to %v", r, sum)
		}
	}
}

// In evaluation and inference dropout is off; in training its mask follows the iteration.
func TestDropoutOnlyInTraining(t *testing.T) {
	m := newModel(t, variants["dropout"])
	run := func(mode model.Mode, iteration int) []float32 {
		g, err := m.NewGraph(2, 8, mode, 4)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if err := g.Run(iteration); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(g.Logits())
	}
	plain := run(model.Inference, 0)
	if !slices.Equal(plain, run(model.Evaluation, 1)) {
		t.Error("evaluation and inference differ")
	}
	first := run(model.Training, 0)
	if slices.Equal(plain, first) {
		t.Error("training does not drop anything")
	}
	if slices.Equal(first, run(model.Training, 1)) {
		t.Error("two iterations have the same mask")
	}
	if !slices.Equal(first, run(model.Training, 0)) {
		t.Error("one iteration has two masks")
	}
}

// A few iterations on one batch learn it, in every variant.
func TestTrainingLearns(t *testing.T) {
	for name, c := range variants {
		if c.VocabSize == 1 || c.Dropout > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m, err := model.New(c, 1)
			if err != nil {
				t.Fatal(err)
			}
			g, err := m.NewGraph(2, c.BlockSize, model.Training, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			for i := range g.Tokens {
				g.Tokens[i], g.Targets[i] = int32(i%c.VocabSize), int32((i+1)%c.VocabSize)
			}
			a := optim.AdamW{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, Threads: 1}
			moments, squares := make([]float32, len(m.Flat())), make([]float32, len(m.Flat()))
			var first float32
			for i := range 60 {
				if err := g.Run(i); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = g.Loss()
				}
				a.Step(m.Flat(), m.Gradients(), moments, squares, 1e-2, 1, i+1, false)
			}
			if last := g.Loss(); !(last < first/2) {
				t.Errorf("loss went from %v to %v in 60 iterations on one batch", first, last)
			}
		})
	}
}

func TestGraphRefuses(t *testing.T) {
	m := newModel(t, variants["default"])
	for _, bt := range [][2]int{{0, 1}, {1, 0}, {1, 9}, {-1, -1}} {
		if _, err := m.NewGraph(bt[0], bt[1], model.Inference, 0); err == nil {
			t.Errorf("NewGraph(%d, %d) succeeds", bt[0], bt[1])
		}
	}
	g, err := m.NewGraph(1, 8, model.Evaluation, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, tt := range []struct {
		token, target int32
		want          string
	}{{11, 0, "token 0 is 11"}, {-1, 0, "token 0 is -1"}, {0, 11, "target 0 is 11"}, {0, -2, "target 0 is -2"}} {
		g.Tokens[0], g.Targets[0] = tt.token, tt.target
		if err := g.Run(0); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("token %d, target %d: error %v, want one with %q", tt.token, tt.target, err, tt.want)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	good := variants["default"]
	for name, c := range variants {
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for field, change := range map[string]func(*model.Config){
		"vocab_size": func(c *model.Config) { c.VocabSize = 0 },
		"block_size": func(c *model.Config) { c.BlockSize = 0 },
		"n_layer":    func(c *model.Config) { c.NLayer = -1 },
		"n_head":     func(c *model.Config) { c.NHead = 5 },
		"n_embd":     func(c *model.Config) { c.NEmbd = 1 << 30 },
		"head_size":  func(c *model.Config) { c.HeadSize = -1 },
		"dropout":    func(c *model.Config) { c.Dropout = math.NaN() },
		"position":   func(c *model.Config) { c.Position = "sinus" },
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+" ") {
			t.Errorf("%+v: error %v, want one about %s", c, err, field)
		}
	}
	for _, huge := range []model.Config{
		{VocabSize: 2, BlockSize: 2, NLayer: 1001, NHead: 1, NEmbd: 1},
		{VocabSize: 2, BlockSize: 2, NLayer: 1, NHead: 1 << 20, NEmbd: 1 << 20, HeadSize: 1 << 20},
		{VocabSize: 1 << 20, BlockSize: 2, NHead: 1, NEmbd: 1 << 20},
		{VocabSize: 2, BlockSize: 1 << 20, NLayer: 1, NHead: 1, NEmbd: 2, Position: model.PositionRope},
	} {
		if err := huge.Validate(); err == nil {
			t.Errorf("%+v: accepted", huge)
		}
	}
	odd := model.Config{VocabSize: 2, BlockSize: 2, NHead: 1, NEmbd: 3, Position: model.PositionRope}
	if err := odd.Validate(); err == nil {
		t.Errorf("%+v: rope with an odd head size is accepted", odd)
	}
}

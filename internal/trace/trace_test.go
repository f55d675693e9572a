package trace

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chargpt/data"
	"chargpt/internal/attention"
	"chargpt/model"
	"chargpt/model/sample"
	"chargpt/model/train"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// config is a small model with everything that a variation does not change.
func config(change func(*model.Config)) model.Config {
	c := model.Config{VocabSize: 11, BlockSize: 12, NLayer: 2, NHead: 3, NEmbd: 24, Tied: true, Position: model.PositionLearned}
	change(&c)
	return c
}

// variations are the presets as they are, and small models with everything else that a model can have.
func variations() map[string]model.Config {
	all := map[string]model.Config{
		"rope":      config(func(c *model.Config) { c.Position = model.PositionRope }),
		"bias":      config(func(c *model.Config) { c.Bias = true }),
		"rope bias": config(func(c *model.Config) { c.Bias, c.Position = true, model.PositionRope }),
		"attn only": config(func(c *model.Config) { c.AttnOnly = true }),
		"untied":    config(func(c *model.Config) { c.Tied = false }),
		"head size": config(func(c *model.Config) { c.HeadSize = 6 }),
		"dropout":   config(func(c *model.Config) { c.Dropout = 0.5 }),
		"no layers": config(func(c *model.Config) { c.NLayer = 0 }),
		"one":       {VocabSize: 1, BlockSize: 1, NLayer: 1, NHead: 1, NEmbd: 1},
	}
	for _, p := range train.Presets() {
		c := p.Config
		c.VocabSize = 65
		all[p.Name] = c
	}
	return all
}

// lively is a model whose heads do something: fresh weights are so small that every head looks everywhere alike.
func lively(t *testing.T, c model.Config) *model.Model {
	t.Helper()
	m, err := model.New(c, 7)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range m.Flat() {
		m.Flat()[i] += float32(0.1 * rng.NormFloat64())
	}
	return m
}

func vocab(n int) []string {
	v := make([]string, n)
	for i := range v {
		v[i] = string(rune('0' + i))
	}
	return v
}

func newTracer(t *testing.T, m *model.Model) *Tracer {
	t.Helper()
	tr, err := New(m, vocab(m.Config.VocabSize), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

func randomTokens(n, vocabSize int) []int32 {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	out := make([]int32, n)
	for i := range out {
		out[i] = rng.Int32N(int32(vocabSize))
	}
	return out
}

// lengths are those to try: one token, some, all that fit, and more. The largest preset is tried once in full.
func lengths(block int) []int {
	if block > 100 {
		return []int{33}
	}
	return []int{1, 2, block/2 + 1, block, block + 3}
}

// TestNextIsTheSamplers: the distribution on show is what the sampler draws from, to the rounding of sums that are taken
// in another order.
func TestNextIsTheSamplers(t *testing.T) {
	for name, c := range variations() {
		m := lively(t, c)
		tr := newTracer(t, m)
		for _, n := range lengths(c.BlockSize) {
			tokens := randomTokens(n, c.VocabSize)
			got, err := tr.Forward(t.Context(), tokens)
			if err != nil {
				t.Fatalf("%s, %d tokens: %v", name, n, err)
			}
			for _, want := range samplers(t, m, tokens) {
				if d := math.Abs(float64(got.Next[want.ID]) - want.Probability); d > 5e-6 {
					t.Errorf("%s, %d tokens: P(%d) is %v, the sampler has %v", name, n, want.ID, got.Next[want.ID], want.Probability)
				}
			}
			if got.Dropped != max(0, n-c.BlockSize) {
				t.Errorf("%s, %d tokens: %d dropped", name, n, got.Dropped)
			}
		}
	}
}

// samplers is what a sampler may draw after the tokens, one by one through the decoder.
func samplers(t *testing.T, m *model.Model, tokens []int32) []sample.Candidate {
	t.Helper()
	d, err := m.NewDecoder(1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var logits []float32
	for i := range tokens {
		if logits, err = d.Next(tokens[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	candidates, err := sample.Sampler{Temperature: 1}.Candidates(nil, logits)
	if err != nil {
		t.Fatal(err)
	}
	return candidates
}

// TestWeights: rows are distributions over the keys up to the query, and the softmax of the scores on show.
func TestWeights(t *testing.T) {
	for name, c := range variations() {
		tr := newTracer(t, lively(t, c))
		got, err := tr.Forward(t.Context(), randomTokens(c.BlockSize, c.VocabSize))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for l, heads := range got.Heads {
			for h, head := range heads {
				if at, off := worstRow(head, len(got.Tokens), got.Shape.HeadSize); off > 1e-5 {
					t.Errorf("%s: layer %d head %d query %d: off by %v", name, l, h, at, off)
				}
			}
		}
	}
}

// worstRow is the query whose weights differ most from the softmax of its scores, whose sum is furthest from 1, or whose
// later keys are not zero.
func worstRow(h attention.Head, n, size int) (at int, off float64) {
	for i := range n {
		sum, largest, norm := 0.0, math.Inf(-1), 0.0
		scaled := make([]float64, i+1)
		for j := range scaled {
			scaled[j] = float64(h.Scores[i*n+j]) / math.Sqrt(float64(size))
			largest = max(largest, scaled[j])
		}
		for _, s := range scaled {
			norm += math.Exp(s - largest)
		}
		row := 0.0
		for j := range n {
			w := float64(h.Weights[i*n+j])
			sum += w
			if j > i {
				row = max(row, math.Abs(w))
			} else {
				row = max(row, math.Abs(w-math.Exp(scaled[j]-largest)/norm))
			}
		}
		if row = max(row, math.Abs(sum-1)); row > off {
			at, off = i, row
		}
	}
	return at, off
}

// TestTracerFollowsTraining: a trace is of the weights as they are now, and keeps its numbers when they change.
func TestTracerFollowsTraining(t *testing.T) {
	m := lively(t, config(func(*model.Config) {}))
	tr := newTracer(t, m)
	before, err := tr.Forward(t.Context(), []int32{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.Clone(before.Heads[1][2].Weights)
	for i := range m.Flat() {
		m.Flat()[i] *= 2
	}
	after, err := tr.Forward(t.Context(), []int32{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(after.Heads[1][2].Weights, kept) || !slices.Equal(before.Heads[1][2].Weights, kept) {
		t.Error("the trace before and after a change of the weights")
	}
}

func TestForwardRefuses(t *testing.T) {
	tr := newTracer(t, lively(t, config(func(*model.Config) {})))
	for _, tokens := range [][]int32{nil, {-1}, {11}} {
		if _, err := tr.Forward(t.Context(), tokens); err == nil {
			t.Errorf("tokens %v were traced", tokens)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := tr.Forward(ctx, []int32{1}); !errors.Is(err, stop) {
		t.Errorf("with a context that has ended: %v", err)
	}
	if _, err := New(tr.model, vocab(3), nil); err == nil {
		t.Error("a vocabulary of the wrong size was taken")
	}
	if _, err := New(tr.model, vocab(11), &data.Bigram{RowStart: []int32{0}}); err == nil {
		t.Error("a Markov chain of another vocabulary was taken")
	}
}

// TestDamagedWeights: weights that are not numbers are an error of one line.
func TestDamagedWeights(t *testing.T) {
	m := lively(t, config(func(*model.Config) {}))
	m.Flat()[0] = float32(math.NaN())
	if _, err := newTracer(t, m).Forward(t.Context(), []int32{0, 1}); err == nil {
		t.Error("NaN was traced")
	}
}

func TestGraphsAreKept(t *testing.T) {
	tr := newTracer(t, lively(t, config(func(c *model.Config) { c.BlockSize = 2 * maxGraphs })))
	for n := range 2 * maxGraphs {
		if _, err := tr.Forward(t.Context(), make([]int32, n+1)); err != nil {
			t.Fatal(err)
		}
	}
	last := tr.graphs.kept[maxGraphs-1]
	if len(tr.graphs.kept) != maxGraphs || last.T != 2*maxGraphs {
		t.Fatalf("%d graphs, the last of length %d", len(tr.graphs.kept), last.T)
	}
	if again, err := tr.graphs.of(2 * maxGraphs); err != nil || again != last {
		t.Error("a kept graph was made again")
	}
}

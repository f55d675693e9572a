package trace

import (
	"context"
	"fmt"
	"slices"

	"chargpt/data"
	"chargpt/internal/attention"
	"chargpt/model"
	"chargpt/model/sample"
)

// Tracer traces forward passes of one model. It follows the model's parameters when a trainer changes them. It is not for
// concurrent use; close it after use.
type Tracer struct {
	Source string // where the model came from, for titles
	Step   int    // the training iteration of the weights

	model  *model.Model
	vocab  []string
	bigram *data.Bigram
	graphs graphs
}

// New returns a tracer of a model whose characters are vocab, in the order of their ids. Without a Markov chain, bigram
// nil, the traces have that of an empty text: every character is as likely.
func New(m *model.Model, vocab []string, bigram *data.Bigram) (*Tracer, error) {
	if len(vocab) != m.Config.VocabSize {
		return nil, fmt.Errorf("trace: %d characters for a model of vocab_size %d", len(vocab), m.Config.VocabSize)
	}
	if bigram == nil {
		bigram = &data.Bigram{RowStart: make([]int32, len(vocab)+1)}
	}
	if err := bigram.Validate(len(vocab)); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return &Tracer{model: m, vocab: slices.Clone(vocab), bigram: bigram, graphs: graphs{model: m}}, nil
}

// Shape is the model's configuration, as far as a reader of its attention needs it.
func (t *Tracer) Shape() attention.Shape {
	c := t.model.Config
	return attention.Shape{NLayer: c.NLayer, NHead: c.NHead, NEmbd: c.NEmbd, HeadSize: c.HeadSize,
		BlockSize: c.BlockSize, VocabSize: c.VocabSize, Position: c.Position}
}

// Model is the traced model; its graphs are its own.
func (t *Tracer) Model() *model.Model { return t.model }

// Vocab is the model's characters in the order of their ids, (V).
func (t *Tracer) Vocab() []string { return t.vocab }

// Forward passes the last block_size tokens through the model; at least one is needed. The trace owns its numbers.
func (t *Tracer) Forward(ctx context.Context, tokens []int32) (*attention.Trace, error) {
	if len(tokens) == 0 {
		return nil, fmt.Errorf("trace: no tokens")
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	dropped := max(0, len(tokens)-t.model.Config.BlockSize)
	tokens = slices.Clone(tokens[dropped:])
	g, err := t.graphs.of(len(tokens))
	if err != nil {
		return nil, err
	}
	copy(g.Tokens, tokens)
	if err := g.Run(0); err != nil {
		return nil, err
	}
	next, err := t.next(g)
	if err != nil {
		return nil, err
	}
	return &attention.Trace{
		Shape: t.Shape(), Tokens: tokens, Labels: t.characters(tokens), Dropped: dropped, Heads: t.heads(g), Vocab: t.vocab,
		Next: next, Bigram: t.bigram.Row(tokens[len(tokens)-1]), Source: t.Source, Step: t.Step,
	}, nil
}

// Close frees the graphs.
func (t *Tracer) Close() error { return t.graphs.close() }

func (t *Tracer) characters(tokens []int32) []string {
	out := make([]string, len(tokens))
	for i, id := range tokens {
		out[i] = t.vocab[id]
	}
	return out
}

// next is the distribution after the last token, as the sampler makes it of the logits at temperature 1, (V).
func (t *Tracer) next(g *model.Graph) ([]float32, error) {
	v := t.model.Config.VocabSize
	candidates, err := sample.Sampler{Temperature: 1}.Candidates(nil, g.Logits()[(g.T-1)*v:])
	if err != nil {
		return nil, err
	}
	p := make([]float32, v)
	for _, c := range candidates {
		p[c.ID] = float32(c.Probability)
	}
	return p, nil
}

// heads copies what the attention nodes of the graph hold, [layer][head].
func (t *Tracer) heads(g *model.Graph) [][]attention.Head {
	c := t.model.Config
	layers := make([][]attention.Head, c.NLayer)
	for l := range layers {
		weights, qkv := g.AttentionWeights(l), g.QKV(l) // (NH, T, T), (T, 3·NH·HS)
		for h := range c.NHead {
			head := attention.Head{
				Weights: slices.Clone(weights[h*g.T*g.T : (h+1)*g.T*g.T]),
				Q:       columns(qkv, 3*c.NHead*c.HeadSize, h*c.HeadSize, c.HeadSize),
				K:       columns(qkv, 3*c.NHead*c.HeadSize, (c.NHead+h)*c.HeadSize, c.HeadSize),
				V:       columns(qkv, 3*c.NHead*c.HeadSize, (2*c.NHead+h)*c.HeadSize, c.HeadSize),
			}
			head.Scores = scores(head.Q, head.K, c.HeadSize)
			layers[l] = append(layers[l], head)
		}
	}
	return layers
}

// columns copies size columns of a matrix with rows of width numbers.
func columns(matrix []float32, width, from, size int) []float32 {
	out := make([]float32, 0, len(matrix)/width*size)
	for row := range slices.Chunk(matrix, width) {
		out = append(out, row[from:from+size]...)
	}
	return out
}

// scores are the raw q·k of every query and the keys up to it, (T, T); zero for later keys. The graph keeps its weights
// alone, so they are multiplied again.
func scores(q, k []float32, size int) []float32 {
	n := len(q) / size
	out := make([]float32, n*n)
	for i := range n {
		for j := range i + 1 {
			out[i*n+j] = dot(q[i*size:(i+1)*size], k[j*size:(j+1)*size])
		}
	}
	return out
}

func dot(a, b []float32) float32 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// Write is n characters of the model's own, at most block_size, after a start: a text to look at where nobody gave one. One
// seed gives one text.
func (t *Tracer) Write(ctx context.Context, start int32, n int, seed uint64) ([]int32, error) {
	d, err := t.model.NewDecoder(1)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var tokens []int32
	o := sample.Options{Sampler: sample.Sampler{Temperature: 0.8}, MaxNewTokens: min(n, t.model.Config.BlockSize), Seed: seed}
	err = sample.Generate(ctx, d, 1, 0, []int32{start}, func(id int32) string { return t.vocab[id] }, o, func(e sample.Event) error {
		if !e.Done {
			tokens = append(tokens, e.ID)
		}
		return nil
	})
	return tokens, err
}

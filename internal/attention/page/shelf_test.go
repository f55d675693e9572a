package page

import (
	"context"
	"fmt"

	"chargpt/internal/attention"
)

// shelf is a Models of two models: "a" knows the sonnet's characters, "b" digits and a few hostile ones.
type shelf struct {
	slow func(ctx context.Context) // called by every Forward, if set
}

func (s shelf) List() []Checkpoint {
	return []Checkpoint{{ID: "a", Name: "plays, step 2000"}, {ID: "b", Name: "digits, step 10"}}
}

func (s shelf) Open(_ context.Context, id string) (Model, error) {
	switch id {
	case "a":
		return toy{made{vocab: sonnet, layers: 3, heads: 4, headSize: 16, step: 2000}, s.slow}, nil
	case "b":
		return toy{made{vocab: "0123456789 <&\n\U0001F642", layers: 1, heads: 2, headSize: 8, step: 10}, s.slow}, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrNoCheckpoint, id)
}

// toy is a Model that makes its traces with the arithmetic of made.
type toy struct {
	made made
	slow func(ctx context.Context)
}

func (m toy) Shape() attention.Shape {
	return attention.Shape{NLayer: m.made.layers, NHead: m.made.heads, NEmbd: m.made.heads * m.made.headSize,
		HeadSize: m.made.headSize, BlockSize: 64, VocabSize: len(m.Vocab()), Position: "learned"}
}

func (m toy) Vocab() []string {
	vocab, _ := vocabOf(m.made.vocab)
	return vocab
}

func (m toy) Forward(ctx context.Context, tokens []int32) (*attention.Trace, error) {
	if m.slow != nil {
		m.slow(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	vocab, next := m.Vocab(), m.made
	for _, id := range tokens {
		next.text += vocab[id]
	}
	t := next.trace()
	return relabel(t, m.Shape(), vocab, tokens), nil
}

// relabel gives a trace the model's own ids: made numbers characters in the order of its text.
func relabel(t *attention.Trace, shape attention.Shape, vocab []string, tokens []int32) *attention.Trace {
	t.Shape, t.Tokens = shape, tokens
	next, bigram := make([]float32, len(vocab)), make([]float64, len(vocab))
	_, ids := vocabOf(join(t.Vocab))
	for id, char := range vocab {
		from := ids[[]rune(char)[0]]
		next[id], bigram[id] = t.Next[from], t.Bigram[from]
	}
	t.Vocab, t.Next, t.Bigram = vocab, next, bigram
	return t
}

func join(chars []string) (text string) {
	for _, c := range chars {
		text += c
	}
	return text
}

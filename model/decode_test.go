package model_test

import (
	"fmt"
	"math"
	"testing"

	"chargpt/model"
)

// variants are the shapes that tests go over: one of everything that a Config can say.
var variants = map[string]model.Config{
	"default":     {VocabSize: 11, BlockSize: 8, NLayer: 2, NHead: 2, NEmbd: 12, Tied: true},
	"bias untied": {VocabSize: 13, BlockSize: 7, NLayer: 2, NHead: 3, NEmbd: 12, Bias: true},
	"rope":        {VocabSize: 11, BlockSize: 9, NLayer: 2, NHead: 2, NEmbd: 12, Position: model.PositionRope},
	"attn only":   {VocabSize: 9, BlockSize: 8, NLayer: 2, NHead: 1, NEmbd: 16, HeadSize: 24, AttnOnly: true},
	"no layers":   {VocabSize: 9, BlockSize: 5, NLayer: 0, NHead: 1, NEmbd: 6, Tied: true},
	"one of each": {VocabSize: 1, BlockSize: 1, NLayer: 1, NHead: 1, NEmbd: 1, Tied: true},
	"dropout":     {VocabSize: 11, BlockSize: 8, NLayer: 1, NHead: 2, NEmbd: 12, Dropout: 0.5},
}

// newModel returns a model with large random weights, so that differences show.
func newModel(t testing.TB, c model.Config) *model.Model {
	t.Helper()
	m, err := model.New(c, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Parameters() {
		if len(p.Shape) == 2 {
			for i := range p.Data {
				p.Data[i] *= 10
			}
		}
	}
	return m
}

// fullForward is the logits after the last of at most BlockSize tokens, by a graph of exactly that many.
func fullForward(t *testing.T, m *model.Model, tokens []int32) []float32 {
	t.Helper()
	g, err := m.NewGraph(1, len(tokens), model.Inference, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	copy(g.Tokens, tokens)
	if err := g.Run(0); err != nil {
		t.Fatal(err)
	}
	return append([]float32{}, g.Logits()[(len(tokens)-1)*m.Config.VocabSize:]...)
}

// TestDecoder compares decoding with cached keys and values, inside and past the block size, with a full forward pass
// over the last BlockSize tokens. float32 sums in another order: 1e-5 of the largest logit.
func TestDecoder(t *testing.T) {
	for name, c := range variants {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, c)
			d, err := m.NewDecoder(2)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			for pass := range 2 { // the second after Reset
				d.Reset()
				var first, second []int32
				for i := range 2*c.BlockSize + 3 {
					first = append(first, int32((i*i+pass)%c.VocabSize))
					second = append(second, int32((i*7+3)%c.VocabSize))
					logits, err := d.Next([]int32{first[i], second[i]})
					if err != nil {
						t.Fatal(err)
					}
					for s, tokens := range [][]int32{first, second} {
						want := fullForward(t, m, tokens[max(0, len(tokens)-c.BlockSize):])
						compareLogits(t, fmt.Sprintf("sequence %d after %d tokens", s, i+1), logits[s*c.VocabSize:(s+1)*c.VocabSize], want)
					}
				}
			}
		})
	}
}

func compareLogits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	largest := 0.0
	for _, w := range want {
		largest = max(largest, math.Abs(float64(w)))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i] - w)); !(d <= 1e-5*largest+1e-9) {
			t.Fatalf("%s: logit %d = %v, want %v", what, i, got[i], w)
		}
	}
}

func TestDecoderRefuses(t *testing.T) {
	m := newModel(t, variants["default"])
	for _, batch := range []int{0, -1, model.MaxDecodeBatch + 1} {
		if _, err := m.NewDecoder(batch); err == nil {
			t.Errorf("NewDecoder(%d) succeeds", batch)
		}
	}
	d, err := m.NewDecoder(1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, tokens := range [][]int32{nil, {1, 2}, {-1}, {11}} {
		if _, err := d.Next(tokens); err == nil {
			t.Errorf("Next(%v) succeeds", tokens)
		}
	}
}

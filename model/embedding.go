package model

import "gorgonia.org/gorgonia"

// embedding turns token ids into vectors: a row of wte for the character and, unless positions are rotary, a row of wpe
// for its place in the context.
func (g *gpt) embedding() *gorgonia.Node {
	x := g.Embedding(g.parameter("wte"), g.parameter("wpe"), g.tokens, g.positions) // (B, T, C)
	if g.dropout > 0 {
		x = g.Dropout(x, nil, g.dropout) // (B, T, C)
	}
	return x
}

package model

import (
	"fmt"

	"chargpt/internal/ops"

	"gorgonia.org/gorgonia"
)

// gpt builds one forward pass into a graph. Its methods are the layers: forward calls them from bottom to top.
type gpt struct {
	*ops.Builder
	model *Model
	nodes map[string]*gorgonia.Node // the parameters, by name

	batch, t  int            // B, T
	tokens    *gorgonia.Node // (B·T), ids
	positions *gorgonia.Node // (B·T)
	dropout   float64        // 0 unless training
	decoding  bool           // T is 1 and earlier keys and values are cached
	lastOnly  bool           // after the last layer's attention, go on with each sequence's last token alone

	qkv     gorgonia.Nodes // a layer's queries, keys and values, (B·T, 3·NH·HS)
	weights gorgonia.Nodes // a layer's attention weights, (B, NH, T, T)
}

// forward is the whole model: token ids to the logits of the next character.
func (g *gpt) forward() *gorgonia.Node {
	x := g.embedding() // (B, T, C)
	for i := range g.model.Config.NLayer {
		x = g.block(fmt.Sprintf("h.%d.", i), x) // (B, T, C)
	}
	if g.lastOnly && g.Err() == nil && x.Shape()[0] > g.batch { // not done by the last layer: there is none
		x = g.Last(x, g.t) // (B, 1, C)
	}
	x = g.layerNorm(x, "ln_f") // (B, T, C)
	return g.lmHead(x)         // (B, T, V)
}

// lmHead gives every character of the vocabulary a score.
func (g *gpt) lmHead(x *gorgonia.Node) *gorgonia.Node {
	if g.model.Config.Tied {
		return g.TiedHead(x, g.parameter("wte")) // (B, T, V): x wteᵀ
	}
	return g.Linear(x, g.parameter("lm_head"), nil, nil) // (B, T, V): x lm_head
}

// layerNorm normalises each token's channels.
func (g *gpt) layerNorm(x *gorgonia.Node, name string) *gorgonia.Node {
	return g.LayerNorm(x, g.parameter(name+".weight"), g.parameter(name+".bias")) // (B, T, C)
}

// addLinear is x + dropout(y W + b): how a branch writes into the residual stream.
func (g *gpt) addLinear(x, y *gorgonia.Node, w, b string) *gorgonia.Node {
	if g.dropout > 0 {
		return g.Dropout(g.Linear(y, g.parameter(w), g.parameter(b), nil), x, g.dropout) // (B, T, C)
	}
	return g.Linear(y, g.parameter(w), g.parameter(b), x) // (B, T, C)
}

// parameter returns the node of a parameter, or nil where the model has none of that name. The node has a tensor header
// of its own over the model's memory, since graphs must not share one.
func (g *gpt) parameter(name string) *gorgonia.Node {
	if n, ok := g.nodes[name]; ok {
		return n
	}
	p := g.model.parameter(name)
	if p == nil {
		return nil
	}
	g.nodes[name] = g.Input(name, p.Data, p.Shape...)
	return g.nodes[name]
}

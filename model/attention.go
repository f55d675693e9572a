package model

import "gorgonia.org/gorgonia"

// attention lets every token look back (Vaswani et al. 2017, section 3.2). Its query asks "which earlier characters
// matter for what I must predict?", a key says what an earlier character can answer, and a value is the answer itself:
//
//	Q, K, V = y W_Q, y W_K, y W_V
//	weights = softmax(Q Kᵀ / √HS), over the keys up to the query
//	x + (weights V) W_O
//
// for each of NH heads, whose values lie side by side.
func (g *gpt) attention(p string, y, x *gorgonia.Node) *gorgonia.Node {
	c := g.model.Config
	weights := gorgonia.Nodes{g.parameter(p + "w_q"), g.parameter(p + "w_k"), g.parameter(p + "w_v")} // each (C, NH·HS)
	var biases gorgonia.Nodes
	if c.Bias {
		biases = gorgonia.Nodes{g.parameter(p + "b_q"), g.parameter(p + "b_k"), g.parameter(p + "b_v")} // each (NH·HS)
	}
	qkv := g.QKV(y, weights, biases) // (B, T, 3·NH·HS): Q | K | V
	if c.Position == PositionRope {
		qkv = g.Rotary(qkv, g.positions, c.NHead, c.BlockSize) // (B, T, 3·NH·HS)
	}
	if g.decoding {
		y = g.CachedAttention(qkv, g.positions, c.BlockSize, c.NHead) // (B, 1, NH·HS)
	} else {
		y = g.Attention(qkv, g.batch, g.t, c.NHead, g.dropout) // (B, T, NH·HS): weights V
		g.weights = append(g.weights, g.AttentionWeights(y))   // (B, NH, T, T)
	}
	g.qkv = append(g.qkv, qkv)
	if g.lastOnly && len(g.qkv) == c.NLayer {
		x, y = g.Last(x, g.t), g.Last(y, g.t) // (B, 1, C), (B, 1, NH·HS)
	}
	return g.addLinear(x, y, p+"w_o", p+"b_o") // (B, T, C)
}

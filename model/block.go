package model

import "gorgonia.org/gorgonia"

// block is GPT-2's pre-LayerNorm transformer block: two branches that each add to the residual stream x.
func (g *gpt) block(h string, x *gorgonia.Node) *gorgonia.Node {
	x = g.attention(h+"attn.", g.layerNorm(x, h+"ln_1"), x) // (B, T, C): x + attention(ln_1(x))
	if g.model.Config.AttnOnly {
		return x
	}
	return g.mlp(h+"mlp.", g.layerNorm(x, h+"ln_2"), x) // (B, T, C): x + mlp(ln_2(x))
}

// mlp works on each token alone: four times as many channels, a nonlinearity, and back.
func (g *gpt) mlp(p string, y, x *gorgonia.Node) *gorgonia.Node {
	y = g.Linear(y, g.parameter(p+"w_fc"), g.parameter(p+"b_fc"), nil) // (B, T, 4C)
	y = g.GELU(y)                                                      // (B, T, 4C)
	return g.addLinear(x, y, p+"w_proj", p+"b_proj")                   // (B, T, C)
}

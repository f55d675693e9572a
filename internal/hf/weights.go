package hf

import (
	"encoding/binary"
	"fmt"

	"github.com/nlpodyssey/safetensors"

	"chargpt/model"
)

// tensors returns a model's weights by the names, shapes and layouts of transformers' GPT2LMHeadModel. With C channels:
//
//	transformer.wte.weight (V, C)          transformer.h.N.attn.c_attn.weight (C, 3C)  W_Q | W_K | W_V
//	transformer.wpe.weight (T, C)          transformer.h.N.attn.c_proj.weight (C, C)   W_O
//	transformer.ln_f, h.N.ln_1, h.N.ln_2   transformer.h.N.mlp.c_fc.weight    (C, 4C)
//	lm_head.weight (V, C), only if untied  transformer.h.N.mlp.c_proj.weight  (4C, C)
//
// and a bias for everything that multiplies, zero where the model has none.
func tensors(c model.Config, weights map[string][]float32) map[string]tensor {
	m := mapping{c.NEmbd, weights, map[string]tensor{}}
	m.add("wte.weight", weights["wte"], c.VocabSize, c.NEmbd)
	m.add("wpe.weight", weights["wpe"], c.BlockSize, c.NEmbd)
	for i := range c.NLayer {
		m.block(fmt.Sprintf("h.%d.", i))
	}
	m.norm("ln_f")
	if !c.Tied {
		head := transpose(weights["lm_head"], c.NEmbd, c.VocabSize) // (V, C)
		m.to["lm_head.weight"] = tensor{head, []int{c.VocabSize, c.NEmbd}}
	}
	return m.to
}

// mapping adds tensors under new names.
type mapping struct {
	c    int // channels
	from map[string][]float32
	to   map[string]tensor
}

func (m mapping) add(name string, values []float32, shape ...int) {
	m.to["transformer."+name] = tensor{values, shape}
}

// bias adds a bias, of zeros where values is nil.
func (m mapping) bias(name string, values []float32, n int) {
	if values == nil {
		values = make([]float32, n)
	}
	m.add(name+".bias", values, n)
}

// norm adds a LayerNorm, which has the same name in both.
func (m mapping) norm(name string) {
	m.add(name+".weight", m.from[name+".weight"], m.c)
	m.bias(name, m.from[name+".bias"], m.c)
}

// linear adds a layer from in to out channels.
func (m mapping) linear(name, weight, bias string, in, out int) {
	m.add(name+".weight", m.from[weight], in, out)
	m.bias(name, m.from[bias], out)
}

// block adds everything of a block; h is its prefix in both names.
func (m mapping) block(h string) {
	c := m.c
	m.norm(h + "ln_1")
	q, k, v := m.from[h+"attn.w_q"], m.from[h+"attn.w_k"], m.from[h+"attn.w_v"]
	m.add(h+"attn.c_attn.weight", sideBySide(c, q, k, v), c, 3*c)
	// Three vectors side by side are matrices of one row. Without biases they are nil, and so is the result.
	m.bias(h+"attn.c_attn", sideBySide(1, m.from[h+"attn.b_q"], m.from[h+"attn.b_k"], m.from[h+"attn.b_v"]), 3*c)
	m.linear(h+"attn.c_proj", h+"attn.w_o", h+"attn.b_o", c, c)
	m.norm(h + "ln_2")
	m.linear(h+"mlp.c_fc", h+"mlp.w_fc", h+"mlp.b_fc", c, 4*c)
	m.linear(h+"mlp.c_proj", h+"mlp.w_proj", h+"mlp.b_proj", 4*c, c)
}

// sideBySide joins matrices of the same number of rows: row i is row i of each, one after another.
func sideBySide(rows int, matrices ...[]float32) (joined []float32) {
	for i := range rows {
		for _, m := range matrices {
			columns := len(m) / rows
			joined = append(joined, m[i*columns:(i+1)*columns]...)
		}
	}
	return joined
}

// transpose turns a (rows, columns) matrix into (columns, rows).
func transpose(a []float32, rows, columns int) []float32 {
	b := make([]float32, len(a))
	for i := range rows {
		for j := range columns {
			b[j*rows+i] = a[i*columns+j]
		}
	}
	return b
}

// A tensor is a [safetensors.View].
type tensor struct {
	values []float32
	shape  []int
}

// DType is that of float32.
func (t tensor) DType() safetensors.DType { return safetensors.F32 }

// Shape is the tensor's dimensions.
func (t tensor) Shape() []uint64 {
	shape := make([]uint64, len(t.shape))
	for i, n := range t.shape {
		shape[i] = uint64(n)
	}
	return shape
}

// Data is the numbers, little-endian.
func (t tensor) Data() []byte {
	b, err := binary.Append(nil, binary.LittleEndian, t.values)
	if err != nil {
		panic(err) // it takes any slice of numbers
	}
	return b
}

// DataLen is the number of bytes of Data.
func (t tensor) DataLen() uint64 { return 4 * uint64(len(t.values)) }

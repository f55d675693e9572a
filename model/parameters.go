package model

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A Parameter is one trained tensor: a window on the model's flat memory.
type Parameter struct {
	Name  string    // as in a checkpoint, such as "h.0.attn.w_q"
	Shape []int     // weights are (in, out): y = x W + b
	Data  []float32 // row-major; shared with the model
	Grad  []float32 // the gradient of the last training step, same layout; nil before a [Batch] or a Training graph exists
}

// Decays reports whether weight decay applies: to tensors of two or more dimensions only.
func (p Parameter) Decays() bool { return len(p.Shape) >= 2 }

// IsBlockMatrix reports whether p is a matrix inside a block: W_Q, W_K, W_V, W_O, W_fc or W_proj.
func (p Parameter) IsBlockMatrix() bool {
	return len(p.Shape) == 2 && p.Name[0] == 'h' && p.Name[1] == '.'
}

// specification says what one parameter is before it has memory.
type specification struct {
	name  string
	shape []int
	init  initializer
	std   float64
}

type initializer int

const (
	normal initializer = iota // N(0, std)
	ones
	zeros
)

// specifications lists the parameters of a model in the order of their memory: matrices first, so
// that weight decay is one range; then vectors. Names and shapes are those of a checkpoint.
func (c Config) specifications() []specification {
	const std = 0.02 // GPT-2 (Radford et al. 2019, section 2.3)
	residual := std / math.Sqrt(2*float64(max(c.NLayer, 1)))
	attn := c.NHead * c.HeadSize // channels of all heads side by side
	var matrices, vectors []specification
	matrix := func(name string, in, out int, std float64) {
		matrices = append(matrices, specification{name, []int{in, out}, normal, std})
	}
	vector := func(name string, n int, init initializer) {
		vectors = append(vectors, specification{name, []int{n}, init, 0})
	}
	norm := func(name string) {
		vector(name+".weight", c.NEmbd, ones)
		if c.Bias {
			vector(name+".bias", c.NEmbd, zeros)
		}
	}
	linear := func(prefix, name string, in, out int, std float64) {
		matrix(prefix+"w_"+name, in, out, std)
		if c.Bias {
			vector(prefix+"b_"+name, out, zeros)
		}
	}
	matrix("wte", c.VocabSize, c.NEmbd, std)
	if c.Position == PositionLearned {
		matrix("wpe", c.BlockSize, c.NEmbd, std)
	}
	for i := range c.NLayer {
		h := fmt.Sprintf("h.%d.", i)
		norm(h + "ln_1")
		linear(h+"attn.", "q", c.NEmbd, attn, std)
		linear(h+"attn.", "k", c.NEmbd, attn, std)
		linear(h+"attn.", "v", c.NEmbd, attn, std)
		linear(h+"attn.", "o", attn, c.NEmbd, residual)
		if c.AttnOnly {
			continue
		}
		norm(h + "ln_2")
		linear(h+"mlp.", "fc", c.NEmbd, 4*c.NEmbd, std)
		linear(h+"mlp.", "proj", 4*c.NEmbd, c.NEmbd, residual)
	}
	norm("ln_f")
	if !c.Tied {
		matrix("lm_head", c.NEmbd, c.VocabSize, std)
	}
	return append(matrices, vectors...)
}

func (s specification) size() int {
	n := 1
	for _, d := range s.shape {
		n *= d
	}
	return n
}

// ParameterShapes returns the name and shape of every parameter of a model with this configuration,
// and how many numbers they hold together, without allocating them.
func (c Config) ParameterShapes() (shapes map[string][]int, total int) {
	shapes = map[string][]int{}
	for _, s := range c.WithDefaults().specifications() {
		shapes[s.name] = s.shape
		total += s.size()
	}
	return shapes, total
}

// fill draws the initial values of one parameter.
func (s specification) fill(data []float32, rng *rand.Rand) {
	for i := range data {
		switch s.init {
		case normal:
			data[i] = float32(rng.NormFloat64() * s.std)
		case ones:
			data[i] = 1
		case zeros:
			data[i] = 0
		}
	}
}

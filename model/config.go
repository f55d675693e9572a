package model

import "fmt"

// Config is the shape of a model. The zero value is not usable: start from a preset, or set
// VocabSize, BlockSize, NHead and NEmbd at least, and call [Config.Validate].
// The JSON keys are those of a checkpoint's "config" metadata.
type Config struct {
	VocabSize int     `json:"vocab_size"` // V, distinct characters
	BlockSize int     `json:"block_size"` // T, characters of context
	NLayer    int     `json:"n_layer"`    // blocks; 0 is embedding and LM head alone
	NHead     int     `json:"n_head"`     // NH, attention heads a block
	NEmbd     int     `json:"n_embd"`     // C, channels of the residual stream
	HeadSize  int     `json:"head_size"`  // HS, channels of a head; 0 means NEmbd/NHead
	Dropout   float64 `json:"dropout"`    // share of activations dropped in training, in [0, 1)
	Bias      bool    `json:"bias"`       // biases in the linear layers and LayerNorms
	Tied      bool    `json:"tied"`       // the LM head is the token embedding, transposed
	AttnOnly  bool    `json:"attn_only"`  // blocks without MLPs
	Position  string  `json:"position"`   // PositionLearned or PositionRope
}

// The values of [Config.Position].
const (
	PositionLearned = "learned" // a trained vector a position, added to the token embedding
	PositionRope    = "rope"    // queries and keys rotated by their position (Su et al. 2021, section 3.2)
)

// Bounds on what can be asked for, by a flag or a hostile checkpoint: far over what a tiny model needs.
const (
	maxDimension  = 1 << 20 // of every size
	maxLayers     = 1000    // a layer is some 30 nodes of the graph
	maxParameters = 1 << 31 // 8 GB in float32
	maxAttention  = 8e9     // numbers of one sequence: 32 GB in float32
)

// WithDefaults returns c with HeadSize and Position filled in.
func (c Config) WithDefaults() Config {
	if c.HeadSize == 0 && c.NHead > 0 {
		c.HeadSize = c.NEmbd / c.NHead
	}
	if c.Position == "" {
		c.Position = PositionLearned
	}
	return c
}

// A ConfigError names the Config field (by its JSON key, which is its flag too) that a model cannot have.
type ConfigError struct {
	Field  string // the JSON key, such as "n_head"
	Reason string
}

// Error is the field and what is wrong with it.
func (e *ConfigError) Error() string { return e.Field + " " + e.Reason }

// Validate reports the first field that no model can have, as a *[ConfigError].
func (c Config) Validate() error {
	for _, f := range []struct {
		key           string
		got, min, max int
	}{
		{"vocab_size", c.VocabSize, 1, maxDimension},
		{"block_size", c.BlockSize, 1, maxDimension},
		{"n_layer", c.NLayer, 0, maxLayers},
		{"n_head", c.NHead, 1, maxDimension},
		{"n_embd", c.NEmbd, 1, maxDimension},
		{"head_size", c.HeadSize, 0, maxDimension},
	} {
		if f.got < f.min || f.got > f.max {
			return &ConfigError{f.key, fmt.Sprintf("is %d; it must be from %d to %d", f.got, f.min, f.max)}
		}
	}
	if c.HeadSize == 0 && c.NEmbd%c.NHead != 0 {
		return &ConfigError{"n_head", fmt.Sprintf("is %d, which does not divide n_embd %d; choose another or set head_size", c.NHead, c.NEmbd)}
	}
	if !(c.Dropout >= 0 && c.Dropout < 1) {
		return &ConfigError{"dropout", fmt.Sprintf("is %v; it must be at least 0 and under 1", c.Dropout)}
	}
	switch c.Position {
	case "", PositionLearned:
	case PositionRope:
		if c.WithDefaults().HeadSize%2 != 0 {
			return &ConfigError{"position", fmt.Sprintf("rope rotates pairs of channels, but head_size is odd (%d)", c.WithDefaults().HeadSize)}
		}
	default:
		return &ConfigError{"position", fmt.Sprintf("is %q; it must be %s or %s", c.Position, PositionLearned, PositionRope)}
	}
	if n := c.WithDefaults().approximateSize(); n > maxParameters {
		return &ConfigError{"n_embd", fmt.Sprintf("is %d, which with these sizes makes a model of %.0f billion parameters; the most is 2 billion", c.NEmbd, n/1e9)}
	}
	if n := c.attentionWeights(); n > maxAttention {
		return &ConfigError{"block_size", fmt.Sprintf("is %d, which with these layers and heads makes %.0f billion attention weights a sequence; the most is %.0f billion", c.BlockSize, n/1e9, maxAttention/1e9)}
	}
	return nil
}

// attentionWeights is how many numbers the attention of one sequence keeps.
func (c Config) attentionWeights() float64 {
	return float64(c.NLayer) * float64(c.NHead) * float64(c.BlockSize) * float64(c.BlockSize)
}

// approximateSize is the number of weights in the matrices, in a type that cannot overflow.
func (c Config) approximateSize() float64 {
	attention, mlp := 4*float64(c.NHead)*float64(c.HeadSize), 8*float64(c.NEmbd) // columns of a layer's matrices
	return float64(c.NEmbd) * (float64(c.VocabSize) + float64(c.BlockSize) + float64(c.NLayer)*(attention+mlp))
}

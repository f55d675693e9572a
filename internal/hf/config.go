package hf

import (
	"fmt"

	"chargpt/model"
)

// Check reports why a model of this configuration is no GPT-2; nil if it is one.
func Check(c model.Config) error {
	c = c.WithDefaults()
	switch {
	case c.NLayer == 0:
		return fmt.Errorf("GPT-2 has at least one block, but this model has none (n_layer 0)")
	case c.AttnOnly:
		return fmt.Errorf("GPT-2 has an MLP in every block, but this model has attention alone (attn_only)")
	case c.Position != model.PositionLearned:
		return fmt.Errorf("GPT-2 learns its positions, but this model's are %q (position)", c.Position)
	case c.NHead*c.HeadSize != c.NEmbd:
		return fmt.Errorf("the heads of GPT-2 fill its channels, but n_head %d x head_size %d is %d and n_embd is %d",
			c.NHead, c.HeadSize, c.NHead*c.HeadSize, c.NEmbd)
	}
	return nil
}

// gpt2Config is config.json: the keys of transformers' GPT2Config. Tokens that begin or end a text are null, as a
// character model has none; transformers would take GPT-2's own (50256) if they were left out.
type gpt2Config struct {
	Architectures    []string `json:"architectures"`
	ModelType        string   `json:"model_type"`
	Activation       string   `json:"activation_function"`
	LayerNormEpsilon float64  `json:"layer_norm_epsilon"`
	NEmbd            int      `json:"n_embd"`
	NHead            int      `json:"n_head"`
	NInner           *int     `json:"n_inner"` // null: 4 n_embd
	NLayer           int      `json:"n_layer"`
	NPositions       int      `json:"n_positions"`
	NCtx             int      `json:"n_ctx"`
	VocabSize        int      `json:"vocab_size"`
	EmbdDropout      float64  `json:"embd_pdrop"`
	AttnDropout      float64  `json:"attn_pdrop"`
	ResidDropout     float64  `json:"resid_pdrop"`
	InitializerRange float64  `json:"initializer_range"`
	ScaleAttnWeights bool     `json:"scale_attn_weights"`
	Tied             bool     `json:"tie_word_embeddings"`
	UseCache         bool     `json:"use_cache"`
	BOSTokenID       *int     `json:"bos_token_id"`
	EOSTokenID       *int     `json:"eos_token_id"`
	TorchDtype       string   `json:"torch_dtype"`
}

func newConfig(c model.Config) gpt2Config {
	return gpt2Config{
		Architectures:    []string{"GPT2LMHeadModel"},
		ModelType:        "gpt2",
		Activation:       "gelu_new", // the tanh form
		LayerNormEpsilon: 1e-5,
		NEmbd:            c.NEmbd,
		NHead:            c.NHead,
		NLayer:           c.NLayer,
		NPositions:       c.BlockSize,
		NCtx:             c.BlockSize,
		VocabSize:        c.VocabSize,
		EmbdDropout:      c.Dropout,
		AttnDropout:      c.Dropout,
		ResidDropout:     c.Dropout,
		InitializerRange: 0.02,
		ScaleAttnWeights: true, // by 1/√HS
		Tied:             c.Tied,
		UseCache:         true,
		TorchDtype:       "float32",
	}
}

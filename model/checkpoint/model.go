package checkpoint

import (
	"chargpt/data"
	"chargpt/model"
)

// Model returns a new model with the checkpoint's weights.
func (c *Checkpoint) Model() (*model.Model, error) {
	m, err := model.NewZero(c.Config)
	if err != nil {
		return nil, err
	}
	return m, m.SetWeights(c.Weights)
}

// Tokenizer returns the tokenizer of the text that the model was trained on.
func (c *Checkpoint) Tokenizer() (*data.Tokenizer, error) { return data.NewTokenizerFromVocab(c.Vocab) }

package trace

import (
	"encoding/json"
	"fmt"

	"chargpt/data"
	"chargpt/model/checkpoint"
)

// Loaded is a tracer with what its checkpoint says about characters.
type Loaded struct {
	*Tracer
	Tokenizer *data.Tokenizer
	Bigram    *data.Bigram // nil where the checkpoint has none
}

// Load reads a checkpoint file. Its errors name the file.
func Load(file string) (*Loaded, error) {
	c, err := checkpoint.Read(file)
	if err != nil {
		return nil, err
	}
	l, err := fromCheckpoint(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	l.Source = file
	return l, nil
}

func fromCheckpoint(c *checkpoint.Checkpoint) (*Loaded, error) {
	m, err := c.Model()
	if err != nil {
		return nil, err
	}
	tokenizer, err := c.Tokenizer()
	if err != nil {
		return nil, err
	}
	t, err := New(m, c.Vocab, c.Bigram)
	if err != nil {
		return nil, err
	}
	t.Step = iteration(c.Train)
	return &Loaded{t, tokenizer, c.Bigram}, nil
}

// iteration is that of a checkpoint's training state: 0 where a checkpoint has none.
func iteration(train json.RawMessage) int {
	var state struct {
		Iteration int `json:"iteration"`
	}
	if json.Unmarshal(train, &state) != nil {
		return 0
	}
	return max(0, state.Iteration)
}

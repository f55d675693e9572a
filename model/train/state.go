package train

import (
	"encoding/json"
	"fmt"
	"math"

	"chargpt/model/checkpoint"
)

// State is the part of a run that is no tensor: a checkpoint's "train" metadata.
type State struct {
	Options     Options `json:"options"`
	Iteration   int     `json:"iteration"`         // iterations done
	Data        string  `json:"data"`              // the text's file as it was named; empty is the embedded corpus
	TextSHA256  string  `json:"text_sha256"`       // of the text, to refuse another one
	Seconds     float64 `json:"seconds,omitempty"` // of training so far, where its length is a time
	Random      Random  `json:"random"`            // where the random streams are
	BestLoss    float64 `json:"best_val_loss"`     // lowest validation loss so far, nats; 0 if none yet
	BestIter    int     `json:"best_iteration"`    // when
	UnigramLoss float64 `json:"unigram_loss"`      // baselines on the validation part, nats
	BigramLoss  float64 `json:"bigram_loss"`
}

// Random is the state of all random streams. Every draw is a function of the seed and the iteration it is made in, so
// these two are all of it.
type Random struct {
	Seed      uint64 `json:"seed"`
	Iteration int    `json:"iteration"`
}

// ReadState returns the training state in a checkpoint.
func ReadState(c *checkpoint.Checkpoint) (State, error) {
	s := State{Options: Options{Optimizer: AdamW}} // what a run had before there was a choice
	if err := json.Unmarshal(c.Train, &s); err != nil {
		return s, fmt.Errorf("the checkpoint has no training state: %w", err)
	}
	if err := s.Options.Validate(); err != nil {
		return s, fmt.Errorf("the checkpoint's training state: %w", err)
	}
	if s.Iteration < 0 || s.Iteration != s.Random.Iteration || s.Options.Seed != s.Random.Seed || math.IsNaN(s.BestLoss) {
		return s, fmt.Errorf("the checkpoint's training state contradicts itself")
	}
	return s, nil
}

package train

import (
	"encoding/json"
	"errors"
	"fmt"

	"chargpt/model/checkpoint"
)

// State is the part of a run that is no tensor: a checkpoint's "train" metadata.
type State struct {
	Options     Options  `json:"options"`
	Iteration   int      `json:"iteration"`               // iterations done
	Data        string   `json:"data"`                    // the text's file; "-" is standard input, empty the embedded corpus
	TextSHA256  string   `json:"text_sha256"`             // of the text, to refuse another one
	Seconds     float64  `json:"seconds,omitempty"`       // of training so far, where its length is a time
	Random      Random   `json:"random"`                  // where the random streams are
	BestLoss    *float64 `json:"best_val_loss,omitempty"` // lowest validation loss so far, nats; nil if none yet
	BestIter    int      `json:"best_iteration"`          // when
	Worse       int      `json:"worse,omitempty"`         // evaluations in a row that were over 1 % above it
	UnigramLoss float64  `json:"unigram_loss"`            // baselines on the validation part, nats
	BigramLoss  float64  `json:"bigram_loss"`
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
	if s.Iteration < 0 || s.Iteration != s.Random.Iteration || s.Options.Seed != s.Random.Seed {
		return s, errors.New("the checkpoint's training state contradicts itself")
	}
	if s.Options.ValFraction == 0 {
		s.BestLoss = nil // it was once kept as 0, which is also the loss of a text of one character
	}
	return s, nil
}

// Length is how long a run that is resumed is from now on, in all; the zero value keeps what it is.
type Length struct {
	MaxIters int     // of a run whose length is in iterations
	Minutes  float64 // of one whose length is a time
	Patience *int    // Options.Patience from now on; nil keeps it
}

// extend makes the run another length, which must be in the same unit and not be over yet, or be the same.
func (s *State) extend(l Length) error {
	o := &s.Options
	if l.Patience != nil && *l.Patience != o.Patience {
		o.Patience, s.Worse = *l.Patience, 0
	}
	switch timed := o.Minutes > 0; {
	case l.MaxIters == 0 && l.Minutes == 0:
		return o.Validate()
	case l.MaxIters > 0 && timed:
		return fmt.Errorf("max_iters is %d, but the run's length is %v minutes", l.MaxIters, o.Minutes)
	case l.Minutes > 0 && !timed:
		return fmt.Errorf("minutes is %v, but the run's length is %d iterations", l.Minutes, o.MaxIters)
	case !timed && l.MaxIters < s.Iteration:
		return fmt.Errorf("max_iters is %d, but the run has done %d iterations", l.MaxIters, s.Iteration)
	case timed && 60*l.Minutes < s.Seconds && l.Minutes != o.Minutes:
		return fmt.Errorf("minutes is %v, but the run has trained for %.2f", l.Minutes, s.Seconds/60)
	}
	if l.MaxIters > o.MaxIters || l.Minutes > o.Minutes {
		s.Worse = 0 // whoever makes a run longer wants it to go on
	}
	if l.Minutes > 0 {
		o.Minutes = l.Minutes
	} else {
		o.MaxIters = l.MaxIters
	}
	return o.Validate()
}

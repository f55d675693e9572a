package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"chargpt/data"
	"chargpt/model"
)

// FormatVersion is the version of the format that this package writes and reads.
const FormatVersion = "1"

// A Checkpoint is a trained model, and what training needs to go on.
type Checkpoint struct {
	// Config is the model's shape. One that was decoded has its defaults filled in.
	Config model.Config
	// Vocab are the characters in id order: Config.VocabSize strings of one character.
	Vocab []string
	// Weights are the parameters by name, row-major; names and shapes are those of Config.ParameterShapes.
	Weights map[string][]float32
	// Optimizer is what an optimizer keeps a weight: by kind ("m", "v", "muon": lower-case letters, digits and _), then by
	// the parameter's name, in its shape. A kind may leave out parameters. Nil if training cannot go on from here.
	Optimizer map[string]map[string][]float32
	// Bigram is the Markov chain of the training text; it may be nil.
	Bigram *data.Bigram
	// Train is what else a trainer keeps, such as hyperparameters, iteration and random state; it may be nil.
	Train json.RawMessage
}

// Names of tensors that are not weights.
const (
	optimizerPrefix = "optim."
	bigramRowStart  = "bigram.row_start"
	bigramNext      = "bigram.next"
	bigramCount     = "bigram.count"
)

func optimizerName(kind, parameter string) string { return optimizerPrefix + kind + "." + parameter }

// splitOptimizerName is the inverse of optimizerName; ok is false for another tensor.
func splitOptimizerName(name string) (kind, parameter string, ok bool) {
	rest, ok := strings.CutPrefix(name, optimizerPrefix)
	if !ok {
		return "", "", false
	}
	kind, parameter, ok = strings.Cut(rest, ".")
	return kind, parameter, ok && validKind(kind)
}

func validKind(kind string) bool {
	return kind != "" && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// validate reports the first thing that makes c no checkpoint.
func (c *Checkpoint) validate() error {
	if err := c.validateMetadata(); err != nil {
		return err
	}
	shapes, _ := c.Config.ParameterShapes()
	for name := range shapes {
		if c.Weights[name] == nil {
			return fmt.Errorf("weight %s is missing", name)
		}
	}
	if err := validateSizes("weight ", c.Weights, shapes); err != nil {
		return err
	}
	for kind, moments := range c.Optimizer {
		if !validKind(kind) {
			return fmt.Errorf("optimizer kind %q; it must be lower-case letters, digits and _", kind)
		}
		if err := validateSizes("optimizer "+kind+" of ", moments, shapes); err != nil {
			return err
		}
	}
	if c.Bigram != nil {
		return c.Bigram.Validate(c.Config.VocabSize)
	}
	return nil
}

func (c *Checkpoint) validateMetadata() error {
	if err := c.Config.Validate(); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if len(c.Vocab) != c.Config.VocabSize {
		return fmt.Errorf("%d characters in vocab, but vocab_size is %d", len(c.Vocab), c.Config.VocabSize)
	}
	if _, err := data.NewTokenizerFromVocab(c.Vocab); err != nil {
		return fmt.Errorf("vocab: %w", err)
	}
	if c.Train != nil && !(json.Valid(c.Train) && utf8.Valid(c.Train)) {
		return errors.New("train is not JSON")
	}
	return nil
}

// validateSizes checks tensors against the parameters that they belong to.
func validateSizes(what string, tensors map[string][]float32, shapes map[string][]int) error {
	for name, values := range tensors {
		shape, ok := shapes[name]
		if !ok {
			return fmt.Errorf("%s%q: this config has no such parameter", what, name)
		}
		if size(shape) != len(values) {
			return fmt.Errorf("%s%s has %d numbers; its shape is %v", what, name, len(values), shape)
		}
	}
	return nil
}

// size is the number of elements of a shape. [model.Config.Validate] keeps each dimension small enough for it.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

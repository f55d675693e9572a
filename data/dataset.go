package data

import (
	"fmt"
	"math/rand/v2"
	"sort"
)

// A Dataset is a text in two parts: the first trains a model, the last validates it.
type Dataset struct {
	Train Tokens
	Val   Tokens // empty if there is no validation
}

// NewDataset splits a text: its first int(len·(1-valFraction)) characters train. Each part must hold a window of blockSize
// characters and the character after it; else the error is a [*TooShortError]. valFraction is at least 0, which is no validation, and under 1.
func NewDataset(tokens Tokens, valFraction float64, blockSize int) (*Dataset, error) {
	if !(valFraction >= 0 && valFraction < 1) {
		return nil, fmt.Errorf("val_fraction is %v; it must be at least 0 and under 1", valFraction)
	}
	if blockSize < 1 {
		return nil, fmt.Errorf("block_size is %d; it must be at least 1", blockSize)
	}
	s := split{valFraction, blockSize}
	if !s.fits(tokens.Len()) {
		return nil, s.tooShort(tokens.Len())
	}
	n := s.train(tokens.Len())
	return &Dataset{tokens.Slice(0, n), tokens.Slice(n, tokens.Len())}, nil
}

// Batch fills tokens with batchSize random windows of blockSize characters of the training part, one after the other, and
// targets with the character that follows each of them: both (B, T). All windows are equally likely.
func (d *Dataset) Batch(rng *rand.Rand, batchSize, blockSize int, tokens, targets []int32) {
	for b := range batchSize {
		offset := rng.IntN(d.Train.Len() - blockSize) // one more character is needed, for the last target
		lo, hi := b*blockSize, (b+1)*blockSize
		d.Train.Copy(tokens[lo:hi], offset)
		d.Train.Copy(targets[lo:hi], offset+1)
	}
}

// split is where a text is divided.
type split struct {
	valFraction float64
	blockSize   int
}

// train is the number of characters of the first part. For 0.1 it is Python's int(length * 0.9).
func (s split) train(length int) int { return int(float64(length) * (1 - s.valFraction)) }

// fits reports whether each part holds a window.
func (s split) fits(length int) bool {
	n := s.train(length)
	return n > s.blockSize && (s.valFraction == 0 || length-n > s.blockSize)
}

// largest is the largest block size that a text fits; under 1 if none.
func (s split) largest(length int) int {
	n := s.train(length)
	if s.valFraction == 0 {
		return n - 1
	}
	return min(n, length-n) - 1
}

func (s split) tooShort(length int) error {
	needed := sort.Search(maxText, s.fits) // both parts grow with the text
	return &TooShortError{length, needed, s.blockSize, s.largest(length), s.valFraction}
}

// TooShortError says that a text does not hold a window in each part.
type TooShortError struct {
	Length, Needed int // characters
	BlockSize      int // asked for
	Largest        int // block size that fits; under 1 if none does
	ValFraction    float64
}

// Error says which part is too short and what would do.
func (e *TooShortError) Error() string { return e.Message("") }

// Message is the error with something before the names of what can be changed, such as the dash of a flag.
func (e *TooShortError) Message(prefix string) string {
	has := fmt.Sprintf("the text has %d characters", e.Length)
	if e.Length == 1 {
		has = "the text has 1 character"
	}
	given := fmt.Sprintf("%sblock_size %d and %sval_fraction %v", prefix, e.BlockSize, prefix, e.ValFraction)
	switch {
	case e.Needed == maxText:
		return fmt.Sprintf("%s, but no text is long enough for %s; choose others", has, given)
	case e.Largest < 1:
		return fmt.Sprintf("%s, but %s need at least %d; use a longer text", has, given, e.Needed)
	}
	return fmt.Sprintf("%s, but %s need at least %d; use a longer text, or %sblock_size %d or less", has, given, e.Needed, prefix, e.Largest)
}

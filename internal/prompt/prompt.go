// Package prompt turns the prompts of commands into tokens.
package prompt

import (
	"errors"
	"fmt"
	"io"

	"chargpt/data"
)

// A Reader encodes prompts for one model.
type Reader struct {
	Tokenizer   *data.Tokenizer
	SkipUnknown bool      // drop characters that the model does not know, with a warning
	Command     string    // whose warning it is
	Warn        io.Writer // where to
}

// Encode returns the tokens of a prompt; name is where it is from, such as -prompt. A character that the model does not
// know is an error that says what to do, or is dropped.
func (r Reader) Encode(name, text string) ([]int32, error) {
	ids, err := r.Tokenizer.Encode(text)
	var unknown *data.UnknownError
	switch {
	case err == nil:
		return ids, nil
	case !errors.As(err, &unknown):
		return nil, fmt.Errorf("%s: %w", name, err)
	case !r.SkipUnknown:
		return nil, fmt.Errorf("%s: %w; leave them out, or give -skip_unknown", name, err)
	}
	fmt.Fprintf(r.Warn, "%s: %s: dropped what is not in the vocabulary: %s\n", r.Command, name, unknown.List())
	ids, _ = r.Tokenizer.EncodeKnown(text)
	return ids, nil
}

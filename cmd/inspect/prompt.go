package main

import (
	"context"
	"fmt"
	"io"

	"chargpt/data"
	prompts "chargpt/internal/prompt"
	"chargpt/internal/trace"
	"chargpt/model/train"
)

// prompt is a text to look at, and the flag it came from.
type prompt struct{ flag, text string }

func (o *options) prompts() []prompt {
	p := []prompt{{"prompt", o.prompt}}
	if o.given["compare"] {
		p = append(p, prompt{"compare", o.compare})
	}
	return p
}

// encode turns a prompt into tokens.
func encode(tokenizer *data.Tokenizer, p prompt, skipUnknown bool, warn io.Writer) ([]int32, error) {
	r := prompts.Reader{Tokenizer: tokenizer, SkipUnknown: skipUnknown, Command: "inspect", Warn: warn}
	return r.Encode("-"+p.flag, p.text)
}

// The prompt where none is given is what the model writes: so many characters from this seed.
const (
	ownLength = 24
	ownSeed   = 1337
)

// ownPrompt takes a text that the model writes itself where no prompt is given: one character has no attention to see.
func (o *options) ownPrompt(ctx context.Context, m *trace.Loaded) error {
	if o.given["prompt"] || o.given["compare"] {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	tokens, err := m.Write(ctx, train.StartToken(m.Tokenizer, m.Bigram), ownLength, ownSeed)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Source, err)
	}
	o.prompt = m.Tokenizer.Decode(tokens)
	return nil
}

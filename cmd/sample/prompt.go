package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"chargpt/data"
	"chargpt/model/train"
)

// readPrompt returns the prompt and the flag that gave it.
func (o *options) readPrompt(ctx context.Context, stdin io.Reader) (text, name string, err error) {
	if o.promptFile == "" {
		return o.prompt, "-prompt", nil
	}
	content, err := await(ctx, func() ([]byte, error) {
		if o.promptFile == "-" {
			return io.ReadAll(stdin)
		}
		return os.ReadFile(o.promptFile)
	})
	if err != nil {
		return "", "", fmt.Errorf("-prompt_file: %w", err)
	}
	return strings.TrimPrefix(string(content), "\uFEFF"), "-prompt_file", nil // a byte-order mark is no text
}

// await calls a function that a signal cannot interrupt, and leaves it alone when ctx is done before.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
}

// encode turns a prompt into tokens. Characters that the model does not know are an error, or dropped with a warning.
func (m *loaded) encode(text, name string, skipUnknown bool, warn io.Writer) ([]int32, error) {
	if text == "" {
		return nil, nil
	}
	ids, err := m.tokenizer.Encode(text)
	var unknown *data.UnknownError
	if errors.As(err, &unknown) && skipUnknown {
		fmt.Fprintf(warn, "sample: %s: dropped %v\n", name, unknown)
		ids, _ = m.tokenizer.EncodeKnown(text)
		return ids, nil
	}
	if unknown != nil {
		return nil, fmt.Errorf("%s: %w; leave them out, or give -skip_unknown", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return ids, nil
}

// context is what the model is given of a prompt: its end, or a start where there is none.
func (m *loaded) context(prompt []int32) []int32 {
	if len(prompt) == 0 {
		return []int32{train.StartToken(m.tokenizer, m.bigram)}
	}
	return prompt[max(0, len(prompt)-m.Config.BlockSize):]
}

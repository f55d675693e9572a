package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"chargpt/internal/cli"
	"chargpt/internal/prompt"
	"chargpt/model/train"
)

// maxPrompt is how many bytes a prompt has at most.
const maxPrompt = 1 << 24

// readPrompt returns the prompt and the flag that gave it.
func (o *options) readPrompt(ctx context.Context, stdin io.Reader) (text, name string, err error) {
	if o.promptFile == "" {
		return o.prompt, "-prompt", nil
	}
	content, err := cli.Await(ctx, func() ([]byte, error) {
		if o.promptFile == "-" {
			return cli.ReadAll(stdin, maxPrompt)
		}
		return cli.ReadFile(o.promptFile, maxPrompt)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("-prompt_file: %w: check the path, or give the text itself with -prompt", err)
	}
	if errors.As(err, new(cli.TooLong)) {
		return "", "", fmt.Errorf("-prompt_file: the prompt %w: give its end, of which the model sees block_size characters", cli.TooLong(maxPrompt))
	}
	if err != nil {
		return "", "", fmt.Errorf("-prompt_file: %w", err)
	}
	return strings.TrimPrefix(string(content), "\uFEFF"), "-prompt_file", nil // a byte-order mark is no text
}

// encode turns a prompt into tokens; name is where it is from.
func (m *loaded) encode(text, name string, skipUnknown bool, warn io.Writer) ([]int32, error) {
	return prompt.Reader{Tokenizer: m.tokenizer, SkipUnknown: skipUnknown, Command: "sample", Warn: warn}.Encode(name, text)
}

// context is what the model is given of a prompt: its end, or a start where there is none.
func (m *loaded) context(tokens []int32) []int32 {
	if len(tokens) == 0 {
		return []int32{train.StartToken(m.tokenizer, m.bigram)}
	}
	return tokens[max(0, len(tokens)-m.Config.BlockSize):]
}

// Command sample continues a prompt with a trained model:
//
//	go run ./cmd/sample -prompt "MIRA:" -max_new_tokens 300
//	go run ./cmd/sample -i
//
// Standard output gets the prompt and the characters as they are drawn; several samples come whole, with a line ---
// between them. -json and -logprobs print JSON instead, for programs: output.go has its fields.
package main

import (
	"context"
	"fmt"

	"chargpt/data"
	"chargpt/internal/cli"
	"chargpt/internal/runs"
	"chargpt/model"
)

func main() { cli.Main("sample", run) }

func run(ctx context.Context, env cli.Env) error {
	err := sampleText(ctx, env)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // the signal that ended it
	}
	return err
}

func sampleText(ctx context.Context, env cli.Env) error {
	o, err := parseFlags(env.Args, env.Stdout)
	if err != nil {
		return err
	}
	m, err := load(o.ckpt)
	if err != nil {
		return err
	}
	if o.interactive {
		return m.interact(ctx, o, env)
	}
	text, name, err := o.readPrompt(ctx, env.Stdin)
	if err != nil {
		return err
	}
	prompt, err := m.encode(text, name, o.skipUnknown, env.Stderr)
	if err != nil {
		return err
	}
	return m.generate(ctx, prompt, o, env.Stdout)
}

// loaded is a model with what its checkpoint says about characters.
type loaded struct {
	*model.Model
	tokenizer *data.Tokenizer
	bigram    *data.Bigram
	file      string
}

// load reads a checkpoint: the newest run's best where no path is given.
func load(path string) (*loaded, error) {
	c, file, err := runs.Read(path)
	if err != nil {
		return nil, err
	}
	m, err := c.Model()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	tokenizer, err := c.Tokenizer()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &loaded{m, tokenizer, c.Bigram, file}, nil
}

// Command sample continues a prompt with a trained model:
//
//	go run ./cmd/sample -prompt "MIRA:" -max_new_tokens 300
//
// Characters stream to standard output as they are drawn; nothing else goes there.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"chargpt/data"
	"chargpt/internal/cli"
	"chargpt/model"
	"chargpt/model/checkpoint"
	"chargpt/model/sample"
	"chargpt/model/train"
)

// root is where runs are kept.
const root = "checkpoints"

func main() { cli.Main("sample", run) }

func run(ctx context.Context, env cli.Env) error {
	o, err := parseFlags(env.Args, env.Stdout)
	if err != nil {
		return err
	}
	m, err := load(o.ckpt)
	if err != nil {
		return err
	}
	prompt, err := m.encode(o, env.Stderr)
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
}

// load reads a checkpoint: the newest run's best where no path is given.
func load(path string) (*loaded, error) {
	file, err := train.Locate(root, path)
	if err != nil {
		return nil, err
	}
	c, err := checkpoint.Read(file)
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
	return &loaded{m, tokenizer, c.Bigram}, nil
}

// encode turns the prompt into tokens. Characters that the model does not know are an error, or dropped with a warning.
func (m *loaded) encode(o *options, warn io.Writer) ([]int32, error) {
	if o.prompt == "" {
		return nil, nil
	}
	ids, err := m.tokenizer.Encode(o.prompt)
	var unknown *data.UnknownError
	if errors.As(err, &unknown) && o.skipUnknown {
		fmt.Fprintf(warn, "sample: -prompt: dropped %v\n", unknown)
		ids, _ = m.tokenizer.EncodeKnown(o.prompt)
		return ids, nil
	}
	if unknown != nil {
		return nil, fmt.Errorf("-prompt: %w; leave them out, or give -skip_unknown", err)
	}
	if err != nil {
		return nil, fmt.Errorf("-prompt: %w", err)
	}
	return ids, nil
}

// separator stands between samples, on a line of its own.
const separator = "---"

// generate prints the samples: a single one as it is drawn, several whole and in order.
func (m *loaded) generate(ctx context.Context, prompt []int32, o *options, stdout io.Writer) error {
	context := prompt[max(0, len(prompt)-m.Config.BlockSize):]
	if len(context) == 0 {
		context = []int32{train.StartToken(m.tokenizer, m.bigram)}
	}
	for first := 0; first < o.samples; first += model.MaxDecodeBatch {
		batch := min(model.MaxDecodeBatch, o.samples-first)
		if err := m.generateBatch(ctx, first, batch, prompt, context, o, stdout); err != nil {
			return err
		}
	}
	return nil
}

func (m *loaded) generateBatch(ctx context.Context, first, batch int, prompt, context []int32, o *options, stdout io.Writer) error {
	d, err := m.NewDecoder(batch)
	if err != nil {
		return err
	}
	defer d.Close()
	if o.samples == 1 {
		return stream(ctx, d, m.tokenizer, prompt, context, o, stdout)
	}
	texts := make([]strings.Builder, batch)
	err = sample.Generate(ctx, d, batch, first, context, m.tokenizer.Char, o.Options, func(e sample.Event) error {
		texts[e.Sample-first].WriteString(e.Text)
		return nil
	})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	for i := range texts {
		if first+i > 0 {
			fmt.Fprintln(out, separator)
		}
		fmt.Fprintf(out, "%s%s\n", m.tokenizer.Decode(prompt), texts[i].String())
	}
	return out.Flush()
}

// stream prints the prompt and each character of one sample at once.
func stream(ctx context.Context, d *model.Decoder, tokenizer *data.Tokenizer, prompt, context []int32, o *options, stdout io.Writer) error {
	if _, err := io.WriteString(stdout, tokenizer.Decode(prompt)); err != nil {
		return err
	}
	err := sample.Generate(ctx, d, 1, 0, context, tokenizer.Char, o.Options, func(e sample.Event) error {
		_, err := io.WriteString(stdout, e.Text)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(stdout, "\n")
	return err
}

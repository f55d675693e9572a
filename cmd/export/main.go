// Command export writes a trained model for other programs:
//
//	go run ./cmd/export -ckpt checkpoints/cpu -o cpu-gpt2
//
// The one format is hf: a GPT-2 folder that PyTorch's transformers loads, to sample from or to train on.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"chargpt/internal/cli"
	"chargpt/internal/hf"
	"chargpt/internal/runs"
	"chargpt/model"
)

func main() { cli.Main("export", run) }

// options is what the command line asks for.
type options struct {
	ckpt, format, out string
}

func parseFlags(args []string, help io.Writer) (*options, error) {
	o := &options{}
	fs := cli.NewFlags("export", "writes a trained model as a folder for Hugging Face's transformers",
		`go run ./cmd/export -o gpt2                        the newest run's best`,
		`go run ./cmd/export -ckpt checkpoints/cpu -o gpt2  one of: train -preset cpu`,
		`go run ./cmd/export -ckpt checkpoints/cpu/ckpt.safetensors -o gpt2`)
	fs.Group("Model")
	fs.StringVar(&o.ckpt, "ckpt", "", "checkpoint `file` or run folder; else the newest run")
	fs.Group("Output")
	fs.StringVar(&o.out, "o", "", "`folder` to write, which must be new or empty; required")
	fs.StringVar(&o.format, "format", "hf", "`name` of the layout: hf is transformers' GPT-2")
	if err := fs.Parse(args, help); err != nil {
		return nil, err
	}
	return o, o.validate()
}

func (o *options) validate() error {
	if o.format != "hf" {
		return cli.Usagef("-format is %q; the one format is hf", o.format)
	}
	if o.out == "" {
		return cli.Usagef("-o is not given; name a folder to write")
	}
	o.out = filepath.Clean(o.out) // without a last slash, which would hide a file, or new/.., which would hide a folder
	if info, err := os.Stat(o.out); err == nil && !info.IsDir() {
		return fmt.Errorf("-o %s is a file: name a folder that is new or empty", o.out)
	}
	return ofFolder(hf.CheckFolder(o.out))
}

// ofFolder says that an error is -o's. That a folder is not empty is one of how the command was called.
func ofFolder(err error) error {
	switch {
	case errors.Is(err, hf.ErrNotEmpty):
		return cli.Usagef("-o %v", err)
	case err != nil:
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// advice is how to train a model that can be exported.
func advice(c model.Config) string {
	if c.Position != model.PositionLearned {
		return ": train with -preset cpu or -position learned to export it"
	}
	return ": train with -preset cpu to export it"
}

func run(ctx context.Context, env cli.Env) error {
	o, err := parseFlags(env.Args, env.Stdout)
	if err != nil {
		return err
	}
	c, file, err := runs.Read(o.ckpt)
	if err != nil {
		return err
	}
	if err := hf.Check(c.Config); err != nil {
		return fmt.Errorf("%s: %w%s", file, err, advice(c.Config))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := hf.Write(o.out, c); err != nil {
		return ofFolder(err)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s -> %s: GPT-2 with n_layer %d, n_head %d, n_embd %d, block_size %d, %d characters\n"+
		"load it in Python: transformers.GPT2LMHeadModel.from_pretrained(%q)\n",
		file, o.out, c.Config.NLayer, c.Config.NHead, c.Config.NEmbd, c.Config.BlockSize, c.Config.VocabSize, o.out)
	return err
}

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"chargpt/internal/attention/page"
	"chargpt/internal/cli"
	"chargpt/model/train"
)

// playground writes the page that runs the model itself.
func playground(ctx context.Context, o *options, env cli.Env) error {
	m, selection, err := o.load()
	if err != nil {
		return err
	}
	defer m.Close()
	p := page.Playground{Model: m.Model(), Vocab: m.Vocab(), Bigram: m.Bigram, Name: nameOf(m.Source), Step: m.Step, View: view(selection)}
	if err := p.Validate(); err != nil { // before there is a file, or a prompt that a large model takes long to write
		return fmt.Errorf("%s: -format playground: %w", m.Source, err)
	}
	if err := o.ownPrompt(ctx, m); err != nil {
		return err
	}
	tokens, err := encode(m.Tokenizer, o.prompts()[0], o.skipUnknown, env.Stderr)
	if err != nil {
		return err
	}
	if len(tokens) == 0 {
		tokens = []int32{train.StartToken(m.Tokenizer, m.Bigram)}
	}
	p.Prompt = m.Tokenizer.Decode(tokens)
	warnOfNoChain(m, env.Stderr)
	return o.output(env.Stdout, func(w io.Writer) error { return page.WritePlayground(w, p) })
}

// nameOf is a checkpoint's file in its run's folder: what stands before is of no use to somebody who is sent the page.
func nameOf(file string) string {
	folder := filepath.Base(filepath.Dir(file))
	if folder == "." || folder == string(filepath.Separator) {
		return filepath.Base(file)
	}
	return folder + "/" + filepath.Base(file)
}

package main

import (
	"fmt"
	"io"
	"path/filepath"

	"chargpt/internal/attention/page"
	"chargpt/internal/cli"
	"chargpt/internal/trace"
	"chargpt/model/train"
)

// playground writes the page that runs the model itself.
func playground(o *options, env cli.Env) error {
	file, err := train.Locate(root, o.ckpt)
	if err != nil {
		return err
	}
	m, err := trace.Load(file)
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := o.playground(m, env.Stderr)
	if err != nil {
		return err
	}
	if err := p.Validate(); err != nil { // before there is a file
		return fmt.Errorf("%s: -format playground: %w", file, err)
	}
	warnOfNoChain(m, env.Stderr)
	return o.output(env.Stdout, func(w io.Writer) error { return page.WritePlayground(w, p) })
}

func (o *options) playground(m *trace.Loaded, warn io.Writer) (page.Playground, error) {
	selection, err := o.selection(m.Shape())
	if err != nil {
		return page.Playground{}, err
	}
	tokens, err := encode(m.Tokenizer, o.prompts()[0], o.skipUnknown, warn)
	if err != nil {
		return page.Playground{}, err
	}
	if len(tokens) == 0 {
		tokens = []int32{train.StartToken(m.Tokenizer, m.Bigram)}
	}
	return page.Playground{Model: m.Model(), Vocab: m.Vocab(), Bigram: m.Bigram, Name: nameOf(m.Source), Step: m.Step,
		Prompt: m.Tokenizer.Decode(tokens), View: view(selection)}, nil
}

// nameOf is a checkpoint's file in its run's folder: what stands before is of no use to somebody who is sent the page.
func nameOf(file string) string {
	folder := filepath.Base(filepath.Dir(file))
	if folder == "." || folder == string(filepath.Separator) {
		return filepath.Base(file)
	}
	return folder + "/" + filepath.Base(file)
}

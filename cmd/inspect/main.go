// Command inspect shows what the attention of a trained model learned:
//
//	go run ./cmd/inspect -prompt "MIRA: The sea"               # in the terminal
//	go run ./cmd/inspect -prompt TEXT -format html -o page.html  # one file to explore in a browser
//	go run ./cmd/inspect -http :8080                           # live: type and see
//	go run ./cmd/inspect -format playground -o model.html      # the same without a server: one file with the model inside
//
// What was asked for goes to standard output or to -o, all else to standard error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"chargpt/internal/attention"
	"chargpt/internal/cli"
	"chargpt/internal/runs"
	"chargpt/internal/trace"
	"chargpt/model/train"
)

func main() { cli.Main("inspect", run) }

func run(ctx context.Context, env cli.Env) error {
	o, err := parseFlags(env.Args, env.Stdout)
	if err != nil {
		return err
	}
	switch {
	case o.http != "":
		return serve(ctx, o, env.Stderr)
	case o.probe:
		return probe(ctx, o, env)
	case o.format == "playground":
		return playground(ctx, o, env)
	}
	return inspect(ctx, o, env)
}

// load reads the model that -ckpt means, and which of its heads are asked for.
func (o *options) load() (*trace.Loaded, attention.Selection, error) {
	file, err := runs.Locate(o.ckpt)
	if err != nil {
		return nil, attention.Selection{}, err
	}
	m, err := trace.Load(file)
	if err != nil {
		return nil, attention.Selection{}, runs.Named(o.ckpt, err)
	}
	selection, err := o.selection(m.Shape())
	if err != nil {
		return nil, attention.Selection{}, errors.Join(err, m.Close())
	}
	return m, selection, nil
}

// inspect traces the prompt (and the one to compare it with) and writes what it sees.
func inspect(ctx context.Context, o *options, env cli.Env) error {
	m, selection, err := o.load()
	if err != nil {
		return err
	}
	defer m.Close()
	if err := o.ownPrompt(ctx, m); err != nil {
		return err
	}
	views := []*attention.Trace{}
	for _, p := range o.prompts() {
		t, err := forward(ctx, m, p, o, env.Stderr)
		if err != nil {
			return err
		}
		views = append(views, t)
	}
	warnOfNoChain(m, env.Stderr)
	return o.output(env.Stdout, func(w io.Writer) error { return o.render(w, views, selection, terminalOf(w)) })
}

// warnOfNoChain says what the Markov chain's numbers mean where a checkpoint has none.
func warnOfNoChain(m *trace.Loaded, warn io.Writer) {
	if m.Bigram == nil {
		fmt.Fprintf(warn, "inspect: %s has no Markov chain: its column says that every character is as likely\n", m.Source)
	}
}

// forward traces one prompt and says what of it the model does not see.
func forward(ctx context.Context, m *trace.Loaded, p prompt, o *options, warn io.Writer) (*attention.Trace, error) {
	tokens, err := encode(m.Tokenizer, p, o.skipUnknown, warn)
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		tokens = []int32{train.StartToken(m.Tokenizer, m.Bigram)}
	}
	t, err := m.Forward(ctx, tokens)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Source, err)
	}
	if t.Dropped > 0 && !o.saysDropped() {
		fmt.Fprintf(warn, "inspect: -%s has %d characters; its last %d are shown, for the model sees no more (block_size)\n", p.flag, len(tokens), len(t.Tokens))
	}
	return t, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"chargpt/internal/attention/page"
	"chargpt/internal/runs"
)

// serve shows the live page until the context ends, and then returns its cause.
func serve(ctx context.Context, o *options, stderr io.Writer) error {
	s := newShelf(runs.Root, o.ckpt)
	defer s.close()
	first, err := s.first()
	if err != nil {
		return runs.Named(o.ckpt, err)
	}
	selection, err := o.selection(first.Shape())
	if err != nil {
		return err
	}
	if err := o.ownPrompt(ctx, first.Loaded); err != nil {
		return err
	}
	tokens, err := encode(first.Tokenizer, o.prompts()[0], o.skipUnknown, stderr)
	if err != nil {
		return err
	}
	h := page.NewHandler(s, page.Options{Prompt: first.Tokenizer.Decode(tokens), View: view(selection)})
	err = page.Serve(ctx, o.http, h, func(url string) {
		fmt.Fprintf(stderr, "inspect: open %s in a browser; Ctrl-C stops\n", url)
	})
	var refused *net.OpError
	if errors.As(err, &refused) && refused.Op == "listen" {
		return fmt.Errorf("-http %s: %w; choose another address or port", o.http, refused)
	}
	if err != nil {
		return err
	}
	return context.Cause(ctx)
}

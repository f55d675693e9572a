package main

import (
	"context"
	"fmt"
	"io"

	"chargpt/internal/attention"
	"chargpt/internal/attention/page"
	"chargpt/internal/cli"
	"chargpt/internal/runs"
	"chargpt/internal/trace"
)

// probe writes the page of what a run recorded while it learned.
func probe(ctx context.Context, o *options, env cli.Env) error {
	run, err := runs.Folder(o.ckpt)
	if err != nil {
		return err
	}
	traces, err := readRecords(ctx, run)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return runs.Named(o.ckpt, err)
	}
	selection, err := o.selection(traces[0].Shape)
	if err != nil {
		return err
	}
	return o.output(env.Stdout, func(w io.Writer) error { return page.WriteProbeHTML(w, traces, view(selection)) })
}

func readRecords(ctx context.Context, run string) ([]*attention.Trace, error) {
	records, err := trace.Records(run)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%s has recorded nothing: train with -probe TEXT first (go run ./cmd/train -probe TEXT)", run)
	}
	var traces []*attention.Trace
	for _, r := range records {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t, err := r.Open()
		if err != nil {
			return nil, err
		}
		t.Source = run
		traces = append(traces, t)
	}
	return traces, nil
}

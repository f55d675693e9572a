package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"chargpt/data"
	"chargpt/internal/attention"
	"chargpt/internal/trace"
	"chargpt/model/train"
)

// probeTokens are those of -probe; nil where it is not given.
func (o *options) probeTokens(tokenizer *data.Tokenizer) ([]int32, error) {
	if o.probe == "" {
		return nil, nil
	}
	ids, err := tokenizer.Encode(o.probe)
	if err != nil {
		return nil, fmt.Errorf("-probe: %w", err)
	}
	return ids, nil
}

// recordProbe lets a trainer record the attention of -probe at every evaluation. A run that recorded a text goes on with
// it when it is resumed. Call stop when the training has ended.
func recordProbe(t *train.Trainer, o *options, warn io.Writer) (stop func() error, err error) {
	stop = func() error { return nil }
	tokens, err := o.probeTokens(t.Text.Tokenizer)
	if err != nil {
		return stop, err
	}
	if !o.resume {
		err = trace.DropAfter(t.Path(), -1) // an earlier run, which ended before its first checkpoint, may have left some
	} else {
		tokens, err = resumeProbe(t, tokens)
	}
	if err != nil || tokens == nil {
		return stop, err
	}
	if block := t.Model.Config.BlockSize; len(tokens) > block && o.probe != "" {
		fmt.Fprintf(warn, "train: -probe has %d characters; its last %d are recorded, for the model sees no more (block_size)\n", len(tokens), block)
	}
	tracer, err := trace.New(t.Model, t.Text.Tokenizer.Vocab(), t.Bigrams)
	if err != nil {
		return stop, err
	}
	t.Record = func(iteration int) error {
		tracer.Step = iteration
		return recordTrace(tracer, tokens, t.Path())
	}
	return tracer.Close, nil
}

func recordTrace(tracer *trace.Tracer, tokens []int32, run string) error {
	a, err := tracer.Forward(context.Background(), tokens)
	if err != nil {
		return err
	}
	if err := trace.Record(run, a); err != nil {
		return fmt.Errorf("recording the probe failed: %w", err)
	}
	return nil
}

// resumeProbe returns the text to record: what the run's folder has recorded, if anything, or else tokens. It drops
// records that the run will make again.
func resumeProbe(t *train.Trainer, tokens []int32) ([]int32, error) {
	records, err := trace.Records(t.Path())
	if err != nil {
		return nil, err
	}
	if len(records) > 0 {
		last, err := records[len(records)-1].Open()
		if err != nil {
			return nil, err
		}
		if tokens == nil {
			tokens = slices.Concat(make([]int32, last.Dropped), last.Tokens) // those that were dropped do not matter
		} else if !same(last, tokens) {
			return nil, errors.New("-probe contradicts the run, which records another text: leave the flag out to resume, or start a new run without -resume")
		}
	}
	return tokens, trace.DropAfter(t.Path(), t.State.Iteration)
}

// same tells whether a record is of these tokens.
func same(a *attention.Trace, tokens []int32) bool {
	return len(tokens) == a.Dropped+len(a.Tokens) && slices.Equal(tokens[a.Dropped:], a.Tokens)
}

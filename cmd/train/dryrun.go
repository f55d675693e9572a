package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"chargpt/model/train"
)

// dryRunSteps is how many iterations are measured, after one to warm up.
const dryRunSteps = 10

// dryRun measures a few iterations of the run that the flags describe and says what it would take. It writes no file.
func dryRun(ctx context.Context, o *options, stdin io.Reader, stdout io.Writer) error {
	text, err := readText(ctx, o.data, stdin)
	if err != nil {
		return err
	}
	if _, err := o.probeTokens(text.Tokenizer); err != nil {
		return err
	}
	o.Config.VocabSize = text.Tokenizer.Size()
	if err := checkMemory(o.Config, o.Options); err != nil {
		return err
	}
	t, err := train.New(text, o.Config, o.Options, train.Run{Threads: o.threads})
	if err != nil {
		return flagged(err)
	}
	defer t.Close()
	each, err := t.Measure(ctx, dryRunSteps)
	if err != nil {
		return err
	}
	tokens := o.BatchSize * t.Model.Config.BlockSize
	epoch := float64(t.Data.Train.Len()) / float64(tokens)
	fmt.Fprintf(stdout, "model: %s\n", describe(t.Model))
	fmt.Fprintf(stdout, "memory: an estimated %.0f MB at the peak, %.1f MB of it parameters, gradients, moments and best weights\n", peakMemory(t)/1e6, train.ParameterMemory*float64(t.Model.NumParameters())/1e6)
	fmt.Fprintf(stdout, "tokens per iteration: %d (%d windows of %d characters)\n", tokens, o.BatchSize, t.Model.Config.BlockSize)
	fmt.Fprintf(stdout, "iterations per epoch: %.1f (%d characters to train on)\n", epoch, t.Data.Train.Len())
	fmt.Fprintf(stdout, "iteration: %.1f ms, %.0f tokens/s, measured on %s\n", each.Seconds()*1e3, float64(tokens)/each.Seconds(), count(t.Model.Threads, "thread"))
	if o.Minutes > 0 {
		n := o.Minutes * 60 / each.Seconds()
		fmt.Fprintf(stdout, "in %v minutes: about %.0f iterations, %.1f epochs, evaluations aside\n", o.Minutes, n, n/epoch)
		return nil
	}
	fmt.Fprintf(stdout, "%d iterations: about %s, %.1f epochs, evaluations aside\n", o.MaxIters, times(each, o.MaxIters), float64(o.MaxIters)/epoch)
	return nil
}

// times is how long n iterations take, in words. It may be more than a Duration holds.
func times(each time.Duration, n int) string {
	const long = 1000 * time.Hour
	if total := float64(each) * float64(n); total > float64(long) {
		return fmt.Sprintf("%.0f days", total/float64(24*time.Hour))
	}
	return (each * time.Duration(n)).Round(time.Second).String()
}

// programMemory is about how many bytes this program takes whatever it trains: code, the runtime, the pictures of the losses.
const programMemory = 25e6

// peakMemory is about how many bytes a run takes at its peak: training, the text, and the program itself.
func peakMemory(t *train.Trainer) float64 {
	text := float64(t.Text.Tokens.Len())
	if t.Model.Config.VocabSize > 256 {
		text *= 2 // bytes a character
	}
	return train.Memory(t.Model.Config, t.State.Options) + text + programMemory
}

// Command bench trains the same text in several ways and keeps a ledger of the losses: how the default preset was found.
// Each argument after the flags is one way to train, a name and the flags of cmd/train that make it:
//
//	go run ./internal/bench -data input.txt -minutes 1 "rope: -preset cpu -position rope" "learned: -preset cpu"
//
// Every finished run is a row of the ledger at once. An ablation that was stopped goes on by the same command: what is in
// the ledger, with the same name, flags and seed, is left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "bench: stopped; the same command goes on after the runs that are in the ledger")
		os.Exit(130)
	case err != nil && !errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	data := flags.String("data", "", "text to train on")
	minutes := flags.Float64("minutes", 0, "minutes of each run; 0 for the iterations of its flags")
	seeds := flags.String("seeds", "1337", "seeds, with commas between")
	ledger := flags.String("ledger", filepath.Join("docs", "ledger.csv"), "CSV file to append to")
	flags.Usage = func() {
		fmt.Fprintln(stderr, `usage: go run ./internal/bench -data FILE [flags] "NAME: FLAGS OF cmd/train" ...`)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *data == "" || flags.NArg() == 0 {
		return errors.New(`give -data FILE and runs as "name: flags"`)
	}
	trials, err := plan(flags.Args(), strings.Split(*seeds, ","), *minutes, *ledger)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	train := filepath.Join(folder, "train")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", train, "chargpt/cmd/train").CombinedOutput(); err != nil {
		return fmt.Errorf("building cmd/train: %w\n%s", err, out)
	}
	for _, r := range trials {
		fmt.Fprintf(stderr, "training: %s, seed %s\n", r.name, r.seed)
		if err := r.train(ctx, train, *data, filepath.Join(folder, "run")); err != nil {
			return fmt.Errorf("%s, seed %s: %w", r.name, r.seed, err)
		}
		fmt.Fprintf(stdout, "%s, seed %s: %s iterations in %.2f minutes, validation loss %s\n", r.name, r.seed, r.iterations, r.minutes, r.loss)
		if err := r.appendTo(*ledger); err != nil {
			return err
		}
	}
	return nil
}

// plan lists the trials of all ways and seeds that the ledger does not have.
func plan(ways, seeds []string, minutes float64, ledger string) (trials []*trial, err error) {
	rows, err := readLedger(ledger)
	if err != nil {
		return nil, err
	}
	done := map[string]bool{}
	for _, row := range rows {
		done[strings.Join(row[2:5], "\x00")] = true
	}
	for _, way := range ways {
		name, how, ok := strings.Cut(way, ":")
		if !ok {
			return nil, fmt.Errorf("%q is no \"name: flags\"", way)
		}
		for _, seed := range seeds {
			r := &trial{name: name, flags: strings.Fields(how), seed: seed, minutes: minutes}
			if !done[strings.Join([]string{name, strings.Join(r.flags, " "), seed}, "\x00")] {
				trials = append(trials, r)
			}
		}
	}
	return trials, nil
}

// trial is one training and what came of it.
type trial struct {
	name, seed       string
	flags            []string
	minutes          float64 // asked for, then taken
	iterations, loss string
}

var (
	lossLine = regexp.MustCompile(`validation loss over all \d+ characters: ([0-9.]+) nats`)
	lastRow  = regexp.MustCompile(`(?m)^(\d+),.*,([0-9.]+)\n?\z`)
)

// train runs the train binary in a new folder and reads the loss over the whole validation part.
func (r *trial) train(ctx context.Context, binary, data, folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	args := append([]string{"-data", data, "-out", folder, "-seed", r.seed, "-sample_interval", "0"}, r.flags...)
	if r.minutes > 0 {
		args = append(args, "-minutes", strconv.FormatFloat(r.minutes, 'g', -1, 64))
	}
	command := exec.CommandContext(ctx, binary, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // a terminal has sent it one, too: a second ends it at once
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("train %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	loss := lossLine.FindSubmatch(out)
	metrics, err := os.ReadFile(filepath.Join(folder, "metrics.csv"))
	if err != nil {
		return err
	}
	row := lastRow.FindSubmatch(metrics)
	if loss == nil || row == nil {
		return fmt.Errorf("train %s prints no validation loss:\n%s", strings.Join(args, " "), out)
	}
	seconds, err := strconv.ParseFloat(string(row[2]), 64)
	r.loss, r.iterations, r.minutes = string(loss[1]), string(row[1]), seconds/60
	return err
}

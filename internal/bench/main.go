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
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chargpt/internal/cli"
	"chargpt/model/train"
)

func main() { cli.Main("internal/bench", run) }

// options is what the command line asks for.
type options struct {
	data, ledger string
	trials       []*trial
}

func parseFlags(args []string, help io.Writer) (*options, error) {
	o := &options{}
	fs := cli.NewFlags("bench", "trains a text in several ways, and keeps a ledger of the losses",
		`go run ./internal/bench -data input.txt -minutes 1 "rope: -preset cpu -position rope" "learned: -preset cpu"`)
	fs.Group("Ways to train, after the flags: \"NAME: FLAGS OF train\" ...")
	fs.StringVar(&o.data, "data", "", "`file` of the text to train on")
	minutes := fs.Float64("minutes", 0, "`n` minutes of each run; 0: as long as its flags say")
	seeds := fs.String("seeds", "1337", "`numbers` with commas between, a run of each way for each")
	fs.StringVar(&o.ledger, "ledger", filepath.Join("docs", "ledger.csv"), "CSV `file` to add rows to")
	ways, err := fs.ParseMore(args, help)
	if err != nil {
		return nil, err
	}
	if o.data == "" || len(ways) == 0 {
		return nil, cli.Usagef(`give -data FILE and, after the flags, ways to train as "NAME: FLAGS OF train"`)
	}
	if !(*minutes >= 0 && *minutes <= math.MaxInt32) {
		return nil, cli.Usagef("-minutes is %v; it must be at least 0 and finite", *minutes)
	}
	for _, way := range ways {
		name, flags, ok := strings.Cut(way, ":")
		if !ok {
			return nil, cli.Usagef("%q is no \"NAME: FLAGS OF train\"", way)
		}
		if own := ownFlag(flags); own != "" {
			return nil, cli.Usagef("%q: %s is for bench to give: leave it out", way, own)
		}
		for seed := range strings.SplitSeq(*seeds, ",") {
			seed = strings.TrimSpace(seed)
			if _, err := strconv.ParseUint(seed, 10, 64); err != nil {
				return nil, cli.Usagef("-seeds: %q is no whole number from 0", seed)
			}
			o.trials = append(o.trials, &trial{name: name, flags: strings.Fields(flags), seed: seed, minutes: *minutes})
		}
	}
	return o, nil
}

// own are the flags of train that a way to train must not have.
var own = []string{"data", "out", "seed", "resume", "dry_run", "sample_interval", "h", "help", "version"}

// ownFlag is the first of them in flags, or empty.
func ownFlag(flags string) string {
	for _, flag := range strings.Fields(flags) {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if strings.HasPrefix(flag, "-") && slices.Contains(own, name) {
			return flag
		}
	}
	return ""
}

func run(ctx context.Context, env cli.Env) error {
	o, err := parseFlags(env.Args, env.Stdout)
	if err != nil {
		return err
	}
	err = o.train(ctx, env)
	if ctx.Err() != nil {
		fmt.Fprintln(env.Stderr, "bench: stopped; the same command goes on after the runs that are in the ledger")
		return context.Cause(ctx)
	}
	return err
}

// train trains what the ledger does not have, one after the other.
func (o *options) train(ctx context.Context, env cli.Env) error {
	ledger, err := openLedger(o.ledger) // before a run that would be lost
	if err != nil {
		return fmt.Errorf("-ledger: %w", err)
	}
	defer ledger.Close()
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "train")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "chargpt/cmd/train").CombinedOutput(); err != nil {
		return fmt.Errorf("building cmd/train: %w: %s", err, lastLine(out))
	}
	for _, r := range o.trials {
		if ledger.has(r) {
			continue
		}
		fmt.Fprintf(env.Stderr, "training: %s, seed %s\n", r.name, r.seed)
		if err := r.train(ctx, binary, o.data, filepath.Join(folder, "run")); err != nil {
			return fmt.Errorf("%s, seed %s: %w", r.name, r.seed, err)
		}
		if err := ledger.add(r); err != nil {
			return fmt.Errorf("-ledger: %w", err)
		}
		fmt.Fprintf(env.Stdout, "%s, seed %s: %s iterations in %.2f minutes, validation loss %s\n", r.name, r.seed, r.iterations, r.minutes, r.loss)
	}
	return nil
}

// lastLine is the end of what a program printed: the reason why it failed.
func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
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
		return errors.New(lastLine(out))
	}
	loss := lossLine.FindSubmatch(out)
	metrics, err := os.ReadFile(filepath.Join(folder, train.MetricsFile))
	if err != nil {
		return err
	}
	row := lastRow.FindSubmatch(metrics)
	if loss == nil || row == nil {
		return fmt.Errorf("train %s prints no validation loss, but: %s", strings.Join(args, " "), lastLine(out))
	}
	seconds, err := strconv.ParseFloat(string(row[2]), 64)
	r.loss, r.iterations, r.minutes = string(loss[1]), string(row[1]), seconds/60
	return err
}

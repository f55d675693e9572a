// Command bench trains the same text in several ways and keeps a ledger of the losses: how the default preset was found.
// Each argument after the flags is one way to train, a name and the flags of cmd/train that make it:
//
//	go run ./internal/bench -data input.txt -minutes 1 "rope: -preset cpu -position rope" "learned: -preset cpu"
//
// Every finished run is a row of the ledger at once, so that an ablation can be stopped and continued.
package main

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// header is the ledger's first row.
var header = []string{"date", "revision", "name", "flags", "seed", "minutes", "iterations", "val_loss"}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	data := flags.String("data", "", "text to train on")
	minutes := flags.Float64("minutes", 0, "minutes of each run; 0 for the iterations of its flags")
	seeds := flags.String("seeds", "1337", "seeds, with commas between")
	ledger := flags.String("ledger", filepath.Join("docs", "ledger.csv"), "CSV file to append to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *data == "" || flags.NArg() == 0 {
		return errors.New(`give -data FILE and runs as "name: flags"`)
	}
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	train := filepath.Join(folder, "train")
	if out, err := exec.Command("go", "build", "-o", train, "chargpt/cmd/train").CombinedOutput(); err != nil {
		return fmt.Errorf("building cmd/train: %w\n%s", err, out)
	}
	for _, way := range flags.Args() {
		name, how, ok := strings.Cut(way, ":")
		if !ok {
			return fmt.Errorf("%q is no \"name: flags\"", way)
		}
		for seed := range strings.SplitSeq(*seeds, ",") {
			r := trial{name: name, flags: strings.Fields(how), seed: seed, minutes: *minutes}
			if err := r.train(train, *data, filepath.Join(folder, "run")); err != nil {
				return fmt.Errorf("%s, seed %s: %w", name, seed, err)
			}
			fmt.Fprintf(stdout, "%s, seed %s: %s iterations in %.2f minutes, validation loss %s\n", name, seed, r.iterations, r.minutes, r.loss)
			if err := r.appendTo(*ledger); err != nil {
				return err
			}
		}
	}
	return nil
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
func (r *trial) train(binary, data, folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	args := append([]string{"-data", data, "-out", folder, "-seed", r.seed, "-sample_interval", "0"}, r.flags...)
	if r.minutes > 0 {
		args = append(args, "-minutes", strconv.FormatFloat(r.minutes, 'g', -1, 64))
	}
	out, err := exec.Command(binary, args...).CombinedOutput()
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

func (r *trial) appendTo(ledger string) error {
	f, err := os.OpenFile(ledger, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err != nil {
		return err
	} else if info.Size() == 0 {
		w.Write(header) // an error shows at the end
	}
	w.Write([]string{time.Now().UTC().Format(time.DateOnly), revision(), r.name, strings.Join(r.flags, " "), r.seed,
		fmt.Sprintf("%.2f", r.minutes), r.iterations, r.loss})
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// revision is the commit that was built, with a + if files had changed since; go run leaves none, so git is asked.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(len(s.Value), 8)]
			}
		}
	}
	out, err := exec.Command("git", "describe", "--always", "--dirty=+", "--abbrev=8").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Command train fits a character-level GPT to a text file:
//
//	go run ./cmd/train                      # the embedded corpus
//	go run ./cmd/train -data FILE           # any UTF-8 text
//	go run ./cmd/train -resume              # go on with the newest run
//
// Results go to standard output, progress to standard error. A run is kept in a folder under checkpoints.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"chargpt/data"
	"chargpt/internal/cli"
	"chargpt/internal/runs"
	"chargpt/model"
	"chargpt/model/train"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader of the results that goes away must not end the training
	if os.Getenv("GOGC") == "" {
		// the text counts as live memory: the usual 100 would let garbage, of which there is little, grow to its size
		debug.SetGCPercent(20)
	}
	cli.Main("train", run)
}

// run is the command: flags → text → trainer → loop → results.
func run(ctx context.Context, env cli.Env) error {
	o, err := parseFlags(ctx, env.Args, env.Stdout)
	if err != nil {
		return stoppedEarly(ctx, err, env.Stderr)
	}
	if o.dryRun {
		return stoppedEarly(ctx, dryRun(ctx, o, env.Stdin, env.Stdout), env.Stderr)
	}
	t, err := newTrainer(ctx, o, env.Stdin)
	if err != nil {
		return stoppedEarly(ctx, err, env.Stderr)
	}
	defer t.Close()
	if t.BestLost {
		fmt.Fprintf(env.Stderr, "train: warning: the run's best weights, %s, are gone: the next evaluation counts as the best\n", filepath.Join(t.Path(), train.BestFile))
	}
	stop, err := recordProbe(t, o, env.Stderr)
	if err != nil {
		return err
	}
	defer stop()
	return trainAndReport(ctx, t, o, env)
}

// stoppedEarly says what a signal before training left: nothing.
func stoppedEarly(ctx context.Context, err error, stderr io.Writer) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		fmt.Fprintln(stderr, "train: stopped before training began; no run was made or changed")
	}
	return err
}

// newTrainer starts a run or opens the one to resume.
func newTrainer(ctx context.Context, o *options, stdin io.Reader) (*train.Trainer, error) {
	if o.resume {
		return resume(ctx, o, stdin)
	}
	text, err := readText(ctx, o.data, stdin)
	if err != nil {
		return nil, err
	}
	o.Config.VocabSize = text.Tokenizer.Size()
	if err := checkMemory(o.Config, o.Options); err != nil {
		return nil, err
	}
	if _, err := data.NewDataset(text.Tokens, o.ValFraction, o.Config.BlockSize); err != nil {
		return nil, flagged(err) // before a folder is made
	}
	if _, err := o.probeTokens(text.Tokenizer); err != nil {
		return nil, err
	}
	folder, err := createFolder(o)
	if err != nil {
		return nil, err
	}
	t, err := train.New(text, o.Config, o.Options, train.Run{Folder: folder, DataName: o.data, Threads: o.threads})
	if err == nil {
		err = folder.WriteConfig(o.resolved)
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return t, nil
}

// flagged names what is wrong by the flags.
func flagged(err error) error {
	var short *data.TooShortError
	if errors.As(err, &short) {
		return errors.New(short.Message("-"))
	}
	return err
}

func createFolder(o *options) (*train.Folder, error) {
	if o.out == "" {
		return train.CreateNew(runs.Root, runName(o.data))
	}
	folder, err := train.Create(o.out)
	if errors.Is(err, train.ErrRunExists) {
		return nil, cli.Usagef("-out %s holds a run already: add -resume to go on with it, or name another folder", o.out)
	}
	if errors.Is(err, train.ErrNoCheckpoint) {
		return nil, cli.Usagef("-out %s holds the best weights of another run: choose another -out", o.out)
	}
	if errors.Is(err, train.ErrForeign) {
		return nil, cli.Usagef("-out %s holds files that are no run's: choose another -out", o.out)
	}
	if err != nil && !errors.Is(err, train.ErrLocked) {
		return nil, fmt.Errorf("-out %s cannot be a run folder: %w; name another", o.out, err)
	}
	return folder, lockedHint(err)
}

// lockedHint says what to do about a folder in which another trainer is at work.
func lockedHint(err error) error {
	if errors.Is(err, train.ErrLocked) {
		return fmt.Errorf("%w: wait for it to end, or name another folder with -out", err)
	}
	return err
}

func runName(dataFile string) string {
	switch dataFile {
	case "":
		return "plays"
	case "-":
		return "stdin"
	}
	return train.RunName(dataFile)
}

// readText reads the text to train on: the embedded corpus where no file is named, standard input for "-".
func readText(ctx context.Context, file string, stdin io.Reader) (*data.Text, error) {
	switch file {
	case "":
		return data.Read(strings.NewReader(data.Plays()))
	case "-":
		text, err := data.Read(&interruptible{ctx: ctx, r: stdin})
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return text, nil
	}
	text, err := cli.Await(ctx, func() (*data.Text, error) { return data.ReadFile(file) }) // a pipe, or endless
	if err != nil {
		return nil, fmt.Errorf("-data: %w", err)
	}
	return text, nil
}

// interruptible is a reader that stops waiting when ctx is done.
type interruptible struct {
	ctx context.Context
	r   io.Reader
	buf []byte // what r reads into: a read may outlive its call
}

func (i *interruptible) Read(p []byte) (int, error) {
	if len(i.buf) < len(p) {
		i.buf = make([]byte, len(p))
	}
	n, err := cli.Await(i.ctx, func() (int, error) { return i.r.Read(i.buf[:len(p)]) })
	return copy(p, i.buf[:n]), err
}

// trainAndReport runs the loop and prints what came of it.
func trainAndReport(ctx context.Context, t *train.Trainer, o *options, env cli.Env) error {
	r := newReporter(env, t)
	r.start()
	err := t.Run(ctx)
	r.progress.finish()
	if err == nil {
		err = r.end(ctx)
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		fmt.Fprintln(env.Stderr, cli.Hint(fmt.Sprintf("stopped and saved at iteration %d; go on with: go run ./cmd/train -resume -out %s", t.State.Iteration, shellPath(t.Path()))))
	}
	return err
}

// describe is the model in one line.
func describe(m *model.Model) string {
	c := m.Config
	kind := ""
	if c.AttnOnly {
		kind = ", attention only"
	}
	return fmt.Sprintf("%s, %s, %s, block %d%s: %d parameters", count(c.NLayer, "layer"), count(c.NHead, "head"), count(c.NEmbd, "channel"), c.BlockSize, kind, m.NumParameters())
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

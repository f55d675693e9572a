//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"chargpt/model/checkpoint"
	"chargpt/model/train"
)

// A signal ends waiting for a text on standard input at once, with one line; nothing is made.
func TestSignalWhileReading(t *testing.T) {
	binary := buildTrain(t)
	half := strings.Repeat("forty-two ", 100_000) // far more than a pipe holds: once it is written, it is being read
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		code   int
		args   []string
	}{
		{"int", syscall.SIGINT, 130, nil}, {"term", syscall.SIGTERM, 143, nil},
		{"dry run", syscall.SIGINT, 130, []string{"-dry_run"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c, output := command(t, binary, dir, append([]string{"-data", "-"}, tt.args...)...)
			typed, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer typed.Close()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(typed, half); err != nil {
				t.Error(err)
			}
			c.Process.Signal(tt.signal)
			defer time.AfterFunc(time.Minute, func() { c.Process.Kill() }).Stop() // the other half never comes
			if code := exitCode(c.Wait()); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if got, want := output.String(), "train: stopped before training began; no run was made or changed\n"; got != want {
				t.Errorf("output %q, want %q", got, want)
			}
			if _, err := os.Stat(filepath.Join(dir, "checkpoints")); err == nil {
				t.Error("a folder was made")
			}
		})
	}
}

// A signal ends waiting for a text, or for settings, that nobody writes.
func TestSignalWhileOpening(t *testing.T) {
	for name, open := range map[string]func(ctx context.Context, file string) error{
		"-data": func(ctx context.Context, file string) error { _, err := readText(ctx, file, nil); return err },
		"-config": func(ctx context.Context, file string) error {
			_, err := parseFlags(ctx, []string{"-config", file}, io.Discard)
			return err
		},
	} {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(fifo, 0o666); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		signal := errors.New("signal")
		time.AfterFunc(50*time.Millisecond, func() { cancel(signal) })
		if err := open(ctx, fifo); !errors.Is(err, signal) {
			t.Errorf("%s: reading a pipe that nobody writes: %v, want the signal", name, err)
		}
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // lets the reader go
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

// A reader of the results that goes away, as in train | head -1, does not end the training: it is saved whole, and one line
// says that its results were not seen.
func TestResultsIntoClosedPipe(t *testing.T) {
	binary, dir := buildTrain(t), t.TempDir()
	path := filepath.Join(dir, "run")
	c, _ := command(t, binary, dir, "-max_iters", "60", "-out", path)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out.Close() // before the first line: later, all might be printed already
	var errs bytes.Buffer
	c.Stdout, c.Stderr = in, &errs
	code := exitCode(c.Run())
	in.Close()
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	if last, want := lines[len(lines)-1], "train: the run is saved in "+path; !strings.HasPrefix(last, want) || !strings.Contains(last, "broken pipe") {
		t.Errorf("the last line is %q, want %q and the reason", last, want)
	}
	saved, err := checkpoint.Read(filepath.Join(path, "ckpt.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if state, err := train.ReadState(saved); err != nil || state.Iteration != 60 {
		t.Errorf("saved at iteration %d (%v), want 60", state.Iteration, err)
	}
}

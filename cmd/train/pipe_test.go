//go:build unix

package main

import (
	"bufio"
	"bytes"
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
	for _, tt := range []struct {
		name, typed string
		signal      syscall.Signal
		code        int
		args        []string
	}{
		{"nothing typed", "", syscall.SIGINT, 130, nil}, {"half a text", "forty", syscall.SIGTERM, 143, nil},
		{"dry run", "", syscall.SIGINT, 130, []string{"-dry_run"}},
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
			io.WriteString(typed, tt.typed)
			time.Sleep(300 * time.Millisecond) // it waits by now
			sent := time.Now()
			c.Process.Signal(tt.signal)
			if code := exitCode(c.Wait()); code != tt.code || time.Since(sent) > 2*time.Second {
				t.Errorf("exit code %d after %v, want %d at once", code, time.Since(sent), tt.code)
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

// A reader of the results that goes away, as in train | head -1, does not end the training: it is saved whole, and one line
// says that its results were not seen.
func TestResultsIntoClosedPipe(t *testing.T) {
	binary, dir := buildTrain(t), t.TempDir()
	path := filepath.Join(dir, "run")
	c, _ := command(t, binary, dir, "-max_iters", "60", "-out", path)
	var errs bytes.Buffer
	c.Stdout, c.Stderr = nil, &errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "text: ") {
		t.Errorf("the first line is %q (%v)", line, err)
	}
	out.Close()
	if code := exitCode(c.Wait()); code != 1 {
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

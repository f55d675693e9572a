package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chargpt/internal/cli"
	"chargpt/internal/trace"
)

// probeRun trains a tiny model into out, and returns exit code and standard error.
func probeRun(t *testing.T, out string, args ...string) (int, string) {
	t.Helper()
	text := filepath.Join(filepath.Dir(out), "text.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("the cat sat on the mat\n", 20)), 0o666); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-data", text, "-out", out, "-n_layer", "2", "-n_head", "2", "-n_embd", "16", "-block_size", "8",
		"-batch_size", "2", "-eval_interval", "2", "-warmup_iters", "0", "-threads", "1"}, args...)
	var stdout, stderr bytes.Buffer
	code := cli.Run(t.Context(), "train", run, cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
	return code, stderr.String()
}

// records are the files of a run's recording by name.
func records(t *testing.T, out string) (steps []int, files map[string]string) {
	t.Helper()
	list, err := trace.Records(out)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, r := range list {
		b, err := os.ReadFile(r.File)
		if err != nil {
			t.Fatal(err)
		}
		steps, files[filepath.Base(r.File)] = append(steps, r.Step), string(b)
	}
	return steps, files
}

// TestProbe: a run records its text at every evaluation, and one that was resumed has the same files.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	whole, halves := filepath.Join(dir, "whole"), filepath.Join(dir, "halves")
	if code, warn := probeRun(t, whole, "-max_iters", "6", "-probe", "the cat"); code != 0 || strings.Contains(warn, "-probe") {
		t.Fatalf("exit code %d, %s", code, warn)
	}
	steps, want := records(t, whole)
	if !slices.Equal(steps, []int{0, 2, 4, 6}) {
		t.Fatalf("records of %v", steps)
	}
	if code, warn := probeRun(t, halves, "-max_iters", "2", "-learning_rate", "0.003", "-min_lr", "0.003", "-probe", "the cat"); code != 0 {
		t.Fatal(warn)
	}
	late := filepath.Join(halves, "probe", "00000004.json.gz") // a crash before the checkpoint of iteration 4
	if err := os.WriteFile(late, []byte(want["00000004.json.gz"]), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, warn := probeRun(t, halves, "-resume", "-max_iters", "6", "-learning_rate", "0.003", "-min_lr", "0.003"); code != 0 {
		t.Fatal(warn)
	}
	whole2 := filepath.Join(dir, "whole2")
	if code, warn := probeRun(t, whole2, "-max_iters", "6", "-learning_rate", "0.003", "-min_lr", "0.003", "-probe", "the cat"); code != 0 {
		t.Fatal(warn)
	}
	_, a := records(t, whole2)
	_, b := records(t, halves)
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs after a resume", name)
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d records, %d after a resume", len(a), len(b))
	}
}

// A run that was stopped before its second evaluation keeps the first record, and goes on with the text, given again or not.
func TestProbeFromTheStart(t *testing.T) {
	for _, args := range [][]string{nil, {"-probe", "the cat"}} {
		out := filepath.Join(t.TempDir(), "run")
		if code, warn := probeRun(t, out, "-max_iters", "0", "-probe", "the cat"); code != 0 {
			t.Fatal(warn)
		}
		_, first := records(t, out)
		if code, warn := probeRun(t, out, append([]string{"-resume", "-max_iters", "2"}, args...)...); code != 0 {
			t.Fatal(warn)
		}
		steps, files := records(t, out)
		if !slices.Equal(steps, []int{0, 2}) || files["00000000.json.gz"] != first["00000000.json.gz"] {
			t.Errorf("resumed with %q, there are records of %v, want of 0, as it was, and 2", args, steps)
		}
	}
}

func TestProbeFlag(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	if code, warn := probeRun(t, out, "-probe", "the dog"); code != 1 || !strings.Contains(warn, "-probe: 2 characters are not in the vocabulary") {
		t.Errorf("exit code %d, %s", code, warn)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused -probe left a run folder")
	}
	if code, warn := probeRun(t, out, "-probe="); code != 2 || !strings.Contains(warn, "-probe is empty") {
		t.Errorf("exit code %d, %s", code, warn)
	}
	if code, warn := probeRun(t, out, "-max_iters", "2", "-probe", "the cat sat"); code != 0 || !strings.Contains(warn, "-probe has 11 characters; its last 8 are recorded") {
		t.Errorf("exit code %d, %s", code, warn)
	}
	if code, warn := probeRun(t, out, "-resume", "-max_iters", "4", "-probe", "the mat"); code != 1 || !strings.Contains(warn, "-probe contradicts the run") {
		t.Errorf("exit code %d, %s", code, warn)
	}
	if code, warn := probeRun(t, out, "-resume", "-max_iters", "4", "-probe", "the cat sat"); code != 0 {
		t.Errorf("exit code %d, %s", code, warn)
	}
	if steps, _ := records(t, out); !slices.Equal(steps, []int{0, 2, 4}) {
		t.Errorf("records of %v", steps)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chargpt/data"
	"chargpt/internal/cli"
	"chargpt/model"
	"chargpt/model/checkpoint"
)

// writeCheckpoint saves a small model with random weights that knows the characters of text.
func writeCheckpoint(t *testing.T, path, text string) {
	t.Helper()
	read, err := data.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(model.Config{VocabSize: read.Tokenizer.Size(), BlockSize: 8, NLayer: 1, NHead: 2, NEmbd: 16, Tied: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	err = checkpoint.Write(path, &checkpoint.Checkpoint{Config: m.Config, Vocab: read.Tokenizer.Vocab(), Weights: m.Weights(),
		Bigram: data.CountBigrams(read.Tokens, read.Tokenizer.Size()), Train: json.RawMessage("{}")})
	if err != nil {
		t.Fatal(err)
	}
}

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return feed(t, "", args...)
}

// feed is call with something on standard input.
func feed(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(context.Background(), "sample", run, cli.Env{Args: args, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	return code, out.String(), errs.String()
}

func TestUsageErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct{ flag, value, want string }{
		{"-temperature", "-1", "-temperature is -1"}, {"-temperature", "NaN", "-temperature is NaN"}, {"-temperature", "Inf", "-temperature is +Inf"},
		{"-top_k", "-1", "-top_k is -1"}, {"-top_p", "0", "-top_p is 0"}, {"-top_p", "1.5", "-top_p is 1.5"}, {"-top_p", "NaN", "-top_p is NaN"},
		{"-max_new_tokens", "-1", "-max_new_tokens is -1"}, {"-num_samples", "0", "-num_samples is 0"}, {"-stop", "", "stop"},
		{"-seed", "x", `"x"`}, {"-nonsense", "1", "nonsense"},
	} {
		code, stdout, stderr := call(t, tt.flag, tt.value)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s %q: exit code %d, want 2 and one line with %q: %s%s", tt.flag, tt.value, code, tt.want, stdout, stderr)
		}
	}
}

func TestExclusive(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{"-i -prompt a", "-i -prompt=", "-i -prompt_file f", "-i -num_samples 2", "-prompt a -prompt_file f", "-json -logprobs"} {
		code, stdout, stderr := call(t, strings.Fields(args)...)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "exclude each other") {
			t.Errorf("%s: exit code %d, want 2 and one line: %s%s", args, code, stdout, stderr)
		}
	}
}

func TestInputErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if code, _, stderr := call(t); code != 1 || !strings.Contains(stderr, "cmd/train") {
		t.Errorf("no run at all: exit code %d: %s", code, stderr)
	}
	writeCheckpoint(t, "checkpoints/a/best.safetensors", "hello world\n")
	if err := os.WriteFile("junk", []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-ckpt", "missing"}, "missing"}, {[]string{"-ckpt", "junk"}, "junk"}, {[]string{"-ckpt", "."}, "cmd/train"},
		{[]string{"-ckpt", "checkpoints/a", "-prompt", "heXXZlo"}, `'X'`}, {[]string{"-ckpt", "checkpoints/a", "-prompt", "h\xff"}, "UTF-8"},
		{[]string{"-ckpt", "checkpoints/a", "-prompt_file", "nosuch"}, "check the path, or give the text itself with -prompt"},
	} {
		code, stdout, stderr := call(t, tt.args...)
		if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit code %d, want 1 and one line with %q: %s%s", tt.args, code, tt.want, stdout, stderr)
		}
	}
}

func TestSample(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "hello world\n")
	sample := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, append([]string{"-ckpt", "a", "-max_new_tokens", "30"}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
		return stdout
	}
	if got := sample("-prompt", "hello hello hello"); !strings.HasPrefix(got, "hello hello hello") || len(got) != 17+30+1 {
		t.Errorf("a prompt over block_size is printed whole with 30 characters and a line end: %q", got)
	}
	if got := sample(); len(got) != 31 {
		t.Errorf("without a prompt 30 characters and a line end are printed: %q", got)
	}
	if a, b := sample("-seed", "3"), sample("-seed", "3"); a != b || a == sample("-seed", "4") {
		t.Errorf("the same seed gives %q and %q", a, b)
	}
	if got := sample("-prompt", "hello", "-max_new_tokens", "0"); got != "hello\n" {
		t.Errorf("0 new characters: %q", got)
	}
	several := strings.Split(strings.TrimSuffix(sample("-num_samples", "11", "-temperature", "1.5"), "\n"), "\n---\n")
	if len(several) != 11 {
		t.Fatalf("11 samples: %d parts", len(several))
	}
	if alone := strings.TrimSuffix(sample("-temperature", "1.5"), "\n"); alone != several[0] {
		t.Errorf("sample 0 alone is %q, among 11 %q", alone, several[0])
	}
	code, stdout, stderr := call(t, "-ckpt", "a", "-prompt", "heXllo", "-skip_unknown", "-max_new_tokens", "2")
	if code != 0 || !strings.HasPrefix(stdout, "hello") || !strings.Contains(stderr, "dropped") {
		t.Errorf("-skip_unknown: exit code %d: %q %q", code, stdout, stderr)
	}
}

// Without a newline in the vocabulary the start is the most frequent character, which is not printed.
func TestStartWithoutNewline(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "abcbdbeb")
	if code, stdout, stderr := call(t, "-ckpt", "a", "-max_new_tokens", "5"); code != 0 || len(stdout) != 6 {
		t.Errorf("exit code %d: %q %q", code, stdout, stderr)
	}
}

// failing is an output that was closed.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("pipe closed") }

func TestClosedOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "hello world\n")
	for _, args := range []string{"-num_samples 1", "-num_samples 3", "-json", "-logprobs", "-json -num_samples 3", "-i"} {
		var errs bytes.Buffer
		env := cli.Env{Args: strings.Fields("-ckpt a " + args), Stdin: strings.NewReader("hello\n"), Stdout: failing{}, Stderr: &errs}
		code := cli.Run(context.Background(), "sample", run, env)
		if code != 1 || !strings.Contains(errs.String(), "pipe closed") {
			t.Errorf("%s into a closed output: exit code %d: %s", args, code, &errs)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nlpodyssey/safetensors"

	"chargpt/internal/cli"
	"chargpt/model"
	"chargpt/model/checkpoint"
)

// writeCheckpoint saves a small model with random weights, which follow from its path.
func writeCheckpoint(t *testing.T, path string, config model.Config) {
	t.Helper()
	config.VocabSize, config.BlockSize, config.NEmbd = 2, 4, 8
	m, err := model.New(config, uint64(crc32.ChecksumIEEE([]byte(path))))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.Write(path, &checkpoint.Checkpoint{Config: m.Config, Vocab: []string{"a", "b"}, Weights: m.Weights()}); err != nil {
		t.Fatal(err)
	}
}

func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Run(context.Background(), "export", run, cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
	return code, out.String(), errs.String()
}

func TestExport(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "checkpoints/a/best.safetensors", model.Config{NLayer: 1, NHead: 2, Tied: true})
	writeCheckpoint(t, "checkpoints/a/ckpt.safetensors", model.Config{NLayer: 1, NHead: 2, Tied: true})
	for i, tt := range []struct{ args, from string }{
		{"", "best"}, {"-ckpt checkpoints/a", "best"}, {"-ckpt checkpoints/a/ckpt.safetensors -format hf", "ckpt"},
	} {
		dir := string(rune('x' + i))
		code, stdout, stderr := call(append(strings.Fields(tt.args), "-o", dir)...)
		if code != 0 || stderr != "" || !strings.Contains(stdout, "from_pretrained(\""+dir+"\")") {
			t.Errorf("%s: exit code %d: %s%s", tt.args, code, stdout, stderr)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 4 {
			t.Errorf("%s wrote %v, want 4 files", tt.args, files)
		}
		from := "checkpoints/a/" + tt.from + ".safetensors"
		if got, want := tensor(t, dir+"/model.safetensors", "transformer.wte.weight"), tensor(t, from, "wte"); !bytes.Equal(got, want) {
			t.Errorf("%s: wte is %x, want that of %s: %x", tt.args, got, from, want)
		}
	}
}

// tensor returns the numbers of a tensor in a safetensors file.
func tensor(t *testing.T, path, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Deserialize(content)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	found, ok := file.Tensor(name)
	if !ok {
		t.Fatalf("%s has no %s, but %v", path, name, file.Names())
	}
	return found.Data()
}

func TestErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "good/best.safetensors", model.Config{NLayer: 1, NHead: 2, Tied: true})
	writeCheckpoint(t, "attention/best.safetensors", model.Config{NLayer: 1, NHead: 2, AttnOnly: true})
	writeCheckpoint(t, "rope/best.safetensors", model.Config{NLayer: 1, NHead: 2, Position: model.PositionRope})
	writeCheckpoint(t, "wide/best.safetensors", model.Config{NLayer: 1, NHead: 2, HeadSize: 8})
	writeCheckpoint(t, "flat/best.safetensors", model.Config{NHead: 2})
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"-ckpt good", 2, "-o is not given"}, {"-ckpt good -o x -format onnx", 2, `"onnx"`}, {"-ckpt good -o x y", 2, `"y"`},
		{"-ckpt good -o good", 2, "good: the folder is not empty"}, {"-ckpt good -o good/best.safetensors", 1, "best.safetensors is a file: name a folder"},
		{"-ckpt good -o new/../good", 2, "good: the folder is not empty"}, {"-ckpt good -o new/..", 2, "the folder is not empty"},
		{"-ckpt good -o good/best.safetensors/", 1, "best.safetensors is a file: name a folder"},
		{"-ckpt good -o good/best.safetensors/x", 1, "export: -o: open good/best.safetensors/x: "},
		{"-ckpt missing -o x", 1, "missing"}, {"-o x", 1, "cmd/train"}, {"-ckpt attention -o x", 1, "attn_only"}, {"-ckpt rope -o x", 1, "train with -preset cpu or -position learned to export it"},
		{"-ckpt wide -o x", 1, "n_head 2 x head_size 8"}, {"-ckpt flat -o x", 1, "n_layer 0"},
	} {
		code, stdout, stderr := call(strings.Fields(tt.args)...)
		if code != tt.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit code %d, want %d and one line with %q: %s%s", tt.args, code, tt.code, tt.want, stdout, stderr)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a folder was made for a model that is refused")
	}
}

// A signal before anything is written makes nothing.
func TestSignal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "run/best.safetensors", model.Config{NLayer: 1, NHead: 1, Position: model.PositionLearned, Tied: true, Bias: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	var out, errs bytes.Buffer
	code := cli.Run(ctx, "export", run, cli.Env{Args: []string{"-ckpt", "run", "-o", "gpt2"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
	if _, err := os.Stat("gpt2"); code != 1 || errs.String() != "export: stopped\n" || err == nil {
		t.Errorf("exit code %d: %s%s; the folder: %v", code, &out, &errs, err)
	}
}

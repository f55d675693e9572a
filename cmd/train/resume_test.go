package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chargpt/model/checkpoint"
)

// A checkpoint that is damaged, or signed but out of all bounds, is refused in one line, and stays as it is.
func TestResumeDamaged(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("abcdefgh ", 40)
	if code, _, stderr := call(t, text, append([]string{"-data", "-", "-out", "run"}, fast...)...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	path := filepath.Join("run", "ckpt.safetensors")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)-9] ^= 1
	c, err := checkpoint.Decode(good)
	if err != nil {
		t.Fatal(err)
	}
	c.Train = bytes.Replace(c.Train, []byte(`"batch_size":2,`), []byte(`"batch_size":1073741824,`), 1)
	if err := checkpoint.Write("absurd", c); err != nil {
		t.Fatal(err)
	}
	absurd, err := os.ReadFile("absurd")
	if err != nil {
		t.Fatal(err)
	}
	if c, err = checkpoint.Decode(good); err != nil {
		t.Fatal(err)
	}
	c.Vocab[0], c.Vocab[1] = c.Vocab[1], c.Vocab[0]
	if err := checkpoint.Write("swapped", c); err != nil {
		t.Fatal(err)
	}
	swapped, err := os.ReadFile("swapped")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"cut short", good[:len(good)-1], "damaged checkpoint"}, {"flipped", flipped, "damaged checkpoint"}, {"empty", nil, "not a checkpoint"},
		{"absurd", absurd, "GB of memory to go on; here the most is "},
		{"another vocabulary", swapped, "the checkpoint's vocabulary is not the text's"},
	} {
		if err := os.WriteFile(path, tt.content, 0o666); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call(t, text, "-out", "run", "-resume")
		if checkOneLine(t, stderr, tt.want); code != 1 || stdout != "" {
			t.Errorf("%s: exit code %d, want 1: %s", tt.name, code, stdout)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, tt.content) {
			t.Errorf("%s: the file was changed (%v)", tt.name, err)
		}
	}
}

// Flags that say what the run has anyway are taken, whatever the default preset has.
func TestResumeAgrees(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("abcdefgh ", 40)
	own := []string{"-data", "-", "-out", "run", "-n_layer", "1", "-n_embd", "9", "-n_head", "3", "-block_size", "8", "-batch_size", "2", "-position", "learned",
		"-learning_rate", "1e-6", "-min_lr", "1e-7", "-max_iters", "4", "-eval_interval", "2", "-threads", "1"}
	if code, _, stderr := call(t, text, own...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"-n_embd 9", 0, ""}, {"-n_head 3 -n_embd 9", 0, ""}, {"-min_lr 1e-7", 0, ""}, {"-learning_rate 1e-6", 0, ""}, {"-max_iters 4 -patience 2", 0, ""},
		{"-n_embd 8", 1, "-n_embd 8 contradicts the run, which has 9"}, {"-n_head 0", 1, "-n_head 0 contradicts the run, which has 3"},
		{"-learning_rate NaN", 1, "-learning_rate NaN contradicts the run"}, {"-patience -1", 2, "-patience is -1"}, {"-max_iters -1", 2, "-max_iters is -1"},
	} {
		code, _, stderr := call(t, text, append(strings.Fields(tt.args), "-data", "-", "-out", "run", "-resume")...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("-resume %s: exit code %d, want %d and %q: %s", tt.args, code, tt.code, tt.want, stderr)
		}
	}
}

// A text of so many characters that the model would not fit is refused before there is a folder.
func TestTooManyCharacters(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	for i := range 40000 {
		text.WriteRune(0x10000 + rune(i))
	}
	for _, args := range [][]string{nil, {"-dry_run"}} {
		code, _, stderr := call(t, text.String(), append([]string{"-data", "-", "-n_layer", "1", "-n_embd", "8", "-n_head", "2", "-block_size", "8192"}, args...)...)
		if checkOneLine(t, stderr, "for a text of 40000 distinct characters, needs about"); code != 2 {
			t.Errorf("%v: exit code %d, want 2", args, code)
		}
		if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
			t.Errorf("%v: it made %v (%v)", args, made, err)
		}
	}
}

// A text of 5,000 distinct characters trains, is saved, and writes itself.
func TestManyCharacters(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	for range 3 {
		for i := range 5000 {
			text.WriteRune('一' + rune(i))
		}
	}
	code, stdout, stderr := call(t, text.String(), append([]string{"-data", "-", "-out", "run", "-val_fraction", "0.4"}, fast...)...)
	if code != 0 || !strings.Contains(stdout, "15000 characters, 5000 distinct") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	_, sampled, _ := strings.Cut(stdout, "sample:\n  | ")
	if line, _, _ := strings.Cut(sampled, "\n"); len([]rune(line)) < 100 {
		t.Errorf("the sample is %q, want 500 characters", line)
	}
	if c, err := checkpoint.Read(filepath.Join("run", "best.safetensors")); err != nil || len(c.Vocab) != 5000 {
		t.Errorf("best.safetensors: %v, want a vocabulary of 5,000", err)
	}
}

package hf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chargpt/model"
	"chargpt/model/checkpoint"
)

// python is Debian's, which has python3-torch.
const python = "/usr/bin/python3"

// missing skips a test for want of a program, but fails it in CI, which installs them all.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// TestPyTorch: PyTorch computes the same logits from the folder, to 1e-4; they are about 1 in size.
func TestPyTorch(t *testing.T) {
	t.Parallel()
	tokens, want := map[string][]int32{}, map[string][]float32{}
	for _, tied := range []bool{true, false} {
		for _, bias := range []bool{true, false} {
			c := random(model.Config{VocabSize: 11, BlockSize: 9, NLayer: 2, NHead: 3, NEmbd: 12, Tied: tied, Bias: bias}, letters(11))
			dir := filepath.Join(t.TempDir(), fmt.Sprintf("tied-%v-bias-%v", tied, bias))
			if err := Write(dir, c); err != nil {
				t.Fatal(err)
			}
			tokens[dir] = []int32{3, 1, 4, 1, 5, 9, 2, 6, 10}
			want[dir] = logits(t, c, tokens[dir])
		}
	}
	for dir, got := range pytorch(t, tokens) {
		if len(got) != len(want[dir]) || len(got) == 0 {
			t.Fatalf("%s: %d logits, want %d", filepath.Base(dir), len(got), len(want[dir]))
		}
		largest := 0.0
		for i := range got {
			largest = max(largest, math.Abs(got[i]-float64(want[dir][i])))
		}
		t.Logf("%s: largest difference %.2g", filepath.Base(dir), largest)
		if !(largest <= 1e-4) {
			t.Errorf("%s: PyTorch's logits differ by %g, want at most 1e-4", filepath.Base(dir), largest)
		}
	}
}

// logits is what our own graph computes.
func logits(t *testing.T, c *checkpoint.Checkpoint, tokens []int32) []float32 {
	t.Helper()
	m, err := c.Model()
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.NewGraph(1, len(tokens), model.Inference, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	copy(g.Tokens, tokens)
	if err := g.Run(0); err != nil {
		t.Fatal(err)
	}
	return append([]float32{}, g.Logits()...)
}

// pytorch loads folders in one process, because it starts slowly, and returns the logits of each.
func pytorch(t *testing.T, tokens map[string][]int32) (logits map[string][]float64) {
	t.Helper()
	in, err := json.Marshal(tokens)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, filepath.Join("testdata", "gpt2.py"))
	var errs bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(in), &errs
	out, err := command.Output()
	if errors.Is(err, fs.ErrNotExist) || strings.Contains(errs.String(), "No module named 'torch'") {
		missing(t, "%s has no torch (Debian's python3-torch): %v", python, err)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	if err := json.Unmarshal(out, &logits); err != nil {
		t.Fatal(err)
	}
	if len(logits) != len(tokens) {
		t.Fatalf("logits of %d folders, want %d", len(logits), len(tokens))
	}
	return logits
}

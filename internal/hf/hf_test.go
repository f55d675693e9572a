package hf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nlpodyssey/safetensors"

	"chargpt/model"
	"chargpt/model/checkpoint"
)

// shape is a small model that GPT-2 can express.
func shape() model.Config {
	return model.Config{VocabSize: 5, BlockSize: 6, NLayer: 2, NHead: 2, NEmbd: 4, Tied: true}
}

// random returns a checkpoint whose every weight, gains and biases too, is a random number.
func random(config model.Config, vocab []string) *checkpoint.Checkpoint {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &checkpoint.Checkpoint{Config: config.WithDefaults(), Vocab: vocab, Weights: map[string][]float32{}}
	shapes, _ := config.ParameterShapes()
	for name, shape := range shapes {
		n := 1
		for _, d := range shape {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(rng.NormFloat64() / 2)
		}
		c.Weights[name] = values
	}
	return c
}

func letters(n int) (vocab []string) {
	for i := range n {
		vocab = append(vocab, string(rune('a'+i)))
	}
	return vocab
}

func TestMapping(t *testing.T) {
	config := shape()
	config.Bias, config.Tied = true, false
	c := random(config, letters(5))
	got := tensors(config.WithDefaults(), c.Weights)
	if want := 2 + 2*12 + 2 + 1; len(got) != want {
		t.Errorf("%d tensors, want %d", len(got), want)
	}
	attn := got["transformer.h.1.attn.c_attn.weight"]
	if !slices.Equal(attn.shape, []int{4, 12}) {
		t.Fatalf("c_attn is %v, want (C, 3C)", attn.shape)
	}
	for j, name := range []string{"w_q", "w_k", "w_v"} {
		w := c.Weights["h.1.attn."+name]
		for i := range 4 {
			if !slices.Equal(attn.values[12*i+4*j:12*i+4*j+4], w[4*i:4*i+4]) {
				t.Errorf("row %d of c_attn does not have that of %s at column %d", i, name, 4*j)
			}
		}
	}
	bias := slices.Concat(c.Weights["h.0.attn.b_q"], c.Weights["h.0.attn.b_k"], c.Weights["h.0.attn.b_v"])
	if b := got["transformer.h.0.attn.c_attn.bias"]; !slices.Equal(b.values, bias) || !slices.Equal(b.shape, []int{12}) {
		t.Errorf("bias of c_attn is %v %v, want %v", b.shape, b.values, bias)
	}
	head, w := got["lm_head.weight"], c.Weights["lm_head"]
	if !slices.Equal(head.shape, []int{5, 4}) || head.values[4*3+1] != w[5*1+3] || head.values[4] != w[1] {
		t.Errorf("lm_head is %v %v, want (V, C), %v transposed", head.shape, head.values, w)
	}
	for to, from := range map[string]string{
		"wte.weight": "wte", "wpe.weight": "wpe", "ln_f.weight": "ln_f.weight", "ln_f.bias": "ln_f.bias",
		"h.1.ln_1.weight": "h.1.ln_1.weight", "h.1.ln_1.bias": "h.1.ln_1.bias", "h.0.ln_2.weight": "h.0.ln_2.weight", "h.0.ln_2.bias": "h.0.ln_2.bias",
		"h.0.attn.c_proj.weight": "h.0.attn.w_o", "h.0.attn.c_proj.bias": "h.0.attn.b_o", "h.1.mlp.c_fc.weight": "h.1.mlp.w_fc",
		"h.1.mlp.c_fc.bias": "h.1.mlp.b_fc", "h.0.mlp.c_proj.weight": "h.0.mlp.w_proj", "h.0.mlp.c_proj.bias": "h.0.mlp.b_proj",
	} {
		if x := got["transformer."+to]; x.values == nil || !slices.Equal(x.values, c.Weights[from]) {
			t.Errorf("transformer.%s is not %s", to, from)
		}
	}
}

func TestZeroBiases(t *testing.T) {
	got := tensors(shape().WithDefaults(), random(shape(), letters(5)).Weights)
	if _, ok := got["lm_head.weight"]; ok {
		t.Error("a tied head is written")
	}
	biases := 0
	for name, x := range got {
		if !strings.HasSuffix(name, ".bias") {
			continue
		}
		biases++
		if n := slices.IndexFunc(x.values, func(v float32) bool { return v != 0 }); n >= 0 || len(x.values) != x.shape[0] || len(x.values) == 0 {
			t.Errorf("%s is %v %v, want zeros", name, x.shape, x.values)
		}
	}
	if biases != 2*6+1 {
		t.Errorf("%d biases, want %d", biases, 2*6+1)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		want  string
		spoil func(*model.Config)
	}{
		{"n_layer", func(c *model.Config) { c.NLayer = 0 }},
		{"attn_only", func(c *model.Config) { c.AttnOnly = true }},
		{"rope", func(c *model.Config) { c.Position = model.PositionRope }},
		{"n_head 2 x head_size 3 is 6 and n_embd is 4", func(c *model.Config) { c.HeadSize = 3 }},
	} {
		c := shape()
		tt.spoil(&c)
		dir := filepath.Join(t.TempDir(), "out")
		err := Write(dir, random(c, letters(5)))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, tt.want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a folder was made", tt.want)
		}
	}
	c := shape()
	c.NHead, c.HeadSize = 1, 4
	if err := Check(c); err != nil {
		t.Errorf("one head of n_embd channels: %v", err)
	}
}

func TestWrite(t *testing.T) {
	c := random(shape(), []string{"\n", `"`, "<", "é", "😀"})
	c.Config.Dropout = 0.125
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := Write(dir, c); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(entries); len(entries) != 4 {
		t.Errorf("the folder holds %s", got)
	}
	var config map[string]any
	readJSON(t, filepath.Join(dir, "config.json"), &config)
	for key, want := range map[string]any{
		"model_type": "gpt2", "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "n_embd": 4.0, "n_head": 2.0, "n_layer": 2.0,
		"n_positions": 6.0, "n_ctx": 6.0, "n_inner": nil, "vocab_size": 5.0, "resid_pdrop": 0.125, "embd_pdrop": 0.125, "attn_pdrop": 0.125,
		"tie_word_embeddings": true, "bos_token_id": nil, "eos_token_id": nil, "torch_dtype": "float32",
	} {
		if got, ok := config[key]; !ok || got != want {
			t.Errorf("config.json has %s %v, want %v", key, got, want)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Deserialize(b)
	if err != nil {
		t.Fatal(err)
	}
	if wte, ok := file.Tensor("transformer.wte.weight"); !ok || !bytes.Equal(wte.Data(), tensor{c.Weights["wte"], nil}.Data()) {
		t.Error("transformer.wte.weight is not wte")
	}
	if err := Write(dir, c); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("writing again: %v, want ErrNotEmpty", err)
	}
	if err := Write(dir+"/new/..", c); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("writing again by way of a folder that is not there: %v, want ErrNotEmpty", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it made that folder (%v)", err)
	}
}

// TestWriteFails: what was written before an error is taken away.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	full := errors.New("disk full")
	err := writeFile(path, func(w io.Writer) error {
		w.Write([]byte("half"))
		return full
	})
	entries, _ := os.ReadDir(dir)
	if !errors.Is(err, full) || len(entries) != 0 {
		t.Errorf("error %v, and the folder holds %v", err, entries)
	}
	if err := CheckFolder(filepath.Join(dir, "missing")); err != nil {
		t.Errorf("a folder that does not exist: %v", err)
	}
	os.WriteFile(path, nil, 0o666)
	if err := CheckFolder(path); err == nil || errors.Is(err, ErrNotEmpty) {
		t.Errorf("a file for a folder: %v", err)
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

package checkpoint

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"chargpt/data"
	"chargpt/model"
)

// tiny returns a small checkpoint with everything in it: the one of testdata/v1.safetensors. Never change it.
func tiny(t testing.TB) *Checkpoint {
	t.Helper()
	c := &Checkpoint{
		Config: model.Config{VocabSize: 5, BlockSize: 4, NLayer: 1, NHead: 2, NEmbd: 4, HeadSize: 2, Dropout: 0.125, Bias: true, Tied: false, Position: model.PositionLearned},
		Vocab:  []string{"\n", `"`, "<", "é", "😀"},
		Train:  json.RawMessage(`{"iteration":7,"note":"\"sha256\":\"<é>"}`),
	}
	fill(c, "m", "v")
	tokens, err := data.NewTokens([]int32{0, 1, 2, 3, 4, 0, 1, 1, 1, 2, 4, 4})
	if err != nil {
		t.Fatal(err)
	}
	c.Bigram = data.CountBigrams(tokens, c.Config.VocabSize)
	return c
}

// fill gives c weights and moments: exact numbers that differ from one tensor and element to the next.
func fill(c *Checkpoint, kinds ...string) {
	shapes, _ := c.Config.ParameterShapes()
	values := func(base float32, name string, n int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = base + float32(len(name)) + float32(i)/8
		}
		return s
	}
	c.Weights = map[string][]float32{}
	for name, shape := range shapes {
		c.Weights[name] = values(0, name, size(shape))
		for k, kind := range kinds {
			c.addMoments(kind, name, values(float32(100*(k+1)), name, size(shape)))
		}
	}
}

func mustEncode(t testing.TB, c *Checkpoint) []byte {
	t.Helper()
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// variants are checkpoints of other forms.
func variants(t testing.TB) map[string]*Checkpoint {
	noLayer := &Checkpoint{Config: model.Config{VocabSize: 1, BlockSize: 1, NHead: 1, NEmbd: 1, Tied: true, AttnOnly: true, Position: model.PositionLearned, HeadSize: 1}, Vocab: []string{"a"}}
	fill(noLayer)
	rope := &Checkpoint{Config: model.Config{VocabSize: 2, BlockSize: 3, NLayer: 2, NHead: 1, NEmbd: 2, HeadSize: 4, Position: model.PositionRope}, Vocab: []string{"b", "a"}, Train: json.RawMessage("null")}
	fill(rope)
	rope.Bigram = data.CountBigrams(data.Tokens{}, 2)
	deep := &Checkpoint{Config: model.Config{VocabSize: 1, BlockSize: 1, NLayer: 300, NHead: 1, NEmbd: 1, HeadSize: 1, Tied: true, AttnOnly: true, Position: model.PositionLearned}, Vocab: []string{"a"}}
	fill(deep) // the least header a block
	muon := tiny(t)
	delete(muon.Optimizer["m"], "h.0.attn.w_q")
	delete(muon.Optimizer["v"], "h.0.attn.w_q")
	muon.addMoments("muon", "h.0.attn.w_q", slices.Clone(muon.Weights["h.0.attn.w_q"]))
	odd := tiny(t)
	w := odd.Weights["wte"]
	w[0], w[1], w[2], w[3] = float32(math.Inf(1)), float32(math.Inf(-1)), math.Float32frombits(0x7fc00123), math.Float32frombits(1)
	best := tiny(t)
	best.Optimizer, best.Bigram, best.Train = nil, nil, nil
	return map[string]*Checkpoint{"tiny": tiny(t), "no layer": noLayer, "rope": rope, "deep": deep, "muon": muon, "odd numbers": odd, "best": best}
}

func TestRoundTrip(t *testing.T) {
	for name, c := range variants(t) {
		t.Run(name, func(t *testing.T) {
			b := mustEncode(t, c)
			got, err := Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			checkEqual(t, got, c)
			if !bytes.Equal(mustEncode(t, got), b) {
				t.Error("encoding it again gives other bytes")
			}
		})
	}
}

// checkEqual compares bit by bit: a NaN equals itself.
func checkEqual(t testing.TB, got, want *Checkpoint) {
	t.Helper()
	if got.Config != want.Config || !slices.Equal(got.Vocab, want.Vocab) || !bytes.Equal(got.Train, want.Train) || (got.Train == nil) != (want.Train == nil) {
		t.Errorf("got %+v %q %s, want %+v %q %s", got.Config, got.Vocab, got.Train, want.Config, want.Vocab, want.Train)
	}
	if !reflect.DeepEqual(bits(got.Weights), bits(want.Weights)) {
		t.Error("weights differ")
	}
	if len(got.Optimizer) != len(want.Optimizer) || (got.Optimizer == nil) != (want.Optimizer == nil) {
		t.Errorf("optimizer has %d kinds, want %d", len(got.Optimizer), len(want.Optimizer))
	}
	for kind := range want.Optimizer {
		if !reflect.DeepEqual(bits(got.Optimizer[kind]), bits(want.Optimizer[kind])) {
			t.Errorf("optimizer %s differs", kind)
		}
	}
	if (got.Bigram == nil) != (want.Bigram == nil) {
		t.Fatal("one has bigrams")
	}
	if want.Bigram != nil && !(slices.Equal(got.Bigram.RowStart, want.Bigram.RowStart) && slices.Equal(got.Bigram.Next, want.Bigram.Next) && slices.Equal(got.Bigram.Count, want.Bigram.Count)) {
		t.Errorf("bigrams %v, want %v", got.Bigram, want.Bigram)
	}
}

func bits(tensors map[string][]float32) map[string][]uint32 {
	m := map[string][]uint32{}
	for name, values := range tensors {
		for _, v := range values {
			m[name] = append(m[name], math.Float32bits(v))
		}
	}
	return m
}

// TestDefaults: a config is stored with its defaults.
func TestDefaults(t *testing.T) {
	c := tiny(t)
	c.Config.HeadSize, c.Config.Position = 0, ""
	if !bytes.Equal(mustEncode(t, c), mustEncode(t, tiny(t))) {
		t.Error("defaults are not filled in")
	}
}

// TestGolden: a file of version 1 loads for ever, and is what the same content becomes.
func TestGolden(t *testing.T) {
	path := filepath.Join("testdata", "v1.safetensors")
	c, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, c, tiny(t))
	if got := c.Weights["wpe"]; len(got) != 16 || got[0] != 3 || got[15] != 4.875 {
		t.Errorf("wpe %v", got)
	}
	if got := c.Optimizer["v"]["h.0.mlp.w_fc"]; len(got) != 64 || got[1] != 212.125 {
		t.Errorf("v of w_fc %v", got)
	}
	if p := c.Bigram.Probability(1, 1); p != 3.0/9 {
		t.Errorf("P(1 | 1) = %v", p)
	}
	b, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(b, mustEncode(t, tiny(t))) {
		t.Errorf("the same content becomes other bytes (%v)", err)
	}
}

func TestEncodeErrors(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(c *Checkpoint)
		err   string
	}{
		{"config", func(c *Checkpoint) { c.Config.NHead = 0 }, "config: n_head is 0"},
		{"vocab length", func(c *Checkpoint) { c.Vocab = c.Vocab[1:] }, "4 characters in vocab, but vocab_size is 5"},
		{"vocab", func(c *Checkpoint) { c.Vocab[1] = "ab" }, "vocab: "},
		{"train", func(c *Checkpoint) { c.Train = json.RawMessage("{") }, "train is not JSON"},
		{"train UTF-8", func(c *Checkpoint) { c.Train = json.RawMessage("\"\xff\"") }, "train is not JSON"},
		{"missing", func(c *Checkpoint) { delete(c.Weights, "wte") }, "weight wte is missing"},
		{"more", func(c *Checkpoint) { c.Weights["bigram.next"] = nil }, `weight "bigram.next": this config has no such parameter`},
		{"size", func(c *Checkpoint) { c.Weights["wte"] = c.Weights["wte"][1:] }, "weight wte has 19 numbers; its shape is [5 4]"},
		{"moment", func(c *Checkpoint) { c.Optimizer["m"]["x"] = nil }, `optimizer m of "x"`},
		{"moment size", func(c *Checkpoint) { c.Optimizer["v"]["wte"] = nil }, "optimizer v of wte has 0 numbers"},
		{"kind", func(c *Checkpoint) { c.Optimizer["a.b"] = nil }, `optimizer kind "a.b"`},
		{"bigram", func(c *Checkpoint) { c.Bigram.Next[0] = 9 }, "bigram row 0"},
		{"header", func(c *Checkpoint) { c.Train = json.RawMessage(`"` + strings.Repeat("x", maxHeader) + `"`) }, "the header has"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := tiny(t)
			test.spoil(c)
			_, err := c.Encode()
			checkError(t, err, test.err)
		})
	}
}

// checkError fails unless err contains want, on one line that is not long.
func checkError(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", want)
	}
	if s := err.Error(); !strings.Contains(s, want) || strings.Contains(s, "\n") || len(s) > 500 {
		t.Fatalf("error %q, want one line with %q", s, want)
	}
}

func TestLittleEndian(t *testing.T) {
	floats := []float32{0, 1.5, float32(math.Inf(-1)), math.Float32frombits(0x7fc00123)}
	ints := []int32{1, -2, math.MaxInt32}
	if !bytes.Equal(littleEndian(floats), littleEndianCopy(floats)) || !bytes.Equal(littleEndian(ints), littleEndianCopy(ints)) {
		t.Error("the fast way differs")
	}
	if want := []byte{1, 0, 0, 0, 254, 255, 255, 255, 255, 255, 255, 127}; !bytes.Equal(littleEndian(ints), want) || !slices.Equal(numbers[int32](want), ints) {
		t.Error("not little-endian")
	}
	if len(littleEndian[float32](nil)) != 0 {
		t.Error("nothing has bytes")
	}
}

// large is the baby model of 10.8 million weights with its moments: 130 MB.
func large() *Checkpoint {
	c := &Checkpoint{Config: model.Config{VocabSize: 65, BlockSize: 256, NLayer: 6, NHead: 6, NEmbd: 384, Tied: true}}
	for i := range rune(65) {
		c.Vocab = append(c.Vocab, string('A'+i))
	}
	fill(c, "m", "v")
	return c
}

func BenchmarkEncode(b *testing.B) {
	c := large()
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(mustEncode(b, c))))
	}
}

func BenchmarkDecode(b *testing.B) {
	encoded := mustEncode(b, large())
	b.SetBytes(int64(len(encoded)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(encoded); err != nil {
			b.Fatal(err)
		}
	}
}

package attention

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with a file of testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run with -update and read the difference); got:\n%s", path, got)
	}
}

// hostile holds the characters that break careless renderers: wide, combining, control, invisible, markup, reordering.
const hostile = "é日🙂e\u0301\n\t<b>&\"'\\\x00\u200b\u202e"

// testTrace is a forward pass that no model made: q, k, v and logits come from a sine, but scores and weights are what an
// attention head computes from them, so every relation that holds in a real trace holds here.
func testTrace(text string, nLayer, nHead int) *Trace {
	const headSize = 4
	vocab, tokens, labels := tokenise(text)
	t := &Trace{
		Shape: Shape{NLayer: nLayer, NHead: nHead, NEmbd: nHead * headSize, HeadSize: headSize,
			BlockSize: max(8, len(tokens)), VocabSize: len(vocab), Position: "learned"},
		Tokens: tokens, Labels: labels, Vocab: vocab, Source: "checkpoints/test/model.safetensors", Step: 2000,
	}
	for l := range nLayer {
		var heads []Head
		for h := range nHead {
			heads = append(heads, testHead(tokens, headSize, float64(1+l*nHead+h)))
		}
		t.Heads = append(t.Heads, heads)
	}
	logits := make([]float64, len(vocab))
	for i := range logits {
		logits[i] = 2 * math.Sin(float64(3*i+len(tokens)))
		t.Bigram = append(t.Bigram, 1/float64(len(vocab)))
	}
	for _, p := range softmax(logits) {
		t.Next = append(t.Next, float32(p))
	}
	return t
}

func tokenise(text string) (vocab []string, tokens []int32, labels []string) {
	runes := []rune(text)
	sorted := slices.Compact(slices.Sorted(slices.Values(runes)))
	for _, r := range sorted {
		vocab = append(vocab, string(r))
	}
	for _, r := range runes {
		tokens = append(tokens, int32(slices.Index(sorted, r)))
		labels = append(labels, string(r))
	}
	return vocab, tokens, labels
}

func testHead(tokens []int32, headSize int, seed float64) Head {
	n := len(tokens)
	h := Head{Weights: make([]float32, n*n), Scores: make([]float32, n*n)}
	for i, id := range tokens {
		for c := range headSize {
			x := seed*float64(c+1) + float64(id)*0.7 + float64(i)*0.3
			h.Q = append(h.Q, float32(2*math.Sin(x)))
			h.K = append(h.K, float32(2*math.Cos(1.3*x)))
			h.V = append(h.V, float32(math.Sin(2.1*x)))
		}
	}
	for i := range n {
		scaled := make([]float64, i+1)
		for j := range scaled {
			dot := 0.0
			for c := range headSize {
				dot += float64(h.Q[i*headSize+c]) * float64(h.K[j*headSize+c])
			}
			h.Scores[i*n+j] = float32(dot)
			scaled[j] = dot / math.Sqrt(float64(headSize))
		}
		for j, w := range softmax(scaled) {
			h.Weights[i*n+j] = float32(w)
		}
	}
	return h
}

func softmax(x []float64) []float64 {
	y, sum, largest := make([]float64, len(x)), 0.0, slices.Max(x)
	for i, v := range x {
		y[i] = math.Exp(v - largest)
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return y
}

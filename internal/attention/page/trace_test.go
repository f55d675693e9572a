package page

import (
	"math"
	"math/rand/v2"

	"chargpt/internal/attention"
)

const sonnet = "MIRA:\nI would not dare. How many since the dawn?\nAnd have you had your breakfast, little clerk,\nor did you trade your porridge for the sea?\n\nPELL:\nI ate it walking, and the gulls ate half.\nForty and one, and forty and two, and there,\nthe forty-third, with foam along its lip."

// made says what a test trace looks like; it is the same for the same numbers, whatever the machine.
type made struct {
	text                    string
	layers, heads, headSize int
	vocab                   string // more characters than those of the text
	step                    int
	sharpness               float64 // how much heads prefer what they look for; 0 means 1
}

// trace is a forward pass that no model made: keys hold a position and a character, and the query of each head asks for
// one of them (the previous position, the first, its own character, or nothing in particular). All else is arithmetic
// as in a model, so scores, weights and vectors agree with each other.
func (m made) trace() *attention.Trace {
	if m.sharpness == 0 {
		m.sharpness = 1
	}
	rng := rand.New(rand.NewPCG(1, uint64(m.step)))
	vocab, ids := vocabOf(m.text + m.vocab)
	t := &attention.Trace{
		Shape: attention.Shape{NLayer: m.layers, NHead: m.heads, NEmbd: m.heads * m.headSize, HeadSize: m.headSize,
			BlockSize: 256, VocabSize: len(vocab), Position: "learned"},
		Vocab: vocab, Source: "checkpoints/demo/model.safetensors", Step: m.step,
	}
	for _, r := range m.text {
		t.Tokens = append(t.Tokens, ids[r])
		t.Labels = append(t.Labels, string(r))
	}
	for l := range m.layers {
		var layer []attention.Head
		for h := range m.heads {
			layer = append(layer, m.head(t.Tokens, (l+h)%4, float64(4-l%3), rng))
		}
		t.Heads = append(t.Heads, layer)
	}
	last := int(t.Tokens[len(t.Tokens)-1])
	t.Next = distribution(len(vocab), 2.2, rand.New(rand.NewPCG(7, uint64(last+len(t.Tokens)*97))))
	for _, p := range distribution(len(vocab), 1.2, rand.New(rand.NewPCG(8, uint64(last)))) {
		t.Bigram = append(t.Bigram, float64(p))
	}
	return t
}

func vocabOf(text string) (vocab []string, ids map[rune]int32) {
	ids = map[rune]int32{}
	for _, r := range text {
		if _, ok := ids[r]; !ok {
			ids[r] = int32(len(vocab))
			vocab = append(vocab, string(r))
		}
	}
	return vocab, ids
}

func (m made) head(tokens []int32, habit int, strength float64, rng *rand.Rand) attention.Head {
	n, size := len(tokens), m.headSize
	h := attention.Head{Weights: make([]float32, n*n), Scores: make([]float32, n*n)}
	for i, id := range tokens {
		place, char := position(i, size), embedding(int(id), size)
		ask := [][]float64{position(max(0, i-1), size), position(0, size), char, embedding(i*31+habit, size)}[habit]
		for c := range size {
			h.K = append(h.K, float32(place[c]+0.7*char[c]+0.1*rng.NormFloat64()))
			h.Q = append(h.Q, float32(m.sharpness*strength*ask[c]+0.2*rng.NormFloat64()))
			h.V = append(h.V, float32(char[c]*(0.3+math.Abs(rng.NormFloat64()))))
		}
	}
	for i := range n {
		attend(h, i, n, size)
	}
	return h
}

// attend fills row i: q·k, divided by √size, softmax over the keys up to i.
func attend(h attention.Head, i, n, size int) {
	sum := 0.0
	row := make([]float64, i+1)
	for j := range row {
		dot := float32(0)
		for c := range size {
			dot += h.Q[i*size+c] * h.K[j*size+c]
		}
		h.Scores[i*n+j] = dot
		row[j] = math.Exp(float64(dot) / math.Sqrt(float64(size)))
		sum += row[j]
	}
	for j, e := range row {
		h.Weights[i*n+j] = float32(e / sum)
	}
}

func position(i, size int) []float64 {
	out := make([]float64, size)
	for c := range size {
		angle := float64(i) / math.Pow(200, float64(c/2*2)/float64(size))
		out[c] = math.Sin(angle + float64(c%2)*math.Pi/2)
	}
	return out
}

func embedding(id, size int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(id), 99))
	out := make([]float64, size)
	for c := range out {
		out[c] = rng.NormFloat64()
	}
	return out
}

func distribution(n int, spread float64, rng *rand.Rand) []float32 {
	weights, sum := make([]float64, n), 0.0
	for i := range weights {
		weights[i] = math.Exp(spread * rng.NormFloat64())
		sum += weights[i]
	}
	out := make([]float32, n)
	for i, w := range weights {
		out[i] = float32(w / sum)
	}
	return out
}

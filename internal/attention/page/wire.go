package page

import (
	"encoding/binary"
	"math"

	"chargpt/internal/attention"
)

// wireModel is what the page knows of a model before it has seen a trace.
type wireModel struct {
	Config attention.Shape `json:"config"`
	Vocab  []string        `json:"vocab"`  // (V), the characters
	Labels []string        `json:"labels"` // (V), how they are shown
}

// wireTrace is a trace as the page reads it; web/codec.js is its other half.
type wireTrace struct {
	Step    int          `json:"step"`
	Dropped int          `json:"dropped"`
	Tokens  []int32      `json:"tokens"` // (T)
	Labels  []string     `json:"labels"` // (T)
	Bits    precision    `json:"bits"`
	Heads   [][]wireHead `json:"heads"`  // [layer][head]
	Next    []byte       `json:"next"`   // (V), float32
	Bigram  []byte       `json:"bigram"` // (V), float32
}

// wireHead leaves the raw scores out: the page multiplies q and k itself.
type wireHead struct {
	Weights wireRows `json:"weights"` // row i has its i+1 keys: the lower triangle only
	Q       wireRows `json:"q"`       // (T, HS)
	K       wireRows `json:"k"`       // (T, HS)
	V       wireRows `json:"v"`       // (T, HS)
}

// wireRows is a quantised matrix: value = integer × the scale of its row. All little-endian, base64 in JSON.
type wireRows struct {
	Ints  []byte `json:"ints"`
	Scale []byte `json:"scale"` // float32, one a row
}

// precision says how many bits an integer of a wireRows has: 8 or 16.
type precision struct {
	Weights int `json:"weights"` // unsigned
	Vectors int `json:"vectors"` // signed: q, k, v
}

// precisionFor chooses the finest precision with which the traces fit into a budget, or the coarsest there is. Vectors
// give way first: the page shows them as bars, but weights as numbers.
func precisionFor(traces []*attention.Trace, budget int) precision {
	for _, p := range []precision{{16, 16}, {16, 8}} {
		if wireSize(traces, p) <= budget {
			return p
		}
	}
	return precision{8, 8}
}

// wireSize is the number of base64 bytes that the matrices of the traces need.
func wireSize(traces []*attention.Trace, p precision) int {
	bytes := 0
	for _, t := range traces {
		n, heads := len(t.Tokens), t.Shape.NLayer*t.Shape.NHead
		weights := n * (n + 1) / 2 * p.Weights / 8
		vectors := 3 * n * t.Shape.HeadSize * p.Vectors / 8
		bytes += heads * (weights + vectors + 4*4*n)
	}
	return bytes / 3 * 4
}

func encodeModel(s attention.Shape, vocab []string) wireModel {
	return wireModel{Config: s, Vocab: nonNil(vocab), Labels: labels(vocab)}
}

func encodeTrace(t *attention.Trace, p precision) wireTrace {
	w := wireTrace{
		Step: t.Step, Dropped: t.Dropped, Tokens: nonNil(t.Tokens), Labels: labels(t.Labels), Bits: p,
		Heads: make([][]wireHead, len(t.Heads)), Next: floats(t.Next), Bigram: floats(t.Bigram),
	}
	for l, layer := range t.Heads {
		for _, h := range layer {
			w.Heads[l] = append(w.Heads[l], encodeHead(h, len(t.Tokens), t.Shape.HeadSize, p))
		}
	}
	return w
}

func encodeHead(h attention.Head, n, size int, p precision) wireHead {
	row := func(m []float32) func(int) []float32 {
		return func(i int) []float32 { return m[i*size : (i+1)*size] }
	}
	return wireHead{
		Weights: quantise(n, func(i int) []float32 { return h.Weights[i*n : i*n+i+1] }, p.Weights, false),
		Q:       quantise(n, row(h.Q), p.Vectors, true),
		K:       quantise(n, row(h.K), p.Vectors, true),
		V:       quantise(n, row(h.V), p.Vectors, true),
	}
}

// quantise rounds each row to integers of so many bits; a row's largest magnitude becomes the largest integer, so the
// error of a number is at most half its row's scale.
func quantise(rows int, row func(i int) []float32, bits int, signed bool) wireRows {
	top := float64(uint(1)<<bits - 1)
	if signed {
		top = float64(uint(1)<<(bits-1) - 1)
	}
	var w wireRows
	scales := make([]float32, rows)
	for i := range rows {
		values := row(i)
		scales[i] = float32(largest(values) / top)
		for _, x := range values {
			w.Ints = appendInt(w.Ints, rounded(x, scales[i], top), bits)
		}
	}
	w.Scale = floats(scales)
	return w
}

func rounded(x, scale float32, top float64) int {
	if scale == 0 {
		return 0
	}
	q := math.Round(float64(x) / float64(scale))
	return int(max(-top, min(top, q))) // float32 rounding of the scale may push the largest one past the top
}

func appendInt(b []byte, q, bits int) []byte {
	if bits == 8 {
		return append(b, byte(q))
	}
	return binary.LittleEndian.AppendUint16(b, uint16(q))
}

func largest(values []float32) float64 {
	top := 0.0
	for _, x := range values {
		top = max(top, math.Abs(float64(x)))
	}
	return top
}

// floats is a slice as little-endian float32.
func floats[F float32 | float64](values []F) []byte {
	b := make([]byte, 0, 4*len(values))
	for _, x := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	return b
}

func labels(chars []string) []string {
	out := make([]string, len(chars))
	for i, c := range chars {
		out[i] = attention.Label(c)
	}
	return out
}

// nonNil makes an empty slice an empty JSON array instead of null.
func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

package trace

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"chargpt/internal/attention"
)

// recordVersion is the "format_version" of a record; FORMAT.md describes it.
const recordVersion = 1

// maxRecord bounds the JSON of a record, so that a hostile file cannot ask for absurd memory.
const maxRecord = 1 << 30

// record is a trace as it is kept. Bytes are little-endian float32, in base64.
type record struct {
	FormatVersion int             `json:"format_version"`
	Step          int             `json:"step"`
	Config        attention.Shape `json:"config"`
	Dropped       int             `json:"dropped"`
	Tokens        []int32         `json:"tokens"`
	Vocab         []string        `json:"vocab"`
	Next          []byte          `json:"next"`
	Bigram        []float64       `json:"bigram"`
	Heads         [][]recordHead  `json:"heads"`
}

// recordHead leaves out what follows from the rest: labels, scores, and the weights above the diagonal.
type recordHead struct {
	Weights []byte `json:"weights"` // (T·(T+1)/2)
	Q       []byte `json:"q"`       // (T, HS)
	K       []byte `json:"k"`       // (T, HS)
	V       []byte `json:"v"`       // (T, HS)
}

// Write writes a trace as compressed JSON, without loss but for its Source. The same trace gives the same bytes.
func Write(w io.Writer, t *attention.Trace) error {
	r := record{FormatVersion: recordVersion, Step: t.Step, Config: t.Shape, Dropped: t.Dropped, Tokens: t.Tokens,
		Vocab: t.Vocab, Next: pack(nil, t.Next), Bigram: t.Bigram, Heads: make([][]recordHead, len(t.Heads))}
	n := len(t.Tokens)
	for l, heads := range t.Heads {
		for _, h := range heads {
			var triangle []byte
			for i := range n {
				triangle = pack(triangle, h.Weights[i*n:i*n+i+1])
			}
			r.Heads[l] = append(r.Heads[l], recordHead{triangle, pack(nil, h.Q), pack(nil, h.K), pack(nil, h.V)})
		}
	}
	z := gzip.NewWriter(w)
	return cmp.Or(json.NewEncoder(z).Encode(r), z.Close())
}

// Read reads what [Write] wrote. What is wrong with other bytes is an error.
func Read(r io.Reader) (*attention.Trace, error) {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return nil, fmt.Errorf("not a record of a probe: %w", err)
	}
	content, err := io.ReadAll(io.LimitReader(z, maxRecord+1))
	if err != nil {
		return nil, fmt.Errorf("the record is damaged: %w", err)
	}
	if len(content) > maxRecord {
		return nil, fmt.Errorf("the record has more than %d bytes", maxRecord)
	}
	var c record
	if err := json.Unmarshal(content, &c); err != nil {
		return nil, fmt.Errorf("the record is damaged: %w", err)
	}
	if c.FormatVersion != recordVersion {
		return nil, fmt.Errorf("the record has format version %d; this program reads %d", c.FormatVersion, recordVersion)
	}
	t, err := c.trace()
	if err != nil {
		return nil, fmt.Errorf("the record is damaged: %w", err)
	}
	return t, nil
}

// trace makes the trace of a record, and checks it.
func (r *record) trace() (*attention.Trace, error) {
	t := &attention.Trace{Shape: r.Config, Tokens: r.Tokens, Dropped: r.Dropped, Vocab: r.Vocab, Next: unpack(r.Next),
		Bigram: r.Bigram, Step: r.Step, Heads: make([][]attention.Head, len(r.Heads))}
	for _, id := range r.Tokens {
		if id < 0 || int(id) >= len(r.Vocab) {
			return nil, fmt.Errorf("token %d, but the vocabulary ends at %d", id, len(r.Vocab)-1)
		}
		t.Labels = append(t.Labels, r.Vocab[id])
	}
	for l, heads := range r.Heads {
		for _, h := range heads {
			head, err := h.head(len(r.Tokens), r.Config.HeadSize)
			if err != nil {
				return nil, err
			}
			t.Heads[l] = append(t.Heads[l], head)
		}
	}
	return t, t.Validate()
}

// head makes the head of a record of n tokens.
func (h recordHead) head(n, size int) (attention.Head, error) {
	if size < 1 || len(h.Weights) != 4*n*(n+1)/2 || len(h.Q)%4 != 0 || len(h.Q)/4 != n*size || len(h.K) != len(h.Q) {
		return attention.Head{}, fmt.Errorf("the matrices of a head are not of %d tokens and size %d", n, size)
	}
	a := attention.Head{Weights: make([]float32, n*n), Q: unpack(h.Q), K: unpack(h.K), V: unpack(h.V)}
	rest := unpack(h.Weights)
	for i := range n {
		rest = rest[copy(a.Weights[i*n:i*n+i+1], rest):]
	}
	a.Scores = scores(a.Q, a.K, size)
	return a, nil
}

func pack(dst []byte, values []float32) []byte {
	for _, x := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

func unpack(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

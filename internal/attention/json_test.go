package attention

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
)

func TestWriteJSON(t *testing.T) {
	for file, s := range map[string]Selection{"heads.json": EveryHead(), "mean.json": PerLayer()} {
		var b bytes.Buffer
		if err := WriteJSON(&b, testTrace(hostile[:12], 1, 2), s); err != nil {
			t.Fatal(err)
		}
		golden(t, file, b.Bytes())
	}
}

// TestWriteJSONRoundTrip: what a reader parses is the trace, to the last bit.
func TestWriteJSONRoundTrip(t *testing.T) {
	tr := testTrace(hostile, 2, 3)
	var b bytes.Buffer
	if err := WriteJSON(&b, tr, EveryHead()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version              int `json:"format_version"`
		Config               Shape
		Tokens               []int32
		Chars, Labels, Vocab []string
		Next                 []float32
		Bigram               []float64
		Heads                []struct {
			Layer, Head              int
			Summary                  Summary
			Weights, Scores, Q, K, V [][]float32
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != FormatVersion || got.Config != tr.Shape || len(got.Heads) != 6 || !slices.Equal(got.Labels, tr.labels()) {
		t.Errorf("version %d, config %v, %d heads, labels %q", got.Version, got.Config, len(got.Heads), got.Labels)
	}
	for name, pair := range map[string][2]any{
		"tokens": {got.Tokens, tr.Tokens}, "chars": {got.Chars, tr.Labels}, "vocab": {got.Vocab, tr.Vocab},
		"next": {got.Next, tr.Next}, "bigram": {got.Bigram, tr.Bigram},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %v, want %v", name, pair[0], pair[1])
		}
	}
	for _, h := range got.Heads {
		want := tr.Heads[h.Layer][h.Head]
		if !slices.Equal(slices.Concat(h.Weights...), want.Weights) || !slices.Equal(slices.Concat(h.Scores...), want.Scores) ||
			!slices.Equal(slices.Concat(h.Q...), want.Q) || !slices.Equal(slices.Concat(h.K...), want.K) || !slices.Equal(slices.Concat(h.V...), want.V) {
			t.Errorf("layer %d head %d differs", h.Layer, h.Head)
		}
		if h.Summary != Summarise(want, tr.Tokens) {
			t.Errorf("layer %d head %d: summary %+v", h.Layer, h.Head, h.Summary)
		}
	}
}

// TestWriteJSONInfinity: a Markov chain without smoothing may rule a character out, and JSON has no infinity.
func TestWriteJSONInfinity(t *testing.T) {
	tr := testTrace("ab", 0, 1)
	tr.Bigram = []float64{1, 0}
	var b bytes.Buffer
	if err := WriteJSON(&b, tr, EveryHead()); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) || !bytes.Contains(b.Bytes(), []byte(`"kl_nats": null`)) || !bytes.Contains(b.Bytes(), []byte(`"heads": []`)) {
		t.Errorf("got %s", b.Bytes())
	}
}

// fullWriter is a disk with room for only so many bytes.
type fullWriter struct{ room int }

var errFull = errors.New("disk full")

func (f *fullWriter) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	tr := testTrace(hostile, 2, 3)
	for _, room := range []int{0, 5000} {
		for name, err := range map[string]error{
			"text": WriteText(&fullWriter{0}, tr, TextOptions{}), "json": WriteJSON(&fullWriter{room}, tr, EveryHead()),
			"csv": WriteCSV(&fullWriter{room}, tr, EveryHead()), "dot": WriteDOT(&fullWriter{room}, tr, EveryHead(), 0),
			"png": WritePNG(&fullWriter{room}, tr, EveryHead()), "compare": WriteCompare(&fullWriter{0}, tr, tr, TextOptions{}),
		} {
			if !errors.Is(err, errFull) {
				t.Errorf("%s, room for %d bytes: error %v", name, room, err)
			}
		}
	}
}

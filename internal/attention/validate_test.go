package attention

import (
	"math"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	for _, tr := range []*Trace{testTrace("a", 1, 1), testTrace(hostile, 3, 2), testTrace("abc", 0, 1)} {
		if err := tr.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestValidateErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for want, spoil := range map[string]func(*Trace){
		"a trace of no tokens":                                func(t *Trace) { t.Tokens, t.Labels = nil, nil },
		"3 labels, want 4":                                    func(t *Trace) { t.Labels = t.Labels[:3] },
		"2 layers, want 3":                                    func(t *Trace) { t.Shape.NLayer = 3 },
		"layer 1 has 1 heads":                                 func(t *Trace) { t.Heads[1] = t.Heads[1][:1] },
		"id 3, the vocabulary ends at 2":                      func(t *Trace) { t.Tokens[0] = 3 },
		"head size 0":                                         func(t *Trace) { t.Shape.HeadSize = 0 },
		"-1 characters left out":                              func(t *Trace) { t.Dropped = -1 },
		"characters in the vocabulary":                        func(t *Trace) { t.Vocab = t.Vocab[1:] },
		"layer 1 head 0: 15 numbers in weights, want 16":      func(t *Trace) { t.Heads[1][0].Weights = t.Heads[1][0].Weights[:15] },
		"0 numbers in scores, want 16":                        func(t *Trace) { t.Heads[0][0].Scores = nil },
		"0 numbers in v, want 16":                             func(t *Trace) { t.Heads[0][0].V = nil },
		"number 5 of q is NaN":                                func(t *Trace) { t.Heads[0][0].Q[5] = nan },
		"number 4 of scores is +Inf":                          func(t *Trace) { t.Heads[0][0].Scores[4] = inf },
		"layer 0 head 1: query 2: the row of weights sums to": func(t *Trace) { t.Heads[0][1].Weights[8] += 2e-4 },
		"the row of weights has -":                            func(t *Trace) { t.Heads[0][1].Weights[4] -= 1; t.Heads[0][1].Weights[5] += 1 },
		"query 1: weight 0.001":                               func(t *Trace) { t.Heads[0][0].Weights[6] = 0.001 },
		"score 2 for key 3":                                   func(t *Trace) { t.Heads[0][0].Scores[3] = 2 },
		"the next-character distribution sums to":             func(t *Trace) { t.Next[0] += 0.01 },
		"the bigram distribution has NaN":                     func(t *Trace) { t.Bigram[0] = math.NaN() },
	} {
		tr := testTrace("abca", 2, 2)
		spoil(tr)
		if err := tr.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestRenderersValidate: no renderer writes a byte of a trace that is not one.
func TestRenderersValidate(t *testing.T) {
	tr := testTrace("abca", 1, 1)
	tr.Heads[0][0].Weights[0] = 0.5
	var b strings.Builder
	for name, err := range map[string]error{
		"text": WriteText(&b, tr, TextOptions{}), "json": WriteJSON(&b, tr, Selection{}), "csv": WriteCSV(&b, tr, Selection{}),
		"png": WritePNG(&b, tr, Selection{}), "dot": WriteDOT(&b, tr, Selection{}, 0),
	} {
		if err == nil || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes", name, err, b.Len())
		}
	}
}

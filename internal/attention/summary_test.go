package attention

import (
	"math"
	"testing"
)

// TestSummarise: three tokens a b a, by hand. Query 0 does not count.
//
//	query 1: ¼ ¾      distance ¼·1         previous ¼  first ¼  same 0  self ¾
//	query 2: ½ ⅛ ⅜    distance ½·2 + ⅛·1   previous ⅛  first ½  same ½  self ⅜
func TestSummarise(t *testing.T) {
	h := Head{Weights: []float32{1, 0, 0, 0.25, 0.75, 0, 0.5, 0.125, 0.375}}
	entropy := -(0.25*math.Log(0.25) + 0.75*math.Log(0.75) + 0.5*math.Log(0.5) + 0.125*math.Log(0.125) + 0.375*math.Log(0.375)) / 2
	want := Summary{Entropy: entropy, MeanDistance: (0.25 + 1.125) / 2, Previous: 0.1875, First: 0.375, Same: 0.25, Self: 0.5625}
	got := Summarise(h, []int32{7, 3, 7})
	if math.Abs(got.Entropy-want.Entropy) > 1e-12 {
		t.Errorf("entropy %v, want %v", got.Entropy, want.Entropy)
	}
	if got.Entropy = want.Entropy; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSummariseExtremes(t *testing.T) {
	if got := Summarise(Head{Weights: []float32{1}}, []int32{0}); got != (Summary{}) {
		t.Errorf("one token: %+v", got)
	}
	// Each query looks at the character before it, and all characters are the same.
	got := Summarise(Head{Weights: []float32{1, 0, 0, 1, 0, 0, 0, 1, 0}}, []int32{5, 5, 5})
	if want := (Summary{MeanDistance: 1, Previous: 1, First: 0.5, Same: 1}); got != want {
		t.Errorf("previous-character head: got %+v, want %+v", got, want)
	}
}

package attention

import (
	"slices"
	"testing"
)

func TestLikeliest(t *testing.T) {
	p := []float32{0.1, 0.3, 0.1, 0.5}
	if got, want := likeliest(p, 3), []int{3, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("likeliest = %v, want %v", got, want)
	}
	if got := likeliest(p, 10); len(got) != 4 {
		t.Errorf("a small vocabulary: %v", got)
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{0: "", 0.5: "█████", 1: "██████████", 0.0125: "▏", 1.5: "██████████", -1: ""} {
		if got := bar(share, 10); got != want {
			t.Errorf("bar(%v, 10) = %q, want %q", share, got, want)
		}
	}
}

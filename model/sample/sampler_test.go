package sample

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func ids(c []Candidate) (out []int32) {
	for _, x := range c {
		out = append(out, x.ID)
	}
	return out
}

func TestCandidates(t *testing.T) {
	inf := float32(math.Inf(-1))
	logits := []float32{1, 3, 2, 3, inf} // sorted: 1, 3 (equal), 2, 0, 4
	for _, tt := range []struct {
		name    string
		sampler Sampler
		logits  []float32
		want    []int32
	}{
		{"temperature 0 is argmax, ties to the lower id", Sampler{}, logits, []int32{1}},
		{"temperature 0 ignores top_k", Sampler{TopK: 3}, logits, []int32{1}},
		{"all", Sampler{Temperature: 1}, logits, []int32{1, 3, 2, 0, 4}},
		{"top_k 2", Sampler{Temperature: 1, TopK: 2}, logits, []int32{1, 3}},
		{"top_k over V", Sampler{Temperature: 1, TopK: 99}, logits, []int32{1, 3, 2, 0, 4}},
		{"top_p 1 is off", Sampler{Temperature: 1, TopP: 1}, logits, []int32{1, 3, 2, 0, 4}},
		{"tiny top_p keeps one", Sampler{Temperature: 1, TopP: 1e-9}, logits, []int32{1}},
		{"top_p 0.5 needs both likeliest", Sampler{Temperature: 1, TopP: 0.5}, logits, []int32{1, 3}},
		{"top_k, then top_p of what is left", Sampler{Temperature: 1, TopK: 2, TopP: 0.5}, logits, []int32{1}},
		{"tiny temperature does not overflow", Sampler{Temperature: 1e-300, TopP: 0.5}, logits, []int32{1}},
		{"huge temperature is uniform", Sampler{Temperature: 1e300, TopP: 0.5}, []float32{5, 1, 1, 1}, []int32{0, 1}},
		{"one character", Sampler{Temperature: 1, TopK: 1, TopP: 0.1}, []float32{-3}, []int32{0}},
		{"all −Inf", Sampler{Temperature: 1}, []float32{inf, inf}, []int32{0, 1}},
	} {
		got, err := tt.sampler.Candidates(nil, tt.logits)
		if err != nil || !slices.Equal(ids(got), tt.want) {
			t.Errorf("%s: %+v.Candidates(%v) = %v, %v, want %v", tt.name, tt.sampler, tt.logits, ids(got), err, tt.want)
		}
		sum := 0.0
		for _, c := range got {
			sum += c.Probability
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: probabilities sum to %v, want 1", tt.name, sum)
		}
	}
}

func TestCandidatesProbabilities(t *testing.T) {
	got, err := Sampler{Temperature: 0.5}.Candidates(nil, []float32{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	want := 1 / (1 + math.Exp(-2)) // softmax of (0, 1)/0.5
	if math.Abs(got[0].Probability-want) > 1e-12 {
		t.Errorf("P(likeliest) at temperature 0.5 = %v, want %v", got[0].Probability, want)
	}
}

func TestCandidatesRefuse(t *testing.T) {
	nan := float32(math.NaN())
	for _, tt := range []struct {
		sampler Sampler
		logits  []float32
		want    string
	}{
		{Sampler{Temperature: 1}, []float32{0, nan}, "character 1 is NaN"},
		{Sampler{}, []float32{nan}, "NaN"},
		{Sampler{Temperature: 1}, []float32{0, float32(math.Inf(1))}, "+Inf"},
		{Sampler{Temperature: 1}, nil, "no logits"},
		{Sampler{Temperature: -1}, []float32{0}, "temperature is -1"},
		{Sampler{Temperature: math.NaN()}, []float32{0}, "temperature is NaN"},
		{Sampler{Temperature: math.Inf(1)}, []float32{0}, "temperature is +Inf"},
		{Sampler{TopK: -1}, []float32{0}, "top_k is -1"},
		{Sampler{TopP: 1.5}, []float32{0}, "top_p is 1.5"},
		{Sampler{TopP: -0.1}, []float32{0}, "top_p is -0.1"},
		{Sampler{TopP: math.NaN()}, []float32{0}, "top_p is NaN"},
	} {
		if _, err := tt.sampler.Candidates(nil, tt.logits); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v.Candidates(%v): error %v, want one with %q", tt.sampler, tt.logits, err, tt.want)
		}
	}
}

func TestDraw(t *testing.T) {
	c := []Candidate{{7, 0.5}, {3, 0.25}, {9, 0.25}}
	for _, tt := range []struct {
		u    float64
		want int32
	}{{0, 7}, {0.499, 7}, {0.5, 3}, {0.749, 3}, {0.75, 9}, {math.Nextafter(1, 0), 9}, {1, 9}, {2, 9}, {-1, 7}, {math.NaN(), 9}} {
		if got := draw(c, tt.u); got.ID != tt.want {
			t.Errorf("draw(%v) = %d, want %d", tt.u, got.ID, tt.want)
		}
	}
	if got := draw([]Candidate{{7, 1}, {3, 0}}, 1); got.ID != 7 {
		t.Errorf("draw takes character %d of probability 0, want 7", got.ID)
	}
}

func TestDrawFollowsProbabilities(t *testing.T) {
	c := []Candidate{{0, 0.6}, {1, 0.3}, {2, 0.1}}
	rng, counts := stream(1, 0), [3]float64{}
	const n = 100_000
	for range n {
		counts[draw(c, rng.Float64()).ID]++
	}
	for i, x := range c {
		if got := counts[i] / n; math.Abs(got-x.Probability) > 0.01 {
			t.Errorf("character %d was drawn with frequency %v, want %v", i, got, x.Probability)
		}
	}
}

func FuzzCandidates(f *testing.F) {
	f.Add(float32(1), float32(-2), float32(0), 0.8, 2, 0.9, 0.5)
	f.Add(float32(math.Inf(-1)), float32(math.Inf(-1)), float32(0), 1e-300, 0, 1e-9, 1.0)
	f.Fuzz(func(t *testing.T, a, b, c float32, temperature float64, topK int, topP, u float64) {
		got, err := Sampler{temperature, topK, topP}.Candidates(nil, []float32{a, b, c})
		if err != nil {
			return
		}
		if len(got) == 0 {
			t.Fatal("no candidate left")
		}
		if x := draw(got, u); x.ID < 0 || x.ID > 2 || !(x.Probability >= 0 && x.Probability <= 1) {
			t.Fatalf("drew %+v from %v", x, got)
		}
	})
}

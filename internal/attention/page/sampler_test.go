package page

import (
	"fmt"
	"math"
	"testing"
)

// TestSampler runs web/sampler.js by itself: the edges that model/sample has too.
func TestSampler(t *testing.T) {
	p := newTab(t)
	call := func(expression string) []float64 {
		return read[[]float64](p, fmt.Sprintf("(() => { %s\n%s\nreturn Array.from(%s) })()", asset("numbers.js"), asset("sampler.js"), expression))
	}
	const probabilities = "new Float32Array([0.5, 0.25, 0.125, 0.125])"
	for expression, want := range map[string][]float64{
		"sharpen(P, 1)":    {0.5, 0.25, 0.125, 0.125},
		"sharpen(P, 0)":    {1, 0, 0, 0},
		"sharpen(P, 0.5)":  {0.25 / 0.34375, 0.0625 / 0.34375, 0.015625 / 0.34375, 0.015625 / 0.34375},
		"sharpen(P, 1e-3)": {1, 0, 0, 0},
		"sharpen(new Float32Array([0.2, 0.4, 0.4]), 0)": {0, 1, 0},
		"filter(P, 0, 1)":                                 {0.5, 0.25, 0.125, 0.125},
		"filter(P, 2, 1)":                                 {2. / 3, 1. / 3, 0, 0},
		"filter(P, 3, 1)":                                 {0.5 / 0.875, 0.25 / 0.875, 0.125 / 0.875, 0}, // of equals, the first
		"filter(P, 9, 1)":                                 {0.5, 0.25, 0.125, 0.125},
		"filter(P, 0, 0.01)":                              {1, 0, 0, 0},
		"filter(P, 0, 0.5)":                               {1, 0, 0, 0},
		"filter(P, 0, 0.6)":                               {2. / 3, 1. / 3, 0, 0},
		"filter(P, 2, 0.6)":                               {1, 0, 0, 0}, // top-p counts what top-k left: 0.6 of 0.75
		"[pick(P, 0), pick(P, 0.49), pick(P, 0.5)]":       {0, 0, 1},
		"[pick(P, 0.875), pick(P, 0.99999)]":              {3, 3},
		"[pick(new Float32Array([0, 1, 0]), 0.9999999)]":  {1},
		"(r => [r(), r()])(generator(1)).map(x => x < 1)": {1, 1},
	} {
		got := call(fmt.Sprintf("(P => %s)(%s)", expression, probabilities) + ".map(Number)")
		if len(got) != len(want) {
			t.Errorf("%s has %d numbers, want %d", expression, len(got), len(want))
			continue
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Errorf("%s is %v, want %v", expression, got, want)
				break
			}
		}
	}
	const draw = "(r => Array.from({length: 1000}, r))(generator(%d))"
	a, b := call(fmt.Sprintf(draw, 7)), call(fmt.Sprintf(draw, 8))
	mean := 0.0
	for i, x := range a {
		mean += x / 1000
		if x < 0 || x >= 1 || x == b[i] {
			t.Fatalf("number %d of the generator is %v, of another seed %v", i, x, b[i])
		}
	}
	if mean < 0.46 || mean > 0.54 {
		t.Errorf("the generator's mean is %v", mean)
	}
}

package sample

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// alphabet is a model of the letters: after a comes b, after z comes a.
type alphabet struct{ fed [][]int32 }

func (m *alphabet) Next(tokens []int32) ([]float32, error) {
	m.fed = append(m.fed, append([]int32{}, tokens...))
	logits := make([]float32, 26*len(tokens))
	for i, id := range tokens {
		logits[26*i+int(id+1)%26] = 5
	}
	return logits, nil
}

func letter(id int32) string { return string(rune('a' + id)) }

// collect runs Generate and returns the text of each sample.
func collect(t *testing.T, p Predictor, batch, first int, prompt []int32, o Options) []string {
	t.Helper()
	texts, done := make([]string, batch), make([]bool, batch)
	err := Generate(context.Background(), p, batch, first, prompt, letter, o, func(e Event) error {
		if done[e.Sample-first] {
			t.Errorf("sample %d goes on after its end", e.Sample)
		}
		texts[e.Sample-first] += e.Text
		done[e.Sample-first] = e.Done
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range done {
		if !d {
			t.Errorf("sample %d has no end", first+i)
		}
	}
	return texts
}

func TestGenerateGreedy(t *testing.T) {
	m := &alphabet{}
	if got := collect(t, m, 1, 0, []int32{0, 23}, Options{MaxNewTokens: 5}); got[0] != "yzabc" {
		t.Errorf("greedy continuation of ax = %q, want yzabc", got[0])
	}
	if got, want := fmt.Sprint(m.fed), "[[0] [23] [24] [25] [0] [1]]"; got != want {
		t.Errorf("the model was fed %s, want %s (the last character is not needed)", got, want)
	}
}

func TestGenerateStop(t *testing.T) {
	for _, tt := range []struct {
		stop []string
		want string
	}{
		{nil, "bcdefg"}, {[]string{"de"}, "bc"}, {[]string{"b"}, ""}, {[]string{"xy"}, "bcdefg"},
		{[]string{"fgh"}, "bcdefg"}, {[]string{"e", "de"}, "bc"}, {[]string{"cdx", "f"}, "bcde"},
	} {
		if got := collect(t, &alphabet{}, 1, 0, []int32{0}, Options{MaxNewTokens: 6, Stop: tt.stop}); got[0] != tt.want {
			t.Errorf("stop at %q: %q, want %q", tt.stop, got[0], tt.want)
		}
	}
}

func TestGenerateNothing(t *testing.T) {
	if got := collect(t, &alphabet{}, 2, 0, []int32{0}, Options{}); got[0] != "" || got[1] != "" {
		t.Errorf("0 new characters: %q, want nothing", got)
	}
}

// Sample i is a function of (seed, i), whatever the batch it is drawn in.
func TestGenerateSampleDependsOnSeedAndNumber(t *testing.T) {
	o := Options{Sampler: Sampler{Temperature: 2}, MaxNewTokens: 40, Seed: 9}
	together := collect(t, &alphabet{}, 5, 0, []int32{3}, o)
	for i, want := range together {
		if got := collect(t, &alphabet{}, 1, i, []int32{3}, o); got[0] != want {
			t.Errorf("sample %d alone is %q, in a batch %q", i, got[0], want)
		}
	}
	if together[0] == together[1] {
		t.Errorf("samples 0 and 1 are the same: %q", together[0])
	}
}

func TestGenerateErrors(t *testing.T) {
	emit := func(Event) error { return nil }
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("signal"))
	boom := errors.New("pipe closed")
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		prompt []int32
		o      Options
		emit   func(Event) error
		want   string
	}{
		{"no prompt", context.Background(), nil, Options{MaxNewTokens: 1}, emit, "prompt of 0"},
		{"negative length", context.Background(), []int32{0}, Options{MaxNewTokens: -1}, emit, "max_new_tokens"},
		{"empty stop", context.Background(), []int32{0}, Options{Stop: []string{""}}, emit, "stop is empty"},
		{"cancelled", ctx, []int32{0}, Options{MaxNewTokens: 1}, emit, "signal"},
		{"closed output", context.Background(), []int32{0}, Options{MaxNewTokens: 1}, func(Event) error { return boom }, "pipe closed"},
	} {
		err := Generate(tt.ctx, &alphabet{}, 1, 0, tt.prompt, letter, tt.o, tt.emit)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

func ExampleGenerate() {
	o := Options{MaxNewTokens: 10, Stop: []string{"h"}} // the zero Sampler is greedy
	err := Generate(context.Background(), &alphabet{}, 1, 0, []int32{2}, letter, o, func(e Event) error {
		fmt.Print(e.Text)
		return nil
	})
	fmt.Println(err)
	// Output: defg<nil>
}

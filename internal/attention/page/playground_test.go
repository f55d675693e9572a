package page

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"chargpt/data"
	"chargpt/internal/attention"
	"chargpt/internal/trace"
	"chargpt/model"
	"chargpt/model/train"
)

// fresh is a playground of a model with random weights, large enough for attention and distributions to have shape.
func fresh(t *testing.T, c model.Config) Playground {
	t.Helper()
	text, err := data.Read(strings.NewReader(sonnet))
	if err != nil {
		t.Fatal(err)
	}
	c.VocabSize = text.Tokenizer.Size()
	m, err := model.New(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range m.Parameters() {
		for j := range p.Data {
			if len(p.Shape) == 2 {
				p.Data[j] *= 4
			} else {
				p.Data[j] += float32(math.Sin(float64(i+j))) / 4 // biases and gains that count
			}
		}
	}
	return Playground{Model: m, Vocab: text.Tokenizer.Vocab(), Bigram: data.CountBigrams(text.Tokens, c.VocabSize),
		Name: "demo", Step: 2000, Prompt: sonnet[:5]}
}

// playground opens a page with a model in it, from disk.
func (p *tab) playground(g Playground) {
	p.t.Helper()
	p.open(func(f *os.File) error { return WritePlayground(f, g) })
}

// await evaluates the promise of an expression in the page.
func await[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T]("(async () => { "+expression+" })()", chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// ownSource gives the test a source of the page's model, as the page itself has one.
func (p *tab) ownSource() {
	p.t.Helper()
	const start = `window.source = makeSource(JSON.parse(document.getElementById("data").textContent)); await source.open(); return true`
	files := ""
	for _, name := range []string{"codec.js", "numbers.js", "source.js", "playground.js"} {
		files += asset(name)
	}
	await[bool](p, files+start)
}

// view is what a test reads of a page's Trace.
type view struct {
	Next, Bigram  []float64
	Dropped       int
	Weights, Q, V []float64 // of the last layer's last head
}

func (p *tab) forward(tokens []int32) view {
	p.t.Helper()
	ids, _ := json.Marshal(tokens)
	return await[view](p, fmt.Sprintf(`const t = await source.forward(Int32Array.from(%s));
		const {weights, q, v} = t.heads.at(-1)?.at(-1) ?? {weights: [], q: [], v: []};
		return {Next: [...t.next], Bigram: [...t.bigram], Dropped: t.dropped, Weights: [...weights], Q: [...q], V: [...v]}`, ids))
}

// variants are all presets with both kinds of positions, and what else the trainer can train.
func variants() map[string]model.Config {
	all := map[string]model.Config{}
	for _, p := range train.Presets() {
		for _, position := range []string{model.PositionLearned, model.PositionRope} {
			c := p.Config
			c.Position = position
			all[p.Name+"/"+position] = c
		}
	}
	base := model.Config{BlockSize: 24, NLayer: 2, NHead: 3, NEmbd: 12, Position: model.PositionLearned}
	for name, change := range map[string]func(*model.Config){
		"bias":            func(c *model.Config) { c.Bias, c.Tied = true, true },
		"untied":          func(c *model.Config) { c.Bias = true },
		"odd head size":   func(c *model.Config) { c.HeadSize, c.Bias = 5, true },
		"wide heads":      func(c *model.Config) { c.HeadSize, c.Position, c.NEmbd = 10, model.PositionRope, 7 },
		"attention only":  func(c *model.Config) { c.AttnOnly, c.Bias = true, true },
		"no layer":        func(c *model.Config) { c.NLayer, c.Tied = 0, true },
		"window of one":   func(c *model.Config) { c.BlockSize = 1 },
		"one channel":     func(c *model.Config) { c.NEmbd, c.NHead, c.Bias = 1, 1, true },
		"one layer, MLP":  func(c *model.Config) { c.NLayer = 1 },
		"rope, untied":    func(c *model.Config) { c.Position, c.HeadSize = model.PositionRope, 4 },
		"window of chunk": func(c *model.Config) { c.BlockSize = 16 },
	} {
		c := base
		change(&c)
		all[name] = c
	}
	return all
}

// TestPlaygroundAgrees compares page and package model: the same prompt, inside the window (whole, then longer by one
// character and changed in the middle, for the cached keys and values) and past it.
func TestPlaygroundAgrees(t *testing.T) {
	p := newTab(t)
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			g := fresh(t, c)
			p.playground(g)
			p.ownSource()
			tracer, err := trace.New(g.Model, g.Vocab, g.Bigram)
			if err != nil {
				t.Fatal(err)
			}
			defer tracer.Close()
			for i, tokens := range prompts(g) {
				want, err := tracer.Forward(t.Context(), tokens)
				if err != nil {
					t.Fatal(err)
				}
				compareViews(t, fmt.Sprintf("prompt %d, %d tokens", i, len(tokens)), p.forward(tokens), want)
			}
		})
	}
	p.quiet("file://", "blob:")
}

// prompts are asked for one after the other; a large model gets the few that matter most.
func prompts(g Playground) [][]int32 {
	block := g.Model.Config.BlockSize
	past := prompt(g, block+1)
	if g.parameters() > 5e6 {
		return [][]int32{prompt(g, 40), prompt(g, 41), past}
	}
	inside, longer := prompt(g, max(1, block-2)), prompt(g, max(1, block-1))
	changed := slices.Clone(inside)
	changed[len(changed)/2] = (changed[len(changed)/2] + 1) % int32(len(g.Vocab))
	return [][]int32{inside, longer, changed, changed[:1], prompt(g, block), past, prompt(g, block+9)}
}

// prompt is n tokens that do not repeat themselves.
func prompt(g Playground, n int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32((i*i/3 + 7*i) % len(g.Vocab))
	}
	return tokens
}

func compareViews(t *testing.T, what string, got view, want *attention.Trace) {
	t.Helper()
	near(t, what+": next", got.Next, doubles(want.Next), 2e-3)
	near(t, what+": Markov chain", got.Bigram, want.Bigram, 1e-6)
	if got.Dropped != want.Dropped {
		t.Errorf("%s: %d dropped, want %d", what, got.Dropped, want.Dropped)
	}
	if len(want.Heads) == 0 {
		return
	}
	layer := want.Heads[len(want.Heads)-1]
	head, n := layer[len(layer)-1], len(want.Tokens)
	var triangle []float32
	for i := range n {
		triangle = append(triangle, head.Weights[i*n:i*n+i+1]...)
	}
	near(t, what+": weights", got.Weights, doubles(triangle), 4e-3)
	near(t, what+": q", got.Q, doubles(head.Q), 0.02)
	near(t, what+": v", got.V, doubles(head.V), 0.02)
}

func doubles(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = float64(x)
	}
	return out
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	worst, at := 0.0, 0
	for i := range got {
		if d := math.Abs(got[i] - want[i]); !(d <= worst) {
			worst, at = d, i
		}
	}
	if !(worst <= tolerance) {
		t.Errorf("%s: number %d is %v, want %v ± %v", what, at, got[at], want[at], tolerance)
	}
}

package page

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

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
	p.watchWorker()
}

// source leads to an empty page that has a model's source and no views, which would cost most of the time.
func (p *tab) source(g Playground) {
	p.t.Helper()
	data, err := json.Marshal(g.data())
	if err != nil {
		p.t.Fatal(err)
	}
	files := ""
	for _, name := range []string{"codec.js", "numbers.js", "source.js", "playground.js"} {
		files += asset(name)
	}
	p.do(chromedp.Navigate("about:blank"))
	await[bool](p, fmt.Sprintf("%s\nwindow.source = makeSource(%s); await source.open(); return true", files, data))
	p.watchWorker()
}

// view is what a test reads of a page's Trace; numbers are float32, little-endian.
type view struct {
	Next, Bigram []byte
	Dropped      int
	Heads        [][]struct{ Weights, Q, K, V []byte } // [layer][head]
}

func (p *tab) forward(tokens []int32) view {
	p.t.Helper()
	ids, _ := json.Marshal(tokens)
	return await[view](p, fmt.Sprintf(`const t = await source.forward(Int32Array.from(%s));
		const packed = (a) => new Uint8Array(a.buffer, a.byteOffset, a.byteLength).toBase64();
		const head = ({weights, q, k, v}) => ({Weights: packed(weights), Q: packed(q), K: packed(k), V: packed(v)});
		return {Next: packed(t.next), Bigram: packed(t.bigram), Dropped: t.dropped, Heads: t.heads.map((layer) => layer.map(head))}`, ids))
}

// unpacked is the numbers of a view.
func unpacked(packed []byte) []float64 {
	out := make([]float64, len(packed)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:])))
	}
	return out
}

// variants are all presets with both kinds of positions (baby in CI and with its own only: elsewhere TestPlaygroundBaby has
// to do), and what else the trainer can train.
func variants() map[string]model.Config {
	all := map[string]model.Config{}
	for _, p := range train.Presets() {
		for _, position := range []string{model.PositionLearned, model.PositionRope} {
			if p.Name == "baby" && (position == model.PositionRope || os.Getenv("CI") == "") {
				continue // many parameters take long, and the other presets have these positions
			}
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
	t.Parallel()
	p := newTab(t)
	for name, c := range variants() {
		t.Run(name, func(t *testing.T) {
			g := fresh(t, c)
			p.source(g)
			forward := tracerOf(t, g)
			for i, tokens := range prompts(g) {
				compareViews(t, fmt.Sprintf("prompt %d, %d tokens", i, len(tokens)), p.forward(tokens), forward(tokens))
			}
		})
	}
	p.quiet()
}

// tracerOf is the forward pass of package model.
func tracerOf(t *testing.T, g Playground) func(tokens []int32) *attention.Trace {
	t.Helper()
	tracer, err := trace.New(g.Model, g.Vocab, g.Bigram)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tracer.Close() })
	return func(tokens []int32) *attention.Trace {
		t.Helper()
		made, err := tracer.Forward(t.Context(), tokens)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

// TestPlaygroundAgreesWhenTrained is TestPlaygroundAgrees for models that have learned: of what they are sure of, 2e-3 is
// little.
func TestPlaygroundAgreesWhenTrained(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	for _, g := range []Playground{learned(t), learnedRope(t)} {
		p.source(g)
		forward, block := tracerOf(t, g), g.Model.Config.BlockSize
		text := encoded(t, g, data.Plays())
		for _, n := range []int{block - 1, block, block + 1, block + 9} {
			surest := 0.0
			for from := range 6 {
				tokens := text[17*from:][:n]
				want := forward(tokens)
				compareViews(t, fmt.Sprintf("%s positions, %d tokens from %d", g.Model.Config.Position, n, 17*from), p.forward(tokens), want)
				surest = max(surest, largest(want.Next))
			}
			if surest < 0.3 {
				t.Errorf("%s positions, %d tokens: no prediction is over %.2f, want one over 0.3", g.Model.Config.Position, n, surest)
			}
		}
	}
	p.quiet()
}

// encoded is a text in a model's ids.
func encoded(t *testing.T, g Playground, text string) []int32 {
	t.Helper()
	tokenizer, err := data.NewTokenizerFromVocab(g.Vocab)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := tokenizer.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// prompts are asked for one after the other; a large model gets the few that matter most.
func prompts(g Playground) [][]int32 {
	block := g.Model.Config.BlockSize
	past := prompt(g, block+1)
	if g.Model.NumParameters() > 5e6 {
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
	near(t, what+": next", unpacked(got.Next), doubles(want.Next), 2e-3)
	near(t, what+": Markov chain", unpacked(got.Bigram), want.Bigram, 1e-6)
	if got.Dropped != want.Dropped {
		t.Errorf("%s: %d dropped, want %d", what, got.Dropped, want.Dropped)
	}
	if len(got.Heads) != len(want.Heads) {
		t.Fatalf("%s: %d layers, want %d", what, len(got.Heads), len(want.Heads))
	}
	n := len(want.Tokens)
	for l, layer := range want.Heads {
		for h, head := range layer {
			what, seen := fmt.Sprintf("%s: layer %d head %d", what, l, h), got.Heads[l][h]
			near(t, what+": q", unpacked(seen.Q), doubles(head.Q), 0.02)
			near(t, what+": k", unpacked(seen.K), doubles(head.K), 0.02)
			near(t, what+": v", unpacked(seen.V), doubles(head.V), 0.02)
			nearRows(t, what+": weights", unpacked(seen.Weights), head.Weights, n)
		}
	}
}

// nearRows compares the lower triangle of weights (T, T): by what part of its row's largest a weight may be off.
func nearRows(t *testing.T, what string, got []float64, want []float32, n int) {
	t.Helper()
	if len(got) != n*(n+1)/2 {
		t.Errorf("%s: %d numbers, want %d", what, len(got), n*(n+1)/2)
		return
	}
	for i := range n {
		row := want[i*n : i*n+i+1]
		near(t, fmt.Sprintf("%s: row %d", what, i), got[i*(i+1)/2:][:i+1], doubles(row), 0.02*largest(row))
	}
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

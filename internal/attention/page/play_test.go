package page

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"chargpt/data"
	"chargpt/internal/attention"
	"chargpt/model"
	"chargpt/model/sample"
	"chargpt/model/train"
)

// trained is a model of the tiny preset after 200 iterations; the tests share it.
var trained = sync.OnceValues(func() (Playground, error) {
	text, err := data.Read(strings.NewReader(data.Plays()))
	if err != nil {
		return Playground{}, err
	}
	preset, _ := train.FindPreset("tiny")
	preset.MaxIters, preset.EvalInterval = 200, 200
	t, err := train.New(text, preset.Config, preset.Options, train.Run{})
	if err != nil {
		return Playground{}, err
	}
	defer t.Close()
	if err := t.Run(context.Background()); err != nil {
		return Playground{}, err
	}
	return Playground{Model: t.Model, Vocab: text.Tokenizer.Vocab(), Bigram: data.CountBigrams(text.Tokens, text.Tokenizer.Size()),
		Name: "plays/best.safetensors", Step: 200, Prompt: "MIRA: The sea"}, nil
})

func learned(t *testing.T) Playground {
	t.Helper()
	g, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const (
	promptText = `document.querySelector("#prompt").value`
	barsShown  = `[...document.querySelectorAll("#bars .next")].map(n => ({Key: +n.dataset.id, Weight: +n.dataset.model}))`
)

// press clicks an element and does not wait for the page to come to rest: while it samples, it does not.
func (p *tab) press(selector string) {
	p.t.Helper()
	b := p.box(selector)
	p.do(chromedp.MouseClickXY(b.X+b.Width/2, b.Y+b.Height/2))
}

// margins is a Predictor that notes by how much the likeliest character leads.
type margins struct {
	sample.Predictor
	leads []float32
}

func (m *margins) Next(tokens []int32) ([]float32, error) {
	logits, err := m.Predictor.Next(tokens)
	first, second := float32(math.Inf(-1)), float32(math.Inf(-1))
	for _, l := range logits {
		first, second = max(first, l), max(second, min(first, l))
	}
	m.leads = append(m.leads, first-second)
	return logits, err
}

// greedy is the likeliest text of n characters after a prompt, as cmd/sample has it, as far as the choice is clear:
// float16 weights may choose otherwise where two logits are within 0.02.
func greedy(t *testing.T, g Playground, prompt string, n int) string {
	t.Helper()
	tokenizer, err := data.NewTokenizerFromVocab(g.Vocab)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := tokenizer.Encode(prompt)
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := g.Model.NewDecoder(1)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	m, text := margins{Predictor: decoder}, ""
	err = sample.Generate(t.Context(), &m, 1, 0, tokens, tokenizer.Char, sample.Options{MaxNewTokens: n}, func(e sample.Event) error {
		text += e.Text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, lead := range m.leads[len(tokens)-1:] {
		if lead < 0.02 {
			return string([]rune(text)[:i])
		}
	}
	return text
}

// TestPlaygroundGreedy presses Run at temperature 0, and reads the text inside the window and past it.
func TestPlaygroundGreedy(t *testing.T) {
	g, p := learned(t), newTab(t)
	p.playground(g)
	p.slide("#temperature", "0")
	block, past := g.Model.Config.BlockSize, 0
	for _, prompt := range []string{"MIRA:", "The ", "PELL: I would not"} {
		want := prompt + greedy(t, g, prompt, block+16)
		p.slide("#prompt", prompt)
		p.press("#run")
		p.until(fmt.Sprintf(promptText+".length >= %d", len(want)))
		p.click("#stop")
		if got := read[string](p, promptText); !strings.HasPrefix(got, want) {
			t.Errorf("the page continues %q, want %q", got, want)
		}
		past += max(0, len(want)-block)
	}
	if past == 0 {
		t.Error("no text was compared past the window")
	}
	p.quiet("file://", "blob:")
}

// TestPlaygroundShows looks at the views of a prompt: what -http shows is here too.
func TestPlaygroundShows(t *testing.T) {
	g, p := learned(t), newTab(t)
	p.dark(false)
	p.playground(g)
	p.screenshot("playground-light")
	if got, want := read[string](p, tokensShown), "MIRA:␣The␣sea"; got != want {
		t.Errorf("the page begins with %q, want %q", got, want)
	}
	for _, want := range []string{"plays/best.safetensors", "step 200", "4 layers × 4 heads of 16", "window 32", "203,200 parameters"} {
		if got := read[string](p, `document.querySelector("#facts").textContent`); !strings.Contains(got, want) {
			t.Errorf("the header %q lacks %q", got, want)
		}
	}
	if got := read[int](p, `document.querySelectorAll("#grid .cell").length`); got != 16 {
		t.Errorf("%d heads, want 16", got)
	}
	p.click(token(7))
	if got := len(p.lines()); got != 8 {
		t.Errorf("query 7 has %d lines, want 8", got)
	}
	if got := read[string](p, `document.querySelector("#steps-intro").textContent`); !strings.Contains(got, "at position 7 of layer 0 head 0") {
		t.Errorf("the steps are of %q", got)
	}
	if !read[bool](p, `document.querySelector("#rounding").hidden`) {
		t.Error("the page says that its numbers are rounded")
	}
	p.slide("#other", "PELL: a sea")
	p.until(`document.querySelector("#compare-intro").textContent.includes("the same 4 characters")`)
	p.dark(true)
	p.press("#run")
	p.until(promptText + ".length >= 60")
	read[bool](p, `(document.querySelector("#other").value = "PELL: the",
		document.querySelector("#other").dispatchEvent(new Event("input")), true)`) // another prompt's request, amid the guesses
	p.until(`document.querySelector("#compare-texts").textContent.includes("PELL:␣the")`)
	p.until(promptText + ".length >= 100")
	p.click("#stop")
	p.screenshot("playground-dark")
	for _, bad := range read[[]string](p, contrastScript) {
		t.Errorf("unreadable: %s", bad)
	}
	if got := read[string](p, `document.querySelector("#window").textContent`); !strings.Contains(got, "32 of 32") || !strings.Contains(got, "left out") {
		t.Errorf("past the window the page says %q", got)
	}
	p.quiet("file://", "blob:")
}

// TestPlaygroundSeed: a seed gives the same text again, at any temperature; another one another.
func TestPlaygroundSeed(t *testing.T) {
	g, p := learned(t), newTab(t)
	p.playground(g)
	p.slide("#temperature", "0.8")
	p.slide("#top-p", "0.95")
	run := func(seed string) string {
		p.slide("#seed", seed)
		p.slide("#prompt", "MIRA:")
		p.until(tokensShown + ` === "MIRA:"`)
		p.press("#run")
		p.until(promptText + ".length >= 50")
		p.click("#stop")
		return read[string](p, promptText)[:50]
	}
	first, other, again := run("3"), run("4"), run("3") // the worker guesses ahead of what Run asks
	p.slide("#seed", "3")
	p.slide("#prompt", "MIRA:")
	for i := range 8 {
		p.click("#step") // nothing to guess here
		p.until(fmt.Sprintf(promptText+".length === %d", 6+i))
	}
	if got := read[string](p, promptText); got != first[:13] {
		t.Errorf("step by step seed 3 gave %q, want %q", got, first[:13])
	}
	if first != again {
		t.Errorf("seed 3 gave %q and then %q", first, again)
	}
	if first == other {
		t.Errorf("seeds 3 and 4 both gave %q", first)
	}
	p.quiet("file://", "blob:")
}

// TestPlaygroundKeyboard uses no mouse: Tab to a button, Enter, Enter again to stop, and type on.
func TestPlaygroundKeyboard(t *testing.T) {
	p := newTab(t)
	p.playground(learned(t))
	reach := func(id string) {
		t.Helper()
		for range 12 {
			p.keys(kb.Tab)
			if read[string](p, `document.activeElement.id`) == id {
				return
			}
		}
		t.Fatalf("Tab does not lead to %s", id)
	}
	reach("prompt")
	p.keys(kb.End + "!")
	p.until(tokensShown + `.endsWith("sea!")`)
	reach("step")
	p.keys(kb.Enter)
	p.until(promptText + ".length === 15")
	reach("run")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until(promptText + ".length > 40")
	if got := read[string](p, `document.activeElement.id`); got != "stop" {
		t.Errorf("while it runs the focus is on %q, want stop", got)
	}
	p.keys(kb.Enter)
	p.until(`!document.querySelector("#run").disabled`)
	if got := read[string](p, `document.activeElement.id`); got != "run" {
		t.Errorf("after it stopped the focus is on %q, want run", got)
	}
	p.quiet("file://", "blob:")
}

func TestPlaygroundPhone(t *testing.T) {
	p := newTab(t)
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	p.playground(learned(t))
	p.do(chromedp.Tap(chromedp.CSS("#run")))
	p.until(promptText + ".length > 60")
	p.do(chromedp.Tap(chromedp.CSS("#stop")))
	p.painted()
	p.screenshot("playground-phone")
	if got := read[int](p, `document.documentElement.scrollWidth`); got > 360 {
		t.Errorf("the page is %d pixels wide in a window of 360", got)
	}
	p.quiet("file://", "blob:")
}

// TestPlaygroundCharacters types and pastes what HTML, JavaScript and fonts stumble over.
func TestPlaygroundCharacters(t *testing.T) {
	text, err := data.Read(strings.NewReader("<b>&amp;\"'`\\\n\t </script><!-- \U0001F642 e\u0301 日 $" + "{x}"))
	if err != nil {
		t.Fatal(err)
	}
	g := fresh(t, model.Config{BlockSize: 64, NLayer: 1, NHead: 2, NEmbd: 8, Tied: true})
	if g.Model, err = model.New(model.Config{VocabSize: text.Tokenizer.Size(), BlockSize: 64, NLayer: 1, NHead: 2, NEmbd: 8}, 1); err != nil {
		t.Fatal(err)
	}
	g.Vocab, g.Bigram = text.Tokenizer.Vocab(), nil
	g.Name, g.Prompt = `</title><script>alert("x")</script>`, "</script><!--"
	p := newTab(t)
	p.playground(g)
	shown := func(want string) {
		t.Helper()
		p.until(fmt.Sprintf(tokensShown+" === %q", want))
	}
	shown("</script><!--")
	p.slide("#prompt", "")
	read[bool](p, `(document.querySelector("#prompt").focus(), true)`)
	p.keys(`<b>&"'`)
	p.keys(kb.Enter)
	p.insert("\U0001F642e\u0301日")
	shown(`<b>&"'⏎` + "\U0001F642e◌\u0301日")
	p.screenshot("playground-characters")
	p.insert("Zß\u0308\u200d!")
	shown(`<b>&"'⏎` + "\U0001F642e◌\u0301日!")
	message := read[string](p, `document.querySelector("#message").textContent`)
	for _, want := range []string{"“Z” (U+005A)", "“ß” (U+00DF)", "(U+0308)", "(U+200D)"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message %q lacks %s", message, want)
		}
	}
	for _, bar := range read[[]line](p, barsShown) {
		if label := read[string](p, fmt.Sprintf(`document.querySelector('#bars .next[data-id="%d"] .char').textContent`, bar.Key)); label != attention.Label(g.Vocab[bar.Key]) {
			t.Errorf("the bar of %q shows %q", g.Vocab[bar.Key], label)
		}
	}
	p.quiet("file://", "blob:")
}

// insert gives the focused element a text as a paste or an input method does.
func (p *tab) insert(text string) {
	p.t.Helper()
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return chromedp.Void{}, err
	})
	p.painted()
}

// TestPlaygroundBaby opens a model of 10 million parameters and samples from it.
func TestPlaygroundBaby(t *testing.T) {
	preset, _ := train.FindPreset("baby")
	g, p := fresh(t, preset.Config), newTab(t)
	p.playground(g)
	p.press("#run")
	p.until(promptText + ".length >= 20")
	p.click("#stop")
	p.quiet("file://", "blob:")
}

// TestPlaygroundRate measures the default model. The window is short, so that sampling soon leaves it: the best of a few
// rounds through the window counts.
func TestPlaygroundRate(t *testing.T) {
	preset, _ := train.FindPreset(train.DefaultPreset)
	g, p := fresh(t, preset.Config), newTab(t)
	p.playground(g)
	p.ownSource()
	rates := await[struct{ Inside, Past float64 }](p, `
		const block = source.config.block_size;
		const next = async (tokens) => Int32Array.of(...tokens, (await source.forward(tokens)).next.length % 7);
		const rate = async (tokens, n) => {
			const begin = performance.now();
			for (let i = 0; i < n; i++) tokens = await next(tokens);
			return 1000 * n / (performance.now() - begin);
		};
		let [Inside, Past] = [0, 0];
		for (let round = 0; round < 20 && (round < 4 || Inside < 300); round++) {
			Inside = Math.max(Inside, await rate(Int32Array.of(round), block));
			Past = Math.max(Past, await rate(Int32Array.from({length: block}, (_, i) => (i * i + round) % 20), 5));
		}
		return {Inside, Past}`)
	t.Logf("%.0f characters/s inside the window, %.0f past it", rates.Inside, rates.Past)
	if rates.Inside < 300 {
		t.Errorf("%.0f characters/s, want 300", rates.Inside)
	}
}

package page

import (
	"context"
	"fmt"
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
	"chargpt/model/train"
)

// The models that the tests share are of the tiny preset, after 200 iterations.
var (
	trained     = sync.OnceValues(func() (Playground, error) { return trainedWith(model.PositionLearned) })
	trainedRope = sync.OnceValues(func() (Playground, error) { return trainedWith(model.PositionRope) })
)

func trainedWith(position string) (Playground, error) {
	text, err := data.Read(strings.NewReader(data.Plays()))
	if err != nil {
		return Playground{}, err
	}
	preset, _ := train.FindPreset("tiny")
	preset.Config.Position = position
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
}

func learned(t *testing.T) Playground {
	t.Helper()
	return must(t, trained)
}

func learnedRope(t *testing.T) Playground {
	t.Helper()
	return must(t, trainedRope)
}

func must(t *testing.T, model func() (Playground, error)) Playground {
	t.Helper()
	g, err := model()
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

// TestPlaygroundShows looks at the views of a prompt: what -http shows is here too.
func TestPlaygroundShows(t *testing.T) {
	g, p := learned(t), newTab(t)
	p.dark(false)
	p.playground(g)
	p.screenshot("playground-light")
	next := tracerOf(t, g)(encoded(t, g, g.Prompt)).Next
	if bars := read[[]line](p, barsShown); len(bars) != 10 {
		t.Errorf("%d bars, want 10", len(bars))
	} else {
		for _, bar := range bars {
			near(t, fmt.Sprintf("the bar of %q", g.Vocab[bar.Key]), []float64{bar.Weight}, doubles(next[bar.Key:][:1]), 2e-3)
		}
	}
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
	light := read[string](p, background)
	p.dark(true)
	if dark := read[string](p, background); dark == light {
		t.Errorf("the page is %s in light and in dark", light)
	}
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
	p.quiet()
}

// TestPlaygroundSeed: a seed gives the same text again, at any temperature; another one another.
func TestPlaygroundSeed(t *testing.T) {
	t.Parallel()
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
	p.quiet()
}

// TestPlaygroundKeyboard uses no mouse: Tab leads to everything, Enter to Stop and back to Run.
func TestPlaygroundKeyboard(t *testing.T) {
	p := newTab(t)
	p.playground(learned(t))
	reach := func(selector string) {
		t.Helper()
		for range 60 {
			p.keys(kb.Tab)
			if read[bool](p, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
				return
			}
		}
		t.Fatalf("Tab does not lead to %s", selector)
	}
	reach("#prompt")
	p.keys(kb.End + "!")
	p.until(tokensShown + `.endsWith("sea!")`)
	reach("#step")
	p.keys(kb.Enter)
	p.until(promptText + ".length === 15")
	reach("#run")
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
	// From here on in the order of the page: what a key does, and how the page shows it.
	for _, c := range []struct{ element, keys, shown string }{
		{"#top-k", "3", uncut + " === 3"},
		{"#top-p", "0.001", `document.querySelector("#bars .next").dataset.model === "1"`},
		{"#seed", "7", `document.querySelector("#seed").value === "7"`},
		{"summary", kb.Enter, `document.querySelector("details").open`},
		{"#other", "the sea", `document.querySelector("#compare-texts").textContent.includes("the␣sea")`},
		{".cell", kb.ArrowRight + kb.ArrowDown, `document.querySelector("#head-title").textContent === "Layer 1 head 1"`},
		{"#temperature", kb.ArrowLeft, `document.querySelector("#temperature-now").textContent === "0.95"`},
		{".token", kb.ArrowLeft + kb.ArrowLeft + kb.Enter, `document.querySelector("#lock-state").textContent.includes("query 29 locked")`},
		{"#by-position", kb.Enter, `document.querySelector("#by-position").ariaPressed === "true"`},
		{".pick", kb.Enter, `document.querySelector("#keys tbody tr").className === "chosen"`},
	} {
		reach(c.element)
		p.keys(c.keys)
		p.until(c.shown)
	}
	p.quiet()
}

// TestPlaygroundPhone uses fingers, and the keyboard that a phone shows.
func TestPlaygroundPhone(t *testing.T) {
	p := newTab(t)
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	p.playground(learned(t))
	p.tap("#prompt")
	p.keys(kb.End + "!")
	p.until(tokensShown + `.endsWith("sea!")`)
	p.tap(token(3))
	p.painted()
	if got := len(p.lines()); got != 4 {
		t.Errorf("a tap on character 3 shows %d lines, want 4", got)
	}
	p.tap("#run")
	p.until(promptText + ".length > 60")
	p.tap("#stop")
	p.painted()
	p.screenshot("playground-phone")
	if got := read[int](p, `document.documentElement.scrollWidth`); got > 360 {
		t.Errorf("the page is %d pixels wide in a window of 360", got)
	}
	p.quiet()
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
	const lacking = "Zß\u0308\u200d!"
	p.paste("#prompt", lacking)
	shown(`<b>&"'⏎` + "\U0001F642e◌\u0301日!")
	read[bool](p, `(document.querySelector("details").open = true)`)
	p.paste("#other", lacking)
	for _, box := range []string{"#message", "#other-message"} {
		p.until(`!document.querySelector("` + box + `").hidden`)
		message := read[string](p, `document.querySelector("`+box+`").textContent`)
		for _, want := range []string{"“Z” (U+005A)", "“ß” (U+00DF)", "(U+0308)", "(U+200D)"} {
			if !strings.Contains(message, want) {
				t.Errorf("%s %q lacks %s", box, message, want)
			}
		}
	}
	p.slide("#other", "b")
	p.until(`document.querySelector("#other-message").hidden`)
	bars := read[[]line](p, barsShown)
	if len(bars) != 10 {
		t.Errorf("%d bars, want 10", len(bars))
	}
	for i, label := range read[[]string](p, `[...document.querySelectorAll("#bars .next > .char")].map((c) => c.textContent)`) {
		if char := g.Vocab[bars[i].Key]; label != attention.Label(char) {
			t.Errorf("the bar of %q shows %q, want %q", char, label, attention.Label(char))
		}
	}
	p.slide("#prompt", "<")
	p.slide("#temperature", "2")
	p.press("#run")
	p.until(fmt.Sprintf(`new Set(%s).size === %d`, promptText, len(g.Vocab))) // until every character was sampled
	p.click("#stop")
	p.until(`!document.querySelector("#run").disabled`)
	want, sampled := "", []rune(read[string](p, promptText))
	for _, r := range sampled[len(sampled)-64:] {
		want += attention.Label(string(r))
	}
	shown(want)
	p.quiet()
}

// paste gives a box a text by way of the clipboard.
func (p *tab) paste(selector, text string) {
	p.t.Helper()
	control := chromedp.KeyModifiers(chromedp.ModifierCtrl)
	read[bool](p, fmt.Sprintf(`((box) => (box.value = %q, document.body.append(box), box.select(), true))(document.createElement("textarea"))`, text))
	p.do(chromedp.KeyEvent("c", control))
	read[bool](p, fmt.Sprintf(`(document.body.lastElementChild.remove(), document.querySelector(%q).focus(), true)`, selector))
	p.do(chromedp.KeyEvent("v", control))
	p.painted()
}

// insert gives the focused element a text as an input method does.
func (p *tab) insert(text string) {
	p.t.Helper()
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return chromedp.Void{}, err
	})
	p.painted()
}

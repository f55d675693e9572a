package page

import (
	"fmt"
	"strings"
	"testing"

	"chargpt/internal/attention"
)

// The pictures lag behind the sampler, so what a reader does in the middle of Run meets a page that shows two states.

// agrees fails unless box, characters and bars show one and the same text.
func (p *tab) agrees(g Playground) {
	p.t.Helper()
	var labels strings.Builder
	text := []rune(read[string](p, promptText))
	for _, r := range text[max(0, len(text)-g.Model.Config.BlockSize):] {
		labels.WriteString(attention.Label(string(r)))
	}
	if got := read[string](p, tokensShown); got != labels.String() {
		p.t.Errorf("the characters on show are %q, want %q", got, labels.String())
	}
	next := tracerOf(p.t, g)(encoded(p.t, g, string(text[max(0, len(text)-g.Model.Config.BlockSize):]))).Next
	for _, bar := range read[[]line](p, barsShown) {
		near(p.t, fmt.Sprintf("the bar of %q", g.Vocab[bar.Key]), []float64{bar.Weight}, doubles(next[bar.Key:][:1]), 2e-3)
	}
}

// atEnd fails unless the box shows its end.
func (p *tab) atEnd() {
	p.t.Helper()
	if hidden := read[float64](p, `(({scrollHeight, scrollTop, clientHeight}) => scrollHeight - scrollTop - clientHeight)(document.querySelector("#prompt"))`); hidden > 2 {
		p.t.Errorf("the box hides its last %.0f pixels", hidden)
	}
}

// TestPlaygroundStop presses Stop, and Run in the same moment.
func TestPlaygroundStop(t *testing.T) {
	g, p := learned(t), newTab(t)
	p.playground(g)
	for _, length := range []int{40, 150} {
		p.press("#run")
		p.until(fmt.Sprintf(promptText+".length >= %d", length))
		p.click("#stop")
		p.agrees(g)
		p.atEnd()
	}
	before := read[int](p, `(document.querySelector("#run").click(), document.querySelector("#stop").click(), document.querySelector("#run").click(), `+promptText+`.length)`)
	p.until(fmt.Sprintf(promptText+".length >= %d", before+40))
	p.click("#stop")
	p.agrees(g)
	p.quiet()
}

// TestPlaygroundTypesWhileRunning types behind what the box shows, and points at characters that are no more.
func TestPlaygroundTypesWhileRunning(t *testing.T) {
	g, p := learned(t), newTab(t)
	p.playground(g)
	for i := range 3 {
		p.press("#run")
		p.until(fmt.Sprintf(promptText+".length >= %d", 60*(i+1)))
		want := read[string](p, `((box) => {
			box.value += "MIRA";
			box.dispatchEvent(new Event("input", {bubbles: true}));
			return box.value;
		})(document.querySelector("#prompt"))`)
		p.until(`!document.querySelector("#run").disabled`)
		p.until(tokensShown + `.endsWith("MIRA")`)
		if got := read[string](p, promptText); got != want {
			t.Errorf("the box has %q, want %q", got, want)
		}
		p.agrees(g)
	}
	p.slide("#prompt", "MIRA")
	p.until(tokensShown + ` === "MIRA"`)
	await[bool](p, `
		const keyed = (key) => document.querySelector("#tokens").dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
		document.querySelector("#run").click();
		while (document.querySelectorAll(".token").length < 32) {
			keyed("ArrowUp");
			await new Promise((resolve) => setTimeout(resolve, 1));
		}
		return true`)
	read[bool](p, `((box) => {
		box.value = "MI";
		box.dispatchEvent(new Event("input", {bubbles: true}));
		const point = () => {
			const last = [...document.querySelectorAll(".token")].at(-1);
			last.dispatchEvent(new PointerEvent("pointermove", {bubbles: true}));
			last.click();
			if (document.querySelectorAll(".token").length > 2) setTimeout(point, 1);
		};
		point();
		return true;
	})(document.querySelector("#prompt"))`)
	p.until(tokensShown + ` === "MI"`)
	p.painted()
	p.quiet()
}

package page

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"chargpt/model"
	"chargpt/model/train"
)

// TestPlaygroundRate measures the default model inside the window: 8 characters at a time, of which the least time of a
// few rounds counts, because a busy machine interrupts a whole round. Then it presses Run, which paints as well, and is to
// be as fast, or on a busy machine two fifths of what the model makes there, and to paint the text more often than the
// pictures. The rate past the window is reported.
func TestPlaygroundRate(t *testing.T) {
	preset, _ := train.FindPreset(train.DefaultPreset)
	g, p := fresh(t, preset.Config), newTab(t)
	p.source(g)
	rates := await[struct {
		Inside, Round, Past float64
		Rounds              int
	}](p, `
		const block = source.config.block_size;
		const least = new Array(block / 8).fill(Infinity); // milliseconds
		const next = async (tokens) => Int32Array.of(...tokens, (await source.forward(tokens)).next.length % 7);
		const timed = async (tokens, n) => {
			const begin = performance.now();
			for (let i = 0; i < n; i++) tokens = await next(tokens);
			return [tokens, performance.now() - begin];
		};
		const rate = (n, times) => 1000 * n / times.reduce((sum, time) => sum + time);
		const begin = performance.now();
		let [Inside, Round, Rounds] = [0, 0, 0];
		while (Rounds < 4 || (Inside < 300 && performance.now() - begin < 60000)) {
			let tokens = Int32Array.of(Rounds++ % 20);
			const times = [];
			for (let i = 0; i < least.length; i++) {
				[tokens, times[i]] = await timed(tokens, 8);
				least[i] = Math.min(least[i], times[i]);
			}
			Inside = rate(block, least);
			Round = Math.max(Round, rate(block, times));
		}
		const [, past] = await timed(Int32Array.from({length: block}, (_, i) => (i * i) % 20), 5);
		return {Inside, Round, Past: rate(5, [past]), Rounds}`)
	best, want := 0.0, min(300, 0.4*rates.Inside)
	var painted paints
	p.playground(g)
	p.countPaints()
	for begun := time.Now(); (best < want || painted.Text <= painted.Pictures) && time.Since(begun) < time.Minute; {
		p.slide("#prompt", g.Prompt)
		p.painted()
		read[bool](p, `(paints.Text = paints.Pictures = 0, true)`)
		p.press("#run")
		p.until(promptText + ".length >= 200")
		painted = read[paints](p, "paints")
		best = max(best, read[float64](p, `parseFloat(document.querySelector("#rate").textContent)`))
		p.click("#stop")
	}
	t.Logf("%.0f characters/s inside the window (the best of %d rounds %.0f), %.0f past it; Run, which paints: %.0f, %+v",
		rates.Inside, rates.Rounds, rates.Round, rates.Past, best, painted)
	if best < want {
		t.Errorf("Run makes %.0f characters/s, want %.0f", best, want)
	}
	if painted.Text <= painted.Pictures {
		t.Errorf("Run painted %+v, want the text more often: pictures, which take long, must not hold it up", painted)
	}
	if rates.Inside < 300 {
		t.Errorf("%.0f characters/s, want 300", rates.Inside)
	}
	p.quiet()
}

// paints is how often the page has painted.
type paints struct{ Text, Pictures int }

// countPaints has the page count its paints from now on, in its variable paints.
func (p *tab) countPaints() {
	p.t.Helper()
	read[bool](p, `(() => {
		window.paints = {Text: 0, Pictures: 0};
		for (const [name, place] of [["Text", "#rate"], ["Pictures", "#tokens"]]) {
			new MutationObserver(() => paints[name]++).observe(document.querySelector(place), {childList: true});
		}
		return true;
	})()`)
}

// TestWorkerGuessesAhead asks once, and never uses a guess: the worker makes no more than AHEAD.
func TestWorkerGuessesAhead(t *testing.T) {
	g, p := fresh(t, model.Config{BlockSize: 512, NLayer: 1, NHead: 1, NEmbd: 8}), newTab(t)
	data, err := json.Marshal(g.data())
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate("about:blank"))
	guesses := await[int](p, fmt.Sprintf(`
		const {program, network, model} = %s;
		const worker = new Worker(URL.createObjectURL(new Blob([program])));
		let [guesses, heard, error] = [0, Infinity, ""];
		worker.onmessage = ({data}) => {
			heard = performance.now();
			guesses += Boolean(data.guess);
			error ||= data.error;
		};
		worker.postMessage({network, config: model.config});
		worker.postMessage({id: 0, tokens: Int32Array.of(0), plan: {seed: 1, temperature: 1, topK: 0, topP: 1}});
		while (!error && (performance.now() - heard < 1000 || guesses === 0)) await new Promise((resolve) => setTimeout(resolve, 50));
		worker.terminate();
		if (error) throw new Error(error);
		return guesses`, data))
	t.Logf("%d guesses", guesses)
	if guesses > 256 {
		t.Errorf("the worker made %d guesses, want 256 at most", guesses)
	}
	p.quiet()
}

// TestPlaygroundBaby opens a model of 10 million parameters and samples from it: the page stays alive meanwhile.
func TestPlaygroundBaby(t *testing.T) {
	preset, _ := train.FindPreset("baby")
	g, p := fresh(t, preset.Config), newTab(t)
	p.playground(g)
	p.press("#run")
	p.until(promptText + ".length >= 20")
	p.click("#stop")
	p.slide("#prompt", sonnet[:256])
	p.until(`document.querySelectorAll(".token").length === 256`)
	ticks := await[int](p, `
		const tokens = document.querySelector("#tokens");
		const before = tokens.textContent;
		let ticks = 0;
		for (document.querySelector("#step").click(); tokens.textContent === before; ticks++) {
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		return ticks`)
	if ticks < 5 {
		t.Errorf("while the model worked, %d timers of 20 ms ran, want 5 at least", ticks)
	}
	p.quiet()
}

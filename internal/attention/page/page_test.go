package page

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"chargpt/internal/attention"
)

func small() *attention.Trace {
	return made{text: sonnet[:64], vocab: sonnet, layers: 4, heads: 4, headSize: 32, step: 2000}.trace()
}

func html(t *attention.Trace) func(*os.File) error {
	return func(f *os.File) error { return WriteHTML(f, t, View{}) }
}

// line is one line of the head view.
type line struct {
	Key    int
	Weight float64
}

func (p *tab) lines() []line {
	return read[[]line](p, `[...document.querySelectorAll("#lines .line")].map(l => ({Key: +l.dataset.key, Weight: +l.dataset.weight}))`)
}

func token(i int) string { return fmt.Sprintf(`.token[data-i="%d"]`, i) }

func TestPageOpensFromDisk(t *testing.T) {
	p := newTab(t)
	p.open(html(small()))
	p.screenshot("light")
	if got, want := read[int](p, `document.querySelectorAll("#grid .cell").length`), 16; got != want {
		t.Errorf("%d heads in the overview, want %d", got, want)
	}
	if got, want := read[string](p, `document.querySelectorAll("#grid .cell")[6].innerText.slice(0, 14).replace(/\s+/g, " ")`), "layer 1 head 2"; got != want {
		t.Errorf("the seventh head is %q, want %q", got, want)
	}
	p.quiet()
}

// TestHoverShowsEveryKey holds the page to its rule: query i has a line for each of its keys 0 to i, whatever the weight,
// and a shown weight is off by half a step of its row at most.
func TestHoverShowsEveryKey(t *testing.T) {
	p, trace := newTab(t), small()
	p.open(html(trace))
	n, weights := len(trace.Tokens), trace.Heads[1][3].Weights
	p.click(`.cell[data-layer="1"][data-head="3"]`)
	for _, i := range []int{0, 20, 41, n - 1} {
		p.hover(token(i))
		row := weights[i*n : i*n+i+1]
		if got := p.lines(); len(got) != i+1 {
			t.Errorf("query %d has %d lines, want %d", i, len(got), i+1)
		} else {
			for _, l := range got {
				checkWeight(t, l.Weight, row[l.Key], row, 65535)
			}
		}
	}
	p.click(token(41)) // locks, so that hovering others shows their weights
	for _, j := range []int{0, 7, 40, 41} {
		p.hover(token(j))
		row := weights[41*n : 41*n+42]
		checkWeight(t, read[float64](p, `+document.querySelector("#tip .exact").textContent.replace("weight ", "")`), row[j], row, 65535)
	}
	if got := len(p.lines()); got != 42 {
		t.Errorf("hovering keys of the locked query left %d lines, want 42", got)
	}
	p.hover(token(50))
	if got := read[string](p, `document.querySelector("#tip").textContent`); !strings.Contains(got, "masked") {
		t.Errorf("a later key says %q, not that it is masked", got)
	}
	p.quiet()
}

func checkWeight(t *testing.T, got float64, want float32, row []float32, levels float64) {
	t.Helper()
	half := largest(row) / levels / 2
	if math.Abs(got-float64(want)) > half*1.001+1e-8 {
		t.Errorf("weight %v, want %v ± %v", got, want, half)
	}
}

func TestLockAndKeyboard(t *testing.T) {
	p := newTab(t)
	p.open(html(small()))
	query := func() int { return read[int](p, `+document.querySelector(".token.query").dataset.i`) }
	expect := func(what string, want int) {
		t.Helper()
		if got := query(); got != want {
			t.Errorf("%s: query %d, want %d", what, got, want)
		}
	}
	p.click(token(10))
	p.hover(token(30))
	expect("a click locks", 10)
	p.keys(kb.ArrowRight + kb.ArrowRight + kb.ArrowLeft)
	expect("arrow keys move", 11)
	p.keys(kb.Escape)
	p.hover(token(33))
	expect("Escape unlocks", 33)
	read[bool](p, `(document.querySelector(".token.query").focus(), true)`)
	p.keys(kb.Enter)
	p.hover(token(5))
	expect("Enter locks", 33)
	p.keys(kb.ArrowUp)
	if got := query(); got >= 33 || got < 4 {
		t.Errorf("ArrowUp leads to %d, want the row above", got)
	}
	p.keys(kb.Home)
	expect("Home", 0)
	p.keys(kb.End)
	expect("End", 63)
	read[bool](p, `(document.querySelector("#grid [tabindex='0']").focus(), true)`)
	p.keys(kb.ArrowRight + kb.ArrowDown)
	if got := read[string](p, `document.querySelector("#head-title").textContent`); got != "Layer 1 head 1" {
		t.Errorf("arrow keys in the overview lead to %q", got)
	}
	p.quiet()
}

// TestSteps compares the step-by-step view with the trace: the row of a key, and the masked rows after the query.
func TestSteps(t *testing.T) {
	p, trace := newTab(t), small()
	p.open(html(trace))
	p.click(token(20))
	p.screenshot("steps")
	p.click("#by-position")
	n, h := len(trace.Tokens), trace.Heads[0][0]
	cells := read[[]string](p, `[...document.querySelector('#keys tr[data-key="19"]').cells].map(c => c.textContent)`)
	score := float64(h.Scores[20*n+19])
	want := []string{fmt.Sprintf("%.2f", score), fmt.Sprintf("%.2f", score/math.Sqrt(32)), "✓"}
	for i, w := range want {
		if got := strings.ReplaceAll(cells[2+i], "−", "-"); got != w {
			t.Errorf("column %d of key 19 shows %q, want %q", 2+i, got, w)
		}
	}
	if got := read[[]string](p, `[...document.querySelectorAll("#keys .masked")].map(r => r.dataset.key + r.cells[4].textContent)`); strings.Join(got, " ") != "21−∞ 22−∞" {
		t.Errorf("masked rows %q, want two of −∞", got)
	}
	p.click("#all-keys")
	if got := read[int](p, `document.querySelectorAll("#keys tbody tr").length`); got != n {
		t.Errorf("all keys are %d rows, want %d", got, n)
	}
	p.quiet()
}

func TestTemperature(t *testing.T) {
	p, trace := newTab(t), small()
	p.open(html(trace))
	const model = `[...document.querySelectorAll(".next")].map(n => ({Key: +n.dataset.id, Weight: +n.dataset.model}))`
	at1 := read[[]line](p, model)
	for _, bar := range at1 {
		if want := float64(trace.Next[bar.Key]); math.Abs(bar.Weight-want) > 1e-6 {
			t.Errorf("bar of %d is %v, want %v", bar.Key, bar.Weight, want)
		}
	}
	if got, want := read[string](p, `document.querySelector("#divergence").textContent`), fmt.Sprintf("%.2f bits beyond", attention.Bits(attention.KL(trace.Next, trace.Bigram))); !strings.Contains(got, want) {
		t.Errorf("divergence %q, want %q", got, want)
	}
	width := `document.querySelectorAll(".bar.model")[1].getBoundingClientRect().width`
	before := read[float64](p, width)
	p.slide("#temperature", "2")
	p.until(`document.querySelectorAll(".bar.model")[1].getAnimations().length === 0`)
	at2 := read[[]line](p, model)
	if got, want := at2[1].Weight/at2[0].Weight, math.Sqrt(at1[1].Weight/at1[0].Weight); math.Abs(got-want) > 1e-5 {
		t.Errorf("at temperature 2 the first two bars have ratio %v, want %v", got, want)
	}
	if after := read[float64](p, width); after <= before {
		t.Errorf("the second bar went from %v to %v pixels", before, after)
	}
	p.slide("#temperature", "0")
	if got := read[[]line](p, model)[0].Weight; got != 1 {
		t.Errorf("at temperature 0 the likeliest has %v, want 1", got)
	}
	p.quiet()
}

// TestThemes reads colours as the browser computed them: both themes need WCAG's 4.5 for text.
func TestThemes(t *testing.T) {
	p := newTab(t)
	p.dark(false)
	p.open(html(small()))
	light := p.contrasts(t)
	p.dark(true)
	p.screenshot("dark")
	dark := p.contrasts(t)
	if light == dark {
		t.Errorf("the page is %s in light and in dark", light)
	}
	p.click("#theme")
	if got := p.contrasts(t); got != light {
		t.Errorf("the button made the page %s, want %s", got, light)
	}
	p.quiet()
}

// contrasts checks the contrast of all kinds of text, and returns the page's background.
func (p *tab) contrasts(t *testing.T) string {
	t.Helper()
	p.hover(token(40))
	for _, bad := range read[[]string](p, contrastScript) {
		t.Errorf("unreadable: %s", bad)
	}
	return read[string](p, background)
}

const background = `getComputedStyle(document.body).backgroundColor`

const contrastScript = `(() => {
	const c = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});
	const known = {}; // by the text of the colour
	const rgba = (text) => {
		if (!known[text]) {
			c.clearRect(0, 0, 1, 1); c.fillStyle = text; c.fillRect(0, 0, 1, 1);
			known[text] = [...c.getImageData(0, 0, 1, 1).data];
		}
		return known[text];
	};
	const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] > 0) return c; } return [255, 255, 255]; };
	const bad = [];
	const kinds = "h1, h2, h1 span, .hint, .faint, #facts, .cell .name, .cell .tag, .token:not(.later), .figures, .term b, th, td, .next > .char, button:not(:disabled), #tip div";
	for (const e of document.querySelectorAll(kinds)) {
		if (!e.textContent.trim() || !e.checkVisibility()) continue;
		const [a, b] = [light(rgba(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < 4.5) bad.push(e.outerHTML.slice(0, 120) + ": " + ratio.toFixed(2));
	}
	return bad.slice(0, 5);
})()`

func TestPhone(t *testing.T) {
	p := newTab(t)
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	p.open(html(small()))
	p.screenshot("phone")
	if got := read[int](p, `document.documentElement.scrollWidth`); got > 360 {
		t.Errorf("the page is %d pixels wide in a window of 360", got)
	}
	p.tap(token(12))
	p.painted()
	if got := len(p.lines()); got != 13 {
		t.Errorf("a tap on character 12 shows %d lines, want 13", got)
	}
	p.quiet()
}

// least is the least time that f took. It tries for a minute to have less than enough: other work on the machine slows
// single tries down.
func least(enough time.Duration, f func() time.Duration) time.Duration {
	took := f()
	for begin := time.Now(); took >= enough && time.Since(begin) < time.Minute; {
		took = min(took, f())
	}
	return took
}

func TestLargePage(t *testing.T) {
	p := newTab(t)
	trace := made{text: sonnet[:256], vocab: sonnet, layers: 6, heads: 6, headSize: 64, step: 5000}.trace()
	var size int64
	took := least(3*time.Second, func() time.Duration {
		var begin time.Time
		size = p.open(func(f *os.File) error {
			err := WriteHTML(f, trace, View{})
			begin = time.Now()
			return err
		})
		return time.Since(begin)
	})
	if took >= 3*time.Second {
		t.Errorf("256 tokens × 6 × 6 took %v to open, want less than 3 s", took)
	}
	t.Logf("%d bytes, opened in %v", size, took)
	if size >= 5_000_000 {
		t.Errorf("the page has %d bytes, want less than 5 MB", size)
	}
	p.hover(token(200))
	p.screenshot("large")
	row := trace.Heads[0][0].Weights[200*256 : 200*256+201]
	if got := p.lines(); len(got) != 201 {
		t.Errorf("query 200 has %d lines, want 201", len(got))
	} else {
		for _, l := range got {
			checkWeight(t, l.Weight, row[l.Key], row, 255)
		}
	}
	p.quiet()
}

// TestHostileCharacters shows that a label is text, whatever its bytes, and that no character disturbs its neighbours.
func TestHostileCharacters(t *testing.T) {
	p := newTab(t)
	chars := []string{"<", "b", ">", "&", `"`, "'", "\n", "\t", " ", "\x00", "\U0001F642", "\u0301", "\u202e", "\u2028", "日", "\ufeff"}
	text := join(chars)
	trace := made{text: text, layers: 1, heads: 2, headSize: 4}.trace()
	trace.Labels[1], trace.Labels[4] = "</script><b>", "<!--<script>" // no tokenizer makes these, but the page must not mind
	trace.Source = `</title><script>alert("x")</script>`
	p.open(html(trace))
	p.screenshot("hostile")
	got := read[[]string](p, `[...document.querySelectorAll(".token")].map(e => e.textContent)`)
	for i, label := range trace.Labels {
		if want := attention.Label(label); got[i] != want {
			t.Errorf("character %d shows %q, want %q", i, got[i], want)
		}
	}
	if n := read[int](p, `document.querySelectorAll("main b:not(.term b, .figures b, .vector-name b), main script").length`); n > 0 {
		t.Errorf("%d elements came from labels", n)
	}
	if title := read[string](p, `document.title`); !strings.Contains(title, trace.Source) {
		t.Errorf("title %q lacks the source", title)
	}
	before := read[float64](p, `document.querySelector('.token[data-i="12"]').getBoundingClientRect().x`)
	after := read[float64](p, `document.querySelector('.token[data-i="13"]').getBoundingClientRect().x`)
	if after <= before {
		t.Error("U+202E turned the order of the characters")
	}
	p.quiet()
}

func TestProbe(t *testing.T) {
	p := newTab(t)
	var traces []*attention.Trace
	for i, step := range []int{0, 250, 500, 1000} {
		traces = append(traces, made{text: sonnet[:48], layers: 2, heads: 2, headSize: 8, step: step, sharpness: 0.05 + float64(i)*0.4}.trace())
	}
	p.open(func(f *os.File) error { return WriteProbeHTML(f, traces, View{}) })
	p.screenshot("probe")
	weightOf := func() float64 { return p.lines()[0].Weight }
	p.hover(token(30))
	learned := weightOf()
	p.slide("#training-step", "0")
	p.until(`document.querySelector("#training-now").textContent.startsWith("0 ")`)
	p.painted()
	if got := len(p.lines()); got != 31 {
		t.Errorf("the slider left %d lines, want 31: the query stays", got)
	}
	if weightOf() == learned {
		t.Error("the slider changed no weight")
	}
	p.click("#play")
	p.until(`document.querySelector("#training-now").textContent.startsWith("1000 ")`)
	p.until(`document.querySelector("#play").textContent === "▶"`)
	p.quiet()
}

func TestNoAttention(t *testing.T) {
	p := newTab(t)
	p.open(html(made{text: "abc", layers: 0, heads: 1, headSize: 4}.trace()))
	if got := read[string](p, `document.querySelector("#grid").textContent`); !strings.Contains(got, "no attention layer") {
		t.Errorf("the overview says %q", got)
	}
	p.hover(token(1))
	p.click(token(1))
	p.quiet()
}

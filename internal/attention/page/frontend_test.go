package page

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chargpt/internal/trace"
	"chargpt/model"
)

// desk is a Models of one model.
type desk struct{ *trace.Tracer }

func (d desk) List() []Checkpoint                          { return []Checkpoint{{ID: "a", Name: "a"}} }
func (d desk) Open(context.Context, string) (Model, error) { return d.Tracer, nil }

// coarse is a playground of the same model with weights that are float16 exactly, so that a page shows the numbers of Go.
func coarse(t *testing.T, g Playground) Playground {
	t.Helper()
	m, err := model.NewZero(g.Model.Config)
	if err != nil {
		t.Fatal(err)
	}
	weights := g.Model.Weights()
	for name, values := range weights {
		weights[name] = slices.Clone(values)
		for i, x := range values {
			weights[name][i] = math.Float32frombits(math.Float32bits(x) &^ 0x1fff) // the 10 digits of a float16's fraction
		}
	}
	if err := m.SetWeights(weights); err != nil {
		t.Fatal(err)
	}
	g.Model = m
	return g
}

// texts are the texts of what the views show, a line each; the last is of what the grid tells to those who cannot see it.
const texts = `["#tokens", "#window", "#message", "#head-title", "#head-facts", "#steps-intro", "#pair", "#keys", "#bars", "#divergence",
	"#compare-texts", "#compare-weights", "#compare-next", "#compare-distance"].map((selector) => {
		const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
		const texts = [];
		while (walker.nextNode()) texts.push(walker.currentNode.data);
		return selector + " " + texts.join("|");
	}).concat([...document.querySelectorAll(".cell")].map((cell) => cell.ariaLabel).join("|"))`

// TestOneFrontEnd does the same in a playground and in the live page of its model: both show the same, and every action
// changes what it should.
func TestOneFrontEnd(t *testing.T) {
	t.Parallel()
	g := coarse(t, learned(t))
	tracer, err := trace.New(g.Model, g.Vocab, g.Bigram)
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	live, own := newTab(t), newTab(t)
	address := live.live(desk{tracer}, g.Prompt)
	own.playground(g)
	typed := func(text, tokens string) func(*tab) {
		return func(p *tab) {
			p.slide("#prompt", text)
			p.until(fmt.Sprintf(tokensShown+" === %q", tokens))
		}
	}
	sampled := func(p *tab) {
		length := read[int](p, promptText+".length")
		before := read[string](p, tokensShown)
		p.click("#step")
		p.until(fmt.Sprintf(promptText+".length === %d && %s !== %q", length+1, tokensShown, before))
	}
	clicked := func(selector string) func(*tab) { return func(p *tab) { p.click(selector) } }
	slid := func(selector, value string) func(*tab) { return func(p *tab) { p.slide(selector, value) } }
	const heat = `document.querySelector("#heat").toDataURL()`
	for _, c := range []struct {
		action  string
		do      func(p *tab)
		changes string // what is on the page already, and another one after the action
	}{
		{"temperature", slid("#temperature", "0.5"), `document.querySelector("#bars").textContent`},
		{"top-p", slid("#top-p", "0.6"), uncut},
		{"type", typed("MIRA: I would", "MIRA:␣I␣would"), heat},
		{"step", sampled, heat},
		{"step again", sampled, `document.querySelector("#keys").textContent`},
		{"head", clicked(`.cell[data-layer="2"][data-head="1"]`), heat},
		{"query", clicked(token(7)), `document.querySelector("#steps-intro").textContent`},
		{"order of keys", clicked("#by-position"), `document.querySelector("#keys").textContent`},
		{"key", clicked(`[data-key="2"] .pick`), `document.querySelector("#pair").textContent`},
		{"compare", func(p *tab) {
			p.slide("#other", "OWL: a sea")
			p.until(`document.querySelector("#compare-texts").textContent.includes("OWL")`)
		}, `document.querySelector("#compare-card").hidden`},
		{"type what is unknown", typed("The§ sea", "The␣sea"), `document.querySelector("#message").textContent`},
		{"step past the window", func(p *tab) {
			typed("MIRA: The sea and the wind and a ", "IRA:␣The␣sea␣and␣the␣wind␣and␣a␣")(p)
			sampled(p)
		}, `document.querySelector("#window").textContent`},
	} {
		before := read[string](own, "String("+c.changes+")")
		c.do(live)
		c.do(own)
		if read[string](own, "String("+c.changes+")") == before {
			t.Errorf("%s: %s is what it was", c.action, c.changes)
		}
		want, got := read[[]string](live, texts), read[[]string](own, texts)
		for i := range want {
			if !alike(got[i], want[i]) {
				t.Errorf("%s: the playground shows\n%s, the live page\n%s", c.action, got[i], want[i])
			}
		}
	}
	live.quiet(address)
	own.quiet()
}

// number is one that a page shows; a rounded one has a fraction or stands before %.
var number = regexp.MustCompile(`[<+−]?\d+(\.\d+)?(\x{a0}%)?`)

// alike compares two texts; rounded numbers in them may differ by one of their last digit.
func alike(a, b string) bool {
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	as, bs := number.FindAllString(a, -1), number.FindAllString(b, -1)
	for i := range as {
		x, xStep := valueOf(as[i])
		y, yStep := valueOf(bs[i])
		if math.Abs(x-y) > 1.01*max(xStep, yStep) {
			return false
		}
	}
	return true
}

// valueOf is a number that a page shows, and what its last digit counts: nothing if it is exact.
func valueOf(text string) (value, step float64) {
	digits, isPercent := strings.CutSuffix(text, "\u00a0%")
	digits = strings.NewReplacer("<", "", "−", "-").Replace(digits)
	value, _ = strconv.ParseFloat(digits, 64)
	if _, fraction, ok := strings.Cut(digits, "."); ok {
		return value, math.Pow(10, -float64(len(fraction)))
	}
	if isPercent {
		return value, 1
	}
	return value, 0
}

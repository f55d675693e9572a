package page

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"chargpt/model"
)

// queryShown tells whether the pane that text scrolls in shows the whole query.
const queryShown = `(() => {
	const [pane, query] = [".text-pane", ".token.query"].map(s => document.querySelector(s).getBoundingClientRect());
	return query.top >= pane.top && query.bottom <= pane.bottom;
})()`

// TestQueryInSight has a prompt as long as the default model's window, in short lines: the pane follows the query when the prompt
// is shown, sampled and typed, past the window too, but stays where the reader points.
func TestQueryInSight(t *testing.T) {
	for _, width := range []int64{1280, 390} {
		g, p := fresh(t, model.Config{BlockSize: 256, NLayer: 1, NHead: 1, NEmbd: 8}), newTab(t)
		g.Prompt = strings.Repeat("MIRA: ab\n", 28)
		p.do(chromedp.EmulateViewport(width, 900))
		p.playground(g)
		p.painted()
		check := func(when string) {
			t.Helper()
			if !read[bool](p, queryShown) {
				t.Errorf("%d pixels, %s: the query is out of sight", width, when)
			}
		}
		if read[bool](p, `(e => e.scrollHeight < 1.5 * e.clientHeight)(document.querySelector(".text-pane"))`) {
			t.Fatal("the text does not have to scroll")
		}
		check("at first")
		if classes := read[string](p, `document.querySelector(".text-pane").className`); !strings.Contains(classes, "more-above") {
			t.Errorf("nothing shows that text is above: %q", classes)
		}
		p.press("#run")
		p.until(promptText + ".length >= 258")
		p.click("#stop")
		check("sampled")
		p.slide("#prompt", g.Prompt[:20])
		p.until(`document.querySelectorAll(".token").length === 20`)
		check("cut")
		p.slide("#prompt", g.Prompt)
		p.until(`document.querySelectorAll(".token").length === 252`)
		check("typed")
		read[bool](p, `(document.querySelector(".text-pane").scrollTop = 0, true)`)
		p.hover(token(40))
		before := read[float64](p, `document.querySelector(".text-pane").scrollTop`)
		read[bool](p, `(document.querySelector("#step").click(), true)`)
		p.until(`document.querySelectorAll(".token").length === 253`)
		if got := read[float64](p, `document.querySelector(".text-pane").scrollTop`); got != before {
			t.Errorf("%d pixels: the text moved from %g to %g under the pointer", width, before, got)
		}
		p.screenshot("pane")
		p.quiet()
	}
}

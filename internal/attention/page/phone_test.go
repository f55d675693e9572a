package page

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"chargpt/internal/attention"
)

// TestStepsOnPhone: the table of keys needs no scrolling sideways, and no arrow of the sum stands at the end of a line.
func TestStepsOnPhone(t *testing.T) {
	for _, width := range []int64{360, 390, 760, 960} {
		p := newTab(t)
		p.do(chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile))
		p.open(html(small()))
		p.tap(token(12))
		p.painted()
		p.screenshot(fmt.Sprintf("steps-%d", width))
		if over := read[int](p, `(e => e.scrollWidth - e.clientWidth)(document.querySelector(".scroll"))`); over > 0 {
			t.Errorf("%d pixels: the table is %d too wide", width, over)
		}
		// An arrow has a term right of it, or under it where the terms are lines.
		dangling := read[int](p, `[...document.querySelectorAll("#pair .arrow")].filter((arrow) => {
			const [a, b] = [arrow, arrow.nextElementSibling].map(e => e.getBoundingClientRect());
			const turned = getComputedStyle(arrow).transform !== "none";
			return turned ? b.top < a.top : b.left < a.right;
		}).length`)
		if dangling > 0 {
			t.Errorf("%d pixels: %d arrows point nowhere", width, dangling)
		}
		p.quiet()
	}
}

// TestTouchTargets: a finger needs 36 pixels.
func TestTouchTargets(t *testing.T) {
	p := newTab(t)
	p.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	p.playground(learned(t))
	p.painted()
	for _, small := range read[[]string](p, `[...document.querySelectorAll("button, input, select, textarea, summary")]
		.map(e => [e.id || e.className || e.tagName, e.getBoundingClientRect().height])
		.filter(([, height]) => height > 0 && height < 36).map(String)`) {
		t.Errorf("too small to touch: %s", small)
	}
	p.screenshot("touch")
	p.quiet()
}

// TestLongLabels: a long label (U+2028) makes its chip no lower than its neighbours, and its bar begins where all do.
func TestLongLabels(t *testing.T) {
	chars := []string{"a", "\u2028", "b", "\u2028", "a", "\u2029"}
	trace := made{text: join(chars), layers: 1, heads: 2, headSize: 4}.trace()
	trace.Labels = nil
	for _, c := range chars {
		trace.Labels = append(trace.Labels, attention.Label(c))
	}
	p := newTab(t)
	p.open(html(trace))
	p.screenshot("long-labels")
	for _, class := range []string{"large", "", "dense"} {
		if n := read[int](p, `(document.querySelector("#tokens").className = "`+class+`",
			new Set([...document.querySelectorAll(".token")].map(e => e.offsetHeight)).size)`); n != 1 {
			t.Errorf("%q: chips have %d heights", class, n)
		}
	}
	for _, of := range []string{"left", "right"} {
		if n := read[int](p, `new Set([...document.querySelectorAll("#bars .pair-bars")].map(e => e.getBoundingClientRect().`+of+`)).size`); n != 1 {
			t.Errorf("the bars have %d %s ends", n, of)
		}
	}
	p.quiet()
}

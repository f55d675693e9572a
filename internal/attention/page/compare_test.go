package page

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"chargpt/internal/attention"
)

// endings are two contexts that end in the same characters, of one model.
func endings(t *testing.T) (a, b *attention.Trace) {
	t.Helper()
	m, err := shelf{}.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	_, ids := vocabOf(sonnet)
	trace := func(text string) *attention.Trace {
		var tokens []int32
		for _, r := range text {
			tokens = append(tokens, ids[r])
		}
		tr, err := m.Forward(t.Context(), tokens)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	return trace(sonnet[:40]), trace("so" + sonnet[25:40])
}

// TestCompareFile reads the shares of the last character's keys from the page, and holds them to the traces.
func TestCompareFile(t *testing.T) {
	p := newTab(t)
	a, b := endings(t)
	p.open(func(f *os.File) error { return WriteCompareHTML(f, a, b, View{Layer: 1, Head: 1}) })
	p.screenshot("compare")
	shared := read[int](p, `document.querySelectorAll("#compare-weights .char").length`)
	if want := commonEnd(a.Labels, b.Labels); shared != want || want < 10 {
		t.Fatalf("%d shared characters, want %d", shared, want)
	}
	n := len(a.Tokens)
	want := a.Heads[1][1].Weights[n*n-1]
	got := read[string](p, `document.querySelector("#compare-weights .compared:last-child .figures").children[0].textContent`)
	if got != strings.ReplaceAll(percentOf(float64(want)), " ", "\u00a0") {
		t.Errorf("the last character gives %s to itself, want %v", got, want)
	}
	if n := read[int](p, `document.querySelectorAll("#compare-next .next").length`); n != 10 {
		t.Errorf("%d next characters", n)
	}
	p.click(`.cell[data-layer="0"][data-head="0"]`)
	if got := read[string](p, `document.querySelector("#compare-head").textContent`); !strings.HasSuffix(got, "layer 0 head 0") {
		t.Errorf("of another head the page says %q", got)
	}
	p.quiet()
}

func commonEnd(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// percentOf writes a share as the page does.
func percentOf(x float64) string {
	if x < 0.0005 {
		return "<0.1 %"
	}
	digits := 0
	if x < 0.0995 {
		digits = 1
	}
	shift := math.Pow(10, float64(digits))
	whole := math.Round(100*x*shift) / shift
	return strconv.FormatFloat(whole, 'f', digits, 64) + " %"
}

func TestCompareRefuses(t *testing.T) {
	a, b := endings(t)
	b.Shape.NEmbd++
	var out bytes.Buffer
	if err := WriteCompareHTML(&out, a, b, View{}); err == nil || out.Len() > 0 {
		t.Error("two models were compared: ", err)
	}
	if err := WriteCompareHTML(&out, a, nil, View{}); err == nil || out.Len() > 0 {
		t.Error("nothing was compared: ", err)
	}
}

func TestLiveCompare(t *testing.T) {
	p := newTab(t)
	address := p.live(shelf{}, "How many since")
	hidden := `document.querySelector("#compare-card").hidden`
	if !read[bool](p, hidden) {
		t.Error("there is a comparison before there is a second prompt")
	}
	p.slide("#other", "so far since")
	p.until("!" + hidden)
	intro := func(words string) {
		t.Helper()
		p.until(`document.querySelector("#compare-intro").textContent.includes("` + words + `")`)
	}
	intro("the same 6 characters")
	p.slide("#prompt", "once")
	intro("the same 3 characters")
	p.slide("#prompt", "so")
	intro("different characters")
	p.slide("#checkpoint", "b") // whose vocabulary has none of the letters
	p.until(hidden)
	p.slide("#other", "12")
	p.slide("#prompt", "21 2")
	intro("the same 1 character.")
	p.slide("#other", "")
	p.until(hidden)
	p.quiet(address)
}

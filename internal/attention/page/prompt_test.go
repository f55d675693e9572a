package page

import (
	"fmt"
	"strings"
	"testing"

	"chargpt/data"
	"chargpt/model"
)

// crlf is a playground of a model whose characters include CR and LF.
func crlf(t *testing.T) Playground {
	t.Helper()
	text, err := data.Read(strings.NewReader("ab\r\ncd\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(model.Config{VocabSize: text.Tokenizer.Size(), BlockSize: 64, NLayer: 1, NHead: 2, NEmbd: 8, Position: model.PositionLearned}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return Playground{Model: m, Vocab: text.Tokenizer.Vocab(), Name: "crlf", Prompt: "ab\r\ncd\n"}
}

// TestPlaygroundLineEnds: a box of HTML drops every CR. The page keeps those of its prompt and those that were sampled, and
// gives new lines the line ends of the model.
func TestPlaygroundLineEnds(t *testing.T) {
	p := newTab(t)
	p.playground(crlf(t))
	label := strings.NewReplacer("\r", "␍", "\n", "⏎").Replace
	shown := func(want string) {
		t.Helper()
		p.until(fmt.Sprintf(tokensShown+" === %q", label(want)))
	}
	shown("ab\r\ncd\n") // as it was given
	read[bool](p, `(document.querySelector("#prompt").focus(), document.querySelector("#prompt").setSelectionRange(7, 7), true)`)
	p.insert("b\nb")
	shown("ab\r\ncd\nb\r\nb")
	read[bool](p, `(document.querySelector("#prompt").setSelectionRange(1, 4), true)`)
	p.insert("\n")
	shown("a\r\nd\nb\r\nb")
	p.slide("#prompt", "\n")
	shown("\r\n")
	p.slide("#temperature", "2")
	p.press("#run")
	p.until(`document.querySelectorAll(".token").length === 64`)
	p.click("#stop")
	p.slide("#other", "a\nb")
	p.until(`document.querySelector("#compare-texts").textContent.includes("a␍⏎b")`)
	before := read[string](p, tokensShown)
	if !strings.Contains(strings.ReplaceAll(before, "␍⏎", ""), "␍") {
		t.Fatalf("no CR alone was sampled in %q", before)
	}
	read[bool](p, `((box) => (box.focus(), box.setSelectionRange(box.value.length, box.value.length), true))(document.querySelector("#prompt"))`)
	p.insert("c")
	p.until(fmt.Sprintf(tokensShown+" !== %q", before))
	if got, want := read[string](p, tokensShown), string([]rune(before)[1:])+"c"; got != want {
		t.Errorf("after a typed c the page has\n%q, want\n%q", got, want)
	}
	p.quiet()
}

// TestLongPrompt counts what came before the window, however long the prompt.
func TestLongPrompt(t *testing.T) {
	p := newTab(t)
	p.playground(crlf(t))
	read[bool](p, `(document.querySelector("#prompt").value = "abcd".repeat(67_500), true)`)
	read[bool](p, `(document.querySelector("#prompt").dispatchEvent(new Event("input")), true)`)
	for i := range 3 {
		p.until(fmt.Sprintf(`document.querySelector("#window").textContent.includes("The first %d characters came before")`, 270_000-64+i))
		read[bool](p, `(document.querySelector("#step").click(), true)`)
	}
	p.quiet()
}

// uncut is how many of the bars stand for a character that may be sampled.
const uncut = `[...document.querySelectorAll(".figures b")].filter(b => b.textContent !== "cut").length`

// TestKnobs: a number that makes no sense is marked, and the page says what it uses instead.
func TestKnobs(t *testing.T) {
	p := newTab(t)
	p.playground(crlf(t))
	p.slide("#top-k", "2")
	for _, c := range []struct{ box, value, message string }{
		{"#top-k", "2.5", "top-k must be a whole number from 0; 2 is used."},
		{"#top-k", "-1", "top-k must be a whole number from 0; 2 is used."},
		{"#top-k", "", "top-k must be a whole number from 0; 2 is used."},
		{"#top-k", "2", ""},
		{"#top-p", "-3", "top-p must be over 0 and at most 1; 1 is used."},
		{"#top-p", "9", "top-p must be over 0 and at most 1; 1 is used."},
		{"#top-p", "0", "top-p must be over 0 and at most 1; 1 is used."},
		{"#top-p", "", "top-p must be over 0 and at most 1; 1 is used."},
		{"#top-p", "0.9999", ""},
		{"#seed", "1e30", "seed must be a whole number from 0 to 4294967295; 1 is used."},
		{"#seed", "4294967295", ""},
	} {
		p.slide(c.box, c.value)
		if got := read[string](p, `document.querySelector("#knob-message").textContent`); got != c.message {
			t.Errorf("%s %q: the page says %q, want %q", c.box, c.value, got, c.message)
		}
		if got := read[bool](p, `document.querySelector("`+c.box+`").ariaInvalid === "true"`); got != (c.message != "") {
			t.Errorf("%s %q: invalid is %t", c.box, c.value, got)
		}
		if got := read[int](p, uncut); got != 2 {
			t.Errorf("%s %q: %d characters are left, want 2", c.box, c.value, got)
		}
	}
	p.slide("#top-p", "7")
	for _, bad := range read[[]string](p, contrastScript) {
		t.Errorf("unreadable: %s", bad)
	}
	p.screenshot("knobs")
	p.quiet()
}

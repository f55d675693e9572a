package page

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func (p *tab) live(m Models, prompt string) string {
	srv := httptest.NewServer(NewHandler(m, Options{Prompt: prompt}))
	p.t.Cleanup(srv.Close)
	p.visit(srv.URL)
	return srv.URL
}

const tokensShown = `[...document.querySelectorAll(".token")].map(e => e.textContent).join("")`

func TestLiveTyping(t *testing.T) {
	p := newTab(t)
	address := p.live(shelf{}, "How many since")
	if got := read[string](p, tokensShown); got != "How␣many␣since" {
		t.Errorf("the page begins with %q", got)
	}
	before := read[string](p, `document.querySelector("#bars").textContent`)
	read[bool](p, `(document.querySelector("#prompt").focus(), true)`)
	p.keys(" the§dawn")
	p.until(tokensShown + ` === "How␣many␣since␣thedawn"`)
	if read[string](p, `document.querySelector("#bars").textContent`) == before {
		t.Error("typing changed no probability")
	}
	if got := read[string](p, `document.querySelector("#message").textContent`); !strings.Contains(got, "“§” (U+00A7)") {
		t.Errorf("the message %q does not name the unknown character", got)
	}
	p.screenshot("live")
	read[bool](p, `(document.querySelector("#prompt").select(), true)`)
	p.keys("\b")
	p.until(`document.querySelector("#window").textContent.startsWith("Type something")`)
	p.keys("so")
	p.until(tokensShown + ` === "so"`)
	p.quiet(address)
}

// TestLiveLastRequestWins types while a slow answer is under way: the answer that comes last is of the last text.
func TestLiveLastRequestWins(t *testing.T) {
	p := newTab(t)
	address := p.live(shelf{slow: func(ctx context.Context) {
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
		}
	}}, "How many since")
	read[bool](p, `(document.querySelector("#prompt").focus(), true)`)
	for _, c := range []string{"a", "b", "c"} {
		p.keys(c)
		time.Sleep(150 * time.Millisecond)
	}
	p.until(tokensShown + `.endsWith("sinceabc")`)
	p.quiet(address)
}

func TestLiveSampling(t *testing.T) {
	p := newTab(t)
	address := p.live(shelf{}, sonnet[:58])
	text := func() string { return read[string](p, `document.querySelector("#prompt").value`) }
	p.click("#step")
	p.until(`document.querySelector("#prompt").value.length === 59`)
	run := func() string {
		p.press("#run")
		p.until(`document.querySelector("#prompt").value.length >= 70`)
		p.click("#stop")
		p.until(`!document.querySelector("#run").disabled`)
		return text()
	}
	sampled := run()
	time.Sleep(100 * time.Millisecond)
	if text() != sampled {
		t.Error("Stop did not stop")
	}
	if got := read[string](p, `document.querySelector("#window").textContent`); !strings.Contains(got, "64 of 64") || !strings.Contains(got, "left out") {
		t.Errorf("past the window the page says %q", got)
	}
	again := func() string {
		p.slide("#prompt", sonnet[:58])
		p.until(`document.querySelectorAll(".token").length === 58`)
		return run()
	}
	if got := again(); got[:70] != sampled[:70] {
		t.Errorf("the same seed gave %q and then %q", sampled, got)
	}
	p.slide("#top-k", "1")
	if read[int](p, `[...document.querySelectorAll(".figures b")].filter(b => b.textContent === "cut").length`) != 9 {
		t.Error("top-k 1 did not cut the other characters")
	}
	if again()[:70] == sampled[:70] {
		t.Error("top-k 1 changed nothing")
	}
	p.quiet(address)
}

func TestLiveCheckpoint(t *testing.T) {
	p := newTab(t)
	address := p.live(shelf{}, "How many since")
	p.slide("#prompt", "12 many <b>\U0001F642&")
	p.slide("#checkpoint", "b")
	p.until(`document.querySelectorAll("#grid .cell").length === 2`)
	p.until(tokensShown + ` === "12␣␣<🙂&"`)
	if got := read[string](p, `document.querySelector("#message").textContent`); !strings.Contains(got, "“m” (U+006D)") {
		t.Errorf("the message %q does not name what the second model lacks", got)
	}
	if got := read[string](p, `document.querySelector("#facts").textContent`); !strings.Contains(got, "digits") {
		t.Errorf("the header says %q", got)
	}
	p.quiet(address)
}

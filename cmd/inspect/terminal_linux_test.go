package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"chargpt/internal/cli"
	"chargpt/internal/cli/clitest"
)

// On a terminal of 80 columns no line is wider; colours are there where the terminal has them and nobody said no.
func TestTextOnTerminal(t *testing.T) {
	inRun(t)
	for _, c := range []struct {
		colorterm, noColor string
		colour             bool
	}{{"truecolor", "", true}, {"24bit", "", true}, {"", "", false}, {"truecolor", "1", false}} {
		t.Setenv("COLORTERM", c.colorterm)
		t.Setenv("NO_COLOR", c.noColor)
		screen := clitest.NewScreen(t)
		var warn bytes.Buffer
		code := cli.Run(t.Context(), "inspect", run, cli.Env{Args: []string{"-prompt", strings.Repeat("the end ", 12)}, Stdin: strings.NewReader(""), Stdout: screen.Terminal, Stderr: &warn})
		shown := screen.Shown(t)
		if code != 0 || !strings.Contains(shown, "layer 0, mean of 3 heads") {
			t.Fatalf("exit code %d: %s%s", code, &warn, shown)
		}
		if got := strings.Contains(shown, "\x1b[48;2;"); got != c.colour {
			t.Errorf("COLORTERM=%s NO_COLOR=%s: coloured %t, want %t", c.colorterm, c.noColor, got, c.colour)
		}
		for line := range strings.Lines(shown) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); !c.colour && n > 80 {
				t.Errorf("a line has %d columns, want at most 80: %s", n, line)
			}
		}
	}
}

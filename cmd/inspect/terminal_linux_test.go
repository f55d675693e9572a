package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"chargpt/internal/cli"
	"chargpt/internal/cli/clitest"
)

// widest is the columns of a text's longest line, colours aside.
func widest(text string) (columns int) {
	text = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(text, "")
	for line := range strings.Lines(text) {
		columns = max(columns, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
	}
	return columns
}

// On a terminal of 80 columns no line is wider; colours are there where the terminal has them and nobody said no.
func TestTextOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	c := small()
	c.BlockSize = 96
	save(t, "checkpoints/plays", c)
	prompt := strings.Repeat("the end ", 12)
	if got := widest(succeed(t, "-prompt", prompt)); got <= 80 {
		t.Fatalf("in a file the widest line has %d columns: the test needs more than 80", got)
	}
	for _, c := range []struct {
		colorterm, noColor string
		colour             bool
	}{{"truecolor", "", true}, {"24bit", "", true}, {"", "", false}, {"truecolor", "1", false}} {
		t.Setenv("COLORTERM", c.colorterm)
		t.Setenv("NO_COLOR", c.noColor)
		screen := clitest.NewScreen(t)
		var warn bytes.Buffer
		code := cli.Run(t.Context(), "inspect", run, cli.Env{Args: []string{"-prompt", prompt}, Stdin: strings.NewReader(""), Stdout: screen.Terminal, Stderr: &warn})
		shown := screen.Shown(t)
		if code != 0 || !strings.Contains(shown, "layer 0, mean of 3 heads") {
			t.Fatalf("exit code %d: %s%s", code, &warn, shown)
		}
		if got := strings.Contains(shown, "\x1b[48;2;"); got != c.colour {
			t.Errorf("COLORTERM=%s NO_COLOR=%s: coloured %t, want %t", c.colorterm, c.noColor, got, c.colour)
		}
		if got := widest(shown); got > 80 {
			t.Errorf("COLORTERM=%s: the widest line has %d columns, want at most 80", c.colorterm, got)
		}
	}
}

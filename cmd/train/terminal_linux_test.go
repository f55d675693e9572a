package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"chargpt/internal/cli"
	"chargpt/internal/cli/clitest"
)

// On a terminal progress is one line that is drawn again and again; results go to standard output all the same.
func TestBarOnTerminal(t *testing.T) {
	screen := clitest.NewScreen(t)
	var out bytes.Buffer
	args := strings.Fields("-preset tiny -max_iters 30 -eval_interval 15 -out " + filepath.Join(t.TempDir(), "run"))
	code := cli.Run(t.Context(), "train", run, cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: screen.Terminal})
	shown := screen.Shown(t)
	if code != 0 || strings.Count(shown, "\r") < 2 || strings.Contains(strings.TrimRight(shown, "\n"), "\niteration") || !strings.Contains(shown, "tokens/s") {
		t.Errorf("exit code %d, on the terminal %q, want one line, drawn again", code, shown)
	}
	if !strings.Contains(out.String(), "iteration 30: ") {
		t.Errorf("standard output: %s", &out)
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"

	"chargpt/internal/cli"
	"chargpt/internal/cli/clitest"
)

// -i asks for each prompt on a terminal, by the command that a shell runs.
func TestInteractiveOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "helo wrd")
	screen := clitest.NewScreen(t)
	var out, errs bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- cli.Run(t.Context(), "sample", run, cli.Env{Args: []string{"-i", "-ckpt", "a", "-max_new_tokens", "7"}, Stdin: screen.Terminal, Stdout: &out, Stderr: &errs})
	}()
	screen.Type(t, "hello\n\x04") // a line, and its end
	if code := <-done; code != 0 || !strings.HasPrefix(out.String(), "hello") || !strings.HasPrefix(errs.String(), "> ") || strings.Count(errs.String(), "> ") != 2 {
		t.Errorf("exit code %d: %q, on standard error %q, want a prompt before each line", code, &out, &errs)
	}
}

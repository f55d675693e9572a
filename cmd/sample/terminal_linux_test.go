package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"chargpt/internal/cli"
	"chargpt/internal/cli/clitest"
)

// -i asks for each prompt on a terminal, where no separator is needed.
func TestInteractiveOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "helo wrd")
	screen := clitest.NewScreen(t)
	var out, errs bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- cli.Run(t.Context(), "sample", run, cli.Env{Args: []string{"-i", "-ckpt", "a", "-max_new_tokens", "7"}, Stdin: screen.Terminal, Stdout: &out, Stderr: &errs})
	}()
	screen.Type(t, "hello\nworld\n\x04") // two lines, and the end
	select {
	case code := <-done:
		if code != 0 || !strings.HasPrefix(out.String(), "hello") || !strings.Contains(out.String(), "\nworld") || strings.Contains(out.String(), "---") {
			t.Errorf("exit code %d: %q, want two continuations and nothing between them", code, &out)
		}
		if !strings.HasPrefix(errs.String(), "> ") || strings.Count(errs.String(), "> ") != 3 {
			t.Errorf("on standard error %q, want a prompt before each line", &errs)
		}
	case <-time.After(time.Minute):
		t.Fatal("-i did not end with the terminal's end of input")
	}
}

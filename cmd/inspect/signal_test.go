//go:build unix

package main

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSignals stops the real binary while it serves: it must end with the signal's exit code, and say nothing of it.
func TestSignals(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "inspect")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	inRun(t)
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		c := exec.Command(binary, "-http", "127.0.0.1:0")
		stderr, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		if !lines.Scan() || !strings.Contains(lines.Text(), "http://127.0.0.1:") {
			t.Errorf("it said %q", lines.Text())
		}
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if lines.Scan() {
			t.Errorf("after %v it said %q", signal, lines.Text())
		}
		var exit *exec.ExitError
		if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want {
			t.Errorf("%v: %v, want exit code %d", signal, err, want)
		}
	}
}

//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func buildSample(t *testing.T) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "sample")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// A reader that has seen enough ends the sampler quietly.
func TestClosedPipe(t *testing.T) {
	binary, dir := buildSample(t), t.TempDir()
	checkpoint := filepath.Join(dir, "a", "best.safetensors")
	writeCheckpoint(t, checkpoint, "hello world\n")
	for _, samples := range []string{"1", "2"} { // more than a pipe holds, so that writing fails
		c := exec.Command("sh", "-c", `"$0" -ckpt "$1" -prompt hello -max_new_tokens 70000 -num_samples "$2" | head -c 5`, binary, checkpoint, samples)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil || out.String() != "hello" || errs.Len() > 0 {
			t.Errorf("%s samples | head -c 5: %q, standard error %q, %v", samples, &out, &errs, err)
		}
	}
}

// A signal ends the real binary while it draws, quietly and with the signal's exit code.
func TestSignalEndsBinary(t *testing.T) {
	binary, checkpoint := buildSample(t), filepath.Join(t.TempDir(), "a", "best.safetensors")
	writeCheckpoint(t, checkpoint, "hello world\n")
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		c := exec.Command(binary, "-ckpt", checkpoint, "-max_new_tokens", "100000000")
		var errs bytes.Buffer
		c.Stderr = &errs
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill() })
		if _, err := io.ReadFull(out, make([]byte, 5)); err != nil { // it draws by now
			t.Fatal(err)
		}
		c.Process.Signal(signal)
		io.Copy(io.Discard, out)
		var exit *exec.ExitError
		if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want || errs.Len() > 0 {
			t.Errorf("%v: %v, standard error %q; want exit code %d and nothing said", signal, err, &errs, want)
		}
	}
}

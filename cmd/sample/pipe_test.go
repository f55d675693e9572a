//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// A reader that has seen enough ends the sampler quietly.
func TestClosedPipe(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "sample")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	checkpoint := filepath.Join(dir, "a", "best.safetensors")
	writeCheckpoint(t, checkpoint, "hello world\n")
	for _, samples := range []string{"1", "2"} {
		c := exec.Command("sh", "-c", `"$0" -ckpt "$1" -prompt hello -max_new_tokens 3000 -num_samples "$2" | head -c 5`, binary, checkpoint, samples)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil || out.String() != "hello" || errs.Len() > 0 {
			t.Errorf("%s samples | head -c 5: %q, standard error %q, %v", samples, &out, &errs, err)
		}
	}
}

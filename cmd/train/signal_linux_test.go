package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A second signal does not wait for the save.
func TestSecondSignal(t *testing.T) {
	binary, dir := buildTrain(t), t.TempDir()
	path := filepath.Join(dir, "run")
	// an iteration of this run takes seconds: the first signal waits for it
	c, output := command(t, binary, dir, "-max_iters", "1000000", "-out", path, "-batch_size", "400000", "-dropout", "0")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(path, "loss.png")) // the last thing before the first iteration
	for begun := processorTime(c.Process.Pid); processorTime(c.Process.Pid) < begun+300*time.Millisecond; {
		time.Sleep(10 * time.Millisecond) // until it is at work in it
	}
	c.Process.Signal(syscall.SIGINT)
	time.Sleep(300 * time.Millisecond) // two that wait for a busy machine together count as one
	second := time.Now()
	c.Process.Signal(syscall.SIGINT)
	if code := exitCode(c.Wait()); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, output)
	}
	if waited := time.Since(second); waited > 5*time.Second || strings.Contains(output.String(), "saved") {
		t.Errorf("the second signal took %v\n%s", waited, output)
	}
}

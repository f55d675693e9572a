//go:build unix

package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fullDisk names the file that the child process of TestWriteFullDisk writes.
const fullDisk = "CHECKPOINT_TEST_FULL_DISK"

// TestWriteFullDisk runs itself in a process whose files cannot grow to the size of a checkpoint.
func TestWriteFullDisk(t *testing.T) {
	if path := os.Getenv(fullDisk); path != "" {
		writeLimited(t, path)
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "ckpt.safetensors")
	if err := Write(path, tiny(t)); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestWriteFullDisk$", "-test.v")
	child.Env = append(os.Environ(), fullDisk+"="+path)
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "refused: save checkpoint: ") {
		t.Fatalf("child: %v\n%s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(b, mustEncode(t, tiny(t))) {
		t.Errorf("the old checkpoint is not intact (%v)", err)
	}
	if names := entries(t, dir); len(names) != 1 {
		t.Errorf("folder holds %q", names)
	}
}

func writeLimited(t *testing.T, path string) {
	limit := syscall.Rlimit{Cur: 5000, Max: 5000} // bytes; the checkpoint has about 9,000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	c := tiny(t)
	c.Weights["wte"][0]++
	err := Write(path, c)
	if !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("error %v", err)
	}
	fmt.Println("refused:", err)
}

// TestReadPipe: a named pipe without a writer would keep whoever opens it waiting.
func TestReadPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Read(path)
		done <- err
	}()
	select {
	case err := <-done:
		checkError(t, err, "is not a file")
	case <-time.After(5 * time.Second):
		t.Fatal("still waiting")
	}
}

//go:build linux

package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// buildAll builds the commands as README does, whatever GOFLAGS says of revisions.
func buildAll(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=true", "-o", dir+"/", "chargpt/cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return dir
}

// revision is what a binary can know of its source: the commit, but in a worktree, whose .git is a file, go finds none.
func revision(t *testing.T) string {
	t.Helper()
	if info, err := os.Stat("../../.git"); err != nil || !info.IsDir() {
		return "unknown revision"
	}
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestBinaries: the commands are static, know what they were built from, and need no source tree.
func TestBinaries(t *testing.T) {
	bin, source := buildAll(t), revision(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"train", "sample", "inspect", "export"} {
		path := filepath.Join(bin, name)
		if interpreter(t, path) {
			t.Errorf("%s is not static: it names a program interpreter", name)
		}
		out, err := exec.Command(path, "-version").CombinedOutput()
		if got := string(out); err != nil || !strings.HasPrefix(got, name+" ") || !strings.Contains(got, "("+source) || !strings.HasSuffix(got, ", "+runtime.Version()+"\n") {
			t.Errorf("%s -version: %q (%v), want %s and %s", name, got, err, source, runtime.Version())
		}
	}
	for _, args := range [][]string{{"train", "-preset", "tiny", "-max_iters", "1"}, {"sample", "-max_new_tokens", "5"}} {
		if out, err := exec.Command(filepath.Join(bin, args[0]), args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v in an empty folder: %v\n%s", args, err, out)
		}
	}
	for _, file := range []string{"checkpoints/plays/ckpt.safetensors", "checkpoints/plays/best.safetensors"} {
		if _, err := os.Stat(file); err != nil {
			t.Errorf("train in an empty folder: %v", err)
		}
	}
}

// interpreter tells whether an executable needs one, which loads its libraries.
func interpreter(t *testing.T, path string) bool {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			return true
		}
	}
	return false
}

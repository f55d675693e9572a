package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteOutput(t *testing.T) {
	dir := t.TempDir()
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	file := filepath.Join(dir, "file")
	for _, s := range []string{"one", "two"} {
		if err := WriteOutput(file, text(s)); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err == nil {
		if err := WriteOutput(link, text("three")); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(file); string(b) != "three" {
			t.Errorf("through a link: %q", b)
		}
	}
	if err := WriteOutput(file, func(w io.Writer) error { io.WriteString(w, "half"); return io.ErrUnexpectedEOF }); err == nil {
		t.Error("no error of the writer")
	}
	if b, _ := os.ReadFile(file); strings.Contains(string(b), "half") {
		t.Error("a failed write left its half")
	}
	if err := WriteOutput(os.DevNull, text("x")); err != nil {
		t.Error(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "no", "file")} {
		if err := WriteOutput(path, text("x")); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), ".tmp-") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*.tmp-*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

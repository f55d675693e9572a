package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func names(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWrite(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	for _, want := range []string{"one", "", "three, which is longer"} {
		if err := WriteBytes(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("the file has %q (%v), want %q", got, err, want)
		}
	}
	if got := names(t, folder); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the folder has %q, want the file alone", got)
	}
}

// What fails leaves the file of before, and nothing beside it; the error names the file that was asked for.
func TestWriteErrors(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	if err := WriteBytes(path, []byte("before")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := Write(path, func(w io.Writer) error {
		io.WriteString(w, "half")
		return full
	})
	if got, _ := os.ReadFile(path); !errors.Is(err, full) || string(got) != "before" {
		t.Errorf("a failed write: error %v and content %q, want its cause and the content of before", err, got)
	}
	missing := filepath.Join(folder, "nowhere", "a")
	if err := WriteBytes(missing, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) || strings.Contains(err.Error(), temporary) {
		t.Errorf("a missing folder: %v, want an error that names %s", err, missing)
	}
	if err := os.Mkdir(filepath.Join(folder, "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(filepath.Join(folder, "b"), nil); err == nil {
		t.Error("a folder is overwritten by a file")
	}
	if got := names(t, folder); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the folder has %q, want no temporary file", got)
	}
}

func TestRemoveTemporary(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a [b]*") // characters that mean something in a pattern
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	others := []string{"a", "a.tmp-7-notes", "notes.tmp-old.txt", "tmp-3"} // not of Write's making
	for _, name := range append([]string{"a.tmp-7", "b.txt.tmp-99"}, others...) {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "z.tmp-1"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTemporary(folder); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, folder), append(others, "z.tmp-1"); !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	if err := RemoveTemporary(filepath.Join(folder, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v, want fs.ErrNotExist", err)
	}
}

package checkpoint

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// entries returns the names in a folder.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ckpt.safetensors")
	for _, c := range variants(t) { // each replaces the one before
		if err := Write(path, c); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		checkEqual(t, got, c)
		if b, _ := os.ReadFile(path); !bytes.Equal(b, mustEncode(t, c)) {
			t.Error("the file is not what Encode returns")
		}
	}
	if names := entries(t, dir); len(names) != 1 {
		t.Errorf("folder holds %q", names)
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	err := Write(filepath.Join(dir, "missing", "ckpt.safetensors"), tiny(t))
	checkError(t, err, "save checkpoint: ")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	checkError(t, Write(taken, tiny(t)), "save checkpoint: rename")
	bad := tiny(t)
	bad.Vocab = nil
	checkError(t, Write(filepath.Join(dir, "bad"), bad), "encode checkpoint: ")
	if names := entries(t, dir); len(names) != 1 {
		t.Errorf("folder holds %q", names)
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := mustEncode(t, tiny(t))
	sparse := func(name string, start []byte, size int64) string {
		path := write(name, start)
		if err := os.Truncate(path, size); err != nil {
			t.Skip(err)
		}
		return path
	}
	for _, test := range []struct{ path, err string }{
		{filepath.Join(dir, "missing"), "missing: "},
		{dir, "is not a file"},
		{write("empty", nil), "empty: not a checkpoint: 0 bytes"},
		{write("text", bytes.Repeat([]byte("to be "), 100)), "text: not a checkpoint: "},
		{write("cut", good[:len(good)-1]), "cut: damaged checkpoint: sha256 does not match"},
		{write("cut header", good[:1000]), "cut header: damaged checkpoint: it has 1000 bytes, its header alone"},
		{sparse("zeros", nil, 8<<30), "zeros: not a checkpoint: "},
		{sparse("good start", good, 15<<30), "good start: damaged checkpoint: it has 16106127360 bytes, "}, // refused before memory is made for it
		{write("appended", append(slices.Clone(good), 0)), "appended: damaged checkpoint: it has "},
		{sparse("too large", nil, maxFile+1), "at most 17179869184"},
	} {
		_, err := Read(test.path)
		checkError(t, err, test.err)
		if errors.Is(err, fs.ErrNotExist) != (filepath.Base(test.path) == "missing") {
			t.Errorf("error %v", err)
		}
	}
}

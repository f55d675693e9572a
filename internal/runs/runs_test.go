package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// touch makes an empty file in a folder of its own.
func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, find := range map[string]func(string) (string, error){"Locate": Locate, "Folder": Folder} {
		if got, err := find(""); err == nil || !strings.Contains(err.Error(), "train a model first") {
			t.Errorf("%s without a run = %q, %v, want an error that says what to do", name, got, err)
		}
		if got, err := find("nowhere"); err == nil || !strings.HasPrefix(err.Error(), "-ckpt: nowhere: file does not exist; name a run folder") {
			t.Errorf("%s(nowhere) = %q, %v, want an error that names it", name, got, err)
		}
	}
}

func TestLocateAndFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	const ckpt, best = "checkpoints/a/ckpt.safetensors", "checkpoints/a/best.safetensors"
	touch(t, ckpt)
	touch(t, best)
	for given, file := range map[string]string{"": best, "checkpoints/a": best, ckpt: ckpt} {
		if got, err := Locate(given); err != nil || filepath.ToSlash(got) != file {
			t.Errorf("Locate(%q) = %q, %v, want %q", given, got, err, file)
		}
		if got, err := Folder(given); err != nil || filepath.ToSlash(got) != "checkpoints/a" {
			t.Errorf("Folder(%q) = %q, %v, want checkpoints/a", given, got, err)
		}
	}
	if _, file, err := Read(ckpt); err == nil || file == "" || !strings.Contains(err.Error(), "not a checkpoint") {
		t.Errorf("Read of an empty file: %q, %v, want its name and what is wrong", file, err)
	}
}

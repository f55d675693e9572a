package train

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The best weights of a run whose checkpoint is gone are neither overwritten nor resumed.
func TestFolderWithoutCheckpoint(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "plays")
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, BestFile), []byte("weights"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("Create: %v, want ErrNoCheckpoint", err)
	}
	if _, err := Open(path); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("Open: %v, want ErrNoCheckpoint", err)
	}
	f, err := CreateNew(root, "plays")
	if err != nil || filepath.Base(f.Path) != "plays-2" {
		t.Fatalf("CreateNew: %v, %v, want plays-2", f, err)
	}
	f.Close()
	if got, err := os.ReadFile(filepath.Join(path, BestFile)); string(got) != "weights" {
		t.Errorf("afterwards, the weights are %q (%v)", got, err)
	}
}

// What stands in the place of a run's file, and is none, is named at once and stays.
func TestFolderWithoutRegularFiles(t *testing.T) {
	for _, name := range []string{lockFile, MetricsFile} {
		path := t.TempDir()
		other := filepath.Join(path, name)
		if err := os.Mkdir(other, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, CheckpointFile), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		for call, f := range map[string]func(string) (*Folder, error){"Create": Create, "Open": Open} {
			if _, err := f(path); err == nil || !strings.Contains(err.Error(), other+" is no regular file") {
				t.Errorf("%s where %s is a folder: %v, want an error that names it", call, name, err)
			}
		}
		if _, err := os.Stat(other); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
}

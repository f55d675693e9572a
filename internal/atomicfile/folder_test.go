package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMakeFolder(t *testing.T) {
	dir := t.TempDir()
	for _, link := range [][2]string{{"gone", "dangling"}, {".", "here"}, {"file", "tofile"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, err string }{
		{"new/deep", ""}, {"new", ""}, {"here", ""}, {"here/other", ""},
		{"dangling", "dangling is a link to gone, which is not there"}, {"file", "not a directory"}, {"tofile", "not a directory"},
	} {
		err := MakeFolder(filepath.Join(dir, tt.path))
		if tt.err == "" {
			if info, e := os.Stat(filepath.Join(dir, tt.path)); err != nil || e != nil || !info.IsDir() {
				t.Errorf("MakeFolder(%q) = %v, and it is %v, %v", tt.path, err, info, e)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("MakeFolder(%q) = %v, want %q", tt.path, err, tt.err)
		}
	}
}

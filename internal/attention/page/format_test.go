package page

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFormat holds the files of web/ to one layout. A rule of CSS and an element of HTML are a line, however long.
func TestFormat(t *testing.T) {
	entries, err := web.ReadDir("web")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name, text := entry.Name(), asset(entry.Name())
		if !strings.HasSuffix(text, "\n") || strings.Contains(text, "\n\n\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("web/%s: it must end with one line feed, and have no two empty lines in a row", name)
		}
		for i, line := range strings.Split(text, "\n") {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			switch {
			case strings.ContainsAny(line, "\t\r"):
				t.Errorf("web/%s:%d: a tab or CR", name, i+1)
			case strings.HasSuffix(line, " "):
				t.Errorf("web/%s:%d: space at the end", name, i+1)
			case indent%2 > 0:
				t.Errorf("web/%s:%d: indented by %d spaces, want steps of two", name, i+1, indent)
			case strings.HasSuffix(name, ".js") && utf8.RuneCountInString(line) > 130:
				t.Errorf("web/%s:%d: %d characters, want 130 at most", name, i+1, utf8.RuneCountInString(line))
			}
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestShare(t *testing.T) {
	seen := windowsOf([]rune("the cat sat"), 4)
	for _, tt := range []struct {
		text string
		want float64
	}{
		{"the cat sat", 1}, {"at s", 1}, {"dogs and pigs", 0}, {"cat!", 0}, {"the dog", 0.25}, {"the", 0}, {"", 0}, {"the |cat", 1}, {"the dog|cats", 0.2},
	} {
		if got := share(strings.Split(tt.text, "|"), 4, seen); got != tt.want {
			t.Errorf("share(%q) = %v, want %v", tt.text, got, tt.want)
		}
	}
}

// The last tenth of the text was not trained on: a sample that is a copy of it is not memorised.
func TestRun(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		text.WriteRune(rune('a' + i*i*7919%26))
	}
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(text.String()+strings.Repeat("Ä", 200)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ sample, want string }{
		{text.String()[:500], "32 characters: 100.00 % of the sample"},
		{text.String()[:100] + "\n---\n" + text.String()[300:400], "16 characters: 100.00 % of the sample"},
		{strings.Repeat("Ä", 99), "32 characters:   0.00 % of the sample"},
	} {
		var out strings.Builder
		if err := run([]string{"-data", path}, strings.NewReader(tt.sample), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("output = %q, want %q", out.String(), tt.want)
		}
	}
	for name, tt := range map[string]struct{ path, sample string }{"a missing text": {path + ".missing", text.String()}, "an empty sample": {path, ""}, "samples too short": {path, "abc\n---\ndef"}} {
		if err := run([]string{"-data", tt.path}, strings.NewReader(tt.sample), new(strings.Builder)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

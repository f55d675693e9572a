package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chargpt/internal/cli"
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
		if err := run(t.Context(), cli.Env{Args: []string{"-data", path}, Stdin: strings.NewReader(tt.sample), Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("output = %q, want %q", out.String(), tt.want)
		}
	}
	for _, tt := range []struct {
		args, sample string
		code         int
		want         string
	}{
		{"", "", 2, "give -data FILE"}, {"-data " + path + " -val_fraction 1", "", 2, "-val_fraction is 1"}, {"-data " + path + " more", "", 2, "unexpected argument"},
		{"-data " + path + ".missing", text.String(), 1, "check the path"}, {"-data " + path, "", 1, "the sample: the text is empty"},
		{"-data " + path, "abc\n---\ndefg", 1, "the longest sample has 4 characters"}, {"-data " + path, "\xff", 1, "invalid UTF-8"},
		{"-data " + path + " -val_fraction 0.999", text.String(), 1, "the training text 2;"}, {"-data " + path + " -val_fraction 0", text.String(), 0, ""},
	} {
		var out, errs strings.Builder
		code := cli.Run(t.Context(), "internal/bench/memorised", run, cli.Env{Args: strings.Fields(tt.args), Stdin: strings.NewReader(tt.sample), Stdout: &out, Stderr: &errs})
		if code != tt.code || !strings.Contains(errs.String(), tt.want) || strings.Contains(out.String(), "validation") {
			t.Errorf("%s: exit code %d, %q and %q, want %d, %q", tt.args, code, &out, &errs, tt.code, tt.want)
		}
	}
}

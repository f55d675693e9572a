package attention

import (
	"strings"
	"testing"
	"unicode"
)

func TestLabel(t *testing.T) {
	for char, want := range map[string]string{
		" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍", "\x00": "␀", "\x1b": "␛", "\x7f": "␡", "\u0085": "U+0085",
		"a": "a", "é": "é", "日": "日", "🙂": "🙂", "\u0301": "◌\u0301", "e\u0301": "e\u0301", "ж": "ж",
		"<": "<", "b": "b", ">": ">", "&": "&", `"`: `"`, "'": "'", `\`: `\`,
		"\u200b": "U+200B", "\u202e": "U+202E", "\u200d": "U+200D", "\ufeff": "U+FEFF", "\u00ad": "U+00AD", "\ufe0f": "U+FE0F",
		"\u00a0": "U+00A0", "\u2003": "U+2003", "\u3000": "U+3000", "\u2028": "U+2028", "\u2800": "U+2800", "\u3164": "U+3164",
		"\ue000": "U+E000", "\U0010ffff": "U+10FFFF", "\u1160": "U+1160", "🇫": "U+1F1EB", "🏽": "U+1F3FD",
		"␣": "U+2423", "⏎": "U+23CE", "◌": "U+25CC", "\ufffd": "\ufffd", "\xff": `\xFF`, "": "∅",
		"a b": "a␣b", "👨\u200d👩": "👨U+200D👩",
	} {
		if got := Label(char); got != want {
			t.Errorf("Label(%q) = %q, want %q", char, got, want)
		}
	}
}

// TestLabelOfEveryRune holds the promise that a label is one visible token, and that no two characters share one.
func TestLabelOfEveryRune(t *testing.T) {
	seen := make(map[string]rune)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xD800 <= r && r <= 0xDFFF || 0x3FFFF < r && r < 0xE0000 || r > 0xF00FF {
			continue // surrogates are not characters of a text; the others are unassigned or private, all alike
		}
		l := Label(string(r))
		if l == "" || strings.ContainsFunc(l, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf) }) {
			t.Fatalf("Label(%U) = %q", r, l)
		}
		if columns(l) < 1 {
			t.Fatalf("Label(%U) = %q takes up no room", r, l)
		}
		if other, ok := seen[l]; ok {
			t.Fatalf("%U and %U are both %q", other, r, l)
		}
		seen[l] = r
	}
}

func TestPlain(t *testing.T) {
	if got, want := plain("my runs/a\nb\x1b[31m  c"), "my runs/a⏎b␛[31m  c"; got != want {
		t.Errorf("plain = %q, want %q", got, want)
	}
}

func TestPadding(t *testing.T) {
	for _, s := range []string{"", "a", "日", "🙂", "◌\u0301", "U+200B"} {
		if l := padRight(s, 7); columns(l) != 7 {
			t.Errorf("padRight(%q, 7) = %q", s, l)
		}
	}
	if got := padRight("日本", 3); got != "日本" {
		t.Errorf("padRight cut its string: %q", got)
	}
}

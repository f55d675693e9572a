package attention

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Label is how a character of the text is shown, in every format alike. The result is never empty, holds no white
// space and no control character, and each rune of it takes up room on a screen, so that it is one token whatever its bytes:
//
//   - space is ␣, newline ⏎, tab ⇥; other ASCII controls are Unicode's control pictures (NUL ␀, CR ␍, DEL ␡);
//   - a combining mark stands on a dotted circle (U+0301 is ◌́);
//   - what would be invisible (zero-width and format characters, other spaces, C1 controls, variation selectors, unassigned
//     and private code points), would merge with a neighbouring label (flag letters, skin tones, Hangul jamo), or looks like
//     one of the stand-ins above (a real ␣) is U+XXXX;
//   - a byte that is not UTF-8 is \xNN.
//
// All else is itself. Several runes are shown one after the other.
func Label(char string) string {
	if char == "" {
		return "∅"
	}
	var b strings.Builder
	for rest := char; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02X`, rest[0])
		case unicode.IsMark(r) && size < len(char) && len(rest) < len(char) && !invisible(r):
			b.WriteRune(r) // it already has a base to stand on
		default:
			b.WriteString(labelRune(r))
		}
		rest = rest[size:]
	}
	return b.String()
}

func labelRune(r rune) string {
	switch {
	case r == ' ':
		return "␣"
	case r == '\n':
		return "⏎"
	case r == '\t':
		return "⇥"
	case r < 0x20:
		return string('␀' + r)
	case r == 0x7F:
		return "␡"
	case invisible(r) || merges(r) || standIn(r):
		return codePoint(r)
	case unicode.IsMark(r):
		return "◌" + string(r)
	}
	return string(r)
}

// codePoint is r in Unicode's own notation.
func codePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }

// invisible reports whether r alone shows nothing (or not the same thing everywhere).
func invisible(r rune) bool {
	switch {
	case !unicode.IsPrint(r), unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	case r == 0x2800: // braille pattern blank
		return true
	}
	return !unicode.IsMark(r) && uniseg.StringWidth(string(r)) == 0
}

// merges reports whether a terminal may draw r and the label beside it as one glyph.
func merges(r rune) bool {
	return 0x1F1E6 <= r && r <= 0x1F1FF || // regional indicators: two of them are a flag
		0x1F3FB <= r && r <= 0x1F3FF || // skin tones
		0x1100 <= r && r <= 0x11FF // Hangul jamo
}

// standIn reports whether r is one of the glyphs that a label shows in another character's place.
func standIn(r rune) bool {
	return 0x2400 <= r && r <= 0x2426 || strings.ContainsRune("⏎⇥◌∅", r)
}

// labels are the labels of all of t's tokens.
func (t *Trace) labels() []string {
	out := make([]string, len(t.Labels))
	for i, c := range t.Labels {
		out[i] = Label(c)
	}
	return out
}

// plain makes s, such as a path, safe for one line of a terminal or a title: as its labels, but for plain spaces.
func plain(s string) string {
	var b strings.Builder
	for i, word := range strings.Split(s, " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		if word != "" {
			b.WriteString(Label(word))
		}
	}
	return b.String()
}

// columns is the number of terminal cells that s takes up: 2 for most CJK characters and emoji.
func columns(s string) int { return uniseg.StringWidth(s) }

// padRight fills s up with spaces to width terminal cells.
func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}

// widest is the largest number of terminal cells among labels.
func widest(labels []string) int {
	w := 0
	for _, l := range labels {
		w = max(w, columns(l))
	}
	return w
}

// graphemes are the parts of s that a terminal draws as one glyph each.
func graphemes(s string) []string {
	var out []string
	for g := uniseg.NewGraphemes(s); g.Next(); {
		out = append(out, g.Str())
	}
	return out
}

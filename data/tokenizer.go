package data

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxVocab is how many distinct characters two bytes a token can tell apart.
const maxVocab = 1 << 16

// A Tokenizer maps characters to ids and back. The ids are 0 to Size()-1; that of a tokenizer made from a text is the
// character's rank among the distinct characters of that text. It never changes.
type Tokenizer struct {
	chars []string // one character each, in id order
	ids   map[rune]int32
}

// NewTokenizer returns the tokenizer of the distinct characters of text, in code point order. The text must be valid
// UTF-8 of at least one and at most 65,536 distinct characters.
func NewTokenizer(text string) (*Tokenizer, error) {
	if text == "" {
		return nil, errEmpty
	}
	if i := invalidUTF8(text); i >= 0 {
		return nil, utf8Error(int64(i), text[i])
	}
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	if len(seen) > maxVocab {
		return nil, errVocab
	}
	return newTokenizer(slices.Sorted(maps.Keys(seen))), nil
}

// NewTokenizerFromVocab returns the tokenizer whose character with id i is vocab[i], as a checkpoint keeps it. It refuses
// an empty vocabulary, one of more than 65,536 strings, a string that is not exactly one character, and duplicates.
// Any order is allowed.
func NewTokenizerFromVocab(vocab []string) (*Tokenizer, error) {
	if len(vocab) == 0 {
		return nil, errors.New("the vocabulary is empty")
	}
	if len(vocab) > maxVocab {
		return nil, fmt.Errorf("the vocabulary has %d characters; at most %d are possible", len(vocab), maxVocab)
	}
	runes := make([]rune, len(vocab))
	seen := make(map[rune]int, len(vocab))
	for i, s := range vocab {
		r, size := utf8.DecodeRuneInString(s)
		if size != len(s) || size == 0 || r == utf8.RuneError && size == 1 {
			return nil, fmt.Errorf("vocabulary entry %d is %.20q; it must be one character", i, s)
		}
		if first, twice := seen[r]; twice {
			return nil, fmt.Errorf("vocabulary entries %d and %d are both %q", first, i, s)
		}
		runes[i], seen[r] = r, i
	}
	return newTokenizer(runes), nil
}

// newTokenizer gives runes[i] the id i. The runes are distinct.
func newTokenizer(runes []rune) *Tokenizer {
	t := &Tokenizer{chars: make([]string, len(runes)), ids: make(map[rune]int32, len(runes))}
	for i, r := range runes {
		t.chars[i], t.ids[r] = string(r), int32(i)
	}
	return t
}

// Size returns V, the number of characters.
func (t *Tokenizer) Size() int { return len(t.chars) }

// Vocab returns the characters in id order, in a new slice of one-character strings.
func (t *Tokenizer) Vocab() []string { return slices.Clone(t.chars) }

// Char returns the character of an id, or the replacement character U+FFFD for an id outside 0 to Size()-1.
func (t *Tokenizer) Char(id int32) string {
	if id < 0 || int(id) >= len(t.chars) {
		return string(utf8.RuneError)
	}
	return t.chars[id]
}

// ID returns the id of r, and whether the vocabulary has it.
func (t *Tokenizer) ID(r rune) (int32, bool) {
	id, ok := t.ids[r]
	return id, ok
}

// Encode returns the ids of the characters of s. Characters that the vocabulary lacks are an *[UnknownError]; invalid
// UTF-8 is an error that says at which byte.
func (t *Tokenizer) Encode(s string) ([]int32, error) {
	if i := invalidUTF8(s); i >= 0 {
		return nil, utf8Error(int64(i), s[i])
	}
	ids, unknown := t.EncodeKnown(s)
	if len(unknown) > 0 {
		return nil, &UnknownError{Runes: unknown}
	}
	return ids, nil
}

// EncodeKnown returns the ids of those characters of s that the vocabulary has, and the distinct others in order of
// appearance. A byte that is not UTF-8 counts as the character U+FFFD.
func (t *Tokenizer) EncodeKnown(s string) (ids []int32, unknown []rune) {
	ids = make([]int32, 0, len(s))
	seen := map[rune]bool{}
	for _, r := range s {
		if id, ok := t.ids[r]; ok {
			ids = append(ids, id)
		} else if !seen[r] {
			seen[r] = true
			unknown = append(unknown, r)
		}
	}
	return ids, unknown
}

// Decode returns the characters of ids, as [Tokenizer.Char] does for one.
func (t *Tokenizer) Decode(ids []int32) string {
	var b strings.Builder
	b.Grow(len(ids))
	for _, id := range ids {
		b.WriteString(t.Char(id))
	}
	return b.String()
}

// An UnknownError lists characters that a vocabulary lacks.
type UnknownError struct {
	Runes []rune // distinct, in order of appearance
}

// maxListed bounds how many characters an error names.
const maxListed = 10

// Error lists the characters, the first few of them.
func (e *UnknownError) Error() string {
	if len(e.Runes) == 1 {
		return "1 character is not in the vocabulary: " + e.List()
	}
	return fmt.Sprintf("%d characters are not in the vocabulary: %s", len(e.Runes), e.List())
}

// List names the characters, quoted: the first ten of them, and how many more there are.
func (e *UnknownError) List() string {
	quoted := make([]string, 0, maxListed)
	for _, r := range e.Runes[:min(len(e.Runes), maxListed)] {
		quoted = append(quoted, strconv.QuoteRune(r))
	}
	list := strings.Join(quoted, ", ")
	if more := len(e.Runes) - len(quoted); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// invalidUTF8 returns the index of the first byte of s that is not UTF-8, or -1.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

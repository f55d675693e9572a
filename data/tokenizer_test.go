package data

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func ExampleTokenizer() {
	t, err := NewTokenizer("to be, or not to be")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d characters: %q\n", t.Size(), t.Vocab())
	ids, err := t.Encode("not to bet")
	fmt.Println(ids, err)
	fmt.Println(t.Decode(ids))
	_, err = t.Encode("to sleep")
	fmt.Println(err)
	// Output:
	// 8 characters: [" " "," "b" "e" "n" "o" "r" "t"]
	// [4 5 7 0 7 5 0 2 3 7] <nil>
	// not to bet
	// 3 characters are not in the vocabulary: 's', 'l', 'p'
}

func TestNewTokenizer(t *testing.T) {
	for _, test := range []struct{ name, text, vocab, err string }{
		{"sorted", "cab", "abc", ""},
		{"one character", "aaaa", "a", ""},
		{"code point order", "😀é￿zA", "Azé￿😀", ""},
		{"controls", "\r\n\x00\t", "\x00\t\n\r", ""},
		{"replacement character", "\uFFFDa", "a\uFFFD", ""},
		{"byte-order mark kept", "\uFEFFa", "a\uFEFF", ""},
		{"empty", "", "", "empty"},
		{"invalid", "abc\xffd", "", "byte offset 3 (0xff)"},
		{"after a replacement character", "\uFFFD\xc3", "", "byte offset 3 (0xc3)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tok, err := NewTokenizer(test.text)
			checkError(t, err, test.err)
			if err == nil && strings.Join(tok.Vocab(), "") != test.vocab {
				t.Errorf("vocabulary %q, want %q", tok.Vocab(), test.vocab)
			}
		})
	}
}

// checkError fails unless err contains want on one line, or is nil when want is empty.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Fatalf("no error, want one with %q", want)
	case err != nil && want == "":
		t.Fatalf("error %q", err)
	case err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")):
		t.Fatalf("error %q, want one line with %q", err, want)
	}
}

func TestNewTokenizerFromVocab(t *testing.T) {
	for _, test := range []struct {
		name  string
		vocab []string
		err   string
	}{
		{"sorted", []string{"a", "b"}, ""},
		{"unsorted", []string{"b", "a", "\n"}, ""},
		{"replacement character", []string{"\uFFFD"}, ""},
		{"nil", nil, "empty"},
		{"empty entry", []string{"a", ""}, "entry 1"},
		{"two characters", []string{"a", "bc"}, `entry 1 is "bc"`},
		{"combining", []string{"e\u0301"}, "entry 0"},
		{"half a character", []string{"\xc3"}, "entry 0"},
		{"duplicate", []string{"a", "b", "a"}, `0 and 2 are both "a"`},
		{"too many", make([]string, maxVocab+1), "at most 65536"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tok, err := NewTokenizerFromVocab(test.vocab)
			checkError(t, err, test.err)
			if err == nil && !slices.Equal(tok.Vocab(), test.vocab) {
				t.Errorf("vocabulary %q", tok.Vocab())
			}
		})
	}
}

func TestEncode(t *testing.T) {
	tok, err := NewTokenizerFromVocab([]string{"b", "a", "é"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		in   string
		want []int32
		err  string
	}{
		{"", []int32{}, ""},
		{"abéb", []int32{1, 0, 2, 0}, ""},
		{"axax", nil, "1 character is not in the vocabulary: 'x'"},
		{"\u200b\tz", nil, `3 characters are not in the vocabulary: '\u200b', '\t', 'z'`},
		{"0123456789mn", nil, "'9' and 2 more"},
		{"aé\xe2\x82", nil, "byte offset 3 (0xe2)"},
	} {
		got, err := tok.Encode(test.in)
		checkError(t, err, test.err)
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, want %v", test.in, got, test.want)
		}
	}
	_, err = tok.Encode("xyx")
	if unknown, ok := errors.AsType[*UnknownError](err); !ok || string(unknown.Runes) != "xy" {
		t.Errorf("error %#v", err)
	}
}

func TestEncodeKnown(t *testing.T) {
	tok, _ := NewTokenizer("ab")
	ids, unknown := tok.EncodeKnown("xaybx\xff")
	if !slices.Equal(ids, []int32{0, 1}) || string(unknown) != "xy\uFFFD" {
		t.Errorf("ids %v, unknown %q", ids, unknown)
	}
}

func TestCharOutside(t *testing.T) {
	tok, _ := NewTokenizer("ab")
	if got := tok.Decode([]int32{-1, 0, 1, 2, 1 << 30}); got != "\uFFFDab\uFFFD\uFFFD" {
		t.Errorf("%q", got)
	}
	if tok.Vocab()[0] = "z"; tok.Char(0) != "a" {
		t.Error("Vocab shares the tokenizer's memory")
	}
}

// manyCharacters returns n distinct characters, the surrogates left out.
func manyCharacters(n int) string {
	var b strings.Builder
	for r := rune(0x100); n > 0; r++ {
		if utf8.ValidRune(r) {
			b.WriteRune(r)
			n--
		}
	}
	return b.String()
}

func TestTokenizerSizes(t *testing.T) {
	for _, n := range []int{1, 2, 5000, maxVocab} {
		text := manyCharacters(n)
		tok, err := NewTokenizer(text)
		if err != nil || tok.Size() != n {
			t.Fatalf("%d characters: %v", n, err)
		}
		if ids, err := tok.Encode(text); err != nil || tok.Decode(ids) != text {
			t.Errorf("%d characters do not survive: %v", n, err)
		}
	}
	_, err := NewTokenizer(manyCharacters(maxVocab + 1))
	checkError(t, err, "more than 65536 distinct")
}

func FuzzTokenizer(f *testing.F) {
	for _, s := range []string{"", "a", "to be\r\nor not", "é😀\u200b\x00", "\uFEFFx", "\uFFFD", "\xff", "a\xe2\x82", "\xed\xa0\x80"} {
		f.Add(s, s)
		f.Add(s, "ab")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		tok, err := NewTokenizer(text)
		if (err == nil) != (text != "" && utf8.ValidString(text)) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		ids, err := tok.Encode(text)
		if err != nil || tok.Decode(ids) != text {
			t.Fatalf("%q becomes %v, %v", text, ids, err)
		}
		same, err := NewTokenizerFromVocab(tok.Vocab())
		if err != nil || !slices.Equal(same.Vocab(), tok.Vocab()) || !slices.IsSorted(tok.Vocab()) {
			t.Fatalf("vocabulary %q: %v", tok.Vocab(), err)
		}
		known, unknown := tok.EncodeKnown(other)
		if ids, err := tok.Encode(other); err == nil && (len(unknown) > 0 || tok.Decode(ids) != other || !slices.Equal(ids, known)) {
			t.Fatalf("%q encodes with unknown characters %q", other, unknown)
		}
	})
}

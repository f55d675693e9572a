package data

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func digestOf(s string) string {
	d := sha256.Sum256([]byte(s))
	return hex.EncodeToString(d[:])
}

func decoded(text *Text) string { return text.Tokenizer.Decode(values(text.Tokens)) }

func TestRead(t *testing.T) {
	long := strings.Repeat("a", chunkSize-1)
	for _, test := range []struct{ name, in, want, err string }{
		{"plain", "banana", "banana", ""},
		{"one character", "a", "a", ""},
		{"crlf kept", "a\r\nb\n", "a\r\nb\n", ""},
		{"byte-order mark", bom + "ab", "ab", ""},
		{"second byte-order mark kept", bom + bom + "ab", bom + "ab", ""},
		{"byte-order mark inside kept", "a" + bom, "a" + bom, ""},
		{"two bytes across chunks", long + "éx", long + "éx", ""},
		{"four bytes across chunks", long + "😀x", long + "😀x", ""},
		{"character at the very end", long + "😀", long + "😀", ""},
		{"replacement character", "\uFFFD", "\uFFFD", ""},
		{"5,000 characters", manyCharacters(5000), manyCharacters(5000), ""},
		{"65,536 characters", manyCharacters(maxVocab), manyCharacters(maxVocab), ""},
		{"65,537 characters", manyCharacters(maxVocab + 1), "", "more than 65536 distinct"},
		{"empty", "", "", "empty"},
		{"byte-order mark alone", bom, "", "empty"},
		{"invalid", "ab\xffc", "", "invalid UTF-8 at byte offset 2 (0xff)"},
		{"invalid after a byte-order mark", bom + "\xff", "", "byte offset 3"},
		{"invalid at a chunk's end", long + "\xff", "", "byte offset 262143 (0xff)"},
		{"invalid across chunks", long + "\xe2\x82a", "", "byte offset 262143 (0xe2)"},
		{"invalid in a later chunk", long + "éé\xc0", "", "byte offset 262147 (0xc0)"},
		{"cut off", "ab\xf0\x9f\x98", "", "byte offset 2 (0xf0)"},
		{"cut off after a chunk", long + "\xf0\x9f", "", "byte offset 262143"},
		{"half a byte-order mark", "\xef\xbb", "", "byte offset 0"},
		{"surrogate", "\xed\xa0\x80", "", "byte offset 0"},
	} {
		for name, reader := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "early EOF": iotest.DataErrReader, "bytes": iotest.OneByteReader,
		} {
			if name == "bytes" && len(test.in) > 1000 {
				continue // slow, and no other case
			}
			t.Run(test.name+"/"+name, func(t *testing.T) {
				text, err := Read(reader(strings.NewReader(test.in)))
				checkError(t, err, test.err)
				if err != nil {
					return
				}
				if decoded(text) != test.want || text.SHA256 != digestOf(test.want) {
					t.Errorf("%.40q, digest %s", decoded(text), text.SHA256)
				}
				if same, err := NewTokenizer(test.want); err != nil || strings.Join(same.Vocab(), "") != strings.Join(text.Tokenizer.Vocab(), "") {
					t.Errorf("vocabulary %.100q", text.Tokenizer.Vocab())
				}
			})
		}
	}
}

func TestReadError(t *testing.T) {
	_, err := Read(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	checkError(t, err, "after 3 bytes")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v hides its cause", err)
	}
}

// TestReadMemory promises a byte a character, two for a large vocabulary, and little more while it reads.
func TestReadMemory(t *testing.T) {
	for _, test := range []struct {
		name, text string
		width      uint64 // bytes a character
	}{
		{"small vocabulary", "to be or not to be\n1234", 1},
		{"5,000 characters", manyCharacters(5000), 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := strings.Repeat(test.text, (16<<20)/len(test.text))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			text, err := Read(strings.NewReader(in))
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			// the index of all code points has 4 MB; provisional ids that fit in a byte may have ranks that do not
			if got, want := after.TotalAlloc-before.TotalAlloc, test.width*uint64(text.Tokens.Len())+8<<20; got > want {
				t.Errorf("allocated %d bytes for %d characters, want at most %d", got, text.Tokens.Len(), want)
			}
		})
	}
}

// TestReadBlocks: a text of several blocks, whose ids need one byte or two in each of them, before and after they are
// ranked.
func TestReadBlocks(t *testing.T) {
	ascii, many := strings.Repeat("the sea, ", blockLen/6), strings.Repeat(manyCharacters(600), blockLen/500)
	for name, in := range map[string]string{
		"narrow": ascii + ascii, "narrow then wide": ascii + many, "wide then narrow": many + ascii, "one block": strings.Repeat("a", blockLen),
		"low ranks come last": strings.Repeat("語", blockLen) + many + ascii,
	} {
		t.Run(name, func(t *testing.T) {
			text, err := Read(strings.NewReader(in))
			if err != nil {
				t.Fatal(err)
			}
			if decoded(text) != in || text.Tokens.Len() != utf8.RuneCountInString(in) {
				t.Errorf("%d characters are read as others, %d", utf8.RuneCountInString(in), text.Tokens.Len())
			}
			for i, b := range text.Tokens.blocks {
				if n := len(b.narrow) + len(b.wide); n != blockLen && i < len(text.Tokens.blocks)-1 {
					t.Errorf("block %d has %d tokens", i, n)
				}
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct{ name, path, want, err string }{
		{"good", write("good.txt", bom+"banana"), "banana", ""},
		{"empty", write("empty.txt", ""), "", "empty.txt: the text is empty"},
		{"invalid", write("invalid.txt", "ab\xff"), "", "invalid.txt: invalid UTF-8 at byte offset 2"},
		{"directory", dir, "", "is a directory"},
		{"missing", filepath.Join(dir, "missing.txt"), "", "missing.txt: file does not exist; check the path"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := ReadFile(test.path)
			checkError(t, err, test.err)
			if err == nil && decoded(text) != test.want {
				t.Errorf("%q", decoded(text))
			}
			if errors.Is(err, fs.ErrNotExist) != (test.name == "missing") {
				t.Errorf("error %#v", err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "banana", bom + "é", "\xff", "a\xe2\x82", "\xef\xbb", "😀\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := Read(iotest.OneByteReader(bytes.NewReader(b)))
		want := strings.TrimPrefix(string(b), bom)
		if (err == nil) != (want != "" && utf8.ValidString(want)) {
			t.Fatalf("%q: %v", b, err)
		}
		if err == nil && decoded(text) != want {
			t.Fatalf("%q becomes %q", b, decoded(text))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for name, text := range map[string]string{"ascii": Plays(), "5000": manyCharacters(5000)} {
		b.Run(name, func(b *testing.B) {
			in := bytes.Repeat([]byte(text), 1+(32<<20)/len(text))
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(bytes.NewReader(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

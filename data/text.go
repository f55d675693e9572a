package data

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"unicode/utf8"
)

// A Text is a text as ids.
type Text struct {
	Tokenizer *Tokenizer // of the text's own characters
	Tokens    Tokens
	SHA256    string // hexadecimal digest of the bytes read, without a byte-order mark at their start
}

const (
	chunkSize = 1 << 18       // bytes read at once
	maxText   = math.MaxInt32 // characters of a text, so that counts and offsets fit in an int32
	bom       = "\uFEFF"
)

var (
	errEmpty = errors.New("the text is empty; give one with some characters in it")
	errVocab = fmt.Errorf("the text has more than %d distinct characters; use one in fewer scripts", maxVocab)
)

func utf8Error(offset int64, b byte) error {
	return fmt.Errorf("invalid UTF-8 at byte offset %d (0x%02x); convert the text to UTF-8 first", offset, b)
}

// ReadFile reads the text file at path, as [Read] does. Its errors name the path; that of a missing file is
// [fs.ErrNotExist].
func ReadFile(path string) (*Text, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w; check the path", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err // names the path
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; name a text file in it", path)
	}
	text, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// Read reads a UTF-8 text to its end in one pass: in a byte of memory a character where it has up to 256 distinct ones, in
// two at most, and little more while it reads. A byte-order mark at the start is dropped. It is an error if the text is
// empty, is not valid UTF-8 (the error says at which byte) or has more than 65,536 distinct characters.
func Read(r io.Reader) (*Text, error) {
	in := bufio.NewReader(r) // to look at the start; whole chunks bypass its buffer
	d := decoder{
		index:  make([]int32, utf8.MaxRune+1),
		rest:   make([]uint16, 0, blockLen+chunkSize),
		digest: sha256.New(),
	}
	if start, _ := in.Peek(len(bom)); string(start) == bom {
		in.Discard(len(bom)) // cannot fail: these bytes are in the buffer
		d.offset = int64(len(bom))
	}
	if err := d.readAll(in); err != nil {
		return nil, err
	}
	text := d.text()
	if text.Tokens.Len() == 0 {
		return nil, errEmpty
	}
	return text, nil
}

// A decoder collects a text under provisional ids, in order of appearance: their ranks are known only at the end.
type decoder struct {
	index  []int32 // provisional id of a character, plus 1; 0 if it did not appear yet
	runes  []rune  // by provisional id
	blocks []block
	rest   []uint16 // what no block has yet
	digest hash.Hash
	offset int64 // bytes decoded, a byte-order mark included
}

func (d *decoder) readAll(in io.Reader) error {
	buf := make([]byte, chunkSize)
	rest := 0 // bytes of a character that the last chunk began
	for {
		n, err := in.Read(buf[rest:])
		d.digest.Write(buf[rest : rest+n])
		end := err == io.EOF
		if err != nil && !end {
			return fmt.Errorf("after %d bytes: %w", d.offset+int64(rest+n), err)
		}
		chunk := buf[:rest+n]
		used, err := d.decode(chunk, end)
		if err != nil || end {
			return err
		}
		rest = copy(buf, chunk[used:])
	}
}

// decode appends the characters of chunk. Unless it is the last one it may leave up to three bytes, of a character that
// the next chunk completes. It returns how many bytes it used.
func (d *decoder) decode(chunk []byte, last bool) (used int, err error) {
	tokens := d.rest // has room for a chunk
	i := 0
	for i < len(chunk) {
		r, size := rune(chunk[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(chunk[i:])
			if r == utf8.RuneError && size == 1 {
				if !last && !utf8.FullRune(chunk[i:]) {
					break
				}
				return i, utf8Error(d.offset+int64(i), chunk[i])
			}
		}
		id := d.index[r]
		if id == 0 {
			if id, err = d.add(r); err != nil {
				return i, err
			}
		}
		tokens = append(tokens, uint16(id-1))
		i += size
	}
	d.rest = tokens
	d.offset += int64(i)
	if len(d.rest) >= blockLen {
		d.blocks = append(d.blocks, newBlock(d.rest[:blockLen]))
		d.rest = d.rest[:copy(d.rest, d.rest[blockLen:])]
	}
	if d.len() > maxText {
		return i, fmt.Errorf("the text has more than %d characters; split it", maxText)
	}
	return i, nil
}

// len is the number of characters so far.
func (d *decoder) len() int { return len(d.blocks)*blockLen + len(d.rest) }

// add gives a new character the next provisional id, and returns that plus 1.
func (d *decoder) add(r rune) (int32, error) {
	if len(d.runes) == maxVocab {
		return 0, errVocab
	}
	d.runes = append(d.runes, r)
	d.index[r] = int32(len(d.runes))
	return d.index[r], nil
}

// text replaces provisional ids by ranks.
func (d *decoder) text() *Text {
	sorted := slices.Clone(d.runes)
	slices.Sort(sorted)
	rank := make([]uint16, len(sorted)) // by provisional id
	for i, r := range sorted {
		rank[d.index[r]-1] = uint16(i)
	}
	n := d.len()
	if len(d.rest) > 0 {
		d.blocks = append(d.blocks, newBlock(d.rest))
	}
	for i, b := range d.blocks {
		d.blocks[i] = b.renumber(rank, d.rest[:cap(d.rest)])
	}
	return &Text{newTokenizer(sorted), Tokens{blocks: d.blocks, n: n}, hex.EncodeToString(d.digest.Sum(nil))}
}

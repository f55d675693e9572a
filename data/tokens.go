package data

import (
	"fmt"
	"iter"
	"slices"
)

// Tokens are the ids of a text, in a byte a character where they fit in one, else in two. The zero value is an empty text.
// They never change, so that a slice of them shares their memory.
type Tokens struct {
	blocks []block // of blockLen tokens each, but the last
	start  int     // of the first token, in blocks
	n      int
}

// blockLen is how many tokens one piece of memory holds: a long text is read without a copy of it, whatever its length.
const blockLen = 1 << 18

// A block is a piece of a text, in as few bytes as its largest id allows.
type block struct {
	narrow []uint8
	wide   []uint16 // instead of narrow, if it is not nil
}

// newBlock returns a copy of ids.
func newBlock(ids []uint16) block {
	if slices.Max(ids) > 0xff {
		return block{wide: slices.Clone(ids)}
	}
	b := block{narrow: make([]uint8, len(ids))}
	for i, id := range ids {
		b.narrow[i] = uint8(id)
	}
	return b
}

// copy fills dst with the tokens from a place on, as far as the block has them, and returns how many.
func (b block) copy(dst []int32, from int) int {
	if b.wide != nil {
		return convert(dst, b.wide[from:])
	}
	return convert(dst, b.narrow[from:])
}

func convert[To, From uint8 | uint16 | int32](dst []To, src []From) int {
	n := min(len(dst), len(src))
	for i, id := range src[:n] {
		dst[i] = To(id)
	}
	return n
}

// renumber replaces each id by its rank: in the same memory, where the new ids need as much.
func (b block) renumber(rank []uint16, scratch []uint16) block {
	if len(rank) <= 0x100 { // the common case, without a detour
		for i, id := range b.narrow {
			b.narrow[i] = uint8(rank[id])
		}
		return b
	}
	var ids []uint16
	if b.wide != nil {
		ids = scratch[:len(b.wide)]
		convert(ids, b.wide)
	} else {
		ids = scratch[:len(b.narrow)]
		convert(ids, b.narrow)
	}
	for i, id := range ids {
		ids[i] = rank[id]
	}
	if wide := slices.Max(ids) > 0xff; wide != (b.wide != nil) {
		return newBlock(ids)
	}
	convert(b.narrow, ids)
	convert(b.wide, ids)
	return b
}

// NewTokens returns a copy of ids, each of which must be from 0 to 65,535.
func NewTokens(ids []int32) (Tokens, error) {
	t := Tokens{n: len(ids)}
	for piece := range slices.Chunk(ids, blockLen) {
		small := make([]uint16, len(piece))
		for i, id := range piece {
			if id < 0 || id >= maxVocab {
				return Tokens{}, fmt.Errorf("token %d is %d; it must be from 0 to %d", len(t.blocks)*blockLen+i, id, maxVocab-1)
			}
			small[i] = uint16(id)
		}
		t.blocks = append(t.blocks, newBlock(small))
	}
	return t, nil
}

// Len returns the number of tokens.
func (t Tokens) Len() int { return t.n }

// At returns token i. It panics if there is none, like indexing a slice.
func (t Tokens) At(i int) int32 {
	var one [1]int32
	t.Copy(one[:], i)
	return one[0]
}

// Slice returns tokens lo to hi-1, sharing memory. It panics if they do not exist, like slicing a slice.
func (t Tokens) Slice(lo, hi int) Tokens {
	t.check(lo, hi)
	return Tokens{t.blocks, t.start + lo, hi - lo}
}

// Copy fills dst with the tokens that start at offset. It panics if there are fewer than len(dst).
func (t Tokens) Copy(dst []int32, offset int) {
	t.check(offset, offset+len(dst))
	for at := t.start + offset; len(dst) > 0; {
		n := t.blocks[at/blockLen].copy(dst, at%blockLen)
		dst, at = dst[n:], at+n
	}
}

func (t Tokens) check(lo, hi int) {
	if lo < 0 || hi < lo || hi > t.n {
		panic(fmt.Sprintf("data: tokens %d to %d of %d", lo, hi, t.n))
	}
}

// chunks yields all tokens in order, some at a time, in a buffer that it reuses.
func (t Tokens) chunks() iter.Seq[[]int32] {
	return func(yield func([]int32) bool) {
		buf := make([]int32, 4096)
		for i := 0; i < t.n; i += len(buf) {
			chunk := buf[:min(len(buf), t.n-i)]
			if t.Copy(chunk, i); !yield(chunk) {
				return
			}
		}
	}
}

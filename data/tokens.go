package data

import "fmt"

// Tokens are the ids of a text, one a character, in two bytes each. The zero value is an empty text. They never change,
// so that a slice of them shares their memory.
type Tokens struct {
	ids []uint16
}

// NewTokens returns a copy of ids, each of which must be from 0 to 65,535.
func NewTokens(ids []int32) (Tokens, error) {
	t := Tokens{make([]uint16, len(ids))}
	for i, id := range ids {
		if id < 0 || id >= maxVocab {
			return Tokens{}, fmt.Errorf("token %d is %d; it must be from 0 to %d", i, id, maxVocab-1)
		}
		t.ids[i] = uint16(id)
	}
	return t, nil
}

// Len returns the number of tokens.
func (t Tokens) Len() int { return len(t.ids) }

// At returns token i. It panics if there is none, like indexing a slice.
func (t Tokens) At(i int) int32 { return int32(t.ids[i]) }

// Slice returns tokens lo to hi-1, sharing memory. It panics if they do not exist, like slicing a slice.
func (t Tokens) Slice(lo, hi int) Tokens { return Tokens{t.ids[lo:hi:hi]} }

// Copy fills dst with the tokens that start at offset. It panics if there are fewer than len(dst).
func (t Tokens) Copy(dst []int32, offset int) {
	for i, id := range t.ids[offset : offset+len(dst)] {
		dst[i] = int32(id)
	}
}

package data

import (
	"slices"
	"testing"
)

// tokensOf returns the ids as Tokens.
func tokensOf(t testing.TB, ids ...int32) Tokens {
	t.Helper()
	tokens, err := NewTokens(ids)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// rising returns n tokens 0, 1, 2 and so on.
func rising(t testing.TB, n int) Tokens {
	t.Helper()
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	return tokensOf(t, ids...)
}

// values returns tokens as a slice.
func values(t Tokens) []int32 {
	ids := make([]int32, t.Len())
	t.Copy(ids, 0)
	return ids
}

func TestTokens(t *testing.T) {
	tokens := tokensOf(t, 5, 0, 65535, 7)
	if tokens.Len() != 4 || tokens.At(2) != 65535 {
		t.Errorf("tokens %v", values(tokens))
	}
	if got := values(tokens.Slice(1, 3)); !slices.Equal(got, []int32{0, 65535}) {
		t.Errorf("slice %v", got)
	}
	two := make([]int32, 2)
	if tokens.Copy(two, 2); !slices.Equal(two, []int32{65535, 7}) {
		t.Errorf("copy %v", two)
	}
	if (Tokens{}).Len() != 0 || tokens.Slice(4, 4).Len() != 0 {
		t.Error("empty tokens have a length")
	}
}

func TestNewTokensRange(t *testing.T) {
	for _, id := range []int32{-1, 65536} {
		_, err := NewTokens([]int32{0, id})
		checkError(t, err, "token 1 is")
	}
}

// TestTokensAcrossBlocks: tokens that several blocks hold are as one piece, slices of them too.
func TestTokensAcrossBlocks(t *testing.T) {
	ids := make([]int32, 2*blockLen+100)
	for i := range ids {
		ids[i] = int32(i*7%251) + 200*int32(i/blockLen%2) // the second block needs two bytes
	}
	tokens := tokensOf(t, ids...)
	if !slices.Equal(values(tokens), ids) {
		t.Fatal("tokens are not their ids")
	}
	part := tokens.Slice(blockLen-3, 2*blockLen+5).Slice(1, blockLen+7)
	if want := ids[blockLen-2 : 2*blockLen+4]; part.Len() != len(want) || !slices.Equal(values(part), want) || part.At(2) != want[2] {
		t.Error("a slice over block ends differs")
	}
	n := 0
	for chunk := range part.chunks() {
		n += len(chunk)
	}
	if n != part.Len() {
		t.Errorf("chunks have %d of %d tokens", n, part.Len())
	}
}

func TestTokensPanic(t *testing.T) {
	part := tokensOf(t, 1, 2, 3, 4).Slice(1, 3)
	for name, f := range map[string]func(){
		"At(-1)": func() { part.At(-1) }, "At(2)": func() { part.At(2) }, "Slice(1, 3)": func() { part.Slice(1, 3) },
		"Slice(1, 0)": func() { part.Slice(1, 0) }, "Copy": func() { part.Copy(make([]int32, 3), 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of two tokens does not panic", name)
				}
			}()
			f()
		}()
	}
}

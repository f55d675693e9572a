package data

import (
	"strings"
	"testing"
)

func TestPlays(t *testing.T) {
	text, err := Read(strings.NewReader(Plays()))
	if err != nil {
		t.Fatal(err)
	}
	if n := text.Tokens.Len(); n < 200_000 {
		t.Errorf("%d characters", n)
	}
	if _, ok := text.Tokenizer.ID('\n'); !ok {
		t.Error("no newline to start a sample from")
	}
}

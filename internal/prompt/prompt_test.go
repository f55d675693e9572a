package prompt

import (
	"slices"
	"strings"
	"testing"

	"chargpt/data"
)

func TestEncode(t *testing.T) {
	tokenizer, err := data.NewTokenizer("abc")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text      string
		skip      bool
		want      []int32
		err, warn string
	}{
		{"cab", false, []int32{2, 0, 1}, "", ""},
		{"cab", true, []int32{2, 0, 1}, "", ""},
		{"", false, nil, "", ""},
		{"xay", false, nil, "-prompt: 2 characters are not in the vocabulary: 'x', 'y'; leave them out, or give -skip_unknown", ""},
		{"xay", true, []int32{0}, "", "sample: -prompt: dropped what is not in the vocabulary: 'x', 'y'\n"},
		{"x", true, nil, "", "sample: -prompt: dropped what is not in the vocabulary: 'x'\n"},
		{"a\xff", true, nil, "-prompt: invalid UTF-8 at byte offset 1 (0xff); convert the text to UTF-8 first", ""},
	} {
		var warn strings.Builder
		got, err := Reader{Tokenizer: tokenizer, SkipUnknown: tt.skip, Command: "sample", Warn: &warn}.Encode("-prompt", tt.text)
		if !slices.Equal(got, tt.want) || warn.String() != tt.warn || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%q, skip %t: %v, error %v, warning %q, want %v, %q, %q", tt.text, tt.skip, got, err, &warn, tt.want, tt.err, tt.warn)
		}
	}
}

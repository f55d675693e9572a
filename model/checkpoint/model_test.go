package checkpoint

import (
	"slices"
	"testing"
)

func TestModel(t *testing.T) {
	c := tiny(t)
	m, err := c.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Parameters() {
		if !slices.Equal(p.Data, c.Weights[p.Name]) {
			t.Errorf("%s differs", p.Name)
		}
	}
	tok, err := c.Tokenizer()
	if err != nil || !slices.Equal(tok.Vocab(), c.Vocab) {
		t.Errorf("vocabulary %q, %v", tok.Vocab(), err)
	}
}

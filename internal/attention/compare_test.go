package attention

import (
	"bytes"
	"strings"
	"testing"
)

// pairOf are two contexts of one model: the vocabulary is that of both texts.
func pairOf(a, b string, nLayer, nHead int) (*Trace, *Trace) {
	x, y := testTrace(a+"|"+b, nLayer, nHead), testTrace(b+"|"+a, nLayer, nHead)
	vocab := x.Vocab
	for _, t := range []*Trace{x, y} {
		text := a
		if t == y {
			text = b
		}
		t.Tokens, t.Labels = nil, nil
		for _, r := range text {
			for id, c := range vocab {
				if c == string(r) {
					t.Tokens, t.Labels = append(t.Tokens, int32(id)), append(t.Labels, c)
				}
			}
		}
		for l := range t.Heads {
			for h := range t.Heads[l] {
				t.Heads[l][h] = testHead(t.Tokens, t.Shape.HeadSize, float64(1+l*nHead+h))
			}
		}
	}
	if a == b {
		y.Next = x.Next
		return x, y
	}
	y.Next = append(y.Next[1:len(y.Next):len(y.Next)], y.Next[0])
	return x, y
}

func TestWriteCompare(t *testing.T) {
	for _, c := range []struct {
		file, a, b string
		o          TextOptions
	}{
		{"compare.txt", "the king", "a ring", TextOptions{Selection: PerLayer()}},
		{"compare_colour.txt", "the king", "a ring", TextOptions{Selection: Selection{0, 1}, Colour: TrueColour}},
		{"compare_hostile.txt", "x" + hostile, "yy" + hostile, TextOptions{Selection: Selection{0, 0}, Width: 30}},
		{"compare_same.txt", "king", "king", TextOptions{Selection: Selection{Mean, Mean}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			a, b := pairOf(c.a, c.b, 2, 2)
			var out bytes.Buffer
			if err := WriteCompare(&out, a, b, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, c.file, out.Bytes())
		})
	}
}

func TestWriteCompareErrors(t *testing.T) {
	a, b := pairOf("king", "queen", 1, 1)
	b.Tokens[4], b.Labels[4] = a.Tokens[0], "k"
	err := WriteCompare(&bytes.Buffer{}, a, b, TextOptions{})
	if err == nil || !strings.Contains(err.Error(), "one context ends in g, the other in k") {
		t.Errorf("no shared suffix: error %v", err)
	}
	err = WriteCompare(&bytes.Buffer{}, a, testTrace("ring", 1, 1), TextOptions{})
	if err == nil || !strings.Contains(err.Error(), "different models") {
		t.Errorf("two models: error %v", err)
	}
	b.Next[0] += 1
	err = WriteCompare(&bytes.Buffer{}, a, b, TextOptions{})
	if err == nil || !strings.Contains(err.Error(), "second context") {
		t.Errorf("an invalid trace: error %v", err)
	}
}

func TestCommonSuffix(t *testing.T) {
	for _, c := range []struct {
		a, b []int32
		want int
	}{
		{[]int32{1, 2, 3}, []int32{9, 2, 3}, 2},
		{[]int32{2, 3}, []int32{1, 2, 3}, 2},
		{[]int32{1}, []int32{2}, 0},
		{[]int32{5, 5}, []int32{5, 5}, 2},
	} {
		if got := commonSuffix(c.a, c.b); got != c.want {
			t.Errorf("commonSuffix(%v, %v) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

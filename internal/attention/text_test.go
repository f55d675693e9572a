package attention

import (
	"bytes"
	"testing"
)

func TestWriteText(t *testing.T) {
	long := "First Citizen: before we proceed any further, hear me speak."
	for _, c := range []struct {
		file  string
		trace *Trace
		o     TextOptions
	}{
		{"text_mean.txt", testTrace("hello world", 2, 2), TextOptions{Selection: PerLayer()}},
		{"text_head.txt", testTrace("hello world", 2, 2), TextOptions{Selection: Selection{Layer: 1, Head: 0}, Top: 2}},
		{"text_colour.txt", testTrace("hello", 1, 2), TextOptions{Selection: PerLayer(), Colour: TrueColour}},
		{"text_hostile.txt", testTrace(hostile, 1, 1), TextOptions{Selection: EveryHead()}},
		{"text_narrow.txt", testTrace(long, 1, 2), TextOptions{Selection: PerLayer(), Width: 40, Top: 5}},
		{"text_no_layers.txt", testTrace("hello", 0, 1), TextOptions{Selection: PerLayer()}},
	} {
		t.Run(c.file, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteText(&b, c.trace, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, c.file, b.Bytes())
		})
	}
}

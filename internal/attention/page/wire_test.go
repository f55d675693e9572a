package page

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"chargpt/internal/attention"
)

// TestQuantise decodes as web/codec.js does: the error is at most half a row's scale.
func TestQuantise(t *testing.T) {
	rows := [][]float32{{0.25, 0.5, 1e-9}, {0, 0, 0}, {-3, 2, 1e-3}, {math.MaxFloat32, -math.MaxFloat32, 1}}
	for _, bits := range []int{8, 16} {
		w := quantise(len(rows), func(i int) []float32 { return rows[i] }, bits, true)
		for i, row := range rows {
			scale := float64(math.Float32frombits(binary.LittleEndian.Uint32(w.Scale[4*i:])))
			for j, x := range row {
				got := float64(signed(w.Ints, 3*i+j, bits)) * scale
				if math.Abs(got-float64(x)) > scale/2*1.0001 {
					t.Errorf("%d bits: %v became %v, half a step is %v", bits, x, got, scale/2)
				}
			}
		}
	}
}

func signed(ints []byte, at, bits int) int {
	if bits == 8 {
		return int(int8(ints[at]))
	}
	return int(int16(binary.LittleEndian.Uint16(ints[2*at:])))
}

func TestPrecisionFollowsTheSize(t *testing.T) {
	of := func(n, layers, size int) precision {
		trace := &attention.Trace{Tokens: make([]int32, n), Shape: attention.Shape{NLayer: layers, NHead: 6, HeadSize: size}}
		return precisionFor([]*attention.Trace{trace}, pageBudget)
	}
	for _, c := range []struct {
		n, layers, size int
		want            precision
	}{{64, 4, 32, precision{16, 16}}, {256, 6, 32, precision{16, 8}}, {256, 6, 64, precision{8, 8}}} {
		if got := of(c.n, c.layers, c.size); got != c.want {
			t.Errorf("%d tokens, %d layers, head size %d: %v bits, want %v", c.n, c.layers, c.size, got, c.want)
		}
	}
}

func TestWriteRefusesBrokenTraces(t *testing.T) {
	short := small()
	short.Heads[1][2].Q = short.Heads[1][2].Q[:5]
	nan := small()
	nan.Heads[0][0].Weights[0] = float32(math.NaN())
	other := made{text: "abc", layers: 1, heads: 1, headSize: 4}.trace()
	for name, traces := range map[string][]*attention.Trace{
		"none": {}, "nil": {nil}, "empty": {{}}, "short": {short}, "not finite": {nan}, "mixed": {small(), other},
	} {
		var b bytes.Buffer
		if err := WriteProbeHTML(&b, traces, View{}); err == nil || b.Len() > 0 {
			t.Errorf("%s: error %v after %d bytes", name, err, b.Len())
		}
	}
}

// TestSelfContained looks at the file as text: nothing in it can end an element early or load anything.
func TestSelfContained(t *testing.T) {
	trace := small()
	trace.Vocab[0], trace.Labels[0] = "</script>", "<!--\u2028\u2029&"
	var b bytes.Buffer
	if err := WriteHTML(&b, trace, View{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if n := strings.Count(text, "</script>"); n != 2 {
		t.Errorf("%d script elements end, want 2", n)
	}
	for _, bad := range []string{"<!--", "\u2028", "\u2029", "ZgotmplZ", "src=", "@import", "url("} {
		if strings.Contains(text, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	again := new(bytes.Buffer)
	if err := WriteHTML(again, trace, View{}); err != nil || again.String() != text {
		t.Error("the same trace gave two different pages")
	}
}

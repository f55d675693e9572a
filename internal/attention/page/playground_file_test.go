package page

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"chargpt/model"
	"chargpt/model/train"
)

// TestPlaygroundKnowsEveryVariant fails when a model has a setting that web/gpt.js may not know: teach it, add the setting
// to variants, and then here.
func TestPlaygroundKnowsEveryVariant(t *testing.T) {
	known := []string{"VocabSize", "BlockSize", "NLayer", "NHead", "NEmbd", "HeadSize", "Dropout", "Bias", "Tied", "AttnOnly", "Position"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[model.Config]()) {
		if !slices.Contains(known, f.Name) {
			t.Errorf("the page's forward pass does not know %s", f.Name)
		}
	}
}

// TestPlaygroundKnowsItsPositions: a kind of positions that the page does not know is no silent other one.
func TestPlaygroundKnowsItsPositions(t *testing.T) {
	p := newTab(t)
	for position, want := range map[string]string{"learned": "", "rope": "", "alibi": "this page knows no positions of kind alibi"} {
		got := read[string](p, fmt.Sprintf(`(() => { %s; try {
			new GPT({n_layer: 1, n_head: 1, head_size: 2, block_size: 4, position: %q}, {});
			return "";
		} catch (problem) { return problem.message } })()`, asset("gpt.js"), position))
		if got != want {
			t.Errorf("positions %q: error %q, want %q", position, got, want)
		}
	}
}

func TestPlaygroundRefuses(t *testing.T) {
	good := fresh(t, model.Config{BlockSize: 8, NLayer: 1, NHead: 1, NEmbd: 8})
	of := func(change func(g *Playground)) Playground {
		g := fresh(t, good.Model.Config)
		change(&g)
		return g
	}
	weight := func(x float64) Playground {
		return of(func(g *Playground) { g.Model.Parameters()[2].Data[3] = float32(x) })
	}
	for _, c := range []struct {
		name string
		g    Playground
		want string
	}{
		{"too large", of(func(g *Playground) { g.Model = zero(t, func(c *model.Config) { c.NEmbd, c.BlockSize = 1024, 1<<16 }) }), "over the 100 MB"},
		{"long window", of(func(g *Playground) { g.Model = zero(t, func(c *model.Config) { c.BlockSize = 1 << 16 }) }), "block_size is 65536"},
		{"not a number", weight(math.NaN()), "a weight of h.0.attn.w_q is NaN"},
		{"infinite", weight(math.Inf(-1)), "is -Inf"},
		{"no float16", weight(7e4), "is 70000"},
		{"other vocabulary", of(func(g *Playground) { g.Vocab = g.Vocab[1:] }), "characters for a model"},
		{"other chain", of(func(g *Playground) { g.Bigram.RowStart = g.Bigram.RowStart[1:] }), "bigram"},
	} {
		var b bytes.Buffer
		err := WritePlayground(&b, c.g)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes were written", c.name, b.Len())
		}
	}
}

// zero is an empty model for the vocabulary of fresh.
func zero(t *testing.T, change func(*model.Config)) *model.Model {
	t.Helper()
	c := fresh(t, model.Config{BlockSize: 8, NLayer: 1, NHead: 1, NEmbd: 8, Position: model.PositionRope}).Model.Config
	change(&c)
	c.Position = model.PositionLearned
	m, err := model.NewZero(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPlaygroundSize holds the default model to its 3 MB.
func TestPlaygroundSize(t *testing.T) {
	preset, _ := train.FindPreset(train.DefaultPreset)
	g := fresh(t, preset.Config)
	var b bytes.Buffer
	if err := WritePlayground(&b, g); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s parameters: %d bytes", grouped(g.Model.NumParameters()), b.Len())
	if b.Len() >= 3_000_000 {
		t.Errorf("the page of the default model has %d bytes, want less than 3 MB", b.Len())
	}
	if got := g.size(); math.Abs(float64(got-b.Len())) > 20_000 {
		t.Errorf("the size is foretold as %d, but is %d", got, b.Len())
	}
	for _, bad := range []string{"ZgotmplZ", "src=", "@import", "http:"} {
		if strings.Contains(strings.ReplaceAll(b.String(), "http://www.w3.org/2000/svg", ""), bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if n := strings.Count(b.String(), "</script>"); n != 2 {
		t.Errorf("%d script elements end, want 2", n)
	}
}

// TestHalf sends every float16, and what lies between two neighbours, there and back: through web/float16.js.
func TestHalf(t *testing.T) {
	p := newTab(t)
	packed := make([]byte, 0, 2*infiniteHalf)
	for bits := range uint16(infiniteHalf) {
		packed = binary.LittleEndian.AppendUint16(packed, bits)
	}
	values := read[[]float64](p, fmt.Sprintf(`(() => { %s %s; return Array.from(halvesOf(%q)) })()`, asset("codec.js"), asset("float16.js"), base64.StdEncoding.EncodeToString(packed)))
	if len(values) != infiniteHalf || values[1] != 0x1p-24 || values[0x3c00] != 1 || values[infiniteHalf-1] != largestHalf {
		t.Fatalf("the page reads %d numbers, the last %v", len(values), values[len(values)-1])
	}
	for i, x := range values {
		if got := half(float32(x)); got != uint16(i) {
			t.Fatalf("half(%v) is %#x, want %#x", x, got, i)
		}
		if got := half(float32(-x)); i > 0 && got != uint16(i)|0x8000 {
			t.Fatalf("half(%v) is %#x, want %#x", -x, got, i|0x8000)
		}
		if i+1 == len(values) {
			break
		}
		middle := float32((x + values[i+1]) / 2)
		for y, want := range map[float32]int{
			middle:                                  i + i%2,
			math.Nextafter32(middle, 0):             i,
			math.Nextafter32(middle, largestHalf+1): i + 1,
		} {
			if got := half(y); got != uint16(want) {
				t.Fatalf("half(%v) is %#x, want %#x", y, got, want)
			}
		}
	}
	if got := half(1e6); got != infiniteHalf {
		t.Errorf("half(1e6) is %#x", got)
	}
}

package page

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"chargpt/data"
	"chargpt/internal/attention"
	"chargpt/model"
)

// maxPlayground is how many bytes a playground may have: a browser holds its text several times while it opens it.
const maxPlayground = 100_000_000

// maxWindow is how many bytes keys, values and attention of one window may take in the page.
const maxWindow = 1_000_000_000

// Playground is a model that a page runs by itself.
type Playground struct {
	Model  *model.Model
	Vocab  []string     // (V), one character each
	Bigram *data.Bigram // nil: every character is as likely
	Name   string       // where the model came from, for people
	Step   int          // the training iteration of the weights
	Prompt string       // the text that the page starts with
	View   View         // the head that it starts with
}

// playground is the data of a page that has a model inside.
type playground struct {
	Kind    string      `json:"kind"` // "playground"
	Source  string      `json:"source"`
	Step    int         `json:"step"`
	Prompt  string      `json:"prompt"`
	View    View        `json:"view"`
	Model   wireModel   `json:"model"`
	Network wireNetwork `json:"network"`
	Program string      `json:"program"` // of the worker
}

// wireNetwork is what a forward pass needs.
type wireNetwork struct {
	Tied       bool            `json:"tied"`
	AttnOnly   bool            `json:"attn_only"`
	Parameters []wireParameter `json:"parameters"` // in the order of their weights
	Weights    []byte          `json:"weights"`    // float16, little-endian
	Bigram     []byte          `json:"bigram"`     // packChain's
}

// wireParameter is a vector, the table wpe or wte, or a matrix: (out, in), which is the other way round than in Go.
type wireParameter struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// WritePlayground writes one self-contained page that runs the model: the live page without a server. Weights are rounded
// to float16, so its distributions differ a little from those of package model. It samples as model/sample does, but draws
// from another random generator: the likeliest characters are the same, and a seed gives the same text in every browser,
// but not that of cmd/sample. What [Playground.Validate] refuses is an error, with nothing written.
func WritePlayground(w io.Writer, p Playground) error {
	if err := p.Validate(); err != nil {
		return err
	}
	return render(w, document{Title: "chargpt playground: " + p.Name, Heading: "playground", Worker: true, Data: p.data()})
}

func (p Playground) data() playground {
	c := p.Model.Config
	shape := attention.Shape{NLayer: c.NLayer, NHead: c.NHead, NEmbd: c.NEmbd, HeadSize: c.HeadSize,
		BlockSize: c.BlockSize, VocabSize: c.VocabSize, Position: c.Position}
	return playground{Kind: "playground", Source: p.Name, Step: p.Step, Prompt: p.Prompt, View: p.View,
		Model: encodeModel(shape, p.Vocab), Network: p.encode(), Program: worker()}
}

// Validate reports why there can be no page of a model: it is too large, or its weights are damaged.
func (p Playground) Validate() error {
	c := p.Model.Config
	if len(p.Vocab) != c.VocabSize {
		return fmt.Errorf("page: %d characters for a model of vocab_size %d", len(p.Vocab), c.VocabSize)
	}
	if p.Bigram != nil {
		if err := p.Bigram.Validate(c.VocabSize); err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	if size := p.size(); size > maxPlayground {
		return fmt.Errorf("the model has %s parameters, so its page would have %d MB, over the %d MB that browsers open well; look at it with -http instead",
			grouped(p.Model.NumParameters()), size/1e6, maxPlayground/1_000_000)
	}
	if size := windowSize(c); size > maxWindow {
		return fmt.Errorf("block_size is %d: attention over such a window would take %.0f MB in the page, over its %d MB; look at the model with -http instead",
			c.BlockSize, size/1e6, maxWindow/1_000_000)
	}
	for _, x := range p.Model.Parameters() {
		for _, w := range x.Data {
			if !(math.Abs(float64(w)) <= largestHalf) {
				return fmt.Errorf("a weight of %s is %v, which float16 cannot hold; the file is damaged or its training diverged", x.Name, w)
			}
		}
	}
	return nil
}

// size is about how many bytes the page has.
func (p Playground) size() int {
	size := base64.StdEncoding.EncodedLen(2*p.Model.NumParameters()) + len(script()) + len(worker()) + len(style())
	size += 24 * len(p.Vocab)               // a character and its label in quotes
	size += 100 * len(p.Model.Parameters()) // a name and a shape
	if p.Bigram != nil {
		size += base64.StdEncoding.EncodedLen(2 * len(p.Bigram.Next))
	}
	return size
}

// windowSize is how many bytes the page needs for a full window, in float32: cached keys and values, and queries, keys,
// values and weights of every head to show.
func windowSize(c model.Config) float64 {
	t, a := float64(c.BlockSize), float64(c.NHead*c.HeadSize)
	return 4 * float64(c.NLayer) * (5*t*a + float64(c.NHead)*t*t/2)
}

func (p Playground) encode() wireNetwork {
	n := wireNetwork{Tied: p.Model.Config.Tied, AttnOnly: p.Model.Config.AttnOnly,
		Weights: make([]byte, 0, 2*p.Model.NumParameters()), Bigram: packChain(p.Bigram, len(p.Vocab))}
	for _, x := range p.Model.Parameters() {
		shape, data := x.Shape, x.Data
		if len(shape) == 2 && !isTable(x.Name) {
			shape, data = []int{shape[1], shape[0]}, transposed(data, shape[1])
		}
		n.Parameters = append(n.Parameters, wireParameter{x.Name, shape})
		for _, w := range data {
			n.Weights = binary.LittleEndian.AppendUint16(n.Weights, half(w))
		}
	}
	return n
}

// isTable tells the embeddings, whose rows are looked up, from matrices: a tied LM head is wte as it is, (V, C).
func isTable(name string) bool { return name == "wte" || name == "wpe" }

// transposed is a matrix of so many columns with rows and columns exchanged.
func transposed(matrix []float32, columns int) []float32 {
	out := make([]float32, 0, len(matrix))
	for j := range columns {
		for i := j; i < len(matrix); i += columns {
			out = append(out, matrix[i])
		}
	}
	return out
}

// packChain is a Markov chain in few bytes: for each of V characters how many pairs it begins, and for each pair the
// distance from the id before (−1 at first) and the count. Numbers are varints of package encoding/binary.
func packChain(b *data.Bigram, v int) (packed []byte) {
	if b == nil {
		b = &data.Bigram{RowStart: make([]int32, v+1)}
	}
	for current := range v {
		lo, hi := b.RowStart[current], b.RowStart[current+1]
		packed = binary.AppendUvarint(packed, uint64(hi-lo))
		before := int32(-1)
		for i := lo; i < hi; i++ {
			packed = binary.AppendUvarint(packed, uint64(b.Next[i]-before))
			packed = binary.AppendUvarint(packed, uint64(b.Count[i]))
			before = b.Next[i]
		}
	}
	return packed
}

// grouped writes a number with commas between its thousands.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

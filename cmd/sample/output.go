package main

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"chargpt/model/sample"
)

// output prints one sample: as text, as one JSON document (-json), or as one for each character (-logprobs).
type output struct {
	*options
	model  *loaded
	number int
	prompt string
	w      io.Writer
	text   strings.Builder // the continuation so far, for -json
	drawn  int             // characters
}

// plain reports whether samples are printed as text.
func (o *options) plain() bool { return !o.json && !o.logprobs }

// begin prints what comes before the first character.
func (o *output) begin() error {
	if !o.plain() {
		return nil
	}
	_, err := io.WriteString(o.w, o.prompt)
	return err
}

// event prints what a character, or the end of the sample, adds. logits are those that the character was drawn from.
func (o *output) event(e sample.Event, logits []float32) error {
	if o.json {
		o.text.WriteString(e.Text)
	}
	if !e.Done {
		o.drawn++
	}
	switch {
	case o.json && e.Done:
		return o.document()
	case o.logprobs && !e.Done:
		return o.character(e, logits)
	case o.plain():
		text := e.Text
		if e.Done {
			text += "\n"
		}
		_, err := io.WriteString(o.w, text)
		return err
	}
	return nil
}

// document is what -json prints of a sample. The text is the continuation, without the prompt and the stop string.
type document struct {
	Sample       int      `json:"sample"`
	Prompt       string   `json:"prompt"`
	Text         string   `json:"text"`
	FinishReason string   `json:"finish_reason"` // length: max_new_tokens were drawn; stop: a stop string came
	Seed         uint64   `json:"seed"`
	Settings     settings `json:"settings"`
}

type settings struct {
	Checkpoint   string   `json:"ckpt"`
	MaxNewTokens int      `json:"max_new_tokens"`
	Temperature  float64  `json:"temperature"`
	TopK         int      `json:"top_k"`
	TopP         float64  `json:"top_p"`
	Stop         []string `json:"stop"`
}

func (o *output) document() error {
	reason := "length"
	if utf8.RuneCountInString(o.text.String()) < o.drawn { // the stop string is not shown
		reason = "stop"
	}
	return o.encode(document{o.number, o.prompt, o.text.String(), reason, o.Seed, settings{
		o.model.file, o.MaxNewTokens, o.Temperature, o.TopK, o.TopP, append([]string{}, o.Stop...)}})
}

// character is what -logprobs prints of each character drawn, those of a stop string included. Probabilities are the
// model's own, whatever temperature, top_k and top_p are; draw_prob is that under those settings.
type character struct {
	Sample int `json:"sample"`
	Index  int `json:"index"` // in the continuation, from 0
	candidate
	DrawProb number      `json:"draw_prob"`
	Top      []candidate `json:"top"` // the likeliest characters, likeliest first
}

type candidate struct {
	Char    string `json:"char"`
	ID      int32  `json:"id"`
	Prob    number `json:"prob"`
	LogProb number `json:"logprob"` // nats
}

// topCandidates is how many of the likeliest characters -logprobs prints.
const topCandidates = 5

func (o *output) character(e sample.Event, logits []float32) error {
	likeliest, err := sample.Sampler{Temperature: 1, TopK: topCandidates}.Candidates(nil, logits)
	if err != nil {
		return err
	}
	scale := logSumExp(logits)
	describe := func(id int32) candidate {
		logprob := float64(logits[id]) - scale
		return candidate{o.model.tokenizer.Char(id), id, number(math.Exp(logprob)), number(logprob)}
	}
	c := character{Sample: o.number, Index: o.drawn - 1, candidate: describe(e.ID), DrawProb: number(e.Probability)}
	for _, x := range likeliest {
		c.Top = append(c.Top, describe(x.ID))
	}
	return o.encode(c)
}

// logSumExp is the logarithm of the sum of the exponentials.
func logSumExp(logits []float32) float64 {
	largest, sum := math.Inf(-1), 0.0
	for _, l := range logits {
		largest = max(largest, float64(l))
	}
	for _, l := range logits {
		sum += math.Exp(float64(l) - largest)
	}
	return largest + math.Log(sum)
}

// encode prints a value as one line of JSON.
func (o *output) encode(v any) error {
	e := json.NewEncoder(o.w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// number is printed with the six digits that a float32 is worth; one that JSON cannot express is null.
type number float64

// MarshalJSON is json.Marshaler's.
func (n number) MarshalJSON() ([]byte, error) {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, x, 'g', 6, 64), nil
}

package train

import (
	"context"
	"strings"

	"chargpt/data"
	"chargpt/model/sample"
)

// sampleLength is how many characters the samples during training have.
const sampleLength = 200

// Sample draws n characters from the model as it is, seeded by the run. It stops early, with the context's cause, when ctx is done.
func (t *Trainer) Sample(ctx context.Context, n int) (string, error) {
	d, err := t.Model.NewDecoder(1)
	if err != nil {
		return "", err
	}
	defer d.Close()
	var text strings.Builder
	start := []int32{StartToken(t.Text.Tokenizer, t.Bigrams)}
	o := sample.Options{Sampler: sample.Sampler{Temperature: 0.8}, MaxNewTokens: n, Seed: t.State.Options.Seed}
	err = sample.Generate(ctx, d, 1, 0, start, t.Text.Tokenizer.Char, o, func(e sample.Event) error {
		text.WriteString(e.Text)
		return nil
	})
	return text.String(), err
}

// StartToken is where a text without a prompt starts from: a newline, or the most frequent character where the
// vocabulary has none.
func StartToken(t *data.Tokenizer, b *data.Bigram) int32 {
	if id, ok := t.ID('\n'); ok {
		return id
	}
	best, most := int32(0), int64(-1)
	if b == nil {
		return best
	}
	for c := range int32(t.Size()) {
		total := int64(0)
		for _, n := range b.Count[b.RowStart[c]:b.RowStart[c+1]] {
			total += int64(n)
		}
		if total > most {
			best, most = c, total
		}
	}
	return best
}

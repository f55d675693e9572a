package attention

import (
	"fmt"
	"strings"
)

// nextCharacters is how many continuations the tables list.
const nextCharacters = 10

// likeliest are the ids of the (at most) k most probable characters, the most probable first; of equal ones the lower id.
func likeliest(p []float32, k int) []int {
	ids := make([]int, len(p))
	for i := range ids {
		ids[i] = i
	}
	return largest(p, ids, k)
}

// writeNext sets the model's next-character distribution beside the Markov chain's, which knows the last character only.
func writeNext(b *strings.Builder, t *Trace) {
	last := Label(t.Labels[len(t.Labels)-1])
	ids := likeliest(t.Next, nextCharacters)
	width := max(4, widest(t.vocabLabels(ids)))
	fmt.Fprintf(b, "the next character after %s: the model reads the context, a Markov chain %s alone\n", last, last)
	fmt.Fprintf(b, "%s  %-20s  %s\n", padRight("char", width), "model", "bigram Markov chain")
	for _, id := range ids {
		line := fmt.Sprintf("%s  %.4f %s  %.4f %s", padRight(Label(t.Vocab[id]), width),
			t.Next[id], padRight(bar(float64(t.Next[id]), 13), 13), t.Bigram[id], bar(t.Bigram[id], 13))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	nats := KL(t.Next, t.Bigram)
	fmt.Fprintf(b, "KL(model ‖ Markov) = %.4f nats = %.4f bits\n", nats, Bits(nats))
}

func (t *Trace) vocabLabels(ids []int) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = Label(t.Vocab[id])
	}
	return out
}

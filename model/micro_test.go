package model

import "testing"

// SequencesAtWork is what the graphs of a Batch have room for.
func TestSequencesAtWork(t *testing.T) {
	for _, tokens := range []int{1, 64, 256, 257, 300, 512, 700} {
		m, err := New(Config{VocabSize: 3, BlockSize: tokens, NLayer: 0, NHead: 1, NEmbd: 1, Tied: true}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range []int{1, 2, 3, 5, 8, 12, 64} {
			b, err := m.NewBatch(batch, tokens, 1)
			if err != nil {
				t.Fatal(err)
			}
			room := 0
			for _, l := range b.lanes {
				room += len(l.graph.Tokens) / tokens
			}
			if got := SequencesAtWork(batch, tokens); got != room {
				t.Errorf("batch %d of %d tokens: %d at work, want %d", batch, tokens, got, room)
			}
			b.Close()
		}
	}
	if got := SequencesAtWork(1<<62, 1<<20); got != 2 {
		t.Errorf("an absurd batch: %d at work, want 2", got)
	}
}

package data

import (
	"iter"
	"math/rand/v2"
	"slices"
)

// NoTarget is the target of a position to ignore.
const NoTarget = -1

// Windows yields a text in consecutive windows of blockSize characters, batchSize at a time, as tokens and targets (B, T);
// the target of a position is the next character. Every character but the first is a target exactly once. The last window
// may be shorter and the last batch may have fewer windows: a position that does not exist has token 0 and target
// [NoTarget]. Each iteration has its own two buffers, which it reuses for each batch. Both sizes must be at least 1.
func Windows(t Tokens, blockSize, batchSize int) iter.Seq2[[]int32, []int32] {
	w := newWindows(t, blockSize, batchSize)
	return func(yield func(tokens, targets []int32) bool) { w.each(w.count, func(i int) int { return i }, yield) }
}

// Subset yields some of the windows that [Windows] yields, in the same order and form: about as many characters as
// asked for, at least one window, chosen by seed. All of them if the text is not longer. Each iteration yields the same ones.
func Subset(t Tokens, blockSize, batchSize, characters int, seed uint64) iter.Seq2[[]int32, []int32] {
	w := newWindows(t, blockSize, batchSize)
	n := max(1, characters/blockSize)
	if n >= w.count {
		return Windows(t, blockSize, batchSize)
	}
	chosen := choose(w.count, n, rand.New(rand.NewPCG(seed, 0)))
	return func(yield func(tokens, targets []int32) bool) {
		w.each(n, func(i int) int { return chosen[i] }, yield)
	}
}

// windows are the consecutive windows of a text.
type windows struct {
	text                 Tokens
	blockSize, batchSize int
	count                int // the last shorter one included
}

func newWindows(t Tokens, blockSize, batchSize int) windows {
	if blockSize < 1 || batchSize < 1 {
		panic("data: windows need a blockSize and a batchSize of at least 1")
	}
	targets := max(0, t.Len()-1)
	count := targets / blockSize
	if targets%blockSize != 0 {
		count++
	}
	return windows{t, blockSize, batchSize, count}
}

// each yields n windows in batches; number says which window is the i-th.
func (w windows) each(n int, number func(i int) int, yield func(tokens, targets []int32) bool) {
	tokens, targets := make([]int32, w.batchSize*w.blockSize), make([]int32, w.batchSize*w.blockSize)
	for first := 0; first < n; first += w.batchSize {
		for b := range w.batchSize {
			lo, hi := b*w.blockSize, (b+1)*w.blockSize
			if first+b < n {
				w.fill(number(first+b), tokens[lo:hi], targets[lo:hi])
			} else {
				pad(tokens[lo:hi], targets[lo:hi])
			}
		}
		if !yield(tokens, targets) {
			return
		}
	}
}

// fill writes window i.
func (w windows) fill(i int, tokens, targets []int32) {
	start := i * w.blockSize
	n := min(w.blockSize, w.text.Len()-1-start)
	w.text.Copy(tokens[:n], start)
	w.text.Copy(targets[:n], start+1)
	pad(tokens[n:], targets[n:])
}

func pad(tokens, targets []int32) {
	clear(tokens)
	for i := range targets {
		targets[i] = NoTarget
	}
}

// choose returns k distinct numbers under n, sorted; all choices are equally likely (Floyd's algorithm, Bentley 1987).
func choose(n, k int, rng *rand.Rand) []int {
	chosen := make(map[int]bool, k)
	sorted := make([]int, 0, k)
	for last := n - k; last < n; last++ {
		i := rng.IntN(last + 1)
		if chosen[i] {
			i = last
		}
		chosen[i] = true
		sorted = append(sorted, i)
	}
	slices.Sort(sorted)
	return sorted
}

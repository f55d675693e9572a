package data

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// A Bigram is a Markov chain over characters: it predicts the next one from the current one alone, by how often pairs of
// neighbours occur in a text, each counted once more than it occurs. Only pairs that occur are stored, row by row (a
// compressed sparse row matrix): those of the current character c are Next[RowStart[c]:RowStart[c+1]], in increasing
// order, and Count at the same places.
type Bigram struct {
	RowStart []int32 // V+1
	Next     []int32 // the second character of a pair
	Count    []int32 // how often it follows
}

// maxDense is the largest vocabulary whose pairs are counted in a table of all of them, 4 MiB at most.
const maxDense = 1 << 10

// CountBigrams counts the pairs of neighbours in a text of vocabSize characters. It panics if a token is not in the
// vocabulary.
func CountBigrams(t Tokens, vocabSize int) *Bigram {
	if vocabSize <= maxDense {
		return countDense(t, vocabSize)
	}
	return countSparse(t, vocabSize, max(sortedAtOnce, t.Len()/8))
}

// pairs yields each character of a text but the first with the one before it.
func pairs(t Tokens) iter.Seq2[int32, int32] {
	return func(yield func(current, next int32) bool) {
		last := int32(-1) // of the chunk before
		for chunk := range t.chunks() {
			for _, c := range chunk {
				if last >= 0 && !yield(last, c) {
					return
				}
				last = c
			}
		}
	}
}

// countDense counts in a table of all pairs: the faster way for a small vocabulary.
func countDense(t Tokens, vocabSize int) *Bigram {
	table := make([]int32, vocabSize*vocabSize)
	for current, next := range pairs(t) {
		table[int(current)*vocabSize : (int(current)+1)*vocabSize][next]++
	}
	b := &Bigram{RowStart: make([]int32, 1, vocabSize+1)}
	for current := range vocabSize {
		for next, count := range table[current*vocabSize : (current+1)*vocabSize] {
			if count > 0 {
				b.add(int32(next), count)
			}
		}
		b.endRow()
	}
	return b
}

// sortedAtOnce is how many characters of a text are sorted at once, unless it is so long that an eighth of it is more: in
// at most some ten passes that takes little memory beside the text.
const sortedAtOnce = 1 << 22

// countSparse sorts the characters by the one before them, some rows of about most characters at a time, then counts row
// by row: it needs no table of V·V.
func countSparse(t Tokens, vocabSize, most int) *Bigram {
	size := make([]int32, vocabSize) // of a row: how often a character is followed by another
	for current := range pairs(t) {
		size[current]++
	}
	b := &Bigram{RowStart: make([]int32, 1, vocabSize+1)}
	counts := make([]int32, vocabSize) // of one row
	for lo, hi := 0, 0; lo < vocabSize; lo = hi {
		n := 0
		for hi < vocabSize && (hi == lo || n+int(size[hi]) <= most) {
			n += int(size[hi])
			hi++
		}
		following := followers(t, size, lo, hi)
		for _, rowSize := range size[lo:hi] {
			b.addRow(following[:rowSize], counts)
			following = following[rowSize:]
		}
	}
	return b
}

// followers returns the characters that follow one of the characters lo to hi-1, sorted by the character before them: a
// counting sort. size is how many follow each.
func followers(t Tokens, size []int32, lo, hi int) []uint16 {
	end := make([]int32, hi-lo)
	n := int32(0)
	for i, s := range size[lo:hi] {
		end[i] = n
		n += s
	}
	following := make([]uint16, n)
	for current, next := range pairs(t) {
		if i := int(current) - lo; i >= 0 && i < len(end) {
			following[end[i]] = uint16(next)
			end[i]++
		}
	}
	return following
}

// addRow adds the pairs of one current character, from those that follow it. counts are V zeros, before and after.
func (b *Bigram) addRow(following []uint16, counts []int32) {
	var seen []uint16
	for _, next := range following {
		if counts[next] == 0 {
			seen = append(seen, next)
		}
		counts[next]++
	}
	slices.Sort(seen)
	for _, next := range seen {
		b.add(int32(next), counts[next])
		counts[next] = 0
	}
	b.endRow()
}

func (b *Bigram) add(next, count int32) {
	b.Next = append(b.Next, next)
	b.Count = append(b.Count, count)
}

func (b *Bigram) endRow() { b.RowStart = append(b.RowStart, int32(len(b.Next))) }

// row returns the pairs of one current character and how often it occurs before another.
func (b *Bigram) row(current int32) (next, count []int32, total int64) {
	lo, hi := b.RowStart[current], b.RowStart[current+1]
	for _, n := range b.Count[lo:hi] {
		total += int64(n)
	}
	return b.Next[lo:hi], b.Count[lo:hi], total
}

func (b *Bigram) vocabSize() int { return len(b.RowStart) - 1 }

// Probability returns P(next | current) = (count of the pair + 1) / (count of current before anything + V).
func (b *Bigram) Probability(current, next int32) float64 {
	following, count, total := b.row(current)
	n := int32(0)
	if i, found := slices.BinarySearch(following, next); found {
		n = count[i]
	}
	return smoothed(n, total, b.vocabSize())
}

// Row returns P(next | current) for each next character: V probabilities.
func (b *Bigram) Row(current int32) []float64 {
	following, count, total := b.row(current)
	p := make([]float64, b.vocabSize())
	for i := range p {
		p[i] = smoothed(0, total, len(p))
	}
	for i, next := range following {
		p[next] = smoothed(count[i], total, len(p))
	}
	return p
}

// smoothed is a probability by add-one smoothing (Laplace's rule of succession): of n among total, in vocabSize kinds.
func smoothed(n int32, total int64, vocabSize int) float64 {
	return float64(int64(n)+1) / float64(total+int64(vocabSize))
}

// Loss returns the mean of -ln P(next | current) over every character of t but the first: nats a character. It is NaN if
// there is no such character.
func (b *Bigram) Loss(t Tokens) float64 {
	seen := CountBigrams(t, b.vocabSize())
	sum := 0.0
	for current := range int32(b.vocabSize()) {
		next, times, _ := seen.row(current)
		following, count, total := b.row(current)
		for i, c := range next {
			for len(following) > 0 && following[0] < c { // both are sorted
				following, count = following[1:], count[1:]
			}
			n := int32(0)
			if len(following) > 0 && following[0] == c {
				n = count[0]
			}
			sum -= float64(times[i]) * math.Log(smoothed(n, total, b.vocabSize()))
		}
	}
	return mean(sum, t.Len()-1)
}

// UnigramLoss returns the mean of -ln P(character) over every character of val but the first, in nats, where P is its
// share of train, each character counted once more than it occurs. These are the positions of [Bigram.Loss]. It is NaN
// if there are none.
func UnigramLoss(train, val Tokens, vocabSize int) float64 {
	count := occurrences(train, vocabSize)
	times := occurrences(val.Slice(min(1, val.Len()), val.Len()), vocabSize)
	sum := 0.0
	for c, n := range count {
		sum -= float64(times[c]) * math.Log(smoothed(n, int64(train.Len()), vocabSize))
	}
	return mean(sum, val.Len()-1)
}

// occurrences counts each character of a text.
func occurrences(t Tokens, vocabSize int) []int32 {
	count := make([]int32, vocabSize)
	for chunk := range t.chunks() {
		for _, c := range chunk {
			count[c]++
		}
	}
	return count
}

func mean(sum float64, n int) float64 {
	if n < 1 {
		return math.NaN()
	}
	return sum / float64(n)
}

// Validate reports the first thing that makes b no Markov chain over vocabSize characters, such as a row that starts after
// its end. A Bigram that passes makes no other method panic for characters of the vocabulary.
func (b *Bigram) Validate(vocabSize int) error {
	switch {
	case len(b.RowStart) != vocabSize+1:
		return fmt.Errorf("bigram counts of %d characters in a vocabulary of %d", len(b.RowStart)-1, vocabSize)
	case len(b.Next) != len(b.Count):
		return fmt.Errorf("bigram counts of %d pairs for %d pairs", len(b.Count), len(b.Next))
	case b.RowStart[0] != 0 || int(b.RowStart[vocabSize]) != len(b.Next):
		return fmt.Errorf("bigram rows from %d to %d for %d pairs", b.RowStart[0], b.RowStart[vocabSize], len(b.Next))
	case !slices.IsSorted(b.RowStart):
		return errors.New("bigram rows that start after they end")
	}
	for c := range vocabSize {
		before := int32(-1)
		for i := b.RowStart[c]; i < b.RowStart[c+1]; i++ {
			if b.Next[i] <= before || int(b.Next[i]) >= vocabSize {
				return fmt.Errorf("bigram row %d has character %d after %d, in a vocabulary of %d", c, b.Next[i], before, vocabSize)
			}
			if b.Count[i] < 1 {
				return fmt.Errorf("bigram row %d counts character %d %d times", c, b.Next[i], b.Count[i])
			}
			before = b.Next[i]
		}
	}
	return nil
}

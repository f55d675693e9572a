package data

import (
	"fmt"
	"iter"
	"slices"
	"testing"
)

type batch struct{ tokens, targets []int32 }

func collect(seq iter.Seq2[[]int32, []int32]) []batch {
	var all []batch
	for tokens, targets := range seq {
		all = append(all, batch{slices.Clone(tokens), slices.Clone(targets)})
	}
	return all
}

func TestWindows(t *testing.T) {
	for _, test := range []struct {
		length, blockSize, batchSize int
		want                         string
	}{
		{9, 4, 2, "[{[0 1 2 3 4 5 6 7] [1 2 3 4 5 6 7 8]}]"},
		{8, 4, 2, "[{[0 1 2 3 4 5 6 0] [1 2 3 4 5 6 7 -1]}]"},
		{10, 4, 2, "[{[0 1 2 3 4 5 6 7] [1 2 3 4 5 6 7 8]} {[8 0 0 0 0 0 0 0] [9 -1 -1 -1 -1 -1 -1 -1]}]"},
		{5, 4, 2, "[{[0 1 2 3 0 0 0 0] [1 2 3 4 -1 -1 -1 -1]}]"},
		{3, 1, 1, "[{[0] [1]} {[1] [2]}]"},
		{2, 4, 1, "[{[0 0 0 0] [1 -1 -1 -1]}]"},
		{1, 4, 1, "[]"},
		{0, 4, 1, "[]"},
	} {
		seq := Windows(rising(t, test.length), test.blockSize, test.batchSize)
		for range 2 { // it can be iterated again
			if got := fmt.Sprint(collect(seq)); got != test.want {
				t.Errorf("%d characters in %d × %d: %s, want %s", test.length, test.batchSize, test.blockSize, got, test.want)
			}
		}
	}
}

// TestWindowsCoverAll: the targets are the text without its first character, whatever the sizes.
func TestWindowsCoverAll(t *testing.T) {
	for length := range 40 {
		text := rising(t, length)
		for blockSize := 1; blockSize < 9; blockSize++ {
			for batchSize := 1; batchSize < 5; batchSize++ {
				var targets []int32
				for _, b := range collect(Windows(text, blockSize, batchSize)) {
					if len(b.tokens) != batchSize*blockSize || len(b.targets) != batchSize*blockSize {
						t.Fatalf("batch of %d and %d positions", len(b.tokens), len(b.targets))
					}
					targets = append(targets, slices.DeleteFunc(b.targets, func(id int32) bool { return id == NoTarget })...)
				}
				if want := values(text)[min(1, length):]; !slices.Equal(targets, want) {
					t.Fatalf("%d characters in %d × %d: targets %v", length, batchSize, blockSize, targets)
				}
			}
		}
	}
}

func TestWindowsStop(t *testing.T) {
	n := 0
	for range Windows(rising(t, 100), 4, 2) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d batches", n)
	}
}

func TestWindowsSizes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a block size of 0 is accepted")
		}
	}()
	Windows(rising(t, 10), 0, 1)
}

// starts returns the first token of each window.
func starts(batches []batch, blockSize int) []int32 {
	var all []int32
	for _, b := range batches {
		for i := 0; i < len(b.tokens); i += blockSize {
			if b.targets[i] != NoTarget {
				all = append(all, b.tokens[i])
			}
		}
	}
	return all
}

func TestSubset(t *testing.T) {
	const length, blockSize, batchSize, characters = 10_000, 16, 5, 1600
	text := rising(t, length)
	seq := Subset(text, blockSize, batchSize, characters, 7)
	chosen := starts(collect(seq), blockSize)
	if len(chosen) != characters/blockSize || !slices.IsSorted(chosen) || len(slices.Compact(slices.Clone(chosen))) != len(chosen) {
		t.Errorf("%d windows: %v", len(chosen), chosen)
	}
	for _, start := range chosen {
		if start%blockSize != 0 {
			t.Errorf("window at %d", start)
		}
	}
	if chosen[0] > length/4 || chosen[len(chosen)-1] < length*3/4 {
		t.Errorf("windows crowd from %d to %d", chosen[0], chosen[len(chosen)-1])
	}
	if !slices.Equal(chosen, starts(collect(seq), blockSize)) || !slices.Equal(chosen, starts(collect(Subset(text, blockSize, 3, characters, 7)), blockSize)) {
		t.Error("the choice changes with the iteration or the batch size")
	}
	if slices.Equal(chosen, starts(collect(Subset(text, blockSize, batchSize, characters, 8)), blockSize)) {
		t.Error("the choice does not depend on the seed")
	}
}

func TestSubsetEdges(t *testing.T) {
	for _, test := range []struct{ length, characters, windows int }{
		{100, 1000, 13}, {100, 104, 13}, {100, 103, 12}, {100, 8, 1}, {100, 0, 1}, {9, 0, 1}, {1, 100, 0}, {0, 100, 0},
	} {
		got := starts(collect(Subset(rising(t, test.length), 8, 2, test.characters, 1)), 8)
		if len(got) != test.windows {
			t.Errorf("%d of %d characters: %d windows, want %d", test.characters, test.length, len(got), test.windows)
		}
	}
}

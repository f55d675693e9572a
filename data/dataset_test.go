package data

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func ExampleDataset() {
	const blockSize, batchSize = 8, 2
	text, err := Read(strings.NewReader(Plays()))
	if err != nil {
		panic(err)
	}
	dataset, err := NewDataset(text.Tokens, 0.1, blockSize)
	if err != nil {
		panic(err)
	}
	tokens, targets := make([]int32, batchSize*blockSize), make([]int32, batchSize*blockSize) // (B, T)
	dataset.Batch(rand.New(rand.NewPCG(1, 2)), batchSize, blockSize, tokens, targets)
	for b := range batchSize {
		lo, hi := b*blockSize, (b+1)*blockSize
		fmt.Printf("%q predicts %q\n", text.Tokenizer.Decode(tokens[lo:hi]), text.Tokenizer.Decode(targets[lo:hi]))
	}
	// Output:
	// "e of it." predicts " of it. "
	// "I do, fo" predicts " do, for"
}

func TestNewDataset(t *testing.T) {
	for _, test := range []struct {
		length    int
		fraction  float64
		blockSize int
		train     int
		err       string
	}{
		{100, 0.1, 8, 90, ""},
		{89, 0.1, 8, 80, ""},
		{101, 0.1, 8, 90, ""},
		{100, 0.5, 49, 50, ""},
		{100, 0.9, 8, 9, ""}, // 1-0.9 is a little under 0.1
		{9, 0, 8, 9, ""},
		{8, 0, 8, 0, "has 8 characters, but block_size 8 and val_fraction 0 need at least 9"},
		{80, 0.1, 8, 0, "has 80 characters, but block_size 8 and val_fraction 0.1 need at least 81"},
		{81, 0.1, 8, 72, ""},
		{100, 0.5, 50, 0, "need at least 102"},
		{0, 0.1, 8, 0, "has 0 characters"},
		{100, 1e-300, 8, 0, "no text is long enough"},
		{100, 1, 8, 0, "val_fraction is 1"},
		{100, -0.1, 8, 0, "val_fraction is -0.1"},
		{100, math.NaN(), 8, 0, "val_fraction is NaN"},
		{100, 0.1, 0, 0, "block_size is 0"},
		{100, 0.1, math.MaxInt, 0, "no text is long enough"},
	} {
		t.Run(fmt.Sprintf("%d/%v/%d", test.length, test.fraction, test.blockSize), func(t *testing.T) {
			d, err := NewDataset(rising(t, test.length), test.fraction, test.blockSize)
			checkError(t, err, test.err)
			if err != nil {
				return
			}
			if d.Train.Len() != test.train || d.Val.Len() != test.length-test.train || d.Train.At(0) != 0 {
				t.Errorf("%d train, %d validate", d.Train.Len(), d.Val.Len())
			}
			if d.Val.Len() > 0 && d.Val.At(0) != int32(test.train) {
				t.Errorf("validation starts at %d", d.Val.At(0))
			}
		})
	}
}

// TestSplitIsPythons compares with Python's int(n * 0.9), for the default of 0.1.
func TestSplitIsPythons(t *testing.T) {
	ninetyPercent := 0.9
	for n := range 2_000_000 {
		if got, want := (split{0.1, 1}).train(n), int(float64(n)*ninetyPercent); got != want {
			t.Fatalf("%d of %d characters train, want %d", got, n, want)
		}
	}
}

// TestTooShortIsExact checks that the number in the error is enough, and one less is not.
func TestTooShortIsExact(t *testing.T) {
	text := rising(t, 10_000)
	for _, fraction := range []float64{0, 0.01, 0.1, 0.3, 0.5, 0.77, 0.99} {
		for _, blockSize := range []int{1, 7, 64} {
			first := 0
			for ; ; first++ {
				if _, err := NewDataset(text.Slice(0, first), fraction, blockSize); err == nil {
					break
				}
			}
			_, err := NewDataset(text.Slice(0, first-1), fraction, blockSize)
			has := fmt.Sprintf("has %d characters", first-1)
			if first == 2 {
				has = "has 1 character"
			}
			checkError(t, err, fmt.Sprintf("%s, but block_size %d and val_fraction %v need at least %d;", has, blockSize, fraction, first))
			var short *TooShortError
			if errors.As(err, &short) && short.Largest > 0 {
				if _, err := NewDataset(text.Slice(0, first-1), fraction, short.Largest); err != nil {
					t.Errorf("block size %d, which the error says fits: %v", short.Largest, err)
				}
				if _, err := NewDataset(text.Slice(0, first-1), fraction, short.Largest+1); err == nil {
					t.Errorf("block size %d fits, but the error says %d", short.Largest+1, short.Largest)
				}
			}
		}
	}
}

func TestBatch(t *testing.T) {
	const blockSize, batchSize = 4, 3
	d, err := NewDataset(rising(t, 10), 0, blockSize)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	tokens, targets := make([]int32, batchSize*blockSize), make([]int32, batchSize*blockSize)
	starts := map[int32]int{}
	const rounds = 2000
	for range rounds {
		d.Batch(rng, batchSize, blockSize, tokens, targets)
		for b := range batchSize {
			start := tokens[b*blockSize]
			starts[start]++
			for i := range int32(blockSize) {
				at := int32(b*blockSize) + i
				if tokens[at] != start+i || targets[at] != start+i+1 {
					t.Fatalf("tokens %v, targets %v", tokens, targets)
				}
			}
		}
	}
	if len(starts) != 6 { // 0 to 5: the window from 5 has target 9, the last character
		t.Errorf("starts %v", starts)
	}
	for start, n := range starts {
		if expected := rounds * batchSize / 6; n < expected*8/10 || n > expected*12/10 {
			t.Errorf("start %d drawn %d times, expected about %d", start, n, expected)
		}
	}
}

func TestBatchShortest(t *testing.T) {
	d, err := NewDataset(rising(t, 5), 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	tokens, targets := make([]int32, 4), make([]int32, 4)
	d.Batch(rand.New(rand.NewPCG(1, 2)), 1, 4, tokens, targets)
	if fmt.Sprint(tokens, targets) != "[0 1 2 3] [1 2 3 4]" {
		t.Errorf("tokens %v, targets %v", tokens, targets)
	}
}

func TestBatchAllocatesNothing(t *testing.T) {
	d := &Dataset{Train: rising(t, 1000)}
	rng := rand.New(rand.NewPCG(1, 2))
	tokens, targets := make([]int32, 12*64), make([]int32, 12*64)
	if n := testing.AllocsPerRun(100, func() { d.Batch(rng, 12, 64, tokens, targets) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

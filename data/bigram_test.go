package data

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func cube(x float64) float64 { return x * x * x }

// randomTokens returns n tokens under vocabSize, small ones more often.
func randomTokens(t testing.TB, n, vocabSize int) Tokens {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(vocabSize)))
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(float64(vocabSize) * cube(rng.Float64()))
	}
	return tokensOf(t, ids...)
}

func TestCountBigrams(t *testing.T) {
	b := CountBigrams(tokensOf(t, 0, 1, 0, 1, 2, 2, 2), 4) // abab, ccc
	want := &Bigram{RowStart: []int32{0, 1, 3, 4, 4}, Next: []int32{1, 0, 2, 2}, Count: []int32{2, 1, 1, 2}}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("%v, want %v", b, want)
	}
	for _, test := range []struct {
		current, next int32
		want          float64
	}{
		{0, 1, 3.0 / 6}, {0, 0, 1.0 / 6}, {1, 0, 2.0 / 6}, {2, 2, 3.0 / 6}, {3, 0, 1.0 / 4}, {3, 3, 1.0 / 4},
	} {
		if got := b.Probability(test.current, test.next); got != test.want {
			t.Errorf("P(%d | %d) = %v, want %v", test.next, test.current, got, test.want)
		}
	}
}

// TestCountsAgree: the two ways to count are the same.
func TestCountsAgree(t *testing.T) {
	for _, vocabSize := range []int{1, 2, 65, 1000} {
		for _, n := range []int{0, 1, 2, 100, 20_000} {
			text := randomTokens(t, n, vocabSize)
			dense := countDense(text, vocabSize)
			for _, most := range []int{1, 500, 1 << 20} { // in many passes, in some, in one
				sparse := countSparse(text, vocabSize, most)
				if !slices.Equal(dense.RowStart, sparse.RowStart) || !slices.Equal(dense.Next, sparse.Next) || !slices.Equal(dense.Count, sparse.Count) {
					t.Errorf("%d characters of %d, %d at once: %v and %v", n, vocabSize, most, dense, sparse)
				}
			}
			if err := dense.Validate(vocabSize); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestRow(t *testing.T) {
	const vocabSize = 30
	b := CountBigrams(randomTokens(t, 500, vocabSize), vocabSize)
	for current := range int32(vocabSize) {
		sum := 0.0
		for next, p := range b.Row(current) {
			sum += p
			if p != b.Probability(current, int32(next)) || p <= 0 {
				t.Errorf("P(%d | %d) = %v", next, current, p)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("row %d sums to %v", current, sum)
		}
	}
}

// TestLoss compares with the definitions, position by position.
func TestLoss(t *testing.T) {
	for _, vocabSize := range []int{3, 50, 1500} {
		train, val := randomTokens(t, 3000, vocabSize), randomTokens(t, 700, vocabSize)
		b := CountBigrams(train, vocabSize)
		counts := make([]int, vocabSize)
		for i := range train.Len() {
			counts[train.At(i)]++
		}
		bigram, unigram := 0.0, 0.0
		for i := 1; i < val.Len(); i++ {
			bigram -= math.Log(b.Probability(val.At(i-1), val.At(i)))
			unigram -= math.Log(float64(counts[val.At(i)]+1) / float64(train.Len()+vocabSize))
		}
		n := float64(val.Len() - 1)
		if got := b.Loss(val); math.Abs(got-bigram/n) > 1e-9 {
			t.Errorf("bigram loss %v, want %v", got, bigram/n)
		}
		if got := UnigramLoss(train, val, vocabSize); math.Abs(got-unigram/n) > 1e-9 {
			t.Errorf("unigram loss %v, want %v", got, unigram/n)
		}
	}
}

func TestLossOfNothing(t *testing.T) {
	train := tokensOf(t, 0, 1, 0)
	for _, val := range []Tokens{{}, tokensOf(t, 1)} {
		if got := CountBigrams(train, 2).Loss(val); !math.IsNaN(got) {
			t.Errorf("bigram loss %v", got)
		}
		if got := UnigramLoss(train, val, 2); !math.IsNaN(got) {
			t.Errorf("unigram loss %v", got)
		}
	}
	if got := CountBigrams(tokensOf(t, 0, 0, 0), 1).Loss(tokensOf(t, 0, 0)); got != 0 {
		t.Errorf("loss of a one-character vocabulary %v", got)
	}
}

// TestBaselinesOfPlays pins the baselines of the embedded text, and their order.
func TestBaselinesOfPlays(t *testing.T) {
	text, err := Read(strings.NewReader(Plays()))
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDataset(text.Tokens, 0.1, 64)
	if err != nil {
		t.Fatal(err)
	}
	v := text.Tokenizer.Size()
	unigram, bigram := UnigramLoss(d.Train, d.Val, v), CountBigrams(d.Train, v).Loss(d.Val)
	t.Logf("unigram %.4f, bigram %.4f nats a character, %d characters", unigram, bigram, v)
	if !(bigram < unigram && unigram < math.Log(float64(v))) {
		t.Errorf("unigram %v, bigram %v", unigram, bigram)
	}
}

func TestBigramValidate(t *testing.T) {
	for _, test := range []struct {
		name string
		b    Bigram
		err  string
	}{
		{"good", Bigram{[]int32{0, 1, 3}, []int32{1, 0, 1}, []int32{2, 1, 1}}, ""},
		{"no pairs", Bigram{[]int32{0, 0, 0}, nil, nil}, ""},
		{"zero value", Bigram{}, "of -1 characters"},
		{"other vocabulary", Bigram{[]int32{0, 1}, []int32{0}, []int32{1}}, "of 1 characters in a vocabulary of 2"},
		{"counts missing", Bigram{[]int32{0, 1, 2}, []int32{0, 1}, []int32{1}}, "of 1 pairs for 2"},
		{"late start", Bigram{[]int32{1, 1, 2}, []int32{0, 1}, []int32{1, 1}}, "rows from 1"},
		{"early end", Bigram{[]int32{0, 1, 1}, []int32{0, 1}, []int32{1, 1}}, "to 1 for 2"},
		{"late end", Bigram{[]int32{0, 1, 1 << 30}, []int32{0, 1}, []int32{1, 1}}, "for 2 pairs"},
		{"decreasing", Bigram{[]int32{0, 3, 2}, []int32{0, 1}, []int32{1, 1}}, "start after they end"},
		{"negative row", Bigram{[]int32{0, -1, 2}, []int32{0, 1}, []int32{1, 1}}, "start after they end"},
		{"unsorted", Bigram{[]int32{0, 2, 2}, []int32{1, 0}, []int32{1, 1}}, "character 0 after 1"},
		{"twice", Bigram{[]int32{0, 2, 2}, []int32{1, 1}, []int32{1, 1}}, "character 1 after 1"},
		{"outside", Bigram{[]int32{0, 1, 1}, []int32{2}, []int32{1}}, "character 2"},
		{"negative character", Bigram{[]int32{0, 1, 1}, []int32{-1}, []int32{1}}, "character -1"},
		{"negative count", Bigram{[]int32{0, 1, 1}, []int32{0}, []int32{-1}}, "-1 times"},
		{"zero count", Bigram{[]int32{0, 1, 1}, []int32{0}, []int32{0}}, "0 times"},
	} {
		t.Run(test.name, func(t *testing.T) { checkError(t, test.b.Validate(2), test.err) })
	}
}

func BenchmarkCountBigrams(b *testing.B) {
	for name, vocabSize := range map[string]int{"V=65": 65, "V=5000": 5000, "V=65536": 65536} {
		b.Run(name, func(b *testing.B) {
			text := randomTokens(b, 16<<20, vocabSize)
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				CountBigrams(text, vocabSize)
			}
		})
	}
}

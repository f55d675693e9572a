//go:build !openblas

// OpenBLAS chooses its kernels by the size of a product: these promises are of our own kernels.

package model_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"chargpt/model"
)

// trainSome runs a few iterations and returns the parameters.
func trainSome(t *testing.T, c model.Config, threads, iterations int) []float32 {
	t.Helper()
	m, err := model.New(c, 3)
	if err != nil {
		t.Fatal(err)
	}
	m.Threads = threads
	g, err := m.NewBatch(7, c.BlockSize, 9)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	step := stepFunc(t, m, g)
	for i := range iterations {
		step(i)
	}
	return slices.Clone(m.Flat())
}

// The number of threads changes no bit. The sizes are large enough for every operation to be split.
func TestThreadsDoNotMatter(t *testing.T) {
	for name, c := range map[string]model.Config{
		"dropout, bias, untied": {VocabSize: 65, BlockSize: 60, NLayer: 1, NHead: 4, NEmbd: 136, Dropout: 0.2, Bias: true},
		"tied, rope":            {VocabSize: 65, BlockSize: 51, NLayer: 2, NHead: 3, NEmbd: 192, Tied: true, Position: model.PositionRope},
	} {
		t.Run(name, func(t *testing.T) {
			want := trainSome(t, c, 1, 3)
			for _, threads := range []int{2, 3, 7} {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				if got := trainSome(t, c, threads, 3); !slices.Equal(got, want) {
					t.Errorf("%d threads give other parameters than 1", threads)
				}
			}
		})
	}
}

// A sequence's logits have the same bits in a batch of any size: sample i must depend on (seed, i) alone.
func TestDecoderBatchDoesNotMatter(t *testing.T) {
	m := newModel(t, model.Config{VocabSize: 65, BlockSize: 16, NLayer: 2, NHead: 2, NEmbd: 32, Tied: true})
	decode := func(batch, i int) (all []float32) {
		d, err := m.NewDecoder(batch)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		tokens := make([]int32, batch)
		for step := range 40 {
			for s := range tokens {
				tokens[s] = int32((step*(s+3) + s) % 65)
			}
			tokens[i] = int32(step * 5 % 65)
			logits, err := d.Next(tokens)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, logits[i*65:(i+1)*65]...)
		}
		return all
	}
	want := decode(1, 0)
	for batch := 2; batch <= model.MaxDecodeBatch; batch++ {
		for i, x := range decode(batch, batch-1) {
			if x != want[i] {
				t.Fatalf("in a batch of %d, logit %d of step %d = %v, alone %v", batch, i%65, i/65, x, want[i])
			}
		}
	}
}

// Decoding has the same bits on any number of threads, inside the block size and past it: samples do not depend on them.
func TestDecoderThreadsDoNotMatter(t *testing.T) {
	c := model.Config{VocabSize: 11, BlockSize: 24, NLayer: 2, NHead: 6, NEmbd: 384, Tied: true} // products large enough to be split
	m := newModel(t, c)
	logits := func(threads int) (all []float32) {
		m.Threads = threads
		d, err := m.NewDecoder(3)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for i := range c.BlockSize + 4 {
			x, err := d.Next([]int32{int32(i % 11), int32(i * i % 11), int32((7*i + 3) % 11)})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, x...)
		}
		return all
	}
	want := logits(1)
	for _, threads := range []int{2, 3, 7} {
		for i, got := range logits(threads) {
			if math.Float32bits(got) != math.Float32bits(want[i]) {
				t.Fatalf("%d threads: logit %d of step %d is %v, want %v as on one", threads, i%(3*c.VocabSize), i/(3*c.VocabSize), got, want[i])
			}
		}
	}
}

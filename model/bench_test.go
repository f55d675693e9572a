package model_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"chargpt/internal/optim"
	"chargpt/model"
)

// benchmarkConfigs are the presets, baby with batch 8 and no dropout, and tinyshakespeare's 65 characters: those of
// reference.py bench.
var benchmarkConfigs = []struct {
	name   string
	batch  int
	config model.Config
}{
	{"tiny", 16, model.Config{VocabSize: 65, BlockSize: 32, NLayer: 4, NHead: 4, NEmbd: 64, Tied: true}},
	{"cpu", 12, model.Config{VocabSize: 65, BlockSize: 64, NLayer: 4, NHead: 4, NEmbd: 128, Tied: true}},
	{"baby", 8, model.Config{VocabSize: 65, BlockSize: 256, NLayer: 6, NHead: 6, NEmbd: 384, Tied: true}},
}

// BenchmarkTrainStep times an iteration: forward, backward, clipping and AdamW. The threads are those of -cpu.
func BenchmarkTrainStep(b *testing.B) {
	for _, c := range benchmarkConfigs {
		b.Run(c.name, func(b *testing.B) {
			m, err := model.New(c.config, 1)
			if err != nil {
				b.Fatal(err)
			}
			g, err := m.NewBatch(c.batch, c.config.BlockSize, 1)
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			step := stepFunc(b, m, g)
			const warmUp = 5 // one thread may take both lanes at first, and the other then makes its scratch memory later
			for i := range warmUp {
				step(i)
			}
			b.ReportAllocs()
			var times []float64 // seconds
			b.ResetTimer()
			for i := range b.N {
				started := time.Now()
				step(warmUp + i)
				times = append(times, time.Since(started).Seconds())
			}
			reportSteps(b, times, len(g.Tokens), stepFLOP(m, len(g.Tokens)))
		})
	}
}

// reportSteps reports the median and the least time of a step, and speeds by the median. GFLOP/s-best is that of the
// least: what the machine gives when nothing else runs on it.
func reportSteps(b *testing.B, times []float64, tokens int, flop float64) {
	slices.Sort(times)
	median := times[len(times)/2]
	b.ReportMetric(median*1e3, "ms/step")
	b.ReportMetric(times[0]*1e3, "ms/step-least")
	b.ReportMetric(float64(tokens)/median, "tokens/s")
	b.ReportMetric(flop/median/1e9, "GFLOP/s")
	b.ReportMetric(flop/times[0]/1e9, "GFLOP/s-best")
}

// stepFunc returns one iteration on random text.
func stepFunc(tb testing.TB, m *model.Model, g *model.Batch) func(i int) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := m.Flat()
	moments, squares := make([]float32, len(w)), make([]float32, len(w))
	a := optim.AdamW{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1, Threads: m.Threads}
	return func(i int) {
		for j := range g.Tokens {
			g.Tokens[j] = rng.Int32N(int32(m.Config.VocabSize))
			g.Targets[j] = rng.Int32N(int32(m.Config.VocabSize))
		}
		if err := g.Run(i); err != nil {
			tb.Fatal(err)
		}
		a.Step(w, m.Gradients(), moments, squares, 1e-3, optim.ClipScale(g.GradNorm(), 1), i+1, true)
	}
}

// stepFLOP is the arithmetic of a training step over a number of tokens as nanoGPT counts it (PaLM, appendix B): positions
// are only added.
func stepFLOP(m *model.Model, tokens int) float64 {
	c, n := m.Config, m.NumParameters()
	if c.Position != model.PositionRope {
		n -= c.BlockSize * c.NEmbd
	}
	perToken := 6*n + 12*c.NLayer*c.NHead*c.HeadSize*c.BlockSize
	return float64(perToken) * float64(tokens)
}

// BenchmarkDecode times one new character a sample, inside block_size and past it.
func BenchmarkDecode(b *testing.B) {
	config := benchmarkConfigs[1].config
	for _, c := range []struct {
		name  string
		batch int
		past  bool
	}{{"inside/1", 1, false}, {"inside/8", 8, false}, {"past/1", 1, true}, {"past/8", 8, true}} {
		b.Run(c.name, func(b *testing.B) {
			m, err := model.New(config, 1)
			if err != nil {
				b.Fatal(err)
			}
			d, err := m.NewDecoder(c.batch)
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			tokens := make([]int32, c.batch)
			next := func(i int) {
				for j := range tokens {
					tokens[j] = int32((i*7 + j) % config.VocabSize)
				}
				if _, err := d.Next(tokens); err != nil {
					b.Fatal(err)
				}
			}
			for i := range config.BlockSize + 1 {
				if c.past {
					next(i)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if !c.past && i%config.BlockSize == 0 {
					d.Reset()
				}
				next(i)
			}
			b.ReportMetric(float64(b.N*c.batch)/b.Elapsed().Seconds(), "characters/s")
		})
	}
}

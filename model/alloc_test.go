//go:build !race

package model_test

import (
	"math"
	"runtime"
	"testing"

	"chargpt/model"
)

// A step allocates next to nothing: operations own their buffers, and the machine knows all operands.
func TestStepAllocates(t *testing.T) {
	m, err := model.New(benchmarkConfigs[1].config, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.NewBatch(12, 64, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	step := stepFunc(t, m, g)
	step(0)
	step(1)
	bytes, count := uint64(math.MaxUint64), uint64(math.MaxUint64)
	for round := range 5 { // the least of them: a garbage collection takes the kernels' pooled workspace away
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const n = 10
		for i := range n {
			step(2 + round*n + i)
		}
		runtime.ReadMemStats(&after)
		bytes = min(bytes, (after.TotalAlloc-before.TotalAlloc)/n)
		count = min(count, (after.Mallocs-before.Mallocs)/n)
	}
	if bytes > 20_000 {
		t.Errorf("a step allocates %d bytes, want at most 20,000", bytes)
	}
	if count > 20 {
		t.Errorf("a step allocates %d times, want at most 20", count)
	}
}

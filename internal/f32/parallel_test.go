package f32

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestForRange(t *testing.T) {
	for _, threads := range []int{-1, 0, 1, 2, 3, 7, 64} {
		for _, units := range []int{0, 1, 2, 5, 7, 100} {
			seen := make([]atomic.Int32, units)
			var mu sync.Mutex
			workers := map[int]bool{}
			ForRange(threads, units, func(lo, hi, worker int) {
				if lo >= hi || worker < 0 || worker >= max(threads, 1) {
					t.Errorf("threads %d, units %d: range [%d, %d) of worker %d", threads, units, lo, hi, worker)
				}
				for i := lo; i < hi; i++ {
					seen[i].Add(1)
				}
				mu.Lock()
				defer mu.Unlock()
				if workers[worker] {
					t.Errorf("worker %d twice", worker)
				}
				workers[worker] = true
			})
			for i := range seen {
				if n := seen[i].Load(); n != 1 {
					t.Errorf("threads %d, units %d: unit %d seen %d times", threads, units, i, n)
				}
			}
		}
	}
}

func TestForRangePanic(t *testing.T) {
	for bad := range 4 {
		var finished atomic.Int32
		func() {
			defer func() {
				if v := recover(); v != "stop" {
					t.Errorf("recovered %v", v)
				}
			}()
			ForRange(4, 4, func(lo, _, _ int) {
				if lo == bad {
					panic("stop")
				}
				finished.Add(1)
			})
		}()
		if n := finished.Load(); n != 3 {
			t.Errorf("%d other pieces finished before the panic went on", n)
		}
	}
	// The job that failed must not be reused as failed.
	ForRange(4, 4, func(_, _, _ int) {})
}

func TestForRangeNested(t *testing.T) {
	var total atomic.Int32
	ForRange(3, 9, func(lo, hi, _ int) {
		ForRange(2, hi-lo, func(lo, hi, _ int) { total.Add(int32(hi - lo)) })
	})
	if total.Load() != 9 {
		t.Errorf("total %d", total.Load())
	}
}

func TestForRangeConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				var total atomic.Int32
				ForRange(3, 10, func(lo, hi, _ int) { total.Add(int32(hi - lo)) })
				if total.Load() != 10 {
					t.Errorf("total %d", total.Load())
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkForRange(b *testing.B) {
	f := func(lo, hi, worker int) {}
	b.ReportAllocs()
	for b.Loop() {
		ForRange(2, 2, f)
	}
}

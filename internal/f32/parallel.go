package f32

import (
	"sync"
	"sync/atomic"
)

// job is one call of ForRange. Jobs are pooled together with their bound method,
// so that starting a goroutine allocates nothing.
type job struct {
	f              func(lo, hi, worker int)
	workers, units int
	next           atomic.Int32 // workers numbered so far
	running        sync.WaitGroup
	mu             sync.Mutex
	failed         bool // a piece panicked, with value
	value          any
	work           func() // j.piece
}

var jobs = sync.Pool{New: func() any {
	j := new(job)
	j.work = j.piece
	return j
}}

// ForRange calls f for contiguous ranges [lo, hi) that cover units 0 to units-1,
// on at most threads goroutines of which the caller is one, and returns when all
// are done. worker, below threads, is different for ranges that run at the same
// time and indexes scratch memory. A panic in f is raised again on the caller.
func ForRange(threads, units int, f func(lo, hi, worker int)) {
	workers := min(threads, units)
	if workers <= 1 {
		if units > 0 {
			f(0, units, 0)
		}
		return
	}
	j := jobs.Get().(*job)
	j.f, j.workers, j.units, j.failed, j.value = f, workers, units, false, nil
	j.next.Store(0)
	j.running.Add(workers)
	for range workers - 1 {
		go j.work()
	}
	j.piece()
	j.running.Wait()
	failed, value := j.failed, j.value
	j.f, j.value = nil, nil
	jobs.Put(j)
	if failed {
		panic(value)
	}
}

// piece runs the range of the next worker number.
func (j *job) piece() {
	defer j.running.Done()
	defer j.recoverPiece()
	w := int(j.next.Add(1)) - 1
	j.f(w*j.units/j.workers, (w+1)*j.units/j.workers, w)
}

func (j *job) recoverPiece() {
	if v := recover(); v != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.failed, j.value = true, v
	}
}

package f32

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// job is one call of ForRange, cut into pieces. Jobs are pooled, so that starting one allocates nothing.
type job struct {
	f             func(lo, hi, worker int)
	pieces, units int
	left          atomic.Int32 // pieces that nobody has begun; not positive if none
	unfinished    atomic.Int32
	running       sync.WaitGroup
	mu            sync.Mutex
	failed        bool // a piece panicked, with value
	value         any
}

var jobs = sync.Pool{New: func() any { return new(job) }}

// ForRange calls f for contiguous ranges [lo, hi) that cover units 0 to units-1,
// on at most threads goroutines of which the caller is one, and returns when all
// are done. worker, below threads, is different for ranges that run at the same
// time and indexes scratch memory. A panic in f is raised again on the caller.
func ForRange(threads, units int, f func(lo, hi, worker int)) {
	pieces := min(threads, units)
	if pieces <= 1 {
		if units > 0 {
			f(0, units, 0)
		}
		return
	}
	j := jobs.Get().(*job)
	j.f, j.pieces, j.units, j.failed, j.value = f, pieces, units, false, nil
	j.unfinished.Store(int32(pieces))
	j.running.Add(pieces)
	j.left.Store(int32(pieces)) // from here on, pieces can be begun
	for range pieces - 1 {
		hand(j)
	}
	j.work()
	j.wait()
	failed, value := j.failed, j.value
	j.f, j.value = nil, nil
	jobs.Put(j)
	if failed {
		panic(value)
	}
}

// work runs pieces until all are begun. A helper that comes late finds nothing to do, or pieces of another call that
// has taken the job from the pool since; it may run those as well.
func (j *job) work() {
	for {
		left := j.left.Add(-1)
		if left < 0 {
			return
		}
		j.piece(int(left))
	}
}

// piece runs the range of worker w.
func (j *job) piece(w int) {
	defer j.running.Done()
	defer j.unfinished.Add(-1)
	defer j.recoverPiece()
	j.f(w*j.units/j.pieces, (w+1)*j.units/j.pieces, w)
}

func (j *job) recoverPiece() {
	if v := recover(); v != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.failed, j.value = true, v
	}
}

// patience is how long a goroutine looks out for what it waits for before it sleeps. To wake a sleeping one takes 20 to
// 100 µs on a virtual machine, as long as many a piece of work. Who gives up sooner than that comes late to the next call
// too, and finds its piece done: two threads are then as slow as one.
const patience = 100 * time.Microsecond

// spin looks out for done. It reports whether that came true while its patience lasted.
func spin(done func() bool) bool {
	var started time.Time
	for i := 0; ; i++ {
		if done() {
			return true
		}
		switch {
		case i == 0:
			started = time.Now()
		case i%64 == 0 && time.Since(started) > patience:
			return false
		}
	}
}

// wait returns when all pieces are done.
func (j *job) wait() {
	if runtime.GOMAXPROCS(0) > 1 {
		spin(func() bool { return j.unfinished.Load() == 0 })
	}
	j.running.Wait()
}

// helper is a goroutine that runs pieces of jobs. With nothing to do it waits in one of the places for a moment, then
// ends.
type helper struct {
	job atomic.Pointer[job]
}

var (
	helpers = sync.Pool{New: func() any { return new(helper) }}
	places  [16]atomic.Pointer[helper]
)

// hand gives a piece of the job to a helper that waits, or to a new one.
func hand(j *job) {
	for i := range places {
		if places[i].Load() == nil {
			continue
		}
		if h := places[i].Swap(nil); h != nil {
			h.job.Store(j)
			return
		}
	}
	h := helpers.Get().(*helper)
	h.job.Store(j)
	go h.work()
}

func (h *helper) work() {
	for {
		j := h.job.Swap(nil)
		j.work()
		if runtime.GOMAXPROCS(0) == 1 || !h.rest() {
			helpers.Put(h)
			return
		}
	}
}

// rest waits for another job and reports whether there is one.
func (h *helper) rest() bool {
	for i := range places {
		if !places[i].CompareAndSwap(nil, h) {
			continue
		}
		if spin(h.hasJob) {
			return true
		}
		if places[i].CompareAndSwap(h, nil) {
			return false
		}
		for !h.hasJob() { // somebody has just taken the helper out of its place
			runtime.Gosched()
		}
		return true
	}
	return false
}

func (h *helper) hasJob() bool { return h.job.Load() != nil }

package train

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chargpt/model/checkpoint"
)

// diary is what a trainer on a clock of its own did.
type diary struct {
	rates       []float64 // of its iterations
	evaluations []int     // their iterations
}

// timed gives a trainer a clock by which an iteration takes a second and an evaluation ten.
func timed(tr *Trainer) *diary {
	var d diary
	now := time.Unix(0, 0)
	tr.now = func() time.Time { return now }
	tr.Stepped = func(p Progress) {
		d.rates = append(d.rates, tr.learningRate(p.Iteration-1))
		now = now.Add(time.Second)
	}
	tr.Evaluated = func(e Evaluation) {
		d.evaluations = append(d.evaluations, e.Iteration)
		now = now.Add(10 * time.Second)
	}
	return &d
}

// A minute of training has its evaluations in it, but for the last, and the learning rate falls to its end.
func TestMinutes(t *testing.T) {
	for _, tt := range []struct {
		name         string // where the minute ends
		interval     int
		evaluations  []int
		began, saved float64 // seconds: when the last iteration began, what the checkpoint knows of
	}{
		{"before an evaluation", 5, []int{0, 5, 10, 15, 20}, 59, 70},
		{"in an evaluation", 7, []int{0, 7, 14, 21}, 50, 61},
		{"between evaluations", 100, []int{0, 50}, 59, 60},
	} {
		path := filepath.Join(t.TempDir(), "run")
		_, o := small()
		o.Minutes, o.EvalInterval = 1, tt.interval
		tr := newTrainer(t, path, o, 1)
		did := timed(tr)
		run(t, tr)
		if !slices.Equal(did.evaluations, tt.evaluations) || tr.State.Iteration != len(did.rates) {
			t.Errorf("%s: %d iterations, evaluations at %v, want the latter at %v", tt.name, tr.State.Iteration, did.evaluations, tt.evaluations)
		}
		last := o.MinLR + (o.LearningRate-o.MinLR)*(1+math.Cos(math.Pi*tt.began/60))/2
		if got := did.rates[len(did.rates)-1]; math.Abs(got-last) > 1e-12 {
			t.Errorf("%s: the last iteration has the learning rate %v, want %v", tt.name, got, last)
		}
		if got := tr.learningRate(tr.State.Iteration); got != o.MinLR {
			t.Errorf("%s: the learning rate falls to %v, want %v", tt.name, got, o.MinLR)
		}
		c, err := checkpoint.Read(filepath.Join(path, CheckpointFile))
		if err != nil {
			t.Fatal(err)
		}
		if s, err := ReadState(c); err != nil || s.Seconds != tt.saved {
			t.Errorf("%s: the checkpoint knows of %v s (%v), want %v", tt.name, s.Seconds, err, tt.saved)
		}
	}
}

// A run whose length is a time goes on when it is given a longer one, with the schedule of that.
func TestResumeExtendsMinutes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	o.Minutes = 1
	first := newTrainer(t, path, o, 1)
	timed(first)
	run(t, first) // 20 iterations and 5 evaluations: 70 s
	resumed, err := resumeLength(t, path, Length{Minutes: 2})
	if err != nil {
		t.Fatal(err)
	}
	did := timed(resumed)
	run(t, resumed)
	if want := o.schedule().AtFraction(20, 70.0/120); len(did.rates) == 0 || did.rates[0] != want {
		t.Errorf("the learning rates go on with %v, want that of the longer schedule, %v", did.rates, want)
	}
	if s := resumed.State; s.Iteration != 40 || s.Seconds != 130 || s.Options.Minutes != 2 {
		t.Errorf("extended to iteration %d, %v s of %v minutes, want 40, 130 and 2", s.Iteration, s.Seconds, s.Options.Minutes)
	}
	for _, tt := range []struct {
		length Length
		want   string
	}{
		{Length{Minutes: 1}, "has trained for 2.17"}, {Length{MaxIters: 1000}, "the run's length is"}, {Length{Minutes: math.Inf(1)}, "minutes is +Inf"},
	} {
		if _, err := resumeLength(t, path, tt.length); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want an error with %q", tt.length, err, tt.want)
		}
	}
}

// The iteration that warms up does not count.
func TestMeasure(t *testing.T) {
	_, o := small()
	tr := newTrainer(t, "", o, 1)
	now := time.Unix(0, 0)
	tr.now = func() time.Time { return now }
	tr.Stepped = func(p Progress) {
		took := 2 * time.Second
		if p.Iteration == 1 {
			took = time.Minute
		}
		now = now.Add(took)
	}
	if each, err := tr.Measure(t.Context(), 5); err != nil || each != 2*time.Second || tr.State.Iteration != 6 {
		t.Errorf("Measure(5) = %v, %v after %d iterations, want 2s after 6", each, err, tr.State.Iteration)
	}
}

// Measuring iterations stops between two of them when it is told to.
func TestMeasureStops(t *testing.T) {
	_, o := small()
	tr := newTrainer(t, "", o, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("signal")
	tr.Stepped = func(p Progress) {
		if p.Iteration == 3 {
			cancel(cause)
		}
	}
	if _, err := tr.Measure(ctx, 10); !errors.Is(err, cause) || tr.State.Iteration != 3 {
		t.Errorf("Measure cancelled in iteration 3: %v after %d iterations, want its cause after 3", err, tr.State.Iteration)
	}
}

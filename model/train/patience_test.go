package train

import (
	"path/filepath"
	"testing"
)

// A run whose validation loss does not fall ends when its patience is out; so does one that was stopped on the way, at
// the same iteration with the same files. Who extends it gives it new patience.
func TestPatience(t *testing.T) {
	dir := t.TempDir()
	_, o := small()
	o.LearningRate, o.MinLR, o.Patience, o.MaxIters = 0, 0, 2, 100 // a rate of 0: the first loss stays the best
	whole, stopped := filepath.Join(dir, "whole"), filepath.Join(dir, "stopped")
	first := newTrainer(t, whole, o, 1)
	run(t, first)
	if s := first.State; s.Iteration != 2*o.EvalInterval || s.BestIter != 0 || !first.OutOfPatience() {
		t.Errorf("ended at iteration %d with the best at %d, want %d and 0", s.Iteration, s.BestIter, 2*o.EvalInterval)
	}
	runUntil(t, newTrainer(t, stopped, o, 1), 7)
	run(t, resumeTrainer(t, stopped, 0))
	sameFiles(t, whole, stopped, checkpointFile, bestFile)

	again := resumeTrainer(t, stopped, 0)
	run(t, again)
	if again.State.Iteration != 2*o.EvalInterval {
		t.Errorf("a run that is over goes on to iteration %d", again.State.Iteration)
	}
	longer := resumeTrainer(t, stopped, 200)
	run(t, longer)
	if longer.State.Iteration != 4*o.EvalInterval {
		t.Errorf("extended, it ends at iteration %d, want %d", longer.State.Iteration, 4*o.EvalInterval)
	}
}

// A falling loss, or no validation at all, takes no patience.
func TestPatienceLasts(t *testing.T) {
	for _, valFraction := range []float64{0.1, 0} {
		_, o := small()
		o.Patience, o.ValFraction = 1, valFraction
		tr := newTrainer(t, "", o, 1)
		run(t, tr)
		if tr.State.Iteration != o.MaxIters {
			t.Errorf("validation share %v: ended at iteration %d, want %d", valFraction, tr.State.Iteration, o.MaxIters)
		}
	}
}

package train

import (
	"path/filepath"
	"strings"
	"testing"
)

// contrary is a text whose end follows other rules than its beginning: the better a model knows the one, the higher is
// its loss on the other.
var contrary = strings.Repeat("abc", 600) + strings.Repeat("cba", 67)

// A run whose validation loss rises ends when its patience is out; so does one that was stopped on the way, at the same
// iteration with the same files. Who extends it gives it new patience.
func TestPatience(t *testing.T) {
	defer func(before string) { text = before }(text)
	text = contrary
	dir := t.TempDir()
	_, o := small()
	o.Patience, o.MaxIters, o.LearningRate = 2, 1000, 1e-2
	whole, stopped := filepath.Join(dir, "whole"), filepath.Join(dir, "stopped")
	first := newTrainer(t, whole, o, 1)
	run(t, first)
	end := first.State.Iteration
	if end >= 200 || first.State.BestIter >= end-o.EvalInterval || !first.OutOfPatience() {
		t.Fatalf("ended at iteration %d with the best at %d, want to stop some evaluations after the best", end, first.State.BestIter)
	}
	runUntil(t, newTrainer(t, stopped, o, 1), end-3)
	run(t, resumeTrainer(t, stopped, 0))
	sameFiles(t, whole, stopped, CheckpointFile, BestFile)

	again := resumeTrainer(t, stopped, 0)
	run(t, again)
	if again.State.Iteration != end {
		t.Errorf("a run that is over goes on from iteration %d to %d", end, again.State.Iteration)
	}
	same := resumeTrainer(t, stopped, o.MaxIters)
	run(t, same)
	if same.State.Iteration != end {
		t.Errorf("with the length that it has, a run that is over goes on from iteration %d to %d", end, same.State.Iteration)
	}
	longer := resumeTrainer(t, stopped, 2000)
	run(t, longer)
	if want := end + o.Patience*o.EvalInterval; longer.State.Iteration != want {
		t.Errorf("extended, it ends at iteration %d, want %d", longer.State.Iteration, want)
	}
}

// A little above the best is chance, and starts the count again.
func TestCompare(t *testing.T) {
	_, o := small()
	tr := newTrainer(t, "", o, 1)
	for i, tt := range []struct {
		loss  float64
		best  bool
		worse int
	}{{2, true, 0}, {2.019, false, 0}, {2.03, false, 1}, {2.5, false, 2}, {2.01, false, 0}, {2.1, false, 1}, {1.9, true, 0}, {1.9, false, 0}, {1.95, false, 1}} {
		if best := tr.compare(tt.loss); best != tt.best || tr.State.Worse != tt.worse {
			t.Errorf("evaluation %d, loss %v: best %v, %d too high in a row, want %v, %d", i, tt.loss, best, tr.State.Worse, tt.best, tt.worse)
		}
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

// At the last iteration a run has come to its length, whatever its patience says.
func TestPatienceAtTheEnd(t *testing.T) {
	_, o := small()
	o.Patience = 1
	tr := newTrainer(t, "", o, 1)
	for iteration, want := range map[int]bool{o.MaxIters - 1: true, o.MaxIters: false} {
		tr.State.Worse, tr.State.Iteration = 1, iteration
		if got := tr.OutOfPatience(); got != want {
			t.Errorf("iteration %d of %d: out of patience: %v, want %v", iteration, o.MaxIters, got, want)
		}
	}
}

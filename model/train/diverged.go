package train

import (
	"fmt"
	"math"
)

// DivergedError stops a training whose loss, gradient or weights are not finite.
type DivergedError struct {
	Iteration      int // the iteration that failed, from 0
	Loss, GradNorm float64
	LearningRate   float64
	MuonLR         float64 // 0 where Muon updates nothing
}

// Error says what happened at which iteration, and what to try.
func (e *DivergedError) Error() string {
	rates := fmt.Sprintf("a lower -learning_rate than %.3g", e.LearningRate)
	if e.MuonLR > 0 {
		rates += fmt.Sprintf(", a lower -muon_lr than %.3g", e.MuonLR)
	}
	return fmt.Sprintf("training diverged at iteration %d (loss %v, gradient norm %v): try %s, a longer -warmup_iters or -grad_clip 1; the last saved checkpoint is untouched",
		e.Iteration, e.Loss, e.GradNorm, rates)
}

// diverged is what is known of an iteration that failed.
func (t *Trainer) diverged(iteration int, loss, norm float64) error {
	e := &DivergedError{Iteration: iteration, Loss: loss, GradNorm: norm, LearningRate: t.learningRate(max(0, iteration))}
	if t.State.Options.Optimizer == Muon {
		e.MuonLR = t.State.Options.muonRate(e.LearningRate)
	}
	return e
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

package train

import (
	"context"
	"math"
	"time"

	"chargpt/data"
)

// Result is what a finished run is measured by.
type Result struct {
	ValLoss     float64 // over the whole validation part, of the best weights; NaN without one
	UnigramLoss float64
	BigramLoss  float64
	BestIter    int
}

// Finish puts the best weights into the model (the last ones where nothing validates) and measures them over the whole
// validation part. It stops early, with the context's cause, when ctx is done.
func (t *Trainer) Finish(ctx context.Context) (Result, error) {
	iteration := t.State.Iteration
	if t.best != nil {
		iteration = t.State.BestIter
		copy(t.Model.Flat(), t.best)
	}
	if !t.hasValidation() {
		return Result{ValLoss: math.NaN(), UnigramLoss: math.NaN(), BigramLoss: math.NaN(), BestIter: iteration}, nil
	}
	loss, err := meanLoss(ctx, t.eval, data.Windows(t.Data.Val, t.Model.Config.BlockSize, evalBatch))
	return Result{ValLoss: loss, UnigramLoss: t.State.UnigramLoss, BigramLoss: t.State.BigramLoss, BestIter: iteration}, err
}

// Measure runs n iterations, after one to warm up, and returns the time of one. It stops between two of them, with the
// context's cause, when ctx is done. The trainer has then trained by them: it is for one that is thrown away.
func (t *Trainer) Measure(ctx context.Context, n int) (time.Duration, error) {
	var started time.Time
	for i := range n + 1 {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if i == 1 {
			started = t.now()
		}
		if err := t.step(); err != nil {
			return 0, err
		}
	}
	return t.now().Sub(started) / time.Duration(n), nil
}

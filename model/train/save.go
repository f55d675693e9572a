package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"chargpt/model/checkpoint"
)

// saveEvaluation writes the row of metrics, then ckpt, then best. ckpt is the commit point: what a crash leaves before it
// is dropped on resume and done again, and a best that is missing after it is made from it.
func (t *Trainer) saveEvaluation(e Evaluation) error {
	if t.folder == nil {
		return nil
	}
	if err := t.checkWeights(); err != nil {
		return err
	}
	if err := t.folder.appendMetrics(e); err != nil {
		return t.notSaved(err)
	}
	if t.Record != nil {
		if err := t.Record(e.Iteration); err != nil {
			return t.notSaved(err)
		}
	}
	if err := t.save(); err != nil {
		return err
	}
	if !e.Best {
		return nil
	}
	if err := t.write(BestFile, nil); err != nil {
		return fmt.Errorf("saving the best weights failed: %w; the checkpoint has them: -resume goes on", err)
	}
	return nil
}

// notSaved is the error of a checkpoint that could not be written, or of what belongs to it.
func (t *Trainer) notSaved(err error) error {
	if _, missing := os.Stat(t.folder.file(CheckpointFile)); missing != nil {
		return fmt.Errorf("saving failed: %w", err)
	}
	return fmt.Errorf("saving failed: %w; the checkpoint before is intact", err)
}

// save writes ckpt.
func (t *Trainer) save() error {
	if t.folder == nil {
		return nil
	}
	if err := t.checkWeights(); err != nil {
		return err
	}
	if err := t.write(CheckpointFile, t.update.state()); err != nil {
		return t.notSaved(err)
	}
	return nil
}

// checkWeights refuses to save weights that are not finite.
func (t *Trainer) checkWeights() error {
	for _, w := range t.Model.Flat() {
		if !finite(float64(w)) {
			return t.diverged(t.State.Iteration-1, math.NaN(), math.NaN())
		}
	}
	return nil
}

func (t *Trainer) write(name string, moments map[string]map[string][]float32) error {
	train, err := t.metadata()
	if err != nil {
		return err
	}
	return checkpoint.Write(t.folder.file(name), &checkpoint.Checkpoint{
		Config: t.Model.Config, Vocab: t.Text.Tokenizer.Vocab(), Weights: t.Model.Weights(),
		Optimizer: moments, Bigram: t.Bigrams, Train: train,
	})
}

// byName cuts flat memory that is laid out as the parameters into named tensors.
func (t *Trainer) byName(flat []float32) map[string][]float32 {
	named := map[string][]float32{}
	for _, p := range t.Model.Parameters() {
		named[p.Name], flat = flat[:len(p.Data)], flat[len(p.Data):]
	}
	return named
}

// restore takes the moments from a checkpoint, the best weights from their file, and drops what the folder has beyond the
// checkpoint.
func (t *Trainer) restore(c *checkpoint.Checkpoint) error {
	if err := t.update.restore(c.Optimizer); err != nil {
		return err
	}
	if t.folder == nil {
		return nil
	}
	last, err := t.folder.truncateMetrics(t.State.Iteration)
	if err != nil {
		return err
	}
	t.before = max(last.seconds, t.State.Seconds)
	t.pending = last.iteration != t.State.Iteration // a signal stopped it between two evaluations
	return t.restoreBest()
}

// restoreBest reads the best weights. Where the checkpoint itself is the best so far, a crash may have come before best
// was written; where it was before, and its file is gone, the run goes on without.
func (t *Trainer) restoreBest() error {
	if t.State.BestLoss == nil {
		return nil
	}
	t.best = append(t.best, t.Model.Flat()...)
	file := t.folder.file(BestFile)
	best, err := checkpoint.Read(file)
	if err == nil {
		err = t.checkBest(best)
	}
	switch {
	case t.State.BestIter == t.State.Iteration:
		if err == nil {
			return nil
		}
		return t.write(BestFile, nil)
	case errors.Is(err, fs.ErrNotExist): // somebody removed it: the next evaluation is the best so far
		t.best, t.State.BestLoss, t.State.BestIter, t.State.Worse, t.BestLost = nil, nil, 0, 0, true
		return nil
	case err != nil:
		return fmt.Errorf("the run's best weights: %w; move %s away, and the run goes on without them", err, file)
	}
	for name, w := range t.byName(t.best) {
		copy(w, best.Weights[name])
	}
	return nil
}

// checkBest refuses best weights that are not those of this run.
func (t *Trainer) checkBest(best *checkpoint.Checkpoint) error {
	state, err := ReadState(best)
	if err != nil {
		return err
	}
	same := best.Config == t.Model.Config && slices.Equal(best.Vocab, t.Text.Tokenizer.Vocab()) && state.TextSHA256 == t.State.TextSHA256 &&
		state.Iteration == t.State.BestIter && state.BestLoss != nil && *state.BestLoss == *t.State.BestLoss && state.Random.Seed == t.State.Random.Seed
	if !same {
		return fmt.Errorf("they are of iteration %d of another run", state.Iteration)
	}
	for name, w := range t.byName(t.best) {
		if len(best.Weights[name]) != len(w) {
			return fmt.Errorf("%s has %d numbers, not %d", name, len(best.Weights[name]), len(w))
		}
	}
	return nil
}

// metadata is the checkpoint's "train" entry. It has a time only where the run's length is one: a checkpoint of a run of
// MaxIters has the same bytes each time.
func (t *Trainer) metadata() (json.RawMessage, error) {
	if t.State.Options.Minutes > 0 {
		t.State.Seconds = t.seconds()
	}
	return json.Marshal(t.State)
}

// Path is the run folder, empty where nothing is saved.
func (t *Trainer) Path() string {
	if t.folder == nil {
		return ""
	}
	return t.folder.Path
}

// BestPath is the checkpoint that [Trainer.Finish] measured: best.safetensors, or ckpt where nothing validates; empty
// where nothing is saved.
func (t *Trainer) BestPath() string {
	switch {
	case t.folder == nil:
		return ""
	case t.best == nil:
		return t.folder.file(CheckpointFile)
	}
	return t.folder.file(BestFile)
}

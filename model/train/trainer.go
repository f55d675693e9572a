package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"chargpt/data"
	"chargpt/internal/optim"
	"chargpt/model"
	"chargpt/model/checkpoint"
)

// Trainer trains one model on one text. Make it by [New] or [Resume], run it by [Trainer.Run], then Close it.
type Trainer struct {
	Model   *model.Model
	Text    *data.Text
	Data    *data.Dataset
	State   State
	Bigrams *data.Bigram // of the training part

	// BestLost says that the best weights of a run that was resumed are gone: the next evaluation is the best.
	BestLost bool

	// Stepped, Evaluated and Sampled, where they are set, are told what happened, while training waits.
	Stepped   func(Progress)
	Evaluated func(Evaluation)
	Sampled   func(iteration int, text string)
	// Record, where it is set, keeps something of an evaluation in the run folder before the checkpoint is saved. What it
	// kept of iterations after the checkpoint is for the caller to drop on resume.
	Record func(iteration int) error

	folder  *Folder // nil: nothing is saved
	batch   *model.Batch
	eval    *model.Graph
	update  *optimizer
	best    []float32        // the weights of the lowest validation loss; nil if none yet
	pending bool             // what the model is now has not been evaluated
	now     func() time.Time // the clock, which tests set
	started time.Time
	before  float64 // seconds of training before this process
}

// Progress is what one iteration did.
type Progress struct {
	Iteration int     // iterations done
	Loss      float64 // of this iteration's batch, nats
	GradNorm  float64 // before clipping
	Fraction  float64 // of the run that is done, from 0 to 1
}

// Run is where and on what a trainer works. The zero value saves nothing and uses all cores.
type Run struct {
	Folder   *Folder // where to save; the trainer closes it. Nil: nowhere
	DataName string  // how the text is named in the checkpoint, to find it again on resume
	Threads  int     // that training may use in all; 0 is one a core
}

// New returns a trainer of a new model on a text. The configuration's VocabSize is set from the text.
func New(text *data.Text, config model.Config, o Options, r Run) (*Trainer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	config.VocabSize = text.Tokenizer.Size()
	m, err := model.New(config, o.Seed)
	if err != nil {
		return nil, err
	}
	t := &Trainer{Model: m, Text: text, folder: r.Folder, pending: true, State: State{
		Options: o, Data: r.DataName, TextSHA256: text.SHA256, Random: Random{Seed: o.Seed},
	}}
	return t, t.prepare(r.Threads)
}

// Resume returns a trainer that continues the run in a folder, bit for bit where its length is in iterations: the learning
// rates of a run of minutes follow the clock. The text must be the one the run began with. Another length than the run's,
// which the zero value keeps, makes the schedule another.
func Resume(c *checkpoint.Checkpoint, text *data.Text, length Length, r Run) (*Trainer, error) {
	state, err := ReadState(c)
	if err != nil {
		return nil, err
	}
	if state.TextSHA256 != text.SHA256 {
		return nil, errors.New("the text is not the one this run was trained on: its content differs; give that one with -data, or start a new run without -resume")
	}
	if !slices.Equal(c.Vocab, text.Tokenizer.Vocab()) {
		return nil, errors.New("the checkpoint's vocabulary is not the text's: the checkpoint was not made by training on it")
	}
	if err := state.extend(length); err != nil {
		return nil, err
	}
	m, err := model.NewZero(c.Config)
	if err != nil {
		return nil, err
	}
	if err := m.SetWeights(c.Weights); err != nil {
		return nil, err
	}
	t := &Trainer{Model: m, Text: text, folder: r.Folder, State: state}
	if err := t.prepare(r.Threads); err != nil {
		return nil, err
	}
	return t, t.restore(c)
}

// prepare splits the text, counts the baselines and builds the graphs.
func (t *Trainer) prepare(threads int) (err error) {
	t.now = time.Now
	o, config := t.State.Options, t.Model.Config
	if threads > 0 {
		t.Model.Threads = threads
	}
	if t.Data, err = data.NewDataset(t.Text.Tokens, o.ValFraction, config.BlockSize); err != nil {
		return err
	}
	t.Bigrams = data.CountBigrams(t.Data.Train, config.VocabSize)
	if t.hasValidation() {
		t.State.UnigramLoss = data.UnigramLoss(t.Data.Train, t.Data.Val, config.VocabSize)
		t.State.BigramLoss = t.Bigrams.Loss(t.Data.Val)
	}
	if t.batch, err = t.Model.NewBatch(o.BatchSize, config.BlockSize, o.Seed); err != nil {
		return err
	}
	if t.eval, err = t.Model.NewGraph(evalBatch, config.BlockSize, model.Evaluation, 0); err != nil {
		return err
	}
	t.update = newOptimizer(t.Model, o)
	return nil
}

func (t *Trainer) hasValidation() bool { return t.Data.Val.Len() > 0 }

// Run trains until MaxIters iterations are done, Minutes are over or Patience has run out. It evaluates and saves at the
// start, at every EvalInterval and at the end. When ctx is done it finishes the iteration, saves and returns the
// context's cause.
func (t *Trainer) Run(ctx context.Context) error {
	t.started = t.now()
	if t.pending && t.State.Iteration == 0 { // a new run; one that was stopped between evaluations waits for the next
		if err := t.evaluate(); err != nil {
			return err
		}
	}
	if t.Sampled != nil && t.State.Options.SampleInterval > 0 {
		if _, err := t.Sample(context.Background(), t.Model.Config.BlockSize+2); err != nil { // takes its memory now, not in the middle of the run
			return err
		}
	}
	for !t.over() {
		if ctx.Err() != nil {
			if err := t.save(); err != nil {
				return err
			}
			return context.Cause(ctx)
		}
		if err := t.step(); err != nil {
			return err
		}
		if err := t.afterStep(); err != nil {
			return err
		}
	}
	switch {
	case t.pending: // the end of a time does not fall on an evaluation
		return t.evaluate()
	case t.State.Options.Minutes > 0: // or falls into one: then what was saved does not know yet that the time is over
		return t.save()
	}
	return nil
}

// seconds is how long this run has trained, in all its sessions.
func (t *Trainer) seconds() float64 { return t.before + t.now().Sub(t.started).Seconds() }

// fraction is how much of the run is done, from 0 to 1: of its iterations or, where its length is a time, of that.
func (t *Trainer) fraction() float64 {
	o := t.State.Options
	if o.Minutes > 0 {
		return min(1, t.seconds()/(60*o.Minutes))
	}
	if o.MaxIters == 0 {
		return 1
	}
	return min(1, float64(t.State.Iteration)/float64(o.MaxIters))
}

// OutOfPatience reports whether the validation loss has been so high for so long that the run ends before its length.
func (t *Trainer) OutOfPatience() bool {
	o := t.State.Options
	return o.Patience > 0 && t.State.Worse >= o.Patience && t.fraction() < 1
}

func (t *Trainer) over() bool { return t.fraction() >= 1 || t.OutOfPatience() }

// learningRate is that of iteration i.
func (t *Trainer) learningRate(i int) float64 {
	if t.State.Options.Minutes > 0 {
		return t.State.Options.schedule().AtFraction(i, t.fraction())
	}
	return t.State.Options.schedule().At(i)
}

// step is one iteration: a batch through the graph, clipping, the optimizer.
func (t *Trainer) step() error {
	o, i := t.State.Options, t.State.Iteration
	t.Data.Batch(t.batchRandom(i), o.BatchSize, t.Model.Config.BlockSize, t.batch.Tokens, t.batch.Targets)
	if err := t.batch.Run(i); err != nil {
		return err
	}
	loss, norm := float64(t.batch.Loss()), t.batch.GradNorm()
	if !finite(loss) || !finite(norm) {
		return t.diverged(i, loss, norm)
	}
	lr := t.learningRate(i)
	t.update.step(lr, o.muonRate(lr), optim.ClipScale(norm, o.GradClip), i+1)
	t.State.Iteration++
	t.pending = true
	t.State.Random.Iteration++
	if t.Stepped != nil {
		t.Stepped(Progress{Iteration: t.State.Iteration, Loss: loss, GradNorm: norm, Fraction: t.fraction()})
	}
	return nil
}

// afterStep evaluates, saves and samples where it is time.
func (t *Trainer) afterStep() error {
	o, i := t.State.Options, t.State.Iteration
	if i%o.EvalInterval == 0 {
		if err := t.evaluate(); err != nil {
			return err
		}
	}
	if o.SampleInterval > 0 && i%o.SampleInterval == 0 && !t.over() && t.Sampled != nil {
		text, err := t.Sample(context.Background(), sampleLength)
		if err != nil {
			return err
		}
		t.Sampled(i, text)
		debug.FreeOSMemory()
	}
	return nil
}

// batchStream tells the random numbers of the batches from those of other uses of a seed.
const batchStream = 0x6261746368000000 // "batch"

func (t *Trainer) batchRandom(iteration int) *rand.Rand {
	return rand.New(rand.NewPCG(t.State.Random.Seed, batchStream+uint64(iteration)))
}

// evaluate measures the losses, keeps the weights if they are the best so far, writes a row of metrics and saves.
func (t *Trainer) evaluate() error {
	o, block := t.State.Options, t.Model.Config.BlockSize
	e := Evaluation{Iteration: t.State.Iteration, ValLoss: math.NaN(), UnigramLoss: math.NaN(), BigramLoss: math.NaN(),
		LearningRate: t.learningRate(max(0, t.State.Iteration-1))}
	t.pending = false
	var err error
	if e.TrainLoss, err = meanLoss(context.Background(), t.eval, data.Subset(t.Data.Train, block, evalBatch, evalCharacters, o.Seed)); err != nil {
		return err
	}
	if t.hasValidation() {
		e.UnigramLoss, e.BigramLoss = t.State.UnigramLoss, t.State.BigramLoss
		if e.ValLoss, err = meanLoss(context.Background(), t.eval, data.Subset(t.Data.Val, block, evalBatch, evalCharacters, o.Seed)); err != nil {
			return err
		}
	}
	if !finite(e.TrainLoss) || t.hasValidation() && !finite(e.ValLoss) {
		return t.diverged(t.State.Iteration, e.TrainLoss, math.NaN())
	}
	if t.hasValidation() {
		e.Best = t.compare(e.ValLoss)
	}
	e.Seconds = t.seconds()
	if err := t.saveEvaluation(e); err != nil {
		return err
	}
	if t.Evaluated != nil {
		t.Evaluated(e)
	}
	debug.FreeOSMemory() // a save, a picture and an interval's iterations leave a few megabytes: memory stays flat
	return nil
}

// overfit is how far above the lowest validation loss one is that has risen for good, rather than by chance.
const overfit = 1.01

// compare keeps the weights if their validation loss is the lowest so far, and counts how long it has been too high.
func (t *Trainer) compare(loss float64) (best bool) {
	if t.State.BestLoss == nil || loss < *t.State.BestLoss {
		t.State.BestLoss, t.State.BestIter, t.State.Worse = &loss, t.State.Iteration, 0
		t.best = append(t.best[:0], t.Model.Flat()...)
		return true
	}
	if loss > overfit**t.State.BestLoss {
		t.State.Worse++
	} else {
		t.State.Worse = 0
	}
	return false
}

// Close frees the graphs and unlocks the folder.
func (t *Trainer) Close() error {
	var errs []error
	if t.batch != nil {
		errs = append(errs, t.batch.Close())
	}
	if t.eval != nil {
		errs = append(errs, t.eval.Close())
	}
	return errors.Join(append(errs, t.folder.Close())...)
}

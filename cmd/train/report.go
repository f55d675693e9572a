package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chargpt/internal/chart"
	"chargpt/internal/cli"
	"chargpt/model/train"

	"github.com/schollz/progressbar/v3"
)

// reporter prints results to standard output and progress to standard error.
type reporter struct {
	out      *cli.Output
	errs     io.Writer
	trainer  *train.Trainer
	progress progress
}

func newReporter(env cli.Env, t *train.Trainer) *reporter {
	r := &reporter{out: &cli.Output{W: env.Stdout}, errs: env.Stderr, trainer: t}
	r.progress = newProgress(env.Stderr, t)
	t.Stepped = r.progress.step
	t.Evaluated = r.evaluated
	t.Sampled = r.sampled
	return r
}

func (r *reporter) start() {
	t := r.trainer
	if t.State.Iteration > 0 {
		r.draw() // a crash may have left another; and what drawing takes of memory it takes now
	}
	name := t.State.Data
	if name == "" {
		name = "the embedded corpus"
	}
	fmt.Fprintf(r.out, "text: %s, %d characters, %d distinct\n", name, t.Text.Tokens.Len(), t.Model.Config.VocabSize)
	fmt.Fprintf(r.out, "split: %d characters train, %d validate\n", t.Data.Train.Len(), t.Data.Val.Len())
	fmt.Fprintf(r.out, "model: %s\n", describe(t.Model))
	length := fmt.Sprintf("iterations %d to %d", t.State.Iteration, t.State.Options.MaxIters)
	if t.State.Options.Minutes > 0 {
		length = fmt.Sprintf("%v minutes, from iteration %d", t.State.Options.Minutes, t.State.Iteration)
	}
	fmt.Fprintf(r.out, "run: %s, %s on %s\n", t.Path(), length, count(t.Model.Threads, "thread"))
	if t.Data.Val.Len() == 0 {
		fmt.Fprintln(r.out, "no validation (-val_fraction 0): no validation loss, no best checkpoint")
		return
	}
	fmt.Fprintln(r.out, "losses are in nats a character (and bits); val and the baselines, character")
	fmt.Fprintln(r.out, "frequencies and the bigram Markov chain, are of the validation part")
	if passes, enough := seldom(t.State.Options, t.Model.Config.BlockSize, t.Data.Train.Len()); enough > 0 && t.State.Iteration == 0 {
		fmt.Fprintf(r.out, "note: so small a text is read %d times between evaluations, and soon learned by heart:\n", passes)
		fmt.Fprintf(r.out, "-eval_interval %d would find the best weights\n", enough)
	}
}

// manyPasses over a text between two evaluations are so many that the weights of the lowest loss were probably between them.
const manyPasses = 20

// seldom tells how often a training part of so many characters is read between evaluations. If that is too often, enough is
// the interval that would do.
func seldom(o train.Options, blockSize, characters int) (passes, enough int) {
	each := o.BatchSize * blockSize // characters an iteration
	passes = o.EvalInterval * each / characters
	enough = max(1, manyPasses/2*characters/each)
	if passes < manyPasses || enough >= o.EvalInterval {
		return passes, 0
	}
	return passes, enough
}

// loss is one in both units.
func loss(x float64) string { return fmt.Sprintf("%.4f nats (%.4f bits)", x, train.Bits(x)) }

// shortLoss is one in both units where it is known that the first are nats.
func shortLoss(x float64) string { return fmt.Sprintf("%.4f (%.4f bits)", x, train.Bits(x)) }

func (r *reporter) evaluated(e train.Evaluation) {
	r.progress.clear()
	defer r.draw()
	if math.IsNaN(e.ValLoss) {
		fmt.Fprintf(r.out, "iteration %d: train %s, no validation\n", e.Iteration, loss(e.TrainLoss))
		return
	}
	mark := ""
	if e.Best {
		mark = ", best"
	}
	fmt.Fprintf(r.out, "iteration %d: train %s, val %s%s\n", e.Iteration, shortLoss(e.TrainLoss), shortLoss(e.ValLoss), mark)
	fmt.Fprintf(r.out, "  baselines: unigram %s, bigram %s\n", shortLoss(e.UnigramLoss), shortLoss(e.BigramLoss))
}

// draw redraws loss.svg and loss.png in the run folder. A picture that cannot be drawn does not stop a training.
func (r *reporter) draw() {
	if err := chart.Losses(filepath.Join(r.trainer.Path(), train.MetricsFile), filepath.Join(r.trainer.Path(), "loss")); err != nil {
		fmt.Fprintf(r.errs, "train: the picture of the losses could not be drawn: %v\n", err)
	}
}

func (r *reporter) sampled(iteration int, text string) {
	r.progress.clear()
	fmt.Fprintf(r.out, "sample at iteration %d:\n%s\n", iteration, indent(text))
}

// indent sets sampled text apart from results.
func indent(text string) string {
	return "  | " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  | ")
}

// end measures the best weights over the whole validation part and says what to type next.
func (r *reporter) end(ctx context.Context) error {
	result, err := r.trainer.Finish(ctx)
	if err != nil {
		return err
	}
	text, err := r.trainer.Sample(ctx, 500)
	if err != nil {
		return err
	}
	if o := r.trainer.State.Options; o.Minutes > 0 && !r.trainer.OutOfPatience() {
		fmt.Fprintf(r.out, "\n%d iterations in %v minutes\n", r.trainer.State.Iteration, o.Minutes)
	}
	if r.trainer.OutOfPatience() {
		s := r.trainer.State
		fmt.Fprintf(r.out, "\nstopped at iteration %d: the validation loss rises since iteration %d (-patience %d)\n", s.Iteration, result.BestIter, s.Options.Patience)
		fmt.Fprintln(r.out, cli.Hint(fmt.Sprintf("to go on all the same: go run ./cmd/train -resume -out %s -patience 0", shellPath(r.trainer.Path()))))
	}
	if !math.IsNaN(result.ValLoss) {
		fmt.Fprintf(r.out, "\nvalidation loss over all %d characters: %s\n", r.trainer.Data.Val.Len(), loss(result.ValLoss))
		fmt.Fprintf(r.out, "  of the best weights, from iteration %d\n", result.BestIter)
		fmt.Fprintf(r.out, "  baseline, unigram: %s\n", loss(result.UnigramLoss))
		fmt.Fprintf(r.out, "  baseline, bigram Markov chain: %s\n", loss(result.BigramLoss))
	}
	fmt.Fprintf(r.out, "sample:\n%s\n", indent(text))
	next := "next: go run ./cmd/sample -ckpt " + shellPath(r.trainer.BestPath())
	if prompt := promptFor(r.trainer); prompt != "" {
		next += " -prompt " + shellText(prompt)
	}
	fmt.Fprintln(r.out, cli.Hint(next))
	if r.trainer.Record != nil {
		fmt.Fprintln(r.out, cli.Hint(fmt.Sprintf("heads being learned: go run ./cmd/inspect -probe -ckpt %s -o probe.html", shellPath(r.trainer.Path()))))
	}
	if r.out.Err != nil {
		return fmt.Errorf("the run is saved in %s, but its results could not be printed: %w", r.trainer.Path(), r.out.Err)
	}
	return nil
}

// promptFor is a prompt that the vocabulary has, and that can be typed: the first such word of the text, if there is one.
func promptFor(t *train.Trainer) string {
	ids := make([]int32, min(t.Text.Tokens.Len(), 400))
	t.Text.Tokens.Copy(ids, 0)
	for _, word := range strings.Fields(t.Text.Tokenizer.Decode(ids)) {
		if n := utf8.RuneCountInString(word); n <= 40 && !strings.ContainsFunc(word, unprintable) {
			return word
		}
	}
	return ""
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

// progress shows iterations, loss, speed and the time that is left.
type progress interface {
	step(train.Progress)
	clear()  // before something else is printed
	finish() // at the end
}

func newProgress(w io.Writer, t *train.Trainer) progress {
	o := t.State.Options
	m := meter{from: t.State.Iteration, tokens: o.BatchSize * t.Model.Config.BlockSize, minutes: o.Minutes, total: o.MaxIters, started: time.Now(), begun: -1}
	if _, ok := cli.Terminal(w); !ok {
		return &lines{meter: m, w: w, next: time.Now().Add(lineInterval)}
	}
	return &bar{meter: m, bar: progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(20),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionFullWidth())}
}

// meter measures speed and how much is left.
type meter struct {
	from, tokens int
	minutes      float64 // the run's length, or 0 where it is total iterations
	total        int
	started      time.Time
	begun        float64 // the fraction done at the first step
}

// describe is an iteration in words: loss, tokens a second since the start, time left.
func (m *meter) describe(p train.Progress) string {
	if m.begun < 0 {
		m.begun = p.Fraction
	}
	elapsed := time.Since(m.started)
	speed := float64(m.tokens*(p.Iteration-m.from)) / elapsed.Seconds()
	where, left := fmt.Sprintf("iteration %d/%d", p.Iteration, m.total), "?"
	if m.minutes > 0 {
		where = fmt.Sprintf("iteration %d, %.1f of %v minutes", p.Iteration, p.Fraction*m.minutes, m.minutes)
	}
	if p.Fraction >= 1 {
		left = "0s"
	} else if done := p.Fraction - m.begun; done > 0 {
		left = (time.Duration(float64(elapsed) * (1 - p.Fraction) / done)).Round(time.Second).String()
	}
	return fmt.Sprintf("%s: loss %.4f, %.0f tokens/s, %s left", where, p.Loss, speed, left)
}

// barSteps is how finely the bar moves.
const barSteps = 1000

// bar is progress on a terminal.
type bar struct {
	meter
	bar *progressbar.ProgressBar
}

func (b *bar) step(p train.Progress) {
	b.bar.Describe(b.describe(p))
	b.bar.Set(int(p.Fraction * barSteps))
}
func (b *bar) clear()  { b.bar.Clear() }
func (b *bar) finish() { b.bar.Finish(); b.bar.Clear() }

// lines is progress in a file or a pipe: a line every few seconds.
type lines struct {
	meter
	w    io.Writer
	next time.Time
}

const lineInterval = 5 * time.Second

func (l *lines) step(p train.Progress) {
	text := l.describe(p)
	if now := time.Now(); now.After(l.next) || p.Fraction >= 1 {
		l.next = now.Add(lineInterval)
		fmt.Fprintln(l.w, text)
	}
}
func (l *lines) clear()  {}
func (l *lines) finish() {}

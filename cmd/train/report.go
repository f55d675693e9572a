package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"chargpt/internal/cli"
	"chargpt/model/train"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// reporter prints results to standard output and progress to standard error.
type reporter struct {
	out      io.Writer
	trainer  *train.Trainer
	progress progress
}

func newReporter(env cli.Env, t *train.Trainer) *reporter {
	r := &reporter{out: env.Stdout, trainer: t}
	r.progress = newProgress(env.Stderr, t.State.Iteration, t.State.Options.MaxIters, t.State.Options.BatchSize*t.Model.Config.BlockSize)
	t.Step = r.progress.step
	t.Evaluated = r.evaluated
	t.Sampled = r.sampled
	return r
}

func (r *reporter) start() {
	t := r.trainer
	name := t.State.Data
	if name == "" {
		name = "the embedded corpus"
	}
	fmt.Fprintf(r.out, "text: %s, %d characters, %d distinct; %d train, %d validate\n", name, t.Text.Tokens.Len(), t.Model.Config.VocabSize, t.Data.Train.Len(), t.Data.Val.Len())
	fmt.Fprintf(r.out, "model: %s\n", describe(t.Model))
	fmt.Fprintf(r.out, "run: %s, iterations %d to %d on %d threads\n", t.Path(), t.State.Iteration, t.State.Options.MaxIters, t.Model.Threads)
	if t.Data.Val.Len() == 0 {
		fmt.Fprintln(r.out, "no validation: -val_fraction is 0, so there is no validation loss and no best checkpoint")
		return
	}
	fmt.Fprintf(r.out, "baselines on the validation part: unigram %s, bigram Markov chain %s\n", nats(t.State.UnigramLoss), nats(t.State.BigramLoss))
}

// nats is a loss in both units.
func nats(x float64) string { return fmt.Sprintf("%.4f nats (%.4f bits)", x, train.Bits(x)) }

func (r *reporter) evaluated(e train.Evaluation) {
	r.progress.clear()
	if math.IsNaN(e.ValLoss) {
		fmt.Fprintf(r.out, "iteration %d: train %s, no validation\n", e.Iteration, nats(e.TrainLoss))
		return
	}
	mark := ""
	if e.Best {
		mark = ", best so far"
	}
	fmt.Fprintf(r.out, "iteration %d: train %s, validation %s, unigram %.4f, bigram %.4f%s\n", e.Iteration, nats(e.TrainLoss), nats(e.ValLoss), e.UnigramLoss, e.BigramLoss, mark)
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
func (r *reporter) end() error {
	result, err := r.trainer.Finish()
	if err != nil {
		return err
	}
	text, err := r.trainer.Sample(500)
	if err != nil {
		return err
	}
	if !math.IsNaN(result.ValLoss) {
		fmt.Fprintf(r.out, "\nvalidation loss over all %d characters: %s, of the best weights, from iteration %d\n", r.trainer.Data.Val.Len(), nats(result.ValLoss), result.BestIter)
		fmt.Fprintf(r.out, "baselines on the same characters: unigram %s, bigram Markov chain %s\n", nats(result.UnigramLoss), nats(result.BigramLoss))
	}
	fmt.Fprintf(r.out, "sample:\n%s\n", indent(text))
	fmt.Fprintf(r.out, "next: go run ./cmd/sample -ckpt %s -prompt %q\n", shellPath(r.trainer.BestPath()), promptFor(r.trainer))
	return nil
}

// promptFor is a prompt that the vocabulary has: the first word of the text.
func promptFor(t *train.Trainer) string {
	n := min(t.Text.Tokens.Len(), 40)
	ids := make([]int32, n)
	t.Text.Tokens.Copy(ids, 0)
	if words := strings.Fields(t.Text.Tokenizer.Decode(ids)); len(words) > 0 {
		return words[0]
	}
	return ""
}

// progress shows iterations, loss, speed and the time that is left.
type progress interface {
	step(train.Progress)
	clear()  // before something else is printed
	finish() // at the end
}

func newProgress(w io.Writer, done, total, tokens int) progress {
	meter := meter{from: done, total: total, tokens: tokens, started: time.Now()}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &lines{meter: meter, w: w, next: time.Now().Add(lineInterval)}
	}
	b := progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(20),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionFullWidth())
	b.Set(done)
	return &bar{meter: meter, bar: b}
}

// meter measures speed.
type meter struct {
	from, total, tokens int
	started             time.Time
}

// describe is an iteration in words: loss, tokens a second over the run, time left.
func (m *meter) describe(p train.Progress) string {
	elapsed := time.Since(m.started)
	each := elapsed / time.Duration(max(1, p.Iteration-m.from))
	left := (each * time.Duration(m.total-p.Iteration)).Round(time.Second)
	return fmt.Sprintf("loss %.4f, %.0f tokens/s, %v left", p.Loss, float64(m.tokens)/each.Seconds(), left)
}

// bar is progress on a terminal.
type bar struct {
	meter
	bar *progressbar.ProgressBar
}

func (b *bar) step(p train.Progress) {
	b.bar.Describe(b.describe(p))
	b.bar.Set(p.Iteration)
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
	if now := time.Now(); now.After(l.next) || p.Iteration == l.total {
		l.next = now.Add(lineInterval)
		fmt.Fprintf(l.w, "iteration %d/%d: %s\n", p.Iteration, l.total, l.describe(p))
	}
}
func (l *lines) clear()  {}
func (l *lines) finish() {}

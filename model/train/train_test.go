package train

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"chargpt/data"
	"chargpt/model"
	"chargpt/model/checkpoint"
)

// text is enough characters for a small block on both sides of the split.
var text = strings.Repeat("Forty and one, and forty and two, and there,\nthe forty-third, with foam along its lip.\n", 30)

func readText(t testing.TB, s string) *data.Text {
	t.Helper()
	read, err := data.Read(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// small is a model and a training of a fraction of a second, with everything in it that is random.
func small() (model.Config, Options) {
	p, _ := FindPreset("tiny")
	p.Config.NLayer, p.Config.NEmbd, p.Config.BlockSize, p.Config.Dropout = 1, 16, 16, 0.1
	o := p.Options
	o.MaxIters, o.BatchSize, o.EvalInterval, o.SampleInterval, o.WarmupIters = 20, 4, 5, 0, 3
	return p.Config, o
}

// newTrainer starts a run in a folder; the folder may be empty for none.
func newTrainer(t *testing.T, path string, o Options, threads int) *Trainer {
	t.Helper()
	config, _ := small()
	var folder *Folder
	if path != "" {
		var err error
		if folder, err = Create(path); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := New(readText(t, text), config, o, Run{Folder: folder, DataName: "text.txt", Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func resumeTrainer(t *testing.T, path string, maxIters int) *Trainer {
	t.Helper()
	tr, err := resumeLength(t, path, Length{MaxIters: maxIters})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func resumeLength(t *testing.T, path string, length Length) (*Trainer, error) {
	t.Helper()
	folder, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	c, err := checkpoint.Read(folder.Checkpoint())
	if err != nil {
		t.Fatal(err)
	}
	tr, err := Resume(c, readText(t, text), length, Run{Folder: folder, Threads: 1})
	if err != nil {
		folder.Close()
		return nil, err
	}
	t.Cleanup(func() { tr.Close() })
	return tr, nil
}

func run(t *testing.T, tr *Trainer) {
	t.Helper()
	if err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
}

// runUntil stops a run after some iterations, as a signal does.
func runUntil(t *testing.T, tr *Trainer, iteration int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("signal")
	tr.Stepped = func(p Progress) {
		if p.Iteration == iteration {
			cancel(cause)
		}
	}
	if iteration == 0 {
		cancel(cause)
	}
	if err := tr.Run(ctx); !errors.Is(err, cause) {
		t.Fatalf("a stopped run returns %v, want its cause", err)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := checkpoint.Read(filepath.Join(tr.Path(), CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	if state, err := ReadState(c); err != nil || state.Iteration != iteration {
		t.Fatalf("stopped at iteration %d, iteration %d was saved (%v)", iteration, state.Iteration, err)
	}
}

func sameFiles(t *testing.T, a, b string, names ...string) {
	t.Helper()
	for _, name := range names {
		x, errX := os.ReadFile(filepath.Join(a, name))
		y, errY := os.ReadFile(filepath.Join(b, name))
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs between %s and %s (%v, %v)", name, filepath.Base(a), filepath.Base(b), errX, errY)
		}
	}
}

// metricsWithoutSeconds are the rows but their last column, which is a time.
func metricsWithoutSeconds(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path, MetricsFile))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for row := range strings.Lines(string(b)) {
		rows = append(rows, row[:strings.LastIndex(row, ",")])
	}
	return rows
}

// The same seed gives the same bytes, whatever the number of threads.
func TestSameSeedSameBytes(t *testing.T) {
	dir := t.TempDir()
	_, o := small()
	run(t, newTrainer(t, filepath.Join(dir, "one"), o, 1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	run(t, newTrainer(t, filepath.Join(dir, "three"), o, 3))
	sameFiles(t, filepath.Join(dir, "one"), filepath.Join(dir, "three"), CheckpointFile, BestFile)
}

// A loss that is not finite stops the run and leaves the files as they were.
func TestDivergenceKeepsFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	tr := newTrainer(t, path, o, 1)
	var saved [2][]byte
	tr.Stepped = func(p Progress) {
		if p.Iteration == 7 {
			for i, name := range []string{CheckpointFile, BestFile} {
				saved[i], _ = os.ReadFile(filepath.Join(path, name))
			}
			tr.Model.Parameters()[0].Data[0] = float32(math.NaN())
		}
	}
	err := tr.Run(context.Background())
	var diverged *DivergedError
	if !errors.As(err, &diverged) || !strings.Contains(err.Error(), "learning_rate") {
		t.Fatalf("a NaN weight: %v, want a *DivergedError that says what to try", err)
	}
	for i, name := range []string{CheckpointFile, BestFile} {
		if now, _ := os.ReadFile(filepath.Join(path, name)); !bytes.Equal(now, saved[i]) {
			t.Errorf("%s was overwritten", name)
		}
	}
}

// A stop right after an update that broke the weights must not save them.
func TestStopDoesNotSaveBrokenWeights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	tr := newTrainer(t, path, o, 1)
	ctx, cancel := context.WithCancel(context.Background())
	tr.Stepped = func(p Progress) {
		if p.Iteration == 7 {
			tr.Model.Parameters()[0].Data[0] = float32(math.Inf(1))
			cancel()
		}
	}
	var diverged *DivergedError
	if err := tr.Run(ctx); !errors.As(err, &diverged) {
		t.Fatalf("stopped with an infinite weight: %v, want a *DivergedError", err)
	}
	c, err := checkpoint.Read(filepath.Join(path, CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ReadState(c); err != nil || s.Iteration != 5 {
		t.Errorf("ckpt is of iteration %d (%v), want 5", s.Iteration, err)
	}
}

func TestFolders(t *testing.T) {
	root := t.TempDir()
	_, o := small()
	first, err := CreateNew(root, "plays")
	if err != nil || filepath.Base(first.Path) != "plays" {
		t.Fatalf("the first run: %v, %v", first, err)
	}
	second, err := CreateNew(root, "plays") // the first is in use
	if err != nil || filepath.Base(second.Path) != "plays-2" {
		t.Fatalf("the second run: %v, %v", second, err)
	}
	if _, err := Open(first.Path); err == nil {
		t.Error("a folder without a checkpoint can be resumed")
	}
	first.Close()
	second.Close()
	run(t, newTrainer(t, first.Path, o, 1))
	if _, err := Create(first.Path); !errors.Is(err, ErrRunExists) {
		t.Errorf("Create on a run: %v, want ErrRunExists", err)
	}
	if _, err := Create(first.Path + "/new/.."); !errors.Is(err, ErrRunExists) {
		t.Errorf("Create on a run by way of a folder that is not there: %v, want ErrRunExists", err)
	}
	if _, err := os.Stat(filepath.Join(first.Path, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it made that folder (%v)", err)
	}
	open, err := Open(first.Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(first.Path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second trainer on a folder: %v, want ErrLocked", err)
	}
	open.Close()
	if path, err := Locate(root, ""); err != nil || path != filepath.Join(first.Path, BestFile) {
		t.Errorf("Locate of the newest run = %q, %v", path, err)
	}
	if _, err := Locate(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "cmd/train") {
		t.Errorf("Locate without a run: %v, want an error that says what to do", err)
	}
}

func TestRunName(t *testing.T) {
	for in, want := range map[string]string{
		"a/b/input.txt": "input", "Mein Text.md": "Mein_Text", "../..": "run", "x": "x", "日本.txt": "日本", ".hidden": "run", "a:b*c.txt": "a_b_c",
	} {
		if got := RunName(in); got != want {
			t.Errorf("RunName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, p := range Presets() {
		if err := p.Options.Validate(); err != nil {
			t.Errorf("preset %s: %v", p.Name, err)
		}
	}
	for field, change := range map[string]func(*Options){
		"max_iters":     func(o *Options) { o.MaxIters = -1 },
		"batch_size":    func(o *Options) { o.BatchSize = 0 },
		"learning_rate": func(o *Options) { o.LearningRate = math.NaN() },
		"min_lr":        func(o *Options) { o.MinLR = 1 },
		"beta1":         func(o *Options) { o.Beta1 = 1 },
		"grad_clip":     func(o *Options) { o.GradClip = math.Inf(1) },
		"val_fraction":  func(o *Options) { o.ValFraction = 1 },
		"eval_interval": func(o *Options) { o.EvalInterval = 0 },
	} {
		_, o := small()
		change(&o)
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+" ") {
			t.Errorf("%+v: error %v, want one about %s", o, err, field)
		}
	}
}

// The loss over a whole text does not depend on how many windows are evaluated at once, and counts each character once.
func TestLossDoesNotDependOnBatch(t *testing.T) {
	config, o := small()
	read := readText(t, text)
	config.VocabSize = read.Tokenizer.Size()
	m, err := model.New(config, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Loss(m, read.Tokens)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int{1, 2, 7, 40} {
		g, err := m.NewGraph(batch, config.BlockSize, model.Evaluation, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := meanLoss(context.Background(), g, data.Windows(read.Tokens, config.BlockSize, batch))
		g.Close()
		if err != nil || math.Abs(got-want) > 1e-6 {
			t.Errorf("loss in batches of %d = %v (%v), want %v", batch, got, err, want)
		}
	}
}

func TestNoIterations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	o.MaxIters = 0
	tr := newTrainer(t, path, o, 1)
	run(t, tr)
	if rows := metricsWithoutSeconds(t, path); tr.State.Iteration != 0 || len(rows) != 2 {
		t.Errorf("0 iterations: did %d, metrics %q", tr.State.Iteration, rows)
	}
}

// Measuring the result stops when it is told to.
func TestFinishStops(t *testing.T) {
	_, o := small()
	tr := newTrainer(t, "", o, 1)
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("signal")
	cancel(cause)
	if _, err := tr.Finish(ctx); !errors.Is(err, cause) {
		t.Errorf("Finish of a cancelled context: %v, want its cause", err)
	}
}

// Without a validation part there is no validation loss and no best.
func TestNoValidation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	o.ValFraction = 0
	tr := newTrainer(t, path, o, 1)
	run(t, tr)
	if _, err := os.Stat(filepath.Join(path, BestFile)); err == nil {
		t.Error("best.safetensors was written without a validation loss")
	}
	result, err := tr.Finish(context.Background())
	if err != nil || !math.IsNaN(result.ValLoss) {
		t.Errorf("Finish = %+v, %v, want a NaN validation loss", result, err)
	}
	run(t, resumeTrainer(t, path, 25))
}

// The final numbers are those of the weights in best.safetensors.
func TestFinishMeasuresSavedWeights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	o.Patience, o.LearningRate, o.MaxIters = 0, 1e-2, 200
	defer func(before string) { text = before }(text)
	text = contrary // gets worse at some point: best is not the last
	tr := newTrainer(t, path, o, 1)
	if err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	result, err := tr.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if result.BestIter == o.MaxIters {
		t.Fatal("the last iteration is the best: the test needs another text")
	}
	c, err := checkpoint.Read(filepath.Join(path, BestFile))
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Model()
	if err != nil {
		t.Fatal(err)
	}
	want, err := Loss(m, tr.Data.Val)
	if err != nil || math.Abs(result.ValLoss-want) > 1e-12 {
		t.Errorf("Finish gives %v, the saved weights %v (%v)", result.ValLoss, want, err)
	}
	if !slices.Equal(tr.Model.Flat(), m.Flat()) {
		t.Error("the model after Finish is not the saved one")
	}
}

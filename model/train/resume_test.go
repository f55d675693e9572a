package train

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chargpt/model/checkpoint"
)

// A run that is interrupted, at an evaluation or between two, and resumed ends with the bits of one that was not.
func TestResumeIsExact(t *testing.T) {
	for _, optimizer := range []string{AdamW, Muon} {
		t.Run(optimizer, func(t *testing.T) { testResumeIsExact(t, optimizer) })
	}
}

func testResumeIsExact(t *testing.T, optimizer string) {
	dir := t.TempDir()
	_, o := small()
	o.Optimizer = optimizer
	whole := filepath.Join(dir, "whole")
	run(t, newTrainer(t, whole, o, 1))
	for _, stop := range [][]int{{10}, {1}, {0, 0, 5}, {7, 13}, {3, 4, 19}} {
		path := filepath.Join(dir, fmt.Sprint("stopped", stop))
		runUntil(t, newTrainer(t, path, o, 1), stop[0])
		for _, at := range stop[1:] {
			runUntil(t, resumeTrainer(t, path, 0), at)
		}
		run(t, resumeTrainer(t, path, 0))
		sameFiles(t, whole, path, CheckpointFile, BestFile)
		if got, want := metricsWithoutSeconds(t, path), metricsWithoutSeconds(t, whole); !slices.Equal(got, want) {
			t.Errorf("stopped at %v: metrics %q, want %q", stop, got, want)
		}
	}
}

// What a crash leaves between the files of a save is mended: rows that ckpt does not know, a torn row, stale temporary
// files, a best that was not yet written.
func TestResumeMendsCrash(t *testing.T) {
	dir := t.TempDir()
	_, o := small()
	whole, path := filepath.Join(dir, "whole"), filepath.Join(dir, "crashed")
	run(t, newTrainer(t, whole, o, 1))
	tr := newTrainer(t, path, o, 1)
	var older []byte // best.safetensors of the evaluation before
	tr.Evaluated = func(e Evaluation) {
		if e.Iteration == 5 {
			older, _ = os.ReadFile(filepath.Join(path, BestFile))
		}
	}
	runUntil(t, tr, 10)
	if tr.State.BestIter != 10 || len(older) == 0 {
		t.Fatalf("iteration 10 is not the best so far (%d is): the test needs another text", tr.State.BestIter)
	}
	for name, content := range map[string]string{CheckpointFile + ".tmp-123": "torn", BestFile + ".tmp-9": ""} {
		if err := os.WriteFile(filepath.Join(path, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(filepath.Join(path, MetricsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("15,1,1,1,1,1,1\n20,1,1")
	f.Close()
	if err := os.WriteFile(filepath.Join(path, BestFile), older, 0o666); err != nil { // the crash came before it was replaced
		t.Fatal(err)
	}
	run(t, resumeTrainer(t, path, 0))
	sameFiles(t, whole, path, CheckpointFile, BestFile)
	if got, want := metricsWithoutSeconds(t, path), metricsWithoutSeconds(t, whole); !slices.Equal(got, want) {
		t.Errorf("metrics %q, want %q", got, want)
	}
	if stale, _ := filepath.Glob(filepath.Join(path, "*.tmp-*")); len(stale) > 0 {
		t.Errorf("temporary files are left: %v", stale)
	}
}

// A run whose best weights somebody removed goes on, with the next evaluation as the best; one that is over measures its
// last weights.
func TestResumeWithoutBest(t *testing.T) {
	_, o := small()
	o.Patience, o.LearningRate, o.MaxIters = 0, 1e-2, 200
	defer func(before string) { text = before }(text)
	text = contrary
	path := filepath.Join(t.TempDir(), "run")
	tr := newTrainer(t, path, o, 1)
	run(t, tr)
	if tr.State.BestIter == o.MaxIters {
		t.Fatal("the last iteration is the best: the test needs another text")
	}
	if err := os.Remove(filepath.Join(path, BestFile)); err != nil {
		t.Fatal(err)
	}
	over := resumeTrainer(t, path, 0)
	result, err := over.Finish(t.Context())
	if err != nil || !over.BestLost || result.BestIter != o.MaxIters || over.BestPath() != filepath.Join(path, CheckpointFile) {
		t.Errorf("over, %v: lost %v, the best is of iteration %d in %s", err, over.BestLost, result.BestIter, over.BestPath())
	}
	over.Close()
	longer := resumeTrainer(t, path, o.MaxIters+o.EvalInterval)
	run(t, longer)
	if _, err := os.Stat(filepath.Join(path, BestFile)); err != nil || longer.State.BestIter != o.MaxIters+o.EvalInterval {
		t.Errorf("extended, the best is of iteration %d, %v", longer.State.BestIter, err)
	}
}

func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	_, o := small()
	path := filepath.Join(dir, "run")
	run(t, newTrainer(t, path, o, 1))
	c, err := checkpoint.Read(filepath.Join(path, CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	swapped := strings.NewReplacer("F", "t", "t", "F").Replace(text) // same characters, same length
	if _, err := Resume(c, readText(t, swapped), Length{}, Run{}); err == nil || !strings.Contains(err.Error(), "-data") {
		t.Errorf("another text of the same vocabulary: %v, want an error that names -data", err)
	}
	if _, err := Resume(c, readText(t, text), Length{MaxIters: 19}, Run{}); err == nil || !strings.Contains(err.Error(), "max_iters") {
		t.Errorf("max_iters under the iterations done: %v, want an error that names it", err)
	}
	best, err := checkpoint.Read(filepath.Join(path, BestFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(best, readText(t, text), Length{}, Run{}); err == nil || !strings.Contains(err.Error(), "optimizer state") {
		t.Errorf("resuming from best: %v, want an error about the optimizer state", err)
	}
}

func TestResumeExtends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	run(t, newTrainer(t, path, o, 1))
	tr := resumeTrainer(t, path, 30)
	run(t, tr)
	if tr.State.Iteration != 30 {
		t.Errorf("extended to 30 iterations, did %d", tr.State.Iteration)
	}
	rows := metricsWithoutSeconds(t, path)
	if len(rows) != 1+30/5+1 {
		t.Fatalf("%d rows of metrics, want a header and 7: %q", len(rows), rows)
	}
	longer := tr.State.Options.schedule()
	if got, want := rows[len(rows)-1], fmt.Sprintf(",%.7g", longer.At(29)); longer.Total != 30 || !strings.HasSuffix(got, want) {
		t.Errorf("the last row of metrics is %q, want it to end with the rate %q of a run of 30 iterations", got, want)
	}
}

// A text of one character has a loss of exactly 0, which is a best like another, and not taken for none.
func TestBestLossOfZero(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	config, o := small()
	one := readText(t, strings.Repeat("a", 500))
	folder, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := New(one, config, o, Run{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	bests := 0
	tr.Evaluated = func(e Evaluation) {
		if e.Best {
			bests++
		}
	}
	run(t, tr)
	if bests != 1 || tr.State.BestLoss == nil || *tr.State.BestLoss != 0 || tr.State.BestIter != 0 {
		t.Errorf("%d bests, the lowest %v at iteration %d, want one of 0 at 0", bests, tr.State.BestLoss, tr.State.BestIter)
	}
	if folder, err = Open(path); err != nil {
		t.Fatal(err)
	}
	c, err := checkpoint.Read(folder.Checkpoint())
	if err != nil {
		t.Fatal(err)
	}
	resumed, err := Resume(c, one, Length{MaxIters: 30}, Run{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	run(t, resumed)
	if resumed.State.BestIter != 0 || resumed.best == nil {
		t.Errorf("resumed, the best is of iteration %d, want 0", resumed.State.BestIter)
	}
}

// What a state says of the best, in checkpoints of now and of before, which kept none as 0.
func TestReadStateBest(t *testing.T) {
	_, o := small()
	for _, tt := range []struct {
		name, best  string
		valFraction float64
		want        string
	}{
		{"none", "", 0, "none"}, {"none, before", `"best_val_loss": 0,`, 0, "none"},
		{"zero", `"best_val_loss": 0,`, 0.1, "0"}, {"some", `"best_val_loss": 1.5,`, 0.1, "1.5"}, {"stopped before the first", "", 0.1, "none"},
	} {
		o.ValFraction = tt.valFraction
		options, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ReadState(&checkpoint.Checkpoint{Train: fmt.Appendf(nil, `{%s "options": %s, "random": {"seed": %d}}`, tt.best, options, o.Seed)})
		got := "none"
		if s.BestLoss != nil {
			got = fmt.Sprint(*s.BestLoss)
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: the best loss is %s (%v), want %s", tt.name, got, err, tt.want)
		}
	}
}

// TestResumeOldRun resumes a checkpoint that this program wrote before it had Muon, patience and lengths in minutes: it goes
// on as it began, by AdamW. The file is never made again.
func TestResumeOldRun(t *testing.T) {
	c, err := checkpoint.Read(filepath.Join("testdata", "before-muon.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	old := readText(t, strings.Repeat("the old run reads this, and goes on for ever.\n", 20))
	tr, err := Resume(c, old, Length{MaxIters: 30}, Run{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if s := tr.State; s.Iteration != 20 || s.Options.Optimizer != AdamW || s.Options.Patience != 0 || s.Options.Minutes != 0 || s.BestLoss == nil || *s.BestLoss != 2.952897912853367 {
		t.Errorf("the state is %+v", s)
	}
	err = tr.Run(t.Context())
	if last := *tr.State.BestLoss; err != nil || tr.State.Iteration != 30 || tr.State.BestIter != 30 || !(last < 2.9529) {
		t.Errorf("%v: iteration %d, the lowest loss is %v of %d, want that of 30, under 2.9529", err, tr.State.Iteration, last, tr.State.BestIter)
	}
}

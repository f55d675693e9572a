package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chargpt/model"
)

// The best weights of another run are not taken for a run's own: where they are needed, the file is named and stays; where
// the checkpoint is the best, it is made again from that.
func TestResumeRefusesForeignBest(t *testing.T) {
	defer func(before string) { text = before }(text)
	dir := t.TempDir()
	config, o := small()
	o.MaxIters = 10
	own := filepath.Join(dir, "own")
	runUntil(t, newTrainer(t, own, o, 1), 7) // the best is of iteration 5, the checkpoint of 7
	ends := filepath.Join(dir, "ends")
	runUntil(t, newTrainer(t, ends, o, 1), 5) // the checkpoint is the best
	want, err := os.ReadFile(filepath.Join(own, BestFile))
	if err != nil {
		t.Fatal(err)
	}
	adamW := o
	adamW.Optimizer, adamW.LearningRate = AdamW, o.LearningRate/2
	seed := o
	seed.Seed = 7
	wider := config
	wider.NEmbd *= 2
	for _, tt := range []struct {
		name   string
		text   string
		config model.Config
		o      Options
	}{
		{"seed", text, config, seed}, {"rate", text, config, adamW}, {"width", text, wider, o}, {"vocabulary", text + "xyz", config, o},
		{"text", strings.ToUpper(text[:len(text)/2]) + text[len(text)/2:], config, o},
	} {
		path := filepath.Join(dir, tt.name)
		folder, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		other, err := New(readText(t, tt.text), tt.config, tt.o, Run{Folder: folder, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		runUntil(t, other, 5)
		foreign, err := os.ReadFile(filepath.Join(path, BestFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range []string{own, ends} {
			if err := os.WriteFile(filepath.Join(run, BestFile), foreign, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		_, err = resumeLength(t, own, Length{})
		if err == nil || !strings.Contains(err.Error(), "of another run; move "+filepath.Join(own, BestFile)+" away") {
			t.Errorf("the best of another %s: %v, want an error that names the file", tt.name, err)
		}
		if tr, err := resumeLength(t, ends, Length{}); err != nil {
			t.Error(err)
		} else {
			tr.Close()
		}
		if got, err := os.ReadFile(filepath.Join(ends, BestFile)); err != nil || string(got) != string(want) {
			t.Errorf("the best of another %s, where the checkpoint is the best, is not replaced by it (%v)", tt.name, err)
		}
	}
}

// What a signal saved between two evaluations is evaluated where the run ends there, once.
func TestResumeEndsBetweenEvaluations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	runUntil(t, newTrainer(t, path, o, 1), 7)
	for range 2 {
		tr := resumeTrainer(t, path, 7)
		run(t, tr)
		if rows := metricsWithoutSeconds(t, path); len(rows) != 4 || !strings.HasPrefix(rows[3], "7,") || tr.State.BestIter != 7 {
			t.Errorf("metrics %q, best at %d, want a header and rows of 0, 5 and 7, the last the best", rows, tr.State.BestIter)
		}
	}
}

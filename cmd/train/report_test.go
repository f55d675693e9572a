package main

import (
	"encoding/xml"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"chargpt/internal/cli"
	"chargpt/model/train"
)

// pictures checks that a run's two pictures of its losses can be read, and returns loss.svg.
func pictures(t *testing.T, run string) string {
	t.Helper()
	svg, err := os.ReadFile(run + "/loss.svg")
	if err != nil {
		t.Fatal(err)
	}
	var root struct {
		XMLName xml.Name `xml:"svg"`
	}
	if err := xml.Unmarshal(svg, &root); err != nil {
		t.Errorf("loss.svg: %v", err)
	}
	file, err := os.Open(run + "/loss.png")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := png.Decode(file); err != nil {
		t.Errorf("loss.png: %v", err)
	}
	return string(svg)
}

// The pictures of the losses are drawn again at every evaluation, in a run that goes on too.
func TestPictures(t *testing.T) {
	t.Chdir(t.TempDir())
	drawn := map[string]int{} // the iteration of each loss.svg
	for _, args := range [][]string{append([]string{"-data", "-", "-out", "run"}, fast...), {"-resume", "-out", "run", "-max_iters", "8"}} {
		o, err := parseFlags(t.Context(), args, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := newTrainer(t.Context(), o, strings.NewReader(strings.Repeat("abcdefgh ", 40)))
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		newReporter(cli.Env{Stdout: io.Discard, Stderr: &errs}, tr)
		report := tr.Evaluated
		tr.Evaluated = func(e train.Evaluation) {
			report(e)
			svg := pictures(t, "run")
			if before, ok := drawn[svg]; ok {
				t.Errorf("%v: the evaluation of iteration %d leaves the picture of iteration %d: %s", args, e.Iteration, before, &errs)
			}
			drawn[svg] = e.Iteration
		}
		if err := tr.Run(t.Context()); err != nil {
			t.Error(err)
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(drawn) != 5 {
		t.Errorf("pictures of iterations %v, want of 0, 2, 4, 6 and 8", drawn)
	}
}

// A text that is read many times between evaluations gets a note with the interval that would do.
func TestSeldom(t *testing.T) {
	for _, tt := range []struct{ interval, batch, block, characters, passes, enough int }{
		{500, 4, 256, 181359, 2, 0}, {500, 4, 256, 3600, 142, 35}, {500, 4, 256, 25600, 20, 250}, {500, 4, 256, 25601, 19, 0},
		{1, 64, 256, 300, 54, 0}, {2, 64, 256, 300, 109, 1}, {35, 4, 256, 3600, 9, 0},
	} {
		o := train.Options{EvalInterval: tt.interval, BatchSize: tt.batch}
		if passes, enough := seldom(o, tt.block, tt.characters); passes != tt.passes || enough != tt.enough {
			t.Errorf("%+v: read %d times, %d would do", tt, passes, enough)
		}
	}
	t.Chdir(t.TempDir())
	text := strings.Repeat("abcdefgh ", 40)
	for interval, want := range map[string]bool{"400": false, "500": true} {
		_, stdout, stderr := call(t, text, append([]string{"-data", "-"}, append(fast[:len(fast):len(fast)], "-eval_interval", interval)...)...)
		if strings.Contains(stdout, "note:") != want || strings.Contains(stdout, "-eval_interval 202 would") != want {
			t.Errorf("-eval_interval %s prints\n%s%s", interval, stdout, stderr)
		}
	}
}

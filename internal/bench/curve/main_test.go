package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"chargpt/internal/cli"
)

const header = "date,revision,name,flags,seed,minutes,iterations,val_loss\n"

// write makes a ledger.
func write(t *testing.T, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.csv")
	if err := os.WriteFile(path, []byte(header+rows), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The curve is of the default preset's runs alone; runs of the same minutes make one mean.
func TestRead(t *testing.T) {
	ledger := write(t, `d,r,"default preset, 3 minutes",-preset default,1,3.01,500,1.50
d,r,"3 layers, 3 minutes",-preset default -n_layer 3,1,3.01,500,1.40
d,r,"default preset, 15 minutes",-preset default,1,15.00,900,1.46
d,r,"default preset, 3 minutes",-preset default,2,3.02,490,1.52
d,r,"larger model, 60 minutes",-preset default -n_layer 4,1,60.00,900,1.42
d,r,"default preset, 3 minutes, weight decay 0.01",-preset default,1,3.00,900,1.30
d,r,"default preset, 15 minutes' iterations",-preset default,1,27.00,900,1.46
d,r,"default preset, 1 minute",-preset default,1,1.00,100,1.60
d,r,default preset,-preset default,1,1.00,100,1.60
`)
	points, err := read(ledger, preset)
	if err != nil {
		t.Fatal(err)
	}
	want := plotter.XYs{{X: 1, Y: 1.60}, {X: 3, Y: 1.51}, {X: 15, Y: 1.46}}
	got := means(points)
	if len(points) != 5 || !slices.Equal(got, want) {
		t.Errorf("%v of %v, want %v", got, points, want)
	}
	if got, err := read(ledger, larger); err != nil || len(got) != 1 || got[0] != (plotter.XY{X: 60, Y: 1.42}) {
		t.Errorf("larger models at %v, %v, want 60 minutes and 1.42", got, err)
	}
}

func TestDraw(t *testing.T) {
	ledger, picture := write(t, "d,r,\"default preset, 3 minutes\",f,1,3.01,500,1.50\nd,r,\"larger model, 60 minutes\",f,1,60,9000,1.44\n"), filepath.Join(t.TempDir(), "x.svg")
	if err := drawLedger(ledger, picture); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"minutes of training", "one A100: 1.4697", "two CPU cores", "4 or more layers", ">60<", ">15<", "Arial"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for name, ledger := range map[string]string{
		"no run": write(t, ""), "missing": "missing.csv", "no number": write(t, "d,r,\"default preset, 3 minutes\",f,1,3,500,low\n"),
		"two columns": write(t, "d,r\n"), "not a number": write(t, "d,r,\"default preset, 3 minutes\",f,1,3,500,NaN\n"), "before the start": write(t, "d,r,\"default preset, -3 minutes\",f,1,3,500,1.5\n"),
	} {
		picture := filepath.Join(t.TempDir(), "x.svg")
		if err := os.WriteFile(picture, []byte("before"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := drawLedger(ledger, picture); err == nil {
			t.Errorf("%s: a picture is drawn", name)
		}
		if got, err := os.ReadFile(picture); string(got) != "before" {
			t.Errorf("%s: afterwards the picture is %q (%v)", name, got, err)
		}
	}
}

func TestUsage(t *testing.T) {
	ledger := write(t, "d,r,\"default preset, 3 minutes\",f,1,3.01,500,1.50\n")
	for _, args := range [][]string{nil, {ledger}, {ledger, ledger}, {ledger, "x.png"}, {ledger, "x.svg", "y.svg"}, {"-n", ledger, "x.svg"}} {
		var errs strings.Builder
		if code := cli.Run(t.Context(), "internal/bench/curve", run, cli.Env{Args: args, Stderr: &errs}); code != 2 || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("curve %q: exit code %d, %q, want 2 and a line", args, code, &errs)
		}
	}
	if got, err := os.ReadFile(ledger); err != nil || !strings.HasPrefix(string(got), header) {
		t.Errorf("afterwards the ledger is %q (%v)", got, err)
	}
}

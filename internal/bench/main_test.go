package main

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"chargpt/internal/cli"
)

// Two runs make a header and two rows, whose losses are those of a model that has hardly begun.
func TestLedger(t *testing.T) {
	folder := t.TempDir()
	text, ledger := filepath.Join(folder, "text"), filepath.Join(folder, "ledger.csv")
	if err := os.WriteFile(text, []byte(strings.Repeat("abcd", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, seeds := range []string{"1", "1,2"} { // what is in the ledger is not done again
		args := []string{"-data", text, "-ledger", ledger, "-seeds", seeds, "small: -preset tiny -n_embd 8 -block_size 8 -max_iters 3"}
		if err := run(t.Context(), cli.Env{Args: args, Stdout: &out, Stderr: io.Discard}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || strings.Join(rows[0], ",") != strings.Join(header, ",") {
		t.Fatalf("ledger = %q, want a header and two rows", rows)
	}
	for i, row := range rows[1:] {
		loss, err := strconv.ParseFloat(row[7], 64)
		if err != nil || loss < 1 || loss > 1.6 { // ln 4 = 1.386 for four characters
			t.Errorf("loss %q, want about 1.39", row[7])
		}
		if row[2] != "small" || row[4] != strconv.Itoa(i+1) || row[6] != "3" {
			t.Errorf("row %q, want the run small with seed %d and 3 iterations", row, i+1)
		}
	}
	if n := strings.Count(out.String(), "validation loss"); n != 2 {
		t.Errorf("output = %q, want two lines", out.String())
	}
}

// What would spoil the ledger, or a run whose row it could not take, is refused before there is a run.
func TestRefuses(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	for name, content := range map[string]string{"text": strings.Repeat("abcd", 500), "other.csv": "a,b,c,d,e,f,g,h\n", "narrow.csv": "a,b\n"} {
		if err := os.WriteFile(in(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args string // words
		way  string
		code int
		want string
	}{
		{"", "", 2, "give -data FILE"}, {"-data text", "", 2, "give -data FILE"}, {"", "a: -preset tiny", 2, "give -data FILE"},
		{"-data text", "no colon", 2, "no \"NAME: FLAGS OF train\""}, {"-data text -minutes NaN", "a: -preset tiny", 2, "-minutes is NaN"}, {"-data text -minutes -1", "a:", 2, "-minutes is -1"},
		{"-data text -seeds 1,x", "a:", 2, "\"x\" is no whole number"}, {"-data text", "a: -seed 9", 2, "-seed is for bench to give"}, {"-data text", "a: --out=b", 2, "--out=b is for bench"},
		{"-data text -ledger other.csv", "a:", 1, "other.csv: it is no ledger"}, {"-data text -ledger narrow.csv", "a:", 1, "narrow.csv: "}, {"-data text -ledger no/x.csv", "a:", 1, "no/x.csv"},
		{"-data missing.txt -ledger x.csv", "a: -preset tiny", 1, "missing.txt"}, {"-data text -ledger x.csv", "a: -n_layer -1", 1, "n_layer is -1"},
	} {
		args := strings.Fields(strings.NewReplacer("-data ", "-data "+folder+"/", "-ledger ", "-ledger "+folder+"/").Replace(tt.args))
		if tt.way != "" {
			args = append(args, tt.way)
		}
		var errs strings.Builder
		code := cli.Run(t.Context(), "internal/bench", run, cli.Env{Args: args, Stdout: io.Discard, Stderr: &errs})
		last := lastLine([]byte(errs.String()))
		if code != tt.code || !strings.Contains(last, tt.want) {
			t.Errorf("bench %q: exit code %d, %q, want %d, %q", args, code, last, tt.code, tt.want)
		}
	}
	for name, want := range map[string]string{"other.csv": "a,b,c,d,e,f,g,h\n", "x.csv": strings.Join(header, ",") + "\n"} {
		if got, err := os.ReadFile(in(name)); string(got) != want {
			t.Errorf("afterwards, %s has %q (%v), want %q", name, got, err, want)
		}
	}
}

// A ledger that ends within a line gets its row on a line of its own.
func TestLedgerWithoutEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.csv")
	start := strings.Join(header, ",") + "\nd,r,a,-x 1,1,2,3,4"
	if err := os.WriteFile(path, []byte(start), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := openLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	old, fresh := &trial{name: "a", flags: []string{"-x", "1"}, seed: "1"}, &trial{name: "a", flags: []string{"-x", "1"}, seed: "2", iterations: "5", loss: "1.5"}
	if !l.has(old) || l.has(fresh) {
		t.Errorf("it has the old trial: %v, another seed: %v", l.has(old), l.has(fresh))
	}
	if err := l.add(fresh); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if lines := strings.Split(string(got), "\n"); err != nil || len(lines) != 4 || !strings.HasPrefix(string(got), start+"\n") || !strings.HasSuffix(lines[2], ",a,-x 1,2,0.00,5,1.5") {
		t.Errorf("the ledger is %q (%v)", got, err)
	}
}

// A run that is interrupted leaves no row, and no folder behind.
func TestInterrupted(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	text, ledger := filepath.Join(folder, "text"), filepath.Join(folder, "ledger.csv")
	if err := os.WriteFile(text, []byte(strings.Repeat("abcd", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	begins := writerFunc(func([]byte) { // "training: …"
		time.AfterFunc(300*time.Millisecond, cancel)
	})
	err := run(ctx, cli.Env{Args: []string{"-data", text, "-ledger", ledger, "long: -preset tiny -max_iters 1000000"}, Stdout: io.Discard, Stderr: begins})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted run: %v, want %v", err, context.Canceled)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("afterwards there are %q (%v), want the text and the ledger", left, err)
	}
	if rows, err := os.ReadFile(ledger); string(rows) != strings.Join(header, ",")+"\n" {
		t.Errorf("the ledger has %q (%v), want its header", rows, err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

package main

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
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
		err := run(t.Context(), []string{"-data", text, "-ledger", ledger, "-seeds", seeds, "small: -preset tiny -n_embd 8 -block_size 8 -max_iters 3"}, &out, io.Discard)
		if err != nil {
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

func TestRefuses(t *testing.T) {
	for _, args := range [][]string{{}, {"-data", "x"}, {"a: -preset tiny"}, {"-data", "x", "no colon"}, {"-data", "missing.txt", "a: -preset tiny"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("bench %q succeeds", args)
		}
	}
}

// A run that is interrupted leaves the ledger as it was, and no folder behind.
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
	err := run(ctx, []string{"-data", text, "-ledger", ledger, "long: -preset tiny -max_iters 1000000"}, io.Discard, begins)
	if err == nil || ctx.Err() == nil {
		t.Errorf("an interrupted run: %v, want an error", err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("afterwards there are %q (%v), want the text alone", left, err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

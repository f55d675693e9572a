package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Two runs make a header and two rows, whose losses are those of a model that has hardly begun.
func TestLedger(t *testing.T) {
	folder := t.TempDir()
	text, ledger := filepath.Join(folder, "text"), filepath.Join(folder, "ledger.csv")
	if err := os.WriteFile(text, []byte(strings.Repeat("abcd", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, seed := range []string{"1", "2"} {
		err := run([]string{"-data", text, "-ledger", ledger, "-seeds", seed, "small: -preset tiny -n_embd 8 -block_size 8 -max_iters 3"}, &out)
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
		if err := run(args, new(strings.Builder)); err == nil {
			t.Errorf("bench %q succeeds", args)
		}
	}
}

package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
)

// header is the ledger's first row.
var header = []string{"date", "revision", "name", "flags", "seed", "minutes", "iterations", "val_loss"}

// readLedger returns the rows of a ledger without its header; none of a file that does not exist.
func readLedger(path string) ([][]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = len(header)
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[1:], nil
}

// appendTo writes the finished trial as a row of a ledger, and the header into a new one.
func (r *trial) appendTo(ledger string) error {
	f, err := os.OpenFile(ledger, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err != nil {
		return err
	} else if info.Size() == 0 {
		w.Write(header) // an error shows at the end
	}
	w.Write([]string{time.Now().UTC().Format(time.DateOnly), revision(), r.name, strings.Join(r.flags, " "), r.seed,
		fmt.Sprintf("%.2f", r.minutes), r.iterations, r.loss})
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// revision is the commit that was built, with a + if files had changed since; go run leaves none, so git is asked.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		built := map[string]string{}
		for _, s := range info.Settings {
			built[s.Key] = s.Value
		}
		if commit := built["vcs.revision"]; commit != "" && built["vcs.modified"] == "true" {
			return commit[:min(len(commit), 8)] + "+"
		} else if commit != "" {
			return commit[:min(len(commit), 8)]
		}
	}
	out, err := exec.Command("git", "describe", "--always", "--dirty=+", "--abbrev=8").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

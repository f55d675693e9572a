package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"chargpt/internal/cli"
)

// header is the ledger's first row.
var header = []string{"date", "revision", "name", "flags", "seed", "minutes", "iterations", "val_loss"}

// ledger is the file of all runs that were made.
type ledger struct {
	*os.File
	done map[string]bool // keys of its rows
}

// openLedger opens a ledger to add rows to, and makes it if there is none.
func openLedger(path string) (*ledger, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	l := &ledger{f, map[string]bool{}}
	if err := l.read(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// read reads the rows, and makes the header of a new file.
func (l *ledger) read() error {
	content, err := cli.ReadAll(l, 1<<26)
	if err != nil {
		return err
	}
	if len(content) == 0 {
		return l.write(header)
	}
	r := csv.NewReader(bytes.NewReader(content))
	r.FieldsPerRecord = len(header)
	rows, err := r.ReadAll()
	if err != nil {
		return err
	}
	if !slices.Equal(rows[0], header) {
		return fmt.Errorf("it is no ledger: its first line is not %q", strings.Join(header, ","))
	}
	for _, row := range rows[1:] {
		l.done[key(row[2], row[3], row[4])] = true
	}
	if content[len(content)-1] != '\n' {
		_, err = l.WriteString("\n")
	}
	return err
}

func key(name, flags, seed string) string { return strings.Join([]string{name, flags, seed}, "\x00") }

// has tells whether a trial has been made, with the same name, flags and seed.
func (l *ledger) has(r *trial) bool { return l.done[key(r.name, strings.Join(r.flags, " "), r.seed)] }

// add writes a finished trial as a row.
func (l *ledger) add(r *trial) error {
	return l.write([]string{time.Now().UTC().Format(time.DateOnly), revision(), r.name, strings.Join(r.flags, " "), r.seed,
		fmt.Sprintf("%.2f", r.minutes), r.iterations, r.loss})
}

func (l *ledger) write(row []string) error {
	w := csv.NewWriter(l)
	w.Write(row) // an error shows at the end
	w.Flush()
	return w.Error()
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

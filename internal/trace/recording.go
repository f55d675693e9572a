package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"chargpt/internal/atomicfile"
	"chargpt/internal/attention"
	"chargpt/model/train"
)

// A recording is the folder "probe" of a run: one text, traced at every evaluation.
const (
	recordingFolder = "probe"
	recordSuffix    = ".json.gz"
)

// Recorded is one record of a run: the training iteration of its weights, and its file.
type Recorded struct {
	Step int
	File string
}

// Records lists the records of a run folder in order of their iterations. A run that records nothing has none.
func Records(run string) ([]Recorded, error) {
	files, err := names(run)
	if err != nil {
		return nil, err
	}
	var records []Recorded
	for _, file := range files {
		name, ok := strings.CutSuffix(file, recordSuffix)
		if step, err := strconv.Atoi(name); ok && err == nil && step >= 0 {
			records = append(records, Recorded{step, filepath.Join(run, recordingFolder, file)})
		}
	}
	slices.SortFunc(records, func(a, b Recorded) int { return a.Step - b.Step })
	return records, nil
}

// names are the files of a run's recording.
func names(run string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(run, recordingFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Open reads a record.
func (r Recorded) Open() (*attention.Trace, error) {
	f, err := os.Open(r.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	return t, nil
}

// Owns reports whether a file is in the recording of a run.
func Owns(file string) bool {
	folder := filepath.Dir(file)
	return filepath.Base(folder) == recordingFolder && train.IsRun(filepath.Dir(folder))
}

// Record writes a trace into a run folder, whole or not at all, in place of one of the same iteration.
func Record(run string, t *attention.Trace) error {
	folder := filepath.Join(run, recordingFolder)
	if err := atomicfile.MakeFolder(folder); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(folder, fmt.Sprintf("%08d%s", t.Step, recordSuffix)), func(w io.Writer) error { return Write(w, t) })
}

// DropAfter removes the records after an iteration, which a run that goes on from there makes again, and what a crash
// left half written. −1 removes all.
func DropAfter(run string, iteration int) error {
	files, err := names(run)
	if err != nil {
		return err
	}
	for _, name := range files {
		stem, whole := strings.CutSuffix(name, recordSuffix)
		step, err := strconv.Atoi(stem)
		if late := whole && err == nil && step > iteration; late || atomicfile.IsTemporary(name) {
			if err := os.Remove(filepath.Join(run, recordingFolder, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

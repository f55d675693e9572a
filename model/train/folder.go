package train

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chargpt/internal/atomicfile"
)

// The files of a run folder.
const (
	CheckpointFile = "ckpt.safetensors" // everything that training needs to go on
	BestFile       = "best.safetensors" // the weights of the lowest validation loss
	MetricsFile    = "metrics.csv"      // a row an evaluation
	configFile     = "config.json"      // the settings the run began with, as cmd/train -config reads them
	lockFile       = ".lock"            // held by the trainer that is running
)

// ErrRunExists says that a folder holds a run already.
var ErrRunExists = errors.New("the folder holds a run already")

// ErrNoCheckpoint says that a folder holds the best weights of a run that cannot go on: its checkpoint is gone.
var ErrNoCheckpoint = errors.New("the folder holds the best weights of a run without " + CheckpointFile)

// ErrForeign says that a folder holds files, but none of a run.
var ErrForeign = errors.New("the folder holds files that are no run's")

// Folder is where one run is kept. A trainer has it locked until it is closed.
type Folder struct {
	Path string
	lock *os.File
}

// Create makes a run folder at path, which must not hold a run yet (else [ErrRunExists] or [ErrNoCheckpoint]) nor anything
// else (else [ErrForeign]), and locks it. What a run left that ended before its first checkpoint is removed.
func Create(path string) (*Folder, error) {
	path = filepath.Clean(path) // new/.. makes no folder new
	if err := atomicfile.MakeFolder(path); err != nil {
		return nil, err
	}
	if err := checkOurs(path); err != nil { // before there is a lock file, which would make it ours
		return nil, err
	}
	f, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	if err := f.checkEmpty(); err != nil {
		f.Close()
		return nil, err
	}
	return f, f.clean(f.file(MetricsFile))
}

// checkOurs refuses a folder that is neither empty nor a run's: every run has a lock file from its start.
func checkOurs(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) == 0 {
		return err
	}
	if IsRun(path) {
		return nil
	}
	return fmt.Errorf("%s: %w", path, ErrForeign)
}

// IsRun reports whether a folder is a run's.
func IsRun(folder string) bool {
	return slices.ContainsFunc([]string{lockFile, CheckpointFile, BestFile}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err == nil
	})
}

// Owns reports whether a file is one that the run in its folder keeps and cannot make again.
func Owns(file string) bool {
	return slices.Contains([]string{lockFile, configFile, MetricsFile, CheckpointFile, BestFile}, filepath.Base(file)) && IsRun(filepath.Dir(file))
}

// checkEmpty refuses a folder that holds a run's weights.
func (f *Folder) checkEmpty() error {
	if _, err := os.Lstat(f.Checkpoint()); err == nil {
		return fmt.Errorf("%s: %w", f.Path, ErrRunExists)
	}
	if _, err := os.Lstat(f.file(BestFile)); err == nil {
		return fmt.Errorf("%s: %w", f.Path, ErrNoCheckpoint)
	}
	return nil
}

// clean removes files, and temporary ones, that a crash left. The folder is unlocked if that fails.
func (f *Folder) clean(files ...string) error {
	err := atomicfile.RemoveTemporary(f.Path)
	for _, name := range files {
		if e := os.Remove(name); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		f.Close()
	}
	return err
}

// CreateNew makes the run folder root/name, or name-2, name-3, … where that one holds a run, or other files, or is in use.
func CreateNew(root, name string) (*Folder, error) {
	for i := 1; ; i++ {
		path := filepath.Join(root, name)
		if i > 1 {
			path = fmt.Sprintf("%s-%d", path, i)
		}
		f, err := Create(path)
		if err == nil || !errors.Is(err, ErrRunExists) && !errors.Is(err, ErrNoCheckpoint) && !errors.Is(err, ErrLocked) && !errors.Is(err, ErrForeign) {
			return f, err
		}
	}
}

// Open locks the run folder at path, to resume it, and removes temporary files that a crash left. Where only its best
// weights are left, the error is [ErrNoCheckpoint].
func Open(path string) (*Folder, error) {
	if _, err := os.Stat(filepath.Join(path, CheckpointFile)); err != nil {
		if _, e := os.Stat(filepath.Join(path, BestFile)); e == nil && errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", path, ErrNoCheckpoint)
		}
		return nil, fmt.Errorf("no run to resume in %s: %w", path, err)
	}
	f, err := lockFolder(path)
	if err != nil {
		return nil, err
	}
	return f, f.clean()
}

// Close unlocks the folder.
func (f *Folder) Close() error {
	if f == nil || f.lock == nil {
		return nil
	}
	lock := f.lock
	f.lock = nil
	return lock.Close()
}

// WriteConfig keeps the settings that a run begins with beside it.
func (f *Folder) WriteConfig(settings []byte) error {
	return atomicfile.WriteBytes(f.file(configFile), settings)
}

func (f *Folder) file(name string) string { return filepath.Join(f.Path, name) }

// Checkpoint is the path of the run's checkpoint.
func (f *Folder) Checkpoint() string { return f.file(CheckpointFile) }

// Locate is the checkpoint file that a path means: the newest run's best under root where it is empty, a run folder's
// best, or the file itself.
func Locate(root, path string) (string, error) {
	if path == "" {
		newest, err := Newest(root)
		if err != nil {
			return "", err
		}
		path = newest
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w; name a run folder, or a checkpoint in one", path, fs.ErrNotExist)
	}
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return best(path)
	}
	return path, nil
}

// best is what samplers load from a run folder: best.safetensors, or the checkpoint where no evaluation has found a best
// yet.
func best(folder string) (string, error) {
	for _, name := range []string{BestFile, CheckpointFile} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("no checkpoint in %s: train a model first (go run ./cmd/train)", folder)
}

// Newest is the run folder under root whose checkpoint was written last.
func Newest(root string) (string, error) {
	runs, err := Runs(root)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return "", fmt.Errorf("no run in %s: train a model first (go run ./cmd/train)", root)
	}
	return runs[0], nil
}

// Runs are the run folders under root, the one whose checkpoint was written last first.
func Runs(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "*", CheckpointFile))
	if err != nil {
		return nil, err
	}
	written := map[string]time.Time{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			written[filepath.Dir(file)] = info.ModTime()
		}
	}
	return slices.SortedFunc(maps.Keys(written), func(a, b string) int {
		return cmp.Or(written[b].Compare(written[a]), cmp.Compare(a, b))
	}), nil
}

// RunName derives a run's name from that of its text: the file name without its extension, in characters that every file
// system takes.
func RunName(dataName string) string {
	base := filepath.Base(dataName)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r > 0x7f {
			return r
		}
		return '_'
	}, base)
	if strings.Trim(name, ".") == "" {
		return "run"
	}
	return name
}

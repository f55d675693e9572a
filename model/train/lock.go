package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrLocked says that another trainer is at work in a folder.
var ErrLocked = errors.New("another trainer is using this run folder")

// lockFolder takes the lock of a folder. The operating system drops it when the process ends, however it ends.
func lockFolder(path string) (*Folder, error) {
	for _, name := range []string{lockFile, MetricsFile} { // to open a pipe would be to wait
		if info, err := os.Stat(filepath.Join(path, name)); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file, as a run's must be: move it away", filepath.Join(path, name))
		}
	}
	file, err := os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lock(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Folder{Path: path, lock: file}, nil
}

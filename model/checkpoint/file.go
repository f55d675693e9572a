package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxFile is the largest file that Read takes, in bytes: 16 GiB.
const maxFile = 16 << 30

// temporary follows a checkpoint's name in that of the file it is written to; a random number follows it.
const temporary = ".tmp-"

// Write saves c at path, whole or not at all: it writes a temporary file PATH.tmp-NUMBER in the same folder, syncs it to
// the disk, renames it and syncs the folder. After an error no temporary file is left, and what was at path before is
// still there unless the folder's sync is what failed. A process that is killed may leave a temporary file; see
// [RemoveTemporary].
func Write(path string, c *Checkpoint) error {
	content, err := c.prepare()
	if err != nil {
		return err
	}
	f, err := createTemporary(path)
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	err = firstError(content.writeTo(f), f.Sync, f.Close, func() error { return os.Rename(f.Name(), path) })
	if err != nil {
		f.Close() // again, if it was
		os.Remove(f.Name())
		return fmt.Errorf("save checkpoint: %w", err)
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	return nil
}

// firstError takes steps until one fails.
func firstError(err error, steps ...func() error) error {
	for _, step := range steps {
		if err != nil {
			return err
		}
		err = step()
	}
	return err
}

// createTemporary creates a new file beside path. Unlike os.CreateTemp it leaves the permissions to the umask: the file
// becomes the checkpoint.
func createTemporary(path string) (*os.File, error) {
	for {
		name := fmt.Sprintf("%s%s%d", path, temporary, rand.Uint32())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// syncFolder makes a rename in a folder last. Windows cannot, and need not.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// RemoveTemporary removes the temporary files that killed writers of path left. Nobody may be writing it.
func RemoveTemporary(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+temporary) {
			if err := os.Remove(filepath.Join(filepath.Dir(path), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Read reads the checkpoint at path, as [Decode] does. Its errors name the path; that of a missing file is
// [fs.ErrNotExist].
func Read(path string) (*Checkpoint, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, err
	}
	c, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// readFile reads a file that starts as a checkpoint does: another is refused before there is memory for all of it.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path) // before opening: that waits for a writer, if it is a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file; name a checkpoint", path)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s has %d bytes; a checkpoint has at most %d", path, info.Size(), int64(maxFile))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	first := make([]byte, min(info.Size(), lengthSize+maxHeader))
	if _, err := io.ReadFull(f, first); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if _, err := identify(first, info.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b[copy(b, first):]); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}

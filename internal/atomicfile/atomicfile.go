// Package atomicfile writes files whole or not at all: whoever reads one sees what was there before or what was written,
// whatever happens in between, a crash or a full disk included.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
)

// temporary follows a file's name in that of the file it is written to; a random number follows it.
const temporary = ".tmp-"

// Write gives path the content that write produces. It goes to a temporary file PATH.tmp-NUMBER in the same folder, which
// is synced to the disk, renamed, and its folder synced. After an error no temporary file is left, and what was at path
// before is still there unless the folder's sync is what failed. A process that is killed may leave a temporary file; see
// [RemoveTemporary].
func Write(path string, write func(io.Writer) error) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	err = steps(func() error { return write(f) }, f.Sync, f.Close, func() error { return os.Rename(f.Name(), path) })
	if err != nil {
		f.Close() // again, if it was
		os.Remove(f.Name())
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// WriteBytes is [Write] of content that is in memory.
func WriteBytes(path string, content []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

var temporaryName = regexp.MustCompile(`.` + regexp.QuoteMeta(temporary) + `[0-9]+$`)

// IsTemporary tells whether a file's name is that of one which [Write] has not finished.
func IsTemporary(name string) bool { return temporaryName.MatchString(name) }

// RemoveTemporary removes the temporary files that killed writers left in a folder. Nobody may be writing there.
func RemoveTemporary(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if e.Type().IsRegular() && IsTemporary(e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

// steps takes steps until one fails.
func steps(all ...func() error) error {
	for _, step := range all {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// create makes a new file beside path. Unlike os.CreateTemp it leaves the permissions to the umask: the file becomes the
// one at path, and an error names that.
func create(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(fmt.Sprintf("%s%s%d", path, temporary, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, &fs.PathError{Op: "write", Path: path, Err: errors.Unwrap(err)}
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

package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// temporary follows a file's name in that of the file it is written to; a random number follows it.
const temporary = ".tmp-"

// WriteFile writes a file whole or not at all, by way of a temporary one beside it. What is no regular file, such as
// /dev/null or a pipe, is written as it is; a symbolic link keeps leading to the file that is written.
func WriteFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return fmt.Errorf("%s is a folder; name a file", path)
		}
		if !info.Mode().IsRegular() {
			return writeInto(path, write)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := createTemporary(path)
	if err != nil {
		return err
	}
	err = cmp.Or(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return cmp.Or(write(f), f.Close())
}

// createTemporary creates a new file beside path, whose permissions are left to the umask.
func createTemporary(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(fmt.Sprintf("%s%s%d", path, temporary, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, &fs.PathError{Op: "write", Path: path, Err: errors.Unwrap(err)} // by the name that was asked for
		}
	}
}

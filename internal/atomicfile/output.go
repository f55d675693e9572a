package atomicfile

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteOutput is [Write] to what a user names: what is no regular file, such as /dev/null or a pipe, is written as it is,
// and a symbolic link keeps leading to the file that is written.
func WriteOutput(path string, write func(io.Writer) error) error {
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
	return Write(path, write)
}

func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return cmp.Or(write(f), f.Close())
}

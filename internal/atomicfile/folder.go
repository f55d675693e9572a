package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// MakeFolder makes the folder at path, and those above it, if there is none.
func MakeFolder(path string) error {
	err := os.MkdirAll(path, 0o777)
	if target, e := os.Readlink(path); e == nil && errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is a link to %s, which is not there", path, target)
	}
	return err
}

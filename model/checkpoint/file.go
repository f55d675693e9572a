package checkpoint

import (
	"fmt"
	"io"
	"os"

	"chargpt/internal/atomicfile"
)

// maxFile is the largest file that Read takes, in bytes: 16 GiB.
const maxFile = 16 << 30

// Write saves c at path, whole or not at all: by way of a temporary file PATH.tmp-NUMBER in the same folder, which is synced
// and renamed. After an error no temporary file is left, and what was at path before is still there unless the folder's
// sync is what failed. A process that is killed may leave a temporary file.
func Write(path string, c *Checkpoint) error {
	content, err := c.prepare()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, content.writeTo); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
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
	id, err := identify(first, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if most := id.mostBytes(); info.Size() > most {
		return nil, fmt.Errorf("%s: damaged checkpoint: it has %d bytes, %d more than its header describes", path, info.Size(), info.Size()-most)
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b[copy(b, first):]); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}

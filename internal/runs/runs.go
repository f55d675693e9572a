// Package runs finds the runs that the commands work on.
package runs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"chargpt/model/checkpoint"
	"chargpt/model/train"
)

// Root is where runs are kept.
const Root = "checkpoints"

// Locate is the checkpoint file that -ckpt means: the newest run's best where it is empty, a run folder's best, or the
// file itself.
func Locate(ckpt string) (string, error) {
	file, err := train.Locate(Root, ckpt)
	return file, Named(ckpt, err)
}

// Named is an error of a checkpoint, which names -ckpt where that was given.
func Named(ckpt string, err error) error {
	if err == nil || ckpt == "" {
		return err
	}
	return fmt.Errorf("-ckpt: %w", err)
}

// Read reads the checkpoint that -ckpt means, and says from which file.
func Read(ckpt string) (c *checkpoint.Checkpoint, file string, err error) {
	if file, err = Locate(ckpt); err != nil {
		return nil, "", err
	}
	c, err = checkpoint.Read(file)
	return c, file, Named(ckpt, err)
}

// Folder is the folder of the run that -ckpt names, also by one of its files: the newest where it is empty.
func Folder(ckpt string) (string, error) {
	if ckpt == "" {
		return train.Newest(Root)
	}
	info, err := os.Stat(ckpt)
	if os.IsNotExist(err) {
		err = fmt.Errorf("%s: %w; name a run folder", ckpt, fs.ErrNotExist)
	}
	if err != nil {
		return "", Named(ckpt, err)
	}
	if !info.IsDir() {
		return filepath.Dir(ckpt), nil
	}
	return ckpt, nil
}

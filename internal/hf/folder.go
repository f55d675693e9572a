package hf

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/nlpodyssey/safetensors"

	"chargpt/model/checkpoint"
)

// ErrNotEmpty says that a folder holds something already.
var ErrNotEmpty = errors.New("the folder is not empty; nothing is overwritten")

// Write writes a model into the folder at path, which is made if there is none, and must be empty (else [ErrNotEmpty]). A
// model that is no GPT-2 is refused as [Check] does, before anything is made. After an error no file is left.
func Write(path string, c *checkpoint.Checkpoint) error {
	if err := Check(c.Config); err != nil {
		return err
	}
	if err := CheckFolder(path); err != nil {
		return err
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	files := contents(c)
	for i, f := range files {
		if err := writeFile(filepath.Join(path, f.name), f.write); err != nil {
			for _, done := range files[:i] {
				os.Remove(filepath.Join(path, done.name))
			}
			return err
		}
	}
	return nil
}

// CheckFolder is an error unless path is an empty folder, or nothing yet.
func CheckFolder(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s: %w", path, ErrNotEmpty)
	}
	return nil
}

// content is one file of the folder.
type content struct {
	name  string
	write func(io.Writer) error
}

func contents(c *checkpoint.Checkpoint) []content {
	config := c.Config.WithDefaults()
	return []content{
		{"model.safetensors", func(w io.Writer) error {
			return safetensors.SerializeToWriter(tensors(config, c.Weights), map[string]string{"format": "pt"}, w)
		}},
		{"tokenizer.json", asJSON(newTokenizer(c.Vocab))},
		{"tokenizer_config.json", asJSON(newTokenizerConfig(config))},
		{"config.json", asJSON(newConfig(config))},
	}
}

func asJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
}

// writeFile writes a file by way of a temporary one beside it, so that it is whole or not there.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(fmt.Sprintf("%s.tmp-%d", path, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	err = errors.Join(write(out), out.Flush(), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

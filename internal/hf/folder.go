package hf

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nlpodyssey/safetensors"

	"chargpt/internal/atomicfile"
	"chargpt/model/checkpoint"
)

// ErrNotEmpty says that a folder holds something already.
var ErrNotEmpty = errors.New("the folder is not empty, and nothing is overwritten; name a new one")

// Write writes a model into the folder at path, which is made if there is none, and must be empty (else [ErrNotEmpty]). A
// model that is no GPT-2 is refused as [Check] does, before anything is made. After an error no file is left.
func Write(path string, c *checkpoint.Checkpoint) error {
	if err := Check(c.Config); err != nil {
		return err
	}
	path = filepath.Clean(path) // new/.. is the folder at hand, whether or not there is new
	if err := CheckFolder(path); err != nil {
		return err
	}
	if err := atomicfile.MakeFolder(path); err != nil {
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

// writeFile writes a file whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return cmp.Or(write(b), b.Flush())
	})
}

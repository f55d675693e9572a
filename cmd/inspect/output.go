package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"chargpt/internal/atomicfile"
	"chargpt/internal/attention"
	"chargpt/internal/attention/page"
	"chargpt/internal/cli"
	"chargpt/internal/trace"
	"chargpt/model/checkpoint"
	"chargpt/model/train"

	"golang.org/x/term"
)

// output gives write the file of -o, which is written whole or not at all, or standard output.
func (o *options) output(stdout io.Writer, write func(io.Writer) error) error {
	if o.out == "" || o.out == "-" {
		return write(stdout)
	}
	var shown error // of what is shown, not of the file
	err := atomicfile.WriteOutput(o.out, func(w io.Writer) error {
		file := &cli.Output{W: w}
		b := bufio.NewWriter(file)
		err := write(b)
		if file.Err == nil {
			shown = err
		}
		return cmp.Or(file.Err, err, b.Flush())
	})
	if err != nil && shown == nil {
		return fmt.Errorf("-o: %w", err)
	}
	return err
}

// checkOut refuses, before anything is read, a file that cannot be written, one that holds weights (those of the
// checkpoint that is read, or others), and what else a run cannot make again.
func (o *options) checkOut() error {
	if o.out == "" || o.out == "-" {
		return nil
	}
	if folder := filepath.Dir(o.out); !exists(folder) {
		return fmt.Errorf("-o %s: there is no folder %s: make it, or name another file", o.out, folder)
	}
	file, err := filepath.EvalSymlinks(o.out)
	if err != nil {
		return nil // there is nothing to lose
	}
	if filepath.Ext(file) == ".safetensors" || isCheckpoint(file) {
		return cli.Usagef("-o %s is a checkpoint, which would be lost: name another file", o.out)
	}
	if train.Owns(file) || trace.Owns(file) {
		return cli.Usagef("-o %s belongs to the run in that folder and would be lost: name another file", o.out)
	}
	return nil
}

// isCheckpoint reports whether a file is one that can be read, whatever its name.
func isCheckpoint(file string) bool {
	_, err := checkpoint.Read(file)
	return err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// render writes one trace in the chosen format, or compares two.
func (o *options) render(w io.Writer, t []*attention.Trace, s attention.Selection, terminal terminal) error {
	text := attention.TextOptions{Selection: s, Top: o.top, Colour: terminal.colour, Width: terminal.width}
	switch mode := o.mode(); {
	case mode == "-compare" && o.format == "html":
		return page.WriteCompareHTML(w, t[0], t[1], view(s))
	case mode == "-compare":
		err := attention.WriteCompare(w, t[0], t[1], text)
		if errors.Is(err, attention.ErrNothingToCompare) {
			return fmt.Errorf("-compare: %w", err)
		}
		return err
	}
	switch o.format {
	case "json":
		return attention.WriteJSON(w, t[0], s)
	case "csv":
		return attention.WriteCSV(w, t[0], s)
	case "png":
		return attention.WritePNG(w, t[0], s)
	case "dot":
		return attention.WriteDOT(w, t[0], s, o.minWeight)
	case "html":
		return page.WriteHTML(w, t[0], view(s))
	}
	return attention.WriteText(w, t[0], text)
}

// terminal is what a writer can show.
type terminal struct {
	colour attention.ColourMode
	width  int // columns; 0 means no limit
}

// terminalOf looks at a writer and the environment: no colour but on a terminal that says it has 24-bit colour, and none
// with NO_COLOR.
func terminalOf(w io.Writer) terminal {
	f, ok := cli.Terminal(w)
	if !ok {
		return terminal{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 80
	}
	return terminal{colourOf(os.Getenv), width}
}

func colourOf(getenv func(string) string) attention.ColourMode {
	if c := getenv("COLORTERM"); getenv("NO_COLOR") == "" && (c == "truecolor" || c == "24bit") {
		return attention.TrueColour
	}
	return attention.NoColour
}

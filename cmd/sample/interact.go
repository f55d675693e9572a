package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"chargpt/internal/cli"
)

// interact continues each line of standard input, as a prompt of its own, until its end. Line i is sample i of the seed. A
// line with characters that the model does not know is reported on standard error, and has no continuation; at the end it is
// an error. A separator stands between what comes of the lines, so that a program can tell them apart, unless they are on a
// terminal, where the next prompt does. A line ends with "\n" or "\r\n", the latter only if the model does not know "\r".
func (m *loaded) interact(ctx context.Context, o *options, env cli.Env) error {
	d, err := m.NewDecoder(1)
	if err != nil {
		return err
	}
	defer d.Close()
	lines := newLineReader(env)
	_, lines.keepCR = m.tokenizer.ID('\r')
	failed := 0
	for i := 0; ; i++ {
		line, err := lines.next(ctx)
		if errors.Is(err, io.EOF) {
			return failedLines(failed, i, lines.terminal)
		}
		if err != nil {
			return err
		}
		if i > 0 && o.plain() && !lines.terminal {
			fmt.Fprintln(env.Stdout, separator) // cli.Output keeps its error
		}
		prompt, err := m.encode(line, fmt.Sprintf("line %d", i+1), o.skipUnknown, env.Stderr)
		if err != nil {
			fmt.Fprintf(env.Stderr, "sample: %v\n", err)
			failed++
			continue
		}
		d.Reset()
		if err := m.draw(ctx, d, i, prompt, o, env.Stdout); err != nil {
			return err
		}
	}
}

// failedLines is the error of lines that were not continued. Who typed them at a terminal has seen it.
func failedLines(failed, all int, terminal bool) error {
	if failed == 0 || terminal {
		return nil
	}
	return fmt.Errorf("-i: %d of %d lines have no continuation, as said above", failed, all)
}

// lineReader reads prompts, a line each. On a terminal it asks for them, on standard error.
type lineReader struct {
	in       *bufio.Reader
	ask      io.Writer
	sign     string
	terminal bool
	keepCR   bool // "\r" at the end of a line is text
}

func newLineReader(env cli.Env) *lineReader {
	_, terminal := cli.Terminal(env.Stdin)
	return &lineReader{in: bufio.NewReader(env.Stdin), ask: env.Stderr, sign: "> ", terminal: terminal}
}

// next returns a line without its end, or io.EOF after the last one.
func (r *lineReader) next(ctx context.Context) (string, error) {
	if r.terminal {
		fmt.Fprint(r.ask, r.sign)
		r.sign = "\n> " // below a continuation
	}
	line, err := cli.Await(ctx, r.read)
	if err == nil || err == io.EOF && line != "" {
		line = strings.TrimSuffix(line, "\n")
		if !r.keepCR {
			line = strings.TrimSuffix(line, "\r")
		}
		return line, nil
	}
	if r.terminal {
		fmt.Fprintln(r.ask)
	}
	return "", err
}

// read reads to the end of the line, which comes with it, or of the input.
func (r *lineReader) read() (string, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxPrompt {
			return "", fmt.Errorf("-i: a line %w", cli.TooLong(maxPrompt))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}

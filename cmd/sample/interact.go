package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"chargpt/internal/cli"
)

// interact continues each line of standard input, as a prompt of its own, until its end. Line i is sample i of the seed. A
// line with characters that the model does not know is told on standard error, and passed over. A separator stands between
// continuations, unless they are on a terminal, where the next prompt does.
func (m *loaded) interact(ctx context.Context, o *options, env cli.Env) error {
	d, err := m.NewDecoder(1)
	if err != nil {
		return err
	}
	defer d.Close()
	lines := newLineReader(env)
	between := ""
	for i := 0; ; i++ {
		line, err := lines.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		prompt, err := m.encode(line, fmt.Sprintf("line %d", i+1), o.skipUnknown, env.Stderr)
		if err != nil {
			fmt.Fprintf(env.Stderr, "sample: %v\n", err)
			continue
		}
		if o.plain() && !lines.terminal {
			io.WriteString(env.Stdout, between) // an error comes again
			between = separator + "\n"
		}
		d.Reset()
		if err := m.draw(ctx, d, i, prompt, o, env.Stdout); err != nil {
			return err
		}
	}
}

// lineReader reads prompts, a line each. On a terminal it asks for them, on standard error.
type lineReader struct {
	in       *bufio.Reader
	ask      io.Writer
	sign     string
	terminal bool
}

func newLineReader(env cli.Env) *lineReader {
	file, ok := env.Stdin.(*os.File)
	return &lineReader{in: bufio.NewReader(env.Stdin), ask: env.Stderr, sign: "> ", terminal: ok && term.IsTerminal(int(file.Fd()))}
}

// next returns a line without its end, or io.EOF after the last one.
func (r *lineReader) next(ctx context.Context) (string, error) {
	if r.terminal {
		fmt.Fprint(r.ask, r.sign)
		r.sign = "\n> " // below a continuation
	}
	line, err := cli.Await(ctx, func() (string, error) { return r.in.ReadString('\n') })
	if err == nil || err == io.EOF && line != "" {
		return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), nil
	}
	if r.terminal {
		fmt.Fprintln(r.ask)
	}
	return "", err
}

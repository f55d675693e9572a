package cli

import (
	"os"

	"golang.org/x/term"
)

// Terminal returns the terminal that a command's standard input, output or error is, if it is one.
func Terminal(stream any) (f *os.File, ok bool) {
	if out, wrapped := stream.(*Output); wrapped {
		stream = out.W
	}
	f, ok = stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// Package cli is how every command of this module speaks: exit codes, one-line errors, signals, and help in groups.
//
// Exit codes: 0 done, 1 an error of input or I/O, 2 a usage error, 130 and 143 stopped by SIGINT and SIGTERM.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"syscall"
	"unicode"
)

// Env is what a command runs in; tests give their own.
type Env struct {
	Args   []string // without the command's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Command is the body of a program. It returns nil, an error of [Usagef] for exit code 2, the context's cause after a
// signal, or another error for exit code 1.
type Command func(ctx context.Context, env Env) error

// Main runs a command as the process: it never returns. The first SIGINT or SIGTERM cancels the command's context, for it
// to finish what must be finished; a second one exits at once.
func Main(name string, command Command) {
	ignoreFileSizeSignal()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		first := <-signals
		cancel(stopped{first})
		os.Exit(stopped{<-signals}.code())
	}()
	os.Exit(Run(ctx, name, command, Env{os.Args[1:], os.Stdin, os.Stdout, os.Stderr}))
}

// Run runs a command, prints its error as one line, and returns the exit code. The command is named by its folder in cmd,
// or by the path of another folder, such as internal/bench. A panic, which is a fault of this program, is an error like
// another; so is standard output that could not be written, where the command itself did not mind.
func Run(ctx context.Context, name string, command Command, env Env) (code int) {
	where := "go run ./cmd/" + name
	if strings.Contains(name, "/") {
		where, name = "go run ./"+name, path.Base(name)
	}
	out := &Output{W: env.Stdout}
	env.Stdout = out
	err := protect(ctx, command, env)
	if out.Err != nil && (err == nil || errors.Is(err, flag.ErrHelp)) {
		err = fmt.Errorf("standard output: %w", out.Err)
	}
	var stop stopped
	var usage *usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &stop):
		return stop.code()
	case errors.As(err, &usage):
		fmt.Fprintf(env.Stderr, "%s: %s (%s -h lists the flags)\n", name, oneLine(Hint(err.Error())), Hint(where))
		return 2
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", name, oneLine(Hint(err.Error())))
	return 1
}

// Output keeps the first error of writing to W.
type Output struct {
	W   io.Writer
	Err error
}

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.W.Write(p)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// oneLine escapes what a terminal would not print as it is, such as a line feed in a file's name.
func oneLine(message string) string {
	var b strings.Builder
	for _, r := range message {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

func protect(ctx context.Context, command Command, env Env) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error, please report it: %v", r)
		}
	}()
	return command(ctx, env)
}

// Usagef is an error of how the command was called.
func Usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// stopped is the cause of a context that a signal cancelled.
type stopped struct{ signal os.Signal }

func (s stopped) Error() string { return "stopped by " + s.signal.String() }

func (s stopped) code() int {
	if n, ok := s.signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 1
}

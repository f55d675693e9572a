package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Flags is a flag.FlagSet whose help comes in groups, a line a flag.
type Flags struct {
	*flag.FlagSet
	name, about string
	groups      []group
	examples    []string
}

type group struct {
	title string
	flags []string
}

// NewFlags returns the flags of a command; about is one line, examples are whole command lines.
func NewFlags(name, about string, examples ...string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), name: name, about: about, examples: examples}
	f.SetOutput(io.Discard) // errors are returned, help is printed by Parse
	f.Bool("version", false, "print the version and stop")
	return f
}

// Group starts a group of the help: the flags defined until the next call belong to it.
func (f *Flags) Group(title string) { f.claim(); f.groups = append(f.groups, group{title: title}) }

// claim gives flags that no group has yet to the newest one.
func (f *Flags) claim() {
	if len(f.groups) == 0 {
		return
	}
	known := map[string]bool{}
	for _, g := range f.groups {
		for _, n := range g.flags {
			known[n] = true
		}
	}
	last := &f.groups[len(f.groups)-1]
	f.VisitAll(func(x *flag.Flag) {
		if !known[x.Name] {
			last.flags = append(last.flags, x.Name)
		}
	})
}

// ParseMore parses the flags and returns the arguments after them. -h prints the help to out, -version the version, and
// both return flag.ErrHelp; a wrong flag is a usage error.
func (f *Flags) ParseMore(args []string, out io.Writer) (more []string, err error) {
	err = f.FlagSet.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.Help(out)
		return nil, err
	}
	if err != nil {
		return nil, Usagef("%s", f.clearer(err.Error()))
	}
	if f.Lookup("version").Value.String() == "true" {
		printVersion(f.name, out)
		return nil, flag.ErrHelp
	}
	return f.Args(), nil
}

// Parse is [Flags.ParseMore] of a command that takes flags alone: another argument is a usage error.
func (f *Flags) Parse(args []string, out io.Writer) error {
	if _, err := f.ParseMore(args, out); err != nil {
		return err
	}
	if f.NArg() > 0 {
		if name := f.truth(args[:len(args)-f.NArg()]); name != "" && (f.Arg(0) == "true" || f.Arg(0) == "false") {
			return Usagef("-%s %s: true and false need an equals sign: write -%s=%s", name, f.Arg(0), name, f.Arg(0))
		}
		return Usagef("unexpected argument %q: every option starts with a dash, and text with spaces needs quotes", f.Arg(0))
	}
	return nil
}

// truth is the flag that arguments end with, if it is one of true or false; else it is empty.
func (f *Flags) truth(args []string) string {
	if len(args) == 0 {
		return ""
	}
	name := strings.TrimLeft(args[len(args)-1], "-")
	if x := f.Lookup(name); x != nil {
		if b, ok := x.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			return name
		}
	}
	return ""
}

// badValue is what package flag says of a value that is not of a flag's kind.
var badValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-(\w+): (?:parse error|value out of range)$`)

// clearer is a message of package flag that says what to do.
func (f *Flags) clearer(message string) string {
	if m := badValue.FindStringSubmatch(message); m != nil && f.Lookup(m[2]) != nil {
		return wrongKind(f.Lookup(m[2]), m[1])
	}
	return message
}

// wrongKind says that a value, in quotes, is not of a flag's kind.
func wrongKind(x *flag.Flag, quoted string) string {
	kind := "another text"
	if g, ok := x.Value.(flag.Getter); ok {
		switch g.Get().(type) {
		case bool:
			kind = "true or false"
		case int:
			kind = "a whole number"
		case uint64:
			kind = "a whole number from 0"
		case float64:
			kind = "a number"
		}
	}
	return fmt.Sprintf("-%s is %s; it must be %s", x.Name, quoted, kind)
}

// Given returns the flags that were set, by name.
func (f *Flags) Given() map[string]bool {
	set := map[string]bool{}
	f.Visit(func(x *flag.Flag) { set[x.Name] = true })
	return set
}

// Help prints what the command does, its flags in groups with defaults, and examples.
func (f *Flags) Help(out io.Writer) {
	f.claim()
	width := 0
	f.VisitAll(func(x *flag.Flag) { width = max(width, len(synopsis(x))) })
	fmt.Fprintf(out, "%s: %s\n", f.name, f.about)
	for _, g := range f.groups {
		fmt.Fprintf(out, "\n%s\n", g.title)
		for _, n := range g.flags {
			fmt.Fprintln(out, line(f.Lookup(n), width))
		}
	}
	fmt.Fprintf(out, "\nExamples\n  %s\n", Hint(strings.Join(f.examples, "\n  ")))
}

// synopsis is a flag with the kind of its value.
func synopsis(x *flag.Flag) string {
	kind, _ := flag.UnquoteUsage(x)
	return strings.TrimRight("  -"+x.Name+" "+kind, " ")
}

// line is one flag's help: what it takes, what it means, its default.
func line(x *flag.Flag, width int) string {
	kind, usage := flag.UnquoteUsage(x)
	if len(kind) == 1 || strings.HasPrefix(usage, kind+": ") { // a mere letter, or a heading, stands beside the flag already
		usage = strings.TrimLeft(strings.TrimPrefix(usage, kind), ": ")
	}
	text := fmt.Sprintf("%-*s  %s", width, synopsis(x), usage)
	if x.DefValue != "" { // a text that is not given
		text += fmt.Sprintf(" (default %s)", x.DefValue)
	}
	return text
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRunExitCodes(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{"done", nil, 0, ""},
		{"input", errors.New("no such text"), 1, "x: no such text\n"},
		{"usage", Usagef("-n is %d", 3), 2, "x: -n is 3 (go run ./cmd/x -h lists the flags)\n"},
		{"interrupted", stopped{syscall.SIGINT}, 130, ""},
		{"terminated", stopped{syscall.SIGTERM}, 143, ""},
	} {
		var errs bytes.Buffer
		code := Run(context.Background(), "x", func(context.Context, Env) error { return tt.err }, Env{Stderr: &errs})
		if code != tt.code || errs.String() != tt.want {
			t.Errorf("%s: exit code %d, %q, want %d, %q", tt.name, code, &errs, tt.code, tt.want)
		}
	}
}

// What could not be printed is an error, of the help too; another error comes first.
func TestRunWithoutOutput(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{{nil, "x: standard output: full\n"}, {flag.ErrHelp, "x: standard output: full\n"}, {errors.New("no such text"), "x: no such text\n"}} {
		var errs bytes.Buffer
		code := Run(t.Context(), "x", func(_ context.Context, env Env) error {
			io.WriteString(env.Stdout, "result")
			return tt.err
		}, Env{Stdout: full{}, Stderr: &errs})
		if code != 1 || errs.String() != tt.want {
			t.Errorf("a command that returns %v: exit code %d, %q, want 1, %q", tt.err, code, &errs, tt.want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestRunRecovers(t *testing.T) {
	var errs bytes.Buffer
	code := Run(context.Background(), "x", func(context.Context, Env) error { panic("boom") }, Env{Stderr: &errs})
	if code != 1 || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "boom") {
		t.Errorf("a panic: exit code %d, %q", code, &errs)
	}
}

func testFlags() (*Flags, *int, *string) {
	f := NewFlags("x", "does nothing", "x -n 1")
	f.Group("Numbers")
	n := f.Int("n", 4, "`things` to count")
	f.Float64("r", 0, "`x`: rate")
	f.Group("Words")
	s := f.String("s", "", "`text` to say")
	f.Bool("b", false, "be quiet")
	f.Uint64("seed", 1, "`number` to draw from")
	return f, n, s
}

// A message is one line whatever is in it.
func TestErrorIsOneLine(t *testing.T) {
	var errs strings.Builder
	code := Run(t.Context(), "x", func(context.Context, Env) error { return errors.New("open \x1b[31m\nö 日🙂\x00: no") }, Env{Stderr: &errs})
	if want := "x: open \\x1b[31m\\nö 日🙂\\x00: no\n"; code != 1 || errs.String() != want {
		t.Errorf("exit code %d, %q, want 1, %q", code, errs.String(), want)
	}
}

func TestHelp(t *testing.T) {
	f, _, _ := testFlags()
	var out bytes.Buffer
	f.Help(&out)
	want := `x: does nothing

Numbers
  -n things     things to count (default 4)
  -r x          rate (default 0)
  -version      print the version and stop (default false)

Words
  -b            be quiet (default false)
  -s text       text to say
  -seed number  number to draw from (default 1)

Examples
  x -n 1
`
	if out.String() != want {
		t.Errorf("help is\n%s\nwant\n%s", &out, want)
	}
}

func TestConfig(t *testing.T) {
	f, n, s := testFlags()
	path := filepath.Join(t.TempDir(), "c.json")
	write := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"n": 7, "s": "é \"x\"", "b": true, "seed": 18446744073709551615}`)
	settings, err := f.ReadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Apply(settings); err != nil || *n != 7 || *s != `é "x"` || f.Lookup("seed").Value.String() != "18446744073709551615" {
		t.Errorf("after Apply: n %d, s %q, %v", *n, *s, err)
	}
	write(string(f.Config()))
	again, err := f.ReadConfig(path)
	if err != nil || again["n"] != "7" || again["s"] != `é "x"` || again["b"] != "true" {
		t.Errorf("Config written and read again: %v, %v", again, err)
	}
	for _, text := range []string{`"x"`, "7", "true", "null", `{"a": 1}`, "é\n\t\\<&>"} {
		before, _, _ := testFlags()
		if err := before.Set("s", text); err != nil {
			t.Fatal(err)
		}
		write(string(before.Config()))
		after, n, got := testFlags()
		settings, err := after.ReadConfig(path)
		if err != nil || after.Apply(settings) != nil || *got != text || *n != 4 {
			t.Errorf("the text %q written and read again is %q (%v)", text, *got, err)
		}
	}
	for content, want := range map[string]string{
		`{"m": 1}`: `"m" is no flag`, `{"n": [1]}`: `"n" must be`, `[1]`: "(array): it must be a JSON object of flags", `{"n": 1} {}`: "more than one", ``: "is empty: it must be", `null`: "is null: it must be", `{`: "is no JSON", `{"n": null}`: `"n" must be`,
		`{"n": 1, "s": "n", "b": true, "n": 2}`: `"n" stands there twice`,
	} {
		write(content)
		if _, err := f.ReadConfig(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("config %s: error %v, want one with %q", content, err, want)
		}
	}
	if err := f.Apply(map[string]string{"n": "x"}); err == nil || !strings.Contains(err.Error(), "-n") {
		t.Errorf("a wrong value: %v, want an error that names the flag", err)
	}
}

// A value of the wrong kind is named, with the kind that the flag takes.
func TestWrongKind(t *testing.T) {
	for args, want := range map[string]string{
		"-n x": `-n is "x"; it must be a whole number`, "-n 2.5": `-n is "2.5"; it must be a whole number`, "-b=maybe": `-b is "maybe"; it must be true or false`,
		"-seed -1": `-seed is "-1"; it must be a whole number from 0`, "-r é": `-r is "é"; it must be a number`,
		"-n 99999999999999999999": `-n is "99999999999999999999"; it must be a whole number`,
		"-n":                      "flag needs an argument: -n", "-m 1": "flag provided but not defined: -m",
	} {
		f, _, _ := testFlags()
		var usage *usageError
		if err := f.Parse(strings.Fields(args), io.Discard); !errors.As(err, &usage) || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]string{2: path + " has more than 2 bytes", 3: "", 4: ""} {
		got, err := ReadFile(path, most)
		if want == "" && (err != nil || string(got) != "abc") || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("ReadFile of 3 bytes, at most %d: %q, %v, want %q", most, got, err, want)
		}
	}
	if _, err := ReadFile(path+"x", 1); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

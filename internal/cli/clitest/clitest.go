// Package clitest tests what all commands have in common.
package clitest

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"chargpt/internal/cli"
)

// Help checks a command's -h: it goes to standard output, has three examples or more, and fits a terminal of 80 columns.
func Help(t *testing.T, name string, command cli.Command) {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(context.Background(), name, command, cli.Env{Args: []string{"-h"}, Stdout: &out, Stderr: &errs})
	if code != 0 || errs.Len() > 0 || !strings.HasPrefix(out.String(), name+": ") {
		t.Errorf("-h: exit code %d, standard error %q, standard output\n%s", code, &errs, &out)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("-h: a line has %d columns, want at most 80: %s", n, line)
		}
	}
	if got := strings.Count(out.String(), "go run ./cmd/"+name); got < 3 {
		t.Errorf("-h: %d examples, want three\n%s", got, &out)
	}
}

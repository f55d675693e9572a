// Package clitest tests what all commands have in common.
package clitest

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"chargpt/internal/cli"
)

// Help checks a command's -h after some arguments: it goes to standard output, has groups with a line a flag and three
// examples or more, and fits a terminal of 80 columns.
func Help(t *testing.T, name string, command cli.Command, before ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(context.Background(), name, command, cli.Env{Args: append(before, "-h"), Stdout: &out, Stderr: &errs})
	if code != 0 || errs.Len() > 0 || !strings.HasPrefix(out.String(), name+": ") {
		t.Errorf("%v -h: exit code %d, standard error %q, standard output\n%s", before, code, &errs, &out)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%v -h: a line has %d columns, want at most 80: %s", before, n, line)
		}
	}
	groups, examples, _ := strings.Cut(out.String(), "\n\nExamples\n")
	if got := strings.Count(examples, "go run ./cmd/"+name); got < 3 {
		t.Errorf("%v -h: %d examples, want three\n%s", before, got, &out)
	}
	checkGroups(t, strings.Split(groups, "\n\n")[1:])
}

// flagLine is a flag, what it takes, if it is no switch, and what it means.
var flagLine = regexp.MustCompile(`^  -(\w+)(?: (\w+))?  +\S.*$`)

// checkGroups checks that every line under a group's title is that of another flag. Only a text may have no default.
func checkGroups(t *testing.T, groups []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, group := range groups {
		lines := strings.Split(group, "\n")
		if strings.HasPrefix(lines[0], " ") || len(lines) < 2 {
			t.Errorf("-h: a group has no title or no flag:\n%s", group)
		}
		for _, line := range lines[1:] {
			m := flagLine.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("-h: %q is not a flag's line", line)
				continue
			}
			if seen[m[1]] {
				t.Errorf("-h: -%s is there twice", m[1])
			}
			seen[m[1]] = true
			if number, truth := len(m[2]) == 1, m[2] == ""; (number || truth) && !strings.Contains(line, "(default ") {
				t.Errorf("-h: a flag has no default: %s", line)
			}
		}
	}
	if !seen["version"] {
		t.Error("-h: no group has -version")
	}
}

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// goRun is how messages name a command of this module.
var goRun = regexp.MustCompile(`go run \./cmd/(\w+)`)

// Hint is a message whose commands, written as go run ./cmd/NAME, are such as can be typed: a program that was installed
// names those beside it. Errors and help pass through it anyway.
func Hint(message string) string {
	executable, _ := os.Executable()
	return hint(message, os.Args[0], executable, os.Getenv("GOCACHE"))
}

// hint is [Hint] in a process that was started by a name, from an executable; cache is where Go keeps what go run built.
func hint(message, started, executable, cache string) string {
	if isGoRun(executable, cache) {
		return message
	}
	folder, own := filepath.Split(started)
	return goRun.ReplaceAllStringFunc(message, func(command string) string {
		return folder + strings.TrimPrefix(command, "go run ./cmd/") + filepath.Ext(own)
	})
}

// isGoRun tells whether an executable is one that go run or go test made.
func isGoRun(executable, cache string) bool {
	if executable == "" || cache != "" && strings.HasPrefix(executable, cache) {
		return true
	}
	for _, part := range strings.Split(filepath.ToSlash(executable), "/") {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	return false
}

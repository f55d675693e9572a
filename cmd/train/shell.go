package main

import (
	"path/filepath"
	"strings"
)

// shellPath is a path as a shell takes it.
func shellPath(path string) string {
	if strings.ContainsAny(path, " '\"$&;()*?[]<>|\\`!#~") {
		return singleQuoted(path)
	}
	return filepath.ToSlash(path)
}

// shellText is a text as a shell takes it, in quotes.
func shellText(text string) string {
	if strings.ContainsAny(text, "$`!\\\"") {
		return singleQuoted(text)
	}
	return `"` + text + `"`
}

func singleQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

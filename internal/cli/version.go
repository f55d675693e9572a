package cli

import (
	"fmt"
	"io"
	"runtime/debug"
)

// printVersion tells which source and which Go a binary was built from, as far as the build recorded it.
func printVersion(name string, out io.Writer) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		fmt.Fprintln(out, name, "(no build information)")
		return
	}
	revision, modified := "unknown revision", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	fmt.Fprintf(out, "%s %s (%s%s), %s\n", name, info.Main.Version, revision, modified, info.GoVersion)
}

//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal lets a write over the file size limit fail with an error, as one to a full disk does, rather than
// crash the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

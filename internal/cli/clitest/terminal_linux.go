package clitest

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Screen is a terminal of 80 columns that remembers what is written to it.
type Screen struct {
	Terminal *os.File // what a command gets

	keyboard *os.File
	shown    chan string
}

// NewScreen opens a pseudo-terminal.
func NewScreen(t *testing.T) *Screen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() }) // ends the reading below
	s := &Screen{Terminal: terminal, keyboard: master, shown: make(chan string, 1)}
	go func() {
		text, _ := io.ReadAll(master) // ends, with an error, when the terminal is closed
		s.shown <- string(text)
	}()
	return s
}

// Type writes text as a keyboard would.
func (s *Screen) Type(t *testing.T, text string) {
	t.Helper()
	if _, err := s.keyboard.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// Shown closes the terminal and returns what was written to it, its line ends as they were written.
func (s *Screen) Shown(t *testing.T) string {
	t.Helper()
	s.Terminal.Close()
	select {
	case text := <-s.shown:
		return strings.ReplaceAll(text, "\r\n", "\n")
	case <-time.After(time.Minute):
		t.Fatal("the terminal did not close")
		return ""
	}
}

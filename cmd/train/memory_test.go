//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chargpt/data"
)

// memoryMB is a field of a process's status that is an amount of memory, such as VmRSS.
func memoryMB(t *testing.T, pid int, field string) (mb float64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			fmt.Sscan(rest, &mb)
		}
	}
	return mb / 1024
}

// watched runs the real binary and calls see with each line of its results, while it is at work.
func watched(t *testing.T, c *exec.Cmd, see func(pid int, line string)) {
	t.Helper()
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		see(c.Process.Pid, lines.Text())
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, &errs)
	}
}

// Resident memory at iterations 200 and 2,000, and 2,400 and 4,000 in a resumed run, differs by under 5 %.
func TestMemoryIsFlat(t *testing.T) {
	binary, run := buildTrain(t), filepath.Join(t.TempDir(), "run")
	measure := func(args ...string) map[int]float64 {
		resident := map[int]float64{}
		args = append(args, "-out", run, "-preset", "tiny", "-n_layer", "2", "-batch_size", "2", "-eval_interval", "200")
		watched(t, exec.Command(binary, args...), func(pid int, line string) {
			var i int
			if fmt.Sscanf(line, "iteration %d:", &i); !slices.Contains([]int{200, 2000, 2400, 4000}, i) {
				return
			}
			resident[i] = memoryMB(t, pid, "VmRSS")
			for range 30 { // the least of half a second: after what the evaluation itself took was given back
				time.Sleep(15 * time.Millisecond)
				if now := memoryMB(t, pid, "VmRSS"); now > 0 { // 0 once it has ended
					resident[i] = min(resident[i], now)
				}
			}
		})
		return resident
	}
	fresh, resumed := measure("-max_iters", "2200"), measure("-max_iters", "4200", "-resume")
	for _, m := range []struct {
		name        string
		early, late float64
	}{{"fresh, 200 and 2,000", fresh[200], fresh[2000]}, {"resumed, 2,400 and 4,000", resumed[2400], resumed[4000]}, {"200 and 4,000", fresh[200], resumed[4000]}} {
		t.Logf("%s: %.1f and %.1f MB", m.name, m.early, m.late)
		if m.early < 5 || m.late > 1.05*m.early || m.late < 0.95*m.early {
			t.Errorf("%s: resident memory is %.1f and %.1f MB, want under 5 %% of difference", m.name, m.early, m.late)
		}
	}
}

// pipeOf is a file's content that can be read once: no file as standard input, but a pipe.
func pipeOf(t *testing.T, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return struct{ io.Reader }{f} // exec copies what is no *os.File through a pipe
}

// 100 MB of text, in a file or from standard input, starts in under 5 s and takes a byte a character (two would be
// allowed), beside what a training takes.
func TestLongText(t *testing.T) {
	const size, ordinary = 100, 60 // MB
	binary, dir := buildTrain(t), t.TempDir()
	long := filepath.Join(dir, "long.txt")
	if err := os.WriteFile(long, []byte(strings.Repeat(data.Plays(), 1+size*1_000_000/len(data.Plays()))), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"file", "stdin"} {
		var peak float64
		started := time.Now()
		see := func(pid int, line string) {
			if took := time.Since(started); strings.HasPrefix(line, "text: ") && took > 5*time.Second {
				t.Errorf("%s: training starts after %v, want 5 s", source, took)
			}
			peak = max(peak, memoryMB(t, pid, "VmHWM"))
		}
		args := []string{"-data", long, "-preset", "tiny", "-batch_size", "2", "-max_iters", "20", "-val_fraction", "0.0002", "-out", filepath.Join(dir, source)}
		c := exec.Command(binary, args...)
		if source == "stdin" {
			c.Args[2], c.Stdin = "-", pipeOf(t, long)
		}
		watched(t, c, see)
		t.Logf("%s: peak %.0f MB", source, peak)
		if peak > size+ordinary {
			t.Errorf("%s: the peak of resident memory is %.0f MB, want at most %d", source, peak, size+ordinary)
		}
	}
}

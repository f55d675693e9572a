//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chargpt/data"
	"chargpt/model/train"
)

// memoryMB is a field of a process's status that is an amount of memory, such as VmRSS; 0 once the process has ended.
func memoryMB(pid int, field string) (mb float64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
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

// residence is the resident memory of a training, in MB, by the evaluation that it was last: the least that was seen until
// the next one, for an evaluation takes memory of its own, which is given back before training goes on.
func residence(t *testing.T, c *exec.Cmd) map[int]float64 {
	t.Helper()
	var (
		least     = map[int]float64{}
		iteration = -1
		mutex     sync.Mutex
		watching  sync.WaitGroup
		ended     = make(chan struct{})
	)
	watch := func(pid int) {
		for {
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
			mutex.Lock()
			if now := memoryMB(pid, "VmRSS"); now > 0 {
				if before, seen := least[iteration]; !seen || now < before {
					least[iteration] = now
				}
			}
			mutex.Unlock()
		}
	}
	watched(t, c, func(pid int, line string) {
		mutex.Lock()
		defer mutex.Unlock()
		if iteration < 0 {
			watching.Go(func() { watch(pid) })
		}
		iteration = max(iteration, 0)
		fmt.Sscanf(line, "iteration %d:", &iteration)
	})
	close(ended)
	watching.Wait()
	return least
}

// quickText is the flags for a text that takes little time to evaluate; none in CI, where all is as long as usual.
func quickText(t *testing.T) []string {
	t.Helper()
	if inCI {
		return nil
	}
	path := filepath.Join(t.TempDir(), "short.txt")
	if err := os.WriteFile(path, []byte(data.Plays()[:8000]), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{"-data", path}
}

// Resident memory at iterations 200 and 2,000, and in CI at 2,400 and 4,000 of a resumed run, differs by under 5 %. (After a
// checkpoint was read, memory goes back to the system in the course of seconds: between two quick evaluations it may not.)
func TestMemoryIsFlat(t *testing.T) {
	t.Parallel()
	binary, text, run := buildTrain(t), quickText(t), filepath.Join(t.TempDir(), "run")
	measure := func(args ...string) map[int]float64 {
		args = append(append(args, text...), "-out", run, "-preset", "tiny", "-batch_size", "2", "-eval_interval", "200")
		return residence(t, exec.Command(binary, args...))
	}
	check := func(name string, early, late float64) {
		t.Logf("%s: %.1f and %.1f MB", name, early, late)
		if early < 5 || late > 1.05*early || late < 0.95*early {
			t.Errorf("%s: resident memory is %.1f and %.1f MB, want under 5 %% of difference", name, early, late)
		}
	}
	fresh := measure("-max_iters", "2200")
	check("fresh, 200 and 2,000", fresh[200], fresh[2000])
	if inCI {
		resumed := measure("-max_iters", "4200", "-resume")
		check("resumed, 2,400 and 4,000", resumed[2400], resumed[4000])
		check("200 and 4,000", fresh[200], resumed[4000])
	}
}

// What -dry_run estimates is within a third of the peak of the run's resident memory.
func TestDryRunMemory(t *testing.T) {
	t.Parallel()
	binary, text, dir := buildTrain(t), quickText(t), t.TempDir()
	for _, preset := range []string{"tiny", "cpu"} {
		args := append([]string{"-preset", preset, "-max_iters", "20", "-out", filepath.Join(dir, preset)}, text...)
		printed, err := exec.Command(binary, append(args, "-dry_run")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		var estimate, peak float64
		_, memory, _ := strings.Cut(string(printed), "\nmemory: ")
		fmt.Sscanf(memory, "an estimated %f MB", &estimate)
		watched(t, exec.Command(binary, args...), func(pid int, _ string) { peak = max(peak, memoryMB(pid, "VmHWM")) })
		t.Logf("%s: estimated %.0f MB, %.0f MB at the peak", preset, estimate, peak)
		if math.Abs(estimate-peak) > peak/3 {
			t.Errorf("%s: -dry_run estimates %.0f MB, but the peak of the run is %.0f MB", preset, estimate, peak)
		}
	}
}

// What the machine has not is refused before it is asked for: Go's runtime would end without a word of ours.
func TestMemoryIsRefused(t *testing.T) {
	const sequence = 4 * 2 * 32 // bytes: tokens and targets of the tiny preset
	batch := fmt.Sprint(int(1.05 * train.MaxMemory() / sequence))
	out, err := exec.Command(buildTrain(t), "-preset", "tiny", "-batch_size", batch, "-out", filepath.Join(t.TempDir(), "run")).CombinedOutput()
	if code := exitCode(err); code != 2 || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "-batch_size "+batch) || !strings.Contains(string(out), "GB of memory; here the most is") {
		t.Errorf("-batch_size %s: exit code %d, %s", batch, code, out)
	}
}

// processorTime is what a process has computed so far, on all cores; 0 if it is not known.
func processorTime(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	rest := stat[bytes.LastIndexByte(stat, ')')+1:] // after the name, which may have spaces
	fields := strings.Fields(string(rest))
	if len(fields) < 13 {
		return 0
	}
	var user, system time.Duration
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return (user + system) * 10 * time.Millisecond // Linux counts in hundredths of a second
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

// 100 MB of text, in a file or from standard input, starts in under 5 s of a processor's time, on a busy machine too, and
// takes a byte a character (two would be allowed), beside what a training takes.
func TestLongText(t *testing.T) {
	t.Parallel()
	const size, ordinary = 100, 60 // MB
	binary, dir := buildTrain(t), t.TempDir()
	long := filepath.Join(dir, "long.txt")
	if err := os.WriteFile(long, []byte(strings.Repeat(data.Plays(), 1+size*1_000_000/len(data.Plays()))), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"file", "stdin"} {
		var peak float64
		see := func(pid int, line string) {
			if strings.HasPrefix(line, "text: ") {
				took := processorTime(pid)
				t.Logf("%s: training starts after %v of a processor's time", source, took)
				if took == 0 || took > 5*time.Second {
					t.Errorf("%s: training starts after %v of a processor's time, want under 5 s", source, took)
				}
			}
			peak = max(peak, memoryMB(pid, "VmHWM"))
		}
		args := []string{"-data", long, "-preset", "tiny", "-batch_size", "2", "-max_iters", "20", "-val_fraction", "0.0002", "-out", filepath.Join(dir, source)}
		c := exec.Command(binary, args...)
		if source == "stdin" {
			c.Args[2], c.Stdin = "-", pipeOf(t, long)
		}
		watched(t, c, see)
		t.Logf("%s: peak %.0f MB", source, peak)
		if peak < size || peak > size+ordinary {
			t.Errorf("%s: the peak of resident memory is %.0f MB, want %d to %d", source, peak, size, size+ordinary)
		}
	}
}

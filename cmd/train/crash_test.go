//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chargpt/model/checkpoint"
	"chargpt/model/train"
)

// inCI makes the longest tests as long as they are meant to be; else they are made short enough to be run after every change.
var inCI = os.Getenv("CI") != ""

// trainBinary is the real binary in a folder that TestMain removes, built by the first test that asks for it.
var trainBinary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "chargpt-train")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(folder, "train")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return binary, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
})

// TestMain fails the package's tests if one leaves a goroutine behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if binary, _ := trainBinary(); binary != "" {
			os.RemoveAll(filepath.Dir(binary))
		}
		os.Exit(code)
	}))
}

func buildTrain(t *testing.T) string {
	t.Helper()
	binary, err := trainBinary()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// smallRun are the flags of a run of a few seconds that saves all the time and uses everything random.
var smallRun = []string{"-preset", "tiny", "-n_layer", "1", "-n_embd", "16", "-n_head", "2", "-block_size", "16", "-dropout", "0.1",
	"-batch_size", "4", "-eval_interval", "6", "-sample_interval", "0", "-threads", "1"}

func command(t *testing.T, binary, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	text := filepath.Join(dir, "text.txt")
	if _, err := os.Stat(text); err != nil {
		if err := os.WriteFile(text, []byte(strings.Repeat("the forty-third, with foam along its lip.\n", 40)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(binary, append(append([]string{"-data", text}, smallRun...), args...)...)
	var output bytes.Buffer
	c.Stdout, c.Stderr, c.Dir = &output, &output, dir
	t.Cleanup(func() {
		if c.Process != nil {
			c.Process.Kill() // a test that failed on the way leaves no trainer behind
		}
	})
	return c, &output
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	return -1
}

// TestKill kills the trainer at random moments (32 in CI), and every second time in the middle of a save, resumes it each time, and
// compares the files with those of a run that was never killed.
func TestKill(t *testing.T) {
	t.Parallel()
	kills, iterations := 8, "150"
	if inCI {
		kills, iterations = 32, "600"
	}
	fewest := kills * 5 / 8 // of the lives that have a checkpoint to come back to
	binary, dir := buildTrain(t), t.TempDir()
	whole, path := filepath.Join(dir, "whole"), filepath.Join(dir, "killed")
	c, output := command(t, binary, dir, "-max_iters", iterations, "-out", whole)
	started := time.Now()
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	duration := min(time.Since(started), 10*time.Second)
	rng := rand.New(rand.NewPCG(uint64(started.UnixNano()), 1))
	finished, resumed, saving := false, 0, 0
	for done, runs := 0, 1; done < kills || !finished; {
		args := []string{"-max_iters", iterations, "-out", path}
		if _, err := os.Stat(filepath.Join(path, "ckpt.safetensors")); err == nil {
			args = append(args, "-resume")
			resumed++
		}
		c, output := command(t, binary, dir, args...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if done < kills { // all lives together take about as long as the run without kills
			time.Sleep(time.Duration(rng.Int64N(int64(duration) * 3 / 2 / int64(kills))))
			if done%2 == 1 && waitForSave(path) {
				saving++
			}
			c.Process.Kill()
		}
		err := c.Wait()
		if code := exitCode(err); err != nil && code != -1 {
			t.Fatalf("after %d kills: exit code %d\n%s", done, code, output)
		}
		if finished = err == nil; !finished {
			done++
			continue
		}
		compareRuns(t, whole, path, done)
		runs++ // a run that ends before all kills are done is followed by another
		path = filepath.Join(dir, fmt.Sprint("killed", runs))
	}
	if t.Logf("%d kills, %d in a save, %d lives resumed", kills, saving, resumed); resumed < fewest || saving < kills/8 {
		t.Errorf("%d of %d lives were resumed and %d killed in a save, want %d and %d", resumed, kills, saving, fewest, kills/8)
	}
}

// waitForSave waits a moment for the temporary file of a save, and reports whether it was there.
func waitForSave(path string) bool {
	for started := time.Now(); time.Since(started) < time.Second; {
		if saves, _ := filepath.Glob(filepath.Join(path, "*.tmp-*")); len(saves) > 0 {
			return true
		}
	}
	return false
}

// compareRuns checks that a run that was killed has the files of one that was not.
func compareRuns(t *testing.T, whole, path string, kills int) {
	t.Helper()
	for _, name := range []string{"ckpt.safetensors", "best.safetensors"} {
		want, errWant := os.ReadFile(filepath.Join(whole, name))
		got, errGot := os.ReadFile(filepath.Join(path, name))
		if errWant != nil || errGot != nil || !bytes.Equal(got, want) {
			t.Errorf("after %d kills %s differs from that of a run without (%v, %v)", kills, name, errGot, errWant)
		}
	}
	if got, want := metricsOf(t, path), metricsOf(t, whole); !slices.Equal(got, want) {
		t.Errorf("after %d kills the metrics are %q, want %q", kills, got, want)
	}
	if stale, _ := filepath.Glob(filepath.Join(path, "*.tmp-*")); len(stale) > 0 {
		t.Errorf("temporary files are left: %v", stale)
	}
}

// metricsOf is the rows of metrics.csv without the seconds, which no two runs share.
func metricsOf(t *testing.T, path string) (rows []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path, "metrics.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(b)) {
		rows = append(rows, row[:strings.LastIndex(row, ",")])
	}
	return rows
}

// waitFor waits until a file exists.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 3000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
}

// A signal saves the iteration that it says, and says how to resume.
func TestSignals(t *testing.T) {
	binary, dir := buildTrain(t), t.TempDir()
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		code   int
	}{{"int", syscall.SIGINT, 130}, {"term", syscall.SIGTERM, 143}} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(dir, tt.name)
			c, output := command(t, binary, dir, "-max_iters", "1000000", "-out", path)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, filepath.Join(path, "best.safetensors"))
			c.Process.Signal(tt.signal)
			if code := exitCode(c.Wait()); code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, output)
			}
			c2, err := checkpoint.Read(filepath.Join(path, "ckpt.safetensors"))
			if err != nil {
				t.Fatal(err)
			}
			state, err := train.ReadState(c2)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"-resume -out " + path, fmt.Sprintf("stopped and saved at iteration %d;", state.Iteration)} {
				if !strings.Contains(output.String(), want) {
					t.Errorf("output does not say %q:\n%s", want, output)
				}
			}
		})
	}
}

// A full disk ends the run with one line; the checkpoint before is intact and nothing else is left.
func TestDiskFull(t *testing.T) {
	binary, dir := buildTrain(t), t.TempDir()
	path := filepath.Join(dir, "run")
	c, output := command(t, binary, dir, "-max_iters", "6", "-out", path)
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	before, err := os.ReadFile(filepath.Join(path, "ckpt.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ = command(t, binary, dir, "-max_iters", "18", "-out", path, "-resume")
	var errs bytes.Buffer
	c.Stderr = &errs
	c.Args = append([]string{"sh", "-c", `ulimit -f 16; exec "$0" "$@"`}, c.Args...) // 16 blocks of 512 bytes
	c.Path = "/bin/sh"
	code := exitCode(c.Run())
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	last := lines[len(lines)-1] // the pictures, which have no room either, have lines before
	if code != 1 || !strings.HasPrefix(last, "train: saving failed: ") || !strings.Contains(last, "too large") || !strings.HasSuffix(last, "; the checkpoint before is intact") {
		t.Errorf("exit code %d, want 1 and a last line about the file and the checkpoint\n%s", code, &errs)
	}
	if after, err := os.ReadFile(filepath.Join(path, "ckpt.safetensors")); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the checkpoint before the full disk is not intact (%v)", err)
	}
	if stale, _ := filepath.Glob(filepath.Join(path, "*.tmp-*")); len(stale) > 0 {
		t.Errorf("temporary files are left: %v", stale)
	}
}

// A second trainer on a run's folder is refused, and a crash leaves no lock behind.
func TestSecondTrainerIsRefused(t *testing.T) {
	binary, dir := buildTrain(t), t.TempDir()
	path := filepath.Join(dir, "run")
	first, _ := command(t, binary, dir, "-max_iters", "1000000", "-out", path)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(path, "ckpt.safetensors"))
	second, output := command(t, binary, dir, "-out", path, "-resume")
	if code := exitCode(second.Run()); code != 1 || !strings.Contains(output.String(), "another trainer is using this run folder: wait for it to end, or name another folder with -out") {
		t.Errorf("a second trainer: exit code %d, want 1 and a refusal\n%s", code, output)
	}
	first.Process.Kill()
	first.Wait()
	picture := filepath.Join(path, "loss.png")
	os.Remove(picture)
	third, output := command(t, binary, dir, "-out", path, "-resume", "-max_iters", "1000000")
	if err := third.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, picture) // it is at work
	third.Process.Signal(syscall.SIGTERM)
	if code := exitCode(third.Wait()); code != 143 {
		t.Errorf("a trainer after a crash: exit code %d, want 143\n%s", code, output)
	}
}

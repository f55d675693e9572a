//go:build linux && !race

package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// residentKB is the process's resident memory.
func residentKB(t *testing.T) (kb int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS:") {
			fmt.Sscanf(line, "VmRSS: %d kB", &kb)
		}
	}
	return kb
}

// Resident memory does not grow with iterations, in a fresh run or a resumed one.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("2,000 iterations take a few seconds")
	}
	path := filepath.Join(t.TempDir(), "run")
	_, o := small()
	o.MaxIters, o.EvalInterval = 2000, 100
	fresh := newTrainer(t, path, o, 2)
	var early int
	watch := func(tr *Trainer, from, to int) {
		tr.Step = func(p Progress) {
			switch p.Iteration {
			case from:
				early = residentKB(t)
			case to:
				// 5 %, or 2 MB of the runtime's own where the whole process is small
				if late := residentKB(t); late > early+max(early/20, 2048) {
					t.Errorf("resident memory is %d KB at iteration %d, %d KB at %d", early, from, late, to)
				}
			}
		}
	}
	watch(fresh, 200, 2000)
	run(t, fresh)
	resumed := resumeTrainer(t, path, 4000)
	watch(resumed, 2200, 4000)
	run(t, resumed)
}

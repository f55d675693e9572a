package f32

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func cpuNow() float64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return float64(ts.Sec) + 1e-9*float64(ts.Nsec)
}

func TestTune(t *testing.T) {
	pat := os.Getenv("TUNE")
	if pat == "" {
		t.Skip()
	}
	re := regexp.MustCompile(pat)
	runtime.LockOSThread()
	r := newRand()
	shapes := append(stepShapes("cpu", 8*64, 64, 128, 32, 65), stepShapes("baby", 8*256, 256, 384, 64, 65)...)
	for _, s := range shapes {
		if !re.MatchString(s.name) {
			continue
		}
		or := func(ld, dense int) int {
			if ld == 0 {
				return dense
			}
			return ld
		}
		ar, ac, br, bc := s.m, s.k, s.k, s.n
		if s.transA {
			ar, ac = ac, ar
		}
		if s.transB {
			br, bc = bc, br
		}
		lda, ldb, ldc := or(s.lda, ac), or(s.ldb, bc), or(s.ldc, s.n)
		x, y, z := normal(r, ar*lda, 1), normal(r, br*ldb, 1), normal(r, s.m*ldc, 1)
		flops := 2 * float64(s.m) * float64(s.n) * float64(s.k)
		reps := 1 + int(20e6/flops)
		var ratios []float64
		best, peak := 0.0, 0.0
		for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
			c0 := cpuNow()
			fmaPeak(4000)
			c1 := cpuNow()
			for range reps {
				Gemm(s.transA, s.transB, s.m, s.n, s.k, 1, x, lda, y, ldb, 0, z, ldc)
			}
			c2 := cpuNow()
			p, g := 4000*48*16/(c1-c0), float64(reps)*flops/(c2-c1)
			ratios = append(ratios, 100*g/p)
			best, peak = max(best, g), max(peak, p)
		}
		slices.Sort(ratios)
		fmt.Printf("%-42s best/peak %6.1f  ratio median %6.1f p80 %6.1f  %6.1f/%6.1f\n", s.name, 100*best/peak, ratios[len(ratios)/2], ratios[len(ratios)*8/10], best/1e9, peak/1e9)
	}
}

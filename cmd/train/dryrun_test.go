package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"chargpt/internal/cli"
)

// A dry run says what a run would take, in numbers that agree with each other, and makes nothing.
func TestDryRun(t *testing.T) {
	t.Chdir(t.TempDir())
	const begin = `model: 1 layer, 2 heads, 8 channels, block 8: %f parameters
memory: an estimated %f MB at the peak, %f MB of it parameters, gradients, moments and best weights
tokens per iteration: 16 (2 windows of 8 characters)
iterations per epoch: 20.2 (324 characters to train on)
iteration: %f ms, %f tokens/s, measured on 1 thread
`
	near := func(got, want float64) bool { return math.Abs(got-want) <= 0.02*want+0.06 } // they are rounded
	for _, tt := range []struct {
		length []string
		end    string
		took   func(said string) (seconds, iterations float64)
	}{
		{[]string{"-max_iters", "100000000"}, "100000000 iterations: about %s %f epochs, evaluations aside\n", func(said string) (float64, float64) {
			d, _ := time.ParseDuration(strings.TrimSuffix(said, ","))
			return d.Seconds(), 1e8
		}},
		{[]string{"-minutes", "30"}, "in 30 minutes: about %s iterations, %f epochs, evaluations aside\n", func(said string) (float64, float64) {
			n, _ := strconv.ParseFloat(said, 64)
			return 1800, n
		}},
	} {
		args := append([]string{"-dry_run", "-data", "-", "-out", "run"}, fast[:len(fast)-6]...)
		code, stdout, stderr := call(t, strings.Repeat("abcdefgh ", 40), append(append(args, "-threads", "1"), tt.length...)...)
		var parameters, peak, moments, ms, rate, epochs float64
		var said string
		_, err := fmt.Sscanf(stdout, begin+tt.end, &parameters, &peak, &moments, &ms, &rate, &said, &epochs)
		if code != 0 || err != nil || strings.Count(stdout, "\n") != 6 {
			t.Fatalf("%v: exit code %d (%v), want 0 and\n%s, not\n%s%s", tt.length, code, err, begin+tt.end, stdout, stderr)
		}
		if seconds, n := tt.took(said); !near(ms, 16e3/rate) || !near(n*16/seconds, rate) || !near(epochs, n*16/324) {
			t.Errorf("%v: the numbers contradict each other:\n%s", tt.length, stdout)
		}
		if !near(moments, 24e-6*parameters) || peak < moments {
			t.Errorf("%v: the memory of %v parameters is %v of %v MB", tt.length, parameters, moments, peak)
		}
		if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
			t.Errorf("%v: a dry run made %v (%v)", tt.length, made, err)
		}
	}
}

func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		each time.Duration
		n    int
		want string
	}{{30 * time.Millisecond, 2000, "1m0s"}, {time.Millisecond, 0, "0s"}, {3600 * time.Millisecond, 1000_000, "1000h0m0s"}, {3600 * time.Millisecond, 1100_000, "46 days"}, {100 * time.Second, 1 << 30, "1242757 days"}} {
		if got := times(tt.each, tt.n); got != tt.want {
			t.Errorf("%d times %v: %s, want %s", tt.n, tt.each, got, tt.want)
		}
	}
}

// A signal while iterations are measured ends a dry run.
func TestDryRunStops(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	err := run(ctx, cli.Env{Args: append([]string{"-dry_run"}, fast...), Stdout: &stdout, Stderr: &stderr})
	const want = "train: stopped before training began; no run was made or changed\n"
	if !errors.Is(err, context.Canceled) || stdout.Len() > 0 || stderr.String() != want {
		t.Errorf("a cancelled dry run: %v, standard output %q, standard error %q, want %v, none and %q", err, &stdout, &stderr, context.Canceled, want)
	}
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chargpt/internal/attention/page"
	"chargpt/internal/cli"
	"chargpt/internal/runs"
	"chargpt/internal/trace"
)

func names(list []page.Checkpoint) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

func TestShelfLists(t *testing.T) {
	inRun(t)
	save(t, "checkpoints/newer", small())
	save(t, "elsewhere", small())
	later(t, "checkpoints/newer/ckpt.safetensors", time.Hour)
	for _, c := range []struct {
		ckpt string
		want []string
	}{
		{"", []string{"newer", "plays"}},
		{"elsewhere", []string{"elsewhere", "newer", "plays"}},
		{"checkpoints/plays/", []string{"checkpoints/plays/", "newer"}},
	} {
		s := newShelf(runs.Root, c.ckpt)
		list := s.List()
		if !slices.Equal(names(list), c.want) {
			t.Errorf("-ckpt %q: %v", c.ckpt, names(list))
		}
		if again := s.List(); !slices.Equal(list, again) {
			t.Errorf("-ckpt %q: other ids the second time: %v, %v", c.ckpt, list, again)
		}
		for _, x := range list {
			if strings.ContainsAny(x.ID, `/\.`) {
				t.Errorf("the id %q may be a path", x.ID)
			}
		}
	}
}

func TestShelfOpens(t *testing.T) {
	inRun(t)
	s := newShelf(runs.Root, "")
	defer s.close()
	id := s.List()[0].ID
	open := func() page.Model {
		t.Helper()
		m, err := s.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := open()
	if open() != first {
		t.Error("a model was read again")
	}
	c := small()
	c.NLayer = 1
	save(t, "checkpoints/plays", c)
	later(t, "checkpoints/plays/best.safetensors", time.Hour)
	if m := open(); m == first || m.Shape().NLayer != 1 {
		t.Error("the file is another, but not the model")
	}
	for i := range 2 * maxOpen {
		save(t, fmt.Sprint("checkpoints/run", i), small())
	}
	for _, x := range s.List() {
		if _, err := s.Open(t.Context(), x.ID); err != nil {
			t.Error(err)
		}
	}
	if len(s.opened) != maxOpen {
		t.Errorf("%d models in memory", len(s.opened))
	}
}

func TestShelfRefuses(t *testing.T) {
	inRun(t)
	s := newShelf(runs.Root, "")
	defer s.close()
	id := s.List()[0].ID
	for _, id := range []string{"", "c99", "plays", "checkpoints/plays"} {
		if _, err := s.Open(t.Context(), id); !errors.Is(err, page.ErrNoCheckpoint) {
			t.Errorf("%q: %v", id, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Open(ctx, id); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := os.RemoveAll("checkpoints/plays"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), id); err == nil {
		t.Error("a run that is gone was opened")
	}
}

// live is the command serving the page, as a process would.
type live struct {
	url  string
	stop context.CancelCauseFunc
	code chan int
}

// startLive waits until the command says its address, and returns what it said before.
func startLive(t *testing.T, args ...string) (l live, before string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	l = live{stop: cancel, code: make(chan int, 1)}
	go func() {
		l.code <- cli.Run(ctx, "inspect", run, cli.Env{Args: append([]string{"-http", "127.0.0.1:0"}, args...), Stdout: io.Discard, Stderr: w})
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "http://"); ok {
			l.url = "http://" + strings.Fields(rest)[0]
			go io.Copy(io.Discard, r)
			return l, before
		}
		before += lines.Text()
	}
	t.Fatalf("no address in %q", before)
	return l, before
}

func (l live) forward(t *testing.T, tokens ...int32) (reply struct {
	Step   int     `json:"step"`
	Tokens []int32 `json:"tokens"`
}) {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"checkpoint": "c1", "tokens": tokens})
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Post(l.url+"api/forward", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestLive(t *testing.T) {
	inRun(t)
	l, _ := startLive(t, "-prompt", "the", "-layer", "1")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get(l.url)
	if err != nil {
		t.Fatal(err)
	}
	content, _ := io.ReadAll(r.Body)
	r.Body.Close()
	for _, want := range []string{`"prompt":"the"`, `"view":{"layer":1,"head":0}`, `"checkpoints":[{"id":"c1","name":"plays"}]`} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if got := l.forward(t, 0, 1, 2); got.Step != 7 || len(got.Tokens) != 3 {
		t.Errorf("the trace: %+v", got)
	}
	l.stop(errors.New("enough"))
	if code := <-l.code; code != 1 { // a signal's would be its own
		t.Errorf("exit code %d", code)
	}
}

func TestLiveRefusesUnknown(t *testing.T) {
	inRun(t)
	code, _, warn := command(t, "-http", "127.0.0.1:0", "-prompt", "Z")
	if code != 1 || !strings.Contains(warn, "-skip_unknown") {
		t.Errorf("exit code %d, %q", code, warn)
	}
	l, before := startLive(t, "-skip_unknown", "-prompt", "tZhe")
	if !strings.Contains(before, "dropped what is not in the vocabulary") {
		t.Errorf("before the address: %q", before)
	}
	l.stop(errors.New("enough"))
	<-l.code
}

// TestProbePage: a run's records become a page with a slider.
func TestProbePage(t *testing.T) {
	inRun(t)
	m, err := newShelf(runs.Root, "").first()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, step := range []int{0, 250, 500} {
		recordStep(t, m, "checkpoints/plays", step)
	}
	out := succeed(t, "-probe")
	for _, want := range []string{`"step":0`, `"step":250`, `"step":500`, `"source":"checkpoints/plays"`} {
		if !strings.Contains(filepath.ToSlash(out), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, path := range []string{"checkpoints/plays", "checkpoints/plays/best.safetensors"} {
		succeed(t, "-probe", "-ckpt", path, "-o", "probe.html", "-format", "html", "-layer", "1", "-head", "2")
		if b, err := os.ReadFile("probe.html"); err != nil || !strings.Contains(string(b), `"view":{"layer":1,"head":2}`) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if code, _, warn := command(t, "-probe", "-layer", "2"); code != 2 || !strings.Contains(warn, "0 to 1") {
		t.Errorf("exit code %d, %q", code, warn)
	}
	if err := os.WriteFile("checkpoints/plays/probe/00000750.json.gz", []byte("damaged"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, warn := command(t, "-probe"); code != 1 || !strings.Contains(warn, "00000750") || strings.Count(warn, "\n") != 1 {
		t.Errorf("exit code %d, %q", code, warn)
	}
}

func recordStep(t *testing.T, m *opened, run string, step int) {
	t.Helper()
	m.Step = step
	tr, err := m.Forward(t.Context(), []int32{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Record(run, tr); err != nil {
		t.Fatal(err)
	}
}

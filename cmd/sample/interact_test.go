package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"chargpt/internal/cli"
)

func TestInteractive(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "helo wrd") // no newline, so that an answer is a line
	args := []string{"-ckpt", "a", "-max_new_tokens", "7"}
	code, stdout, stderr := feed(t, "hello\r\nheXllo\nhello\n\nw\xff\nworld", append(args, "-i")...)
	if n := strings.Count(stdout, "---\n"); n != 5 || strings.Count(stdout, "---\n---\n") != 2 {
		t.Errorf("%d separators, want 5 between 6 lines, and nothing between those around a line that failed: %q", n, stdout)
	}
	answers := strings.Split(strings.TrimSuffix(strings.ReplaceAll(stdout, "---\n---\n", "---\n"), "\n"), "\n---\n")
	if code != 1 || len(answers) != 4 {
		t.Fatalf("exit code %d: %q %s", code, stdout, stderr)
	}
	for i, prompt := range []string{"hello", "hello", "", "world"} {
		if !strings.HasPrefix(answers[i], prompt) || len(answers[i]) != len(prompt)+7 {
			t.Errorf("answer %d is %q, want %q and 7 characters", i, answers[i], prompt)
		}
	}
	if answers[0] == answers[1] {
		t.Errorf("the same prompt twice is continued the same: %q", answers[0])
	}
	if _, once, _ := call(t, append(args, "-prompt", "hello")...); once != answers[0]+"\n" {
		t.Errorf("the first line is continued as %q, -prompt as %q", answers[0], once)
	}
	if warnings := strings.Split(stderr, "\n"); len(warnings) != 4 || !strings.Contains(warnings[2], "2 of 6 lines have no continuation") || !strings.Contains(warnings[0], `line 2: 1 character is not in the vocabulary: 'X'`) || !strings.Contains(warnings[1], "line 5: invalid UTF-8") {
		t.Errorf("on standard error: %s", stderr)
	}
	code, stdout, stderr = feed(t, "heXllo\n", append(args, "-i", "-skip_unknown")...)
	if code != 0 || !strings.HasPrefix(stdout, "hello") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("-skip_unknown: exit code %d: %q %q", code, stdout, stderr)
	}
	if code, stdout, stderr = feed(t, "", append(args, "-i")...); code != 0 || stdout+stderr != "" {
		t.Errorf("nothing to read: exit code %d: %q %q", code, stdout, stderr)
	}
}

// A carriage return that the model knows is text.
func TestInteractiveCarriageReturn(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "with/best.safetensors", "helo\r\n")
	writeCheckpoint(t, "without/best.safetensors", "helo\n")
	for folder, want := range map[string]string{"with": "hello\r", "without": "hello"} {
		code, stdout, stderr := feed(t, "hello\r\n", "-ckpt", folder, "-i", "-json", "-max_new_tokens", "2")
		if got := decodeLines[document](t, stdout); code != 0 || len(got) != 1 || got[0].Prompt != want {
			t.Errorf("%s: exit code %d, %s, want the prompt %q: %s", folder, code, stdout, want, stderr)
		}
	}
}

func TestInteractiveJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "hello world\n")
	code, stdout, _ := feed(t, "hello\nX\nworld\n", "-ckpt", "a", "-i", "-json", "-max_new_tokens", "3")
	got := decodeLines[document](t, stdout)
	if code != 1 || len(got) != 2 || got[0].Prompt != "hello" || got[1].Prompt != "world" || got[1].Sample != 2 {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

// TestStreams: a character is written once it is drawn, and an answer is whole before the next line is typed.
func TestStreams(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "helo wrd")
	answer := []int{len("hello"), 1, 1, 1, 1, len("\n")}
	for _, tt := range []struct {
		args    string
		answers [][]int // the lengths of what is written, for each line typed
	}{
		{"-prompt hello", [][]int{answer}},
		{"-i", [][]int{answer, append([]int{len("---\n")}, answer...)}},
	} {
		in, typed := io.Pipe()
		printed, out := io.Pipe()
		done := make(chan int)
		go func() {
			args := append(strings.Fields(tt.args), "-ckpt", "a", "-max_new_tokens", "4")
			done <- cli.Run(context.Background(), "sample", run, cli.Env{Args: args, Stdin: in, Stdout: out, Stderr: io.Discard})
			out.Close()
		}()
		for i, want := range tt.answers {
			go io.WriteString(typed, "hello\n")
			if got := writes(printed, sum(want)); !slices.Equal(got, want) {
				t.Errorf("%s: answer %d is written in pieces of %v bytes, want %v", tt.args, i, got, want)
			}
		}
		go io.Copy(io.Discard, printed)
		typed.Close()
		if code := <-done; code != 0 {
			t.Errorf("%s: exit code %d", tt.args, code)
		}
	}
}

// writes are the lengths of the writes to a pipe that make n bytes together.
func writes(r *io.PipeReader, n int) (lengths []int) {
	piece := make([]byte, 100)
	for n > 0 {
		k, err := r.Read(piece)
		if err != nil {
			break
		}
		lengths, n = append(lengths, k), n-k
	}
	return lengths
}

func sum(a []int) (total int) {
	for _, x := range a {
		total += x
	}
	return total
}

// TestSignal: a signal ends waiting for input, and drawing, with its own exit code.
func TestSignal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "hello world\n")
	signal := errors.New("signal")
	for _, args := range []string{"-i", "-prompt_file -", "-max_new_tokens 100000000"} {
		ctx, cancel := context.WithCancelCause(context.Background())
		in, typed := io.Pipe()
		time.AfterFunc(50*time.Millisecond, func() { cancel(signal) })
		var out bytes.Buffer
		err := run(ctx, cli.Env{Args: strings.Fields("-ckpt a " + args), Stdin: in, Stdout: &out, Stderr: io.Discard})
		if err != signal {
			t.Errorf("%s: %v, want the signal", args, err)
		}
		typed.Close()
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// An input without an end is one line of error, not all the memory there is.
func TestEndlessInput(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "helo wrd\x00")
	for args, want := range map[string]string{"-i": "-i: a line has more than 16777216 bytes", "-prompt_file -": "-prompt_file: the prompt has more than 16777216 bytes"} {
		var errs bytes.Buffer
		code := cli.Run(t.Context(), "sample", run, cli.Env{Args: append(strings.Fields(args), "-ckpt", "a"), Stdin: zeros{}, Stdout: io.Discard, Stderr: &errs})
		if code != 1 || !strings.Contains(errs.String(), want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, want 1 and %q", args, code, &errs, want)
		}
	}
}

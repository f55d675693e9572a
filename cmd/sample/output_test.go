package main

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

// decodeLines reads a JSON document a line, all of whose keys T has.
func decodeLines[T any](t *testing.T, stdout string) (values []T) {
	t.Helper()
	for line := range strings.Lines(stdout) {
		var v T
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		values = append(values, v)
	}
	return values
}

func TestJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "hello <world>\n")
	args := []string{"-ckpt", "a", "-prompt", "hello", "-max_new_tokens", "20", "-num_samples", "10", "-temperature", "1.5", "-seed", "18446744073709551615"}
	code, plain, stderr := call(t, args...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	texts := strings.Split(strings.TrimSuffix(plain, "\n"), "\n---\n")
	code, stdout, stderr := call(t, append(args, "-json")...)
	documents := decodeLines[document](t, stdout)
	if code != 0 || len(documents) != 10 || stderr != "" {
		t.Fatalf("exit code %d and %d documents: %s", code, len(documents), stderr)
	}
	want := settings{"a/best.safetensors", 20, 1.5, 0, 1, []string{}}
	for i, d := range documents {
		if d.Sample != i || d.Prompt+d.Text != texts[i] || d.Prompt != "hello" || d.FinishReason != "length" || d.Seed != math.MaxUint64 || !reflect.DeepEqual(d.Settings, want) {
			t.Errorf("document %d is %+v; as text it is %q", i, d, texts[i])
		}
	}
	if !strings.Contains(stdout, "<") || strings.Contains(stdout, `\u003c`) {
		t.Errorf("characters of HTML are escaped: %s", stdout)
	}
}

func TestFinishReason(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "hello world\n")
	document1 := func(args ...string) document {
		t.Helper()
		code, stdout, stderr := call(t, append([]string{"-ckpt", "a", "-json", "-temperature", "2"}, args...)...)
		got := decodeLines[document](t, stdout)
		if code != 0 || len(got) != 1 {
			t.Fatalf("%v: exit code %d: %s%s", args, code, stdout, stderr)
		}
		return got[0]
	}
	text := document1("-max_new_tokens", "9").Text
	if len(text) != 9 {
		t.Fatalf("9 characters: %q", text)
	}
	first := strings.Index(text, text[7:])
	for _, tt := range []struct {
		n, stop, text, reason string
	}{
		{"9", text[7:], text[:first], "stop"}, {"100", text[7:], text[:first], "stop"}, // at the very end, too
		{"8", text[:9], text[:8], "length"}, // a stop string that did not come whole is shown
		{"0", "x", "", "length"},
	} {
		if d := document1("-max_new_tokens", tt.n, "-stop", tt.stop); d.Text != tt.text || d.FinishReason != tt.reason || d.Settings.Stop[0] != tt.stop {
			t.Errorf("%s characters up to %q: %+v, want %q and %s", tt.n, tt.stop, d, tt.text, tt.reason)
		}
	}
}

// line is a document of -logprobs as a reader sees it.
type line struct {
	Sample   int         `json:"sample"`
	Index    int         `json:"index"`
	Char     string      `json:"char"`
	ID       int32       `json:"id"`
	Prob     float64     `json:"prob"`
	LogProb  float64     `json:"logprob"`
	DrawProb float64     `json:"draw_prob"`
	Top      []candidate `json:"top"`
}

func TestLogprobs(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "hello world\n")
	for _, samples := range []string{"1", "9"} {
		args := []string{"-ckpt", "a", "-prompt", "hello", "-max_new_tokens", "12", "-num_samples", samples, "-top_k", "2"}
		_, plain, _ := call(t, args...)
		texts := strings.Split(strings.TrimSuffix(plain, "\n"), "\n---\n")
		code, stdout, stderr := call(t, append(args, "-logprobs")...)
		lines := decodeLines[line](t, stdout)
		if code != 0 || len(lines) != 12*len(texts) || stderr != "" {
			t.Fatalf("exit code %d and %d lines: %s", code, len(lines), stderr)
		}
		for i, x := range lines {
			if x.Sample != i/12 || x.Index != i%12 || x.Char != texts[i/12][5+i%12:][:1] {
				t.Errorf("line %d is %+v; sample %d is %q", i, x, i/12, texts[i/12])
			}
			checkProbabilities(t, x)
		}
	}
}

// checkProbabilities checks a character that was drawn from the two likeliest at a temperature of 0.8.
func checkProbabilities(t *testing.T, x line) {
	t.Helper()
	if math.Abs(math.Log(x.Prob)-x.LogProb) > 1e-4 || !(x.Prob > 0 && x.Prob < 1) || x.DrawProb <= x.Prob {
		t.Errorf("probability %v, logarithm %v, drawn with %v of two", x.Prob, x.LogProb, x.DrawProb)
	}
	if len(x.Top) != 5 || x.Top[0].ID != x.ID && x.Top[1].ID != x.ID {
		t.Fatalf("character %d was drawn from the two likeliest of %+v", x.ID, x.Top)
	}
	a, b := math.Pow(float64(x.Top[0].Prob), 1/0.8), math.Pow(float64(x.Top[1].Prob), 1/0.8)
	want := a / (a + b)
	if x.Top[0].ID != x.ID {
		want = b / (a + b)
	}
	if math.Abs(x.DrawProb-want) > 1e-4 {
		t.Errorf("drawn with probability %v, want %v", x.DrawProb, want)
	}
	for i := 1; i < len(x.Top); i++ {
		if x.Top[i].Prob > x.Top[i-1].Prob {
			t.Errorf("the likeliest characters are not in order: %+v", x.Top)
		}
	}
}

// TestProbabilitiesSum: with a vocabulary of four characters, all of them are printed.
func TestProbabilitiesSum(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "abc\n")
	_, stdout, _ := call(t, "-ckpt", "a", "-logprobs", "-max_new_tokens", "3", "-temperature", "0")
	for _, x := range decodeLines[line](t, stdout) {
		sum := 0.0
		for _, c := range x.Top {
			sum += float64(c.Prob)
		}
		if len(x.Top) != 4 || math.Abs(sum-1) > 1e-4 || x.DrawProb != 1 || x.Char != x.Top[0].Char {
			t.Errorf("%+v: the probabilities sum to %v", x, sum)
		}
	}
}

func TestNumber(t *testing.T) {
	b, err := json.Marshal([]number{0.25, number(math.Inf(-1)), number(math.NaN()), 1e-30, -1.23456789})
	if got, want := string(b), "[0.25,null,null,1e-30,-1.23457]"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestPromptFile(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCheckpoint(t, "a/best.safetensors", "hello world\n")
	for name, content := range map[string]string{"p": "hello\nworld\n", "bom": "\uFEFFhello\nworld\n", "odd": "heXllo\nworld\n", "bytes": "h\xff"} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args, stdin, want string
		code              int
	}{
		{"-prompt_file p", "", "hello\nworld\n", 0}, {"-prompt_file -", "hello\nworld\n", "hello\nworld\n", 0}, {"-prompt_file bom", "", "hello\nworld\n", 0},
		{"-prompt_file odd -skip_unknown", "", "hello\nworld\n", 0}, {"-prompt_file -", "", "", 0},
		{"-prompt_file odd", "", "-prompt_file: 1 character is not in the vocabulary: 'X'", 1}, {"-prompt_file bytes", "", "UTF-8", 1},
		{"-prompt_file missing", "", "missing", 1}, {"-prompt_file .", "", "-prompt_file", 1},
	} {
		code, stdout, stderr := feed(t, tt.stdin, strings.Fields("-ckpt a -max_new_tokens 3 "+tt.args)...)
		if code != tt.code {
			t.Errorf("%s: exit code %d, want %d: %s", tt.args, code, tt.code, stderr)
		}
		if code == 0 && (!strings.HasPrefix(stdout, tt.want) || len(stdout) != len(tt.want)+4) {
			t.Errorf("%s: %q, want %q and 3 characters", tt.args, stdout, tt.want)
		}
		if code == 1 && (stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.want)) {
			t.Errorf("%s: %s%s, want one line with %q", tt.args, stdout, stderr, tt.want)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"chargpt/internal/cli"
	"chargpt/model/checkpoint"
	"chargpt/model/train"
)

// call runs the command and returns its exit code and what it printed.
func call(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := cli.Env{Args: args, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs}
	code = cli.Run(context.Background(), "train", run, env)
	return code, out.String(), errs.String()
}

// checkOneLine checks that an error is one clear line with all of want in it.
func checkOneLine(t *testing.T, stderr string, want ...string) {
	t.Helper()
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "train: ") {
		t.Errorf("the error is not one line of train's: %q", stderr)
	}
	for _, w := range want {
		if !strings.Contains(stderr, w) {
			t.Errorf("the error does not say %q: %q", w, stderr)
		}
	}
}

// Every flag is checked before the text is read: a missing text does not hide a wrong flag.
func TestUsageErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct{ flag, value, want string }{
		{"-n_layer", "-1", "n_layer is -1"}, {"-n_layer", "x", `"x"`}, {"-n_layer", "99999999", "n_layer is 99999999"},
		{"-n_head", "0", "n_head is 0"}, {"-n_head", "5", "n_head is 5, which does not divide n_embd 96"},
		{"-n_embd", "0", "n_embd is 0"}, {"-head_size", "-2", "head_size is -2"}, {"-block_size", "0", "block_size is 0"},
		{"-dropout", "1", "dropout is 1"}, {"-dropout", "NaN", "dropout is NaN"}, {"-position", "sinus", `position is "sinus"`},
		{"-max_iters", "-1", "max_iters is -1"}, {"-batch_size", "0", "batch_size is 0"}, {"-learning_rate", "-1", "learning_rate is -1"},
		{"-learning_rate", "Inf", "learning_rate is +Inf"}, {"-min_lr", "2", "min_lr is 2"}, {"-warmup_iters", "-1", "warmup_iters is -1"},
		{"-weight_decay", "NaN", "weight_decay is NaN"}, {"-beta1", "1", "beta1 is 1"}, {"-beta2", "-0.1", "beta2 is -0.1"},
		{"-grad_clip", "-1", "grad_clip is -1"}, {"-eval_interval", "0", "eval_interval is 0"}, {"-patience", "-1", "patience is -1"}, {"-sample_interval", "-1", "sample_interval is -1"},
		{"-val_fraction", "1", "val_fraction is 1"}, {"-val_fraction", "-0.5", "val_fraction is -0.5"}, {"-seed", "-1", "seed"},
		{"-threads", "-1", "threads is -1"}, {"-preset", "huge", "-preset huge"}, {"-preset", "", "-preset is empty"}, {"-out", "", "-out is empty"}, {"-position", "", "-position is empty"},
		{"-batch_size", "100000000", "-batch_size 100000000 with"}, {"-n_embd", "65536", "65536"}, {"-nonsense", "1", "nonsense"},
	} {
		code, _, stderr := call(t, "", tt.flag, tt.value, "-data", "missing.txt")
		if code != 2 {
			t.Errorf("%s %s: exit code %d, want 2", tt.flag, tt.value, code)
		}
		checkOneLine(t, stderr, tt.want)
	}
	if code, _, stderr := call(t, "", "text.txt"); code != 2 {
		t.Errorf("an argument that is no flag: exit code %d, want 2: %s", code, stderr)
	}
}

func TestInputErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range map[string]string{
		"empty": "", "short": "abc abc abc", "latin1": "caf\xe9 au lait", "bom": "\ufeff",
	} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"missing", []string{"-data", "missing.txt"}, []string{"missing.txt"}},
		{"directory", []string{"-data", "."}, []string{"directory"}},
		{"empty", []string{"-data", "empty"}, []string{"empty"}},
		{"byte-order mark alone", []string{"-data", "bom"}, []string{"empty"}},
		{"invalid UTF-8", []string{"-data", "latin1"}, []string{"UTF-8", "3"}},
		{"too short", []string{"-data", "short"}, []string{"11 characters", "-block_size 256", "use a longer text"}},
		{"nothing to resume", []string{"-resume"}, []string{"cmd/train"}},
		{"no run there", []string{"-resume", "-out", "nowhere"}, []string{"nowhere"}},
		{"too short, by how much", []string{"-data", "short", "-val_fraction", "0"}, []string{"or -block_size 10 or less"}},
		{"too short to measure", []string{"-data", "short", "-val_fraction", "0", "-dry_run"}, []string{"or -block_size 10 or less"}},
		{"a probe of other characters", []string{"-probe", "жж", "-dry_run"}, []string{"-probe: 1 character is not"}},
		{"a file to resume", []string{"-resume", "-out", "short"}, []string{"-out short is a file: name the folder"}},
		{"a file as folder", []string{"-data", "short", "-block_size", "1", "-val_fraction", "0.5", "-out", "short"}, []string{"short"}},
	} {
		code, _, stderr := call(t, "", tt.args...)
		if code != 1 {
			t.Errorf("%s: exit code %d, want 1", tt.name, code)
		}
		checkOneLine(t, stderr, tt.want...)
	}
	if made, _ := filepath.Glob("checkpoints/*"); len(made) > 0 {
		t.Errorf("a run that could not start left %v", made)
	}
}

// fast are the flags of a run of milliseconds.
var fast = []string{"-n_layer", "1", "-n_embd", "8", "-n_head", "2", "-block_size", "8", "-batch_size", "2", "-max_iters", "4", "-eval_interval", "2", "-threads", "1"}

func TestTrainOnStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("é日🙂 cr lf\r\n", 40)
	code, stdout, stderr := call(t, text, append([]string{"-data", "-"}, fast...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"text: -, 440 characters, 10 distinct\n", "split: 396 characters train, 44 validate\n", "  baselines: unigram ", "iteration 0:", "iteration 4:", "bits", "unigram", "bigram Markov chain",
		"validation loss over all 44 characters", "sample:", "next: go run ./cmd/sample -ckpt checkpoints/stdin/best.safetensors"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("standard output does not say %q:\n%s", want, stdout)
		}
	}
	results, _, _ := strings.Cut(stdout, "\nsample:")
	for line := range strings.Lines(results) {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("a line of %d columns, want a terminal's 80: %s", n, line)
		}
	}
	if !strings.Contains(stderr, "iteration 4/4: loss") || strings.Contains(stdout, "tokens/s") {
		t.Errorf("progress goes to standard error as lines:\nstdout %s\nstderr %s", stdout, stderr)
	}
}

func TestRunIsNeverOverwritten(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte(strings.Repeat("abcdefgh ", 40)), 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-data", "a.txt"}, fast...)
	for _, want := range []string{"checkpoints/a", "checkpoints/a-2", "checkpoints/a-3"} {
		code, stdout, stderr := call(t, "", args...)
		if code != 0 || !strings.Contains(stdout, "run: "+want+",") {
			t.Errorf("exit code %d, want a run in %s: %s%s", code, want, stdout, stderr)
		}
	}
	before, err := os.ReadFile("checkpoints/a/ckpt.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	code, _, stderr := call(t, "", append(args, "-out", "checkpoints/a")...)
	if code != 2 {
		t.Errorf("-out on a run: exit code %d, want 2", code)
	}
	checkOneLine(t, stderr, "-out checkpoints/a", "-resume")
	if after, _ := os.ReadFile("checkpoints/a/ckpt.safetensors"); !bytes.Equal(after, before) {
		t.Error("the run was overwritten")
	}
}

// A folder of other files stays as it is, whoever made them, and however often it is tried.
func TestForeignFolderIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	files := []string{"config.json", "metrics.csv", "loss.png", "probe/00000000.json.gz"}
	for _, name := range files {
		name = filepath.Join("mine", name)
		os.MkdirAll(filepath.Dir(name), 0o777)
		if err := os.WriteFile(name, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		code, _, stderr := call(t, strings.Repeat("abcdefgh ", 40), append([]string{"-data", "-", "-out", "mine"}, fast...)...)
		if code != 2 {
			t.Errorf("exit code %d, want 2", code)
		}
		checkOneLine(t, stderr, "-out mine holds files that are no run's: choose another -out")
	}
	for _, name := range files {
		if content, _ := os.ReadFile(filepath.Join("mine", name)); string(content) != "mine" {
			t.Errorf("%s was changed", name)
		}
	}
	for name, code := range map[string]int{"empty": 0, "crashed": 0} { // a run that ended before its first checkpoint left its lock
		os.Mkdir(name, 0o777)
		if name == "crashed" {
			os.WriteFile("crashed/.lock", nil, 0o666)
			os.WriteFile("crashed/metrics.csv", []byte("torn"), 0o666)
		}
		if got, _, stderr := call(t, strings.Repeat("abcdefgh ", 40), append([]string{"-data", "-", "-out", name}, fast...)...); got != code {
			t.Errorf("%s: exit code %d: %s", name, got, stderr)
		}
	}
}

func TestResumeConflicts(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte(strings.Repeat("abcdefgh ", 40)), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("b.txt", []byte(strings.Repeat("hgfedcba ", 40)), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, "", append([]string{"-data", "a.txt"}, fast...)...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-n_layer", "2"}, "-n_layer 2 contradicts"}, {[]string{"-block_size", "16"}, "-block_size 16"},
		{[]string{"-bias"}, "-bias true"}, {[]string{"-tied=false"}, "-tied false"}, {[]string{"-seed", "3"}, "-seed 3"},
		{[]string{"-learning_rate", "1"}, "-learning_rate 1"}, {[]string{"-preset", "baby"}, "contradicts"},
		{[]string{"-data", "b.txt"}, "-data"}, {[]string{"-max_iters", "3"}, "-max_iters 3 contradicts"}, {[]string{"-max_iters", "0"}, "-max_iters 0 contradicts"},
	} {
		code, _, stderr := call(t, "", append([]string{"-resume"}, tt.args...)...)
		if code != 1 {
			t.Errorf("-resume %v: exit code %d, want 1", tt.args, code)
		}
		checkOneLine(t, stderr, tt.want)
	}
	if code, stdout, stderr := call(t, "", "-resume", "-max_iters", "8", "-n_layer", "1"); code != 0 || !strings.Contains(stdout, "iteration 8:") {
		t.Errorf("an extension with a flag that agrees: exit code %d: %s%s", code, stdout, stderr)
	}
}

// A run that is out of patience says how to go on, and does.
func TestResumePatience(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("abc", 600) + strings.Repeat("cba", 67) // the end follows other rules
	args := append([]string{"-data", "-", "-out", "run", "-learning_rate", "0.01", "-patience", "2"}, fast...)
	code, stdout, stderr := call(t, text, append(args, "-max_iters", "400", "-eval_interval", "10")...)
	const hint = "-resume -out run -patience 0"
	if code != 0 || !strings.Contains(stdout, "(-patience 2)") || !strings.Contains(stdout, hint) {
		t.Fatalf("exit code %d, want it to end by patience and to say %q: %s%s", code, hint, stdout, stderr)
	}
	if code, stdout, stderr = call(t, text, "-resume", "-out", "run", "-patience", "0"); code != 0 || !strings.Contains(stdout, "iteration 400:") {
		t.Errorf("-patience 0: exit code %d, want all 400 iterations: %s%s", code, stdout, stderr)
	}
}

// What is to be typed next can be typed.
func TestNextLine(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct{ text, want string }{
		{"MIRA: the sea ", ` -prompt "MIRA:"`}, {"\u00ad\u200b MIRA: ", ` -prompt "MIRA:"`}, {"\u00ad\u200b ", ".safetensors"},
		{"it's $5 ", ` -prompt "it's"`}, {`a\b `, ` -prompt 'a\b'`},
	} {
		code, stdout, stderr := call(t, strings.Repeat(tt.text, 60), append([]string{"-data", "-"}, fast...)...)
		_, next, _ := strings.Cut(stdout, "\nnext: ")
		if line, _, _ := strings.Cut(next, "\n"); code != 0 || !strings.HasSuffix(line, tt.want) {
			t.Errorf("%q: exit code %d, next is %q, want %q at its end: %s", tt.text, code, line, tt.want, stderr)
		}
	}
}

func TestNoValidationIsSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := call(t, strings.Repeat("a", 50), append([]string{"-data", "-", "-val_fraction", "0"}, fast...)...) // one character, too
	if code != 0 || !strings.Contains(stdout, "no validation") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if _, err := os.Stat("checkpoints/stdin/best.safetensors"); err == nil {
		t.Error("there is a best without a validation loss")
	}
}

func TestDivergence(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := call(t, strings.Repeat("abcdefgh ", 40), append([]string{"-data", "-", "-preset", "cpu", "-learning_rate", "100", "-grad_clip", "0", "-warmup_iters", "0", "-weight_decay", "90"}, append(fast, "-max_iters", "200")...)...)
	if code != 1 || !strings.Contains(stderr, "diverged at iteration") || !strings.Contains(stderr, "-learning_rate") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestHelp(t *testing.T) {
	code, stdout, stderr := call(t, "", "-h")
	if code != 0 || stderr != "" {
		t.Errorf("-h: exit code %d, standard error %q", code, stderr)
	}
	for _, want := range []string{"Text and run", "Model", "Training", "Examples", "-n_layer", "default 4"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("help does not say %q:\n%s", want, stdout)
		}
	}
}

// A run whose length is a time is extended by a longer one; the two lengths are not mixed.
func TestResumeMinutes(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("abcdefgh ", 40)
	timed := append(append([]string{"-data", "-", "-out", "timed"}, fast[:len(fast)-6]...), "-minutes", "0.003", "-patience", "0", "-eval_interval", "50", "-threads", "1")
	for _, args := range [][]string{timed, append([]string{"-data", "-", "-out", "counted"}, fast...)} {
		if code, _, stderr := call(t, text, args...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	saved, err := checkpoint.Read("timed/ckpt.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	state, err := train.ReadState(saved)
	if err != nil {
		t.Fatal(err)
	}
	longer := fmt.Sprint(state.Seconds/60 + 0.01) // than the run took, which is more than its length on a busy machine
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-out", "timed", "-minutes", longer}, 0, "iterations in " + longer + " minutes"},
		{[]string{"-out", "timed", "-minutes", longer}, 0, "iterations in " + longer + " minutes"}, // as long as it is
		{[]string{"-out", "timed", "-minutes", "0.001"}, 1, "-minutes 0.001 contradicts the run, which has trained for"},
		{[]string{"-out", "timed", "-max_iters", "100000"}, 1, "-max_iters 100000 contradicts the run, which has a length of " + longer + " minutes"},
		{[]string{"-out", "counted", "-minutes", "0"}, 0, "validation loss over all"},
		{[]string{"-out", "counted", "-minutes", "1"}, 1, "-minutes 1 contradicts the run, which has a length of 4 iterations"},
	} {
		code, stdout, stderr := call(t, text, append(tt.args, "-resume")...)
		if code != tt.code || !strings.Contains(stdout+stderr, tt.want) {
			t.Errorf("%v: exit code %d, want %d and %q: %s%s", tt.args, code, tt.code, tt.want, stdout, stderr)
		}
	}
}

// A text that is not where it was is named, with what to do about it.
func TestResumeWithoutText(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	text := strings.Repeat("abcdefgh ", 40)
	if err := os.WriteFile("a.txt", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"a.txt", "-"} {
		if code, _, stderr := call(t, text, append([]string{"-data", data}, fast...)...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	t.Chdir(t.TempDir())
	a, piped, rest := filepath.Join(dir, "checkpoints/a"), filepath.Join(dir, "checkpoints/stdin"), t.TempDir()
	if err := os.Link(filepath.Join(a, "best.safetensors"), filepath.Join(rest, "best.safetensors")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		{"", []string{"-out", a}, 1, "the run's text a.txt is not there, seen from this folder: go to where the run was started, or give -data FILE"},
		{"", []string{"-out", piped}, 1, "the run's text came from standard input: pipe the same text again, or give -data FILE"},
		{text + "x", []string{"-out", piped}, 1, "pipe the same text again, or give -data FILE (this is another)"},
		{"", []string{"-out", "nowhere"}, 1, "no run to resume in nowhere: name a run folder with -out, or leave -resume out"},
		{"", []string{"-out", rest}, 1, "it cannot go on; sample from its best weights, or start a new run in another folder"},
		{text, []string{"-out", piped, "-max_iters", "6"}, 0, "iteration 6:"},
		{"", []string{"-out", piped, "-max_iters", "8", "-data", filepath.Join(dir, "a.txt")}, 0, "iteration 8:"},
		{"", []string{"-out", a, "-max_iters", "6", "-data", filepath.Join(dir, "a.txt")}, 0, "iteration 6:"},
	} {
		code, stdout, stderr := call(t, tt.stdin, append(tt.args, "-resume")...)
		if code != tt.code || !strings.Contains(stdout+stderr, tt.want) {
			t.Errorf("%v: exit code %d, want %d and %q: %s%s", tt.args, code, tt.code, tt.want, stdout, stderr)
		}
		if tt.code != 0 {
			checkOneLine(t, stderr, tt.want)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chargpt/data"
	"chargpt/internal/cli"
	"chargpt/model"
	"chargpt/model/checkpoint"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// corpus has what labels stumble over.
const corpus = "é日🙂 a\tb\n<b>&\"' the the end.\n"

// save writes a checkpoint of fresh weights as a run's best and newest.
func save(t *testing.T, run string, c model.Config) {
	t.Helper()
	text, err := data.Read(strings.NewReader(corpus))
	if err != nil {
		t.Fatal(err)
	}
	c.VocabSize = text.Tokenizer.Size()
	m, err := model.New(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(run, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ckpt.safetensors", "best.safetensors"} {
		err := checkpoint.Write(filepath.Join(run, name), &checkpoint.Checkpoint{Config: m.Config, Vocab: text.Tokenizer.Vocab(),
			Weights: m.Weights(), Bigram: data.CountBigrams(text.Tokens, c.VocabSize), Train: json.RawMessage(`{"iteration":7}`)})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func small() model.Config {
	return model.Config{BlockSize: 8, NLayer: 2, NHead: 3, NEmbd: 12, Tied: true}
}

// inRun makes a folder with one run the working folder.
func inRun(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	save(t, "checkpoints/plays", small())
}

// command runs the command as a process would.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, warn bytes.Buffer
	code = cli.Run(t.Context(), "inspect", run, cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &warn})
	return code, out.String(), warn.String()
}

// What -o names is never a checkpoint, under whatever name, nor in a folder that is not there.
func TestOutputIsNoCheckpoint(t *testing.T) {
	inRun(t)
	const best, config = "checkpoints/plays/best.safetensors", "checkpoints/plays/config.json"
	before, err := os.ReadFile(best)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile("weights.bin", before, 0o666), os.Symlink(best, "link.html"), os.WriteFile(config, []byte("{}"), 0o666),
		os.WriteFile("copied", before, 0o666), os.Mkdir("stopped", 0o777), os.WriteFile("stopped/.lock", nil, 0o666), os.Mkdir("stopped/probe", 0o777),
		os.WriteFile("stopped/metrics.csv", nil, 0o666), os.WriteFile("stopped/probe/00000000.json.gz", nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ckpt, out string
		code      int
		want      string
	}{
		{"checkpoints/plays", best, 2, "-o " + best + " is a checkpoint"},
		{"checkpoints/plays", "checkpoints/plays/ckpt.safetensors", 2, "is a checkpoint, which would be lost: name another file"},
		{"checkpoints/plays", config, 2, "-o " + config + " belongs to the run in that folder"},
		{"checkpoints/plays", "copied", 2, "-o copied is a checkpoint"},
		{"checkpoints/plays", "stopped/.lock", 2, "belongs to the run"},
		{"checkpoints/plays", "stopped/metrics.csv", 2, "belongs to the run"},
		{"checkpoints/plays", "stopped/probe/00000000.json.gz", 2, "belongs to the run"},
		{"weights.bin", "./weights.bin", 2, "-o ./weights.bin is a checkpoint"},
		{"weights.bin", best, 2, "is a checkpoint"},
		{"weights.bin", "link.html", 2, "-o link.html is a checkpoint"},
		{"weights.bin", "no/such/x.html", 1, "-o no/such/x.html: there is no folder no/such: make it"},
		{"weights.bin", "x.html", 0, ""},
	} {
		for _, format := range []string{"playground", "text"} {
			code, _, stderr := command(t, "-format", format, "-prompt", "the", "-ckpt", tt.ckpt, "-o", tt.out)
			if code != tt.code || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") > 1 {
				t.Errorf("-format %s -ckpt %s -o %s: exit code %d, want %d and %q: %s", format, tt.ckpt, tt.out, code, tt.code, tt.want, stderr)
			}
		}
	}
	for _, file := range []string{best, "weights.bin", "copied"} {
		if after, _ := os.ReadFile(file); !bytes.Equal(after, before) {
			t.Errorf("%s was overwritten", file)
		}
	}
}

// succeed is the standard output of a command that must say nothing else.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	code, out, warn := command(t, args...)
	if code != 0 || warn != "" {
		t.Errorf("%q: exit code %d, %s", args, code, warn)
	}
	return out
}

func TestHelp(t *testing.T) {
	out := succeed(t, "-h")
	for _, want := range []string{"Model and prompt", "What to show", "Output", "Examples", "-min_weight", "-probe"} {
		if !strings.Contains(out, want) {
			t.Errorf("the help lacks %q", want)
		}
	}
	if n := strings.Count(out, "go run ./cmd/inspect"); n != 4 {
		t.Errorf("%d examples", n)
	}
}

// TestUsage: wrong flags are exit code 2, before anything is read, in one line that names flag and value.
func TestUsage(t *testing.T) {
	t.Chdir(t.TempDir()) // no run: reading would fail with exit code 1
	for _, c := range []struct{ args, want string }{
		{"-layer x", `-layer is "x"`},
		{"-layer=", `-layer is ""`},
		{"-layer -2", `-layer is "-2"`},
		{"-head 1.5", `-head is "1.5"`},
		{"-format svg", `-format is "svg"`},
		{"-top 0", "-top is 0"},
		{"-format dot -min_weight 1.5", "-min_weight is 1.5"},
		{"-format dot -min_weight NaN", "-min_weight is NaN"},
		{"-http 8080", `-http is "8080"`},
		{"-http :x", `-http is ":x"`},
		{"-http :70000", `-http is ":70000"`},
		{"-http :0 -o x", `-o "x" has no effect with -http`},
		{"-http :0 -format html", `-format "html" has no effect with -http`},
		{"-http :0 -probe", `-probe "true" has no effect with -http`},
		{"-http :0 -compare x", `-compare "x" has no effect with -http`},
		{"-compare x -format json", "-format is json, but -compare writes text or html"},
		{"-compare x -top 2", `-top "2" has no effect with -compare`},
		{"-compare=", "-compare is empty"},
		{"-o=", "-o is empty"},
		{"-probe -prompt x", `-prompt "x" has no effect with -probe`},
		{"-probe -format png", "-format is png, but -probe writes html"},
		{"-format json -top 2", `-top "2" has no effect with -format json`},
		{"-min_weight 0.5", `-min_weight "0.5" has no effect with -format text`},
		{"-format png", "name a file with -o"},
		{"-format playground -top 2", `-top "2" has no effect with -format playground`},
		{"-format playground -layer mean", "-layer mean"},
		{"-format playground -compare x", "-format is playground, but -compare writes text or html"},
		{"-format playground -http :0", `-format "playground" has no effect with -http`},
		{"-format playground -probe", "-format is playground, but -probe writes html"},
		{"-format html -layer mean", "-layer mean"},
		{"-frob", "frob"},
		{"MIRA", "MIRA"},
	} {
		code, out, warn := command(t, strings.Fields(c.args)...)
		if code != 2 || out != "" || !strings.Contains(warn, c.want) || strings.Count(warn, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", c.args, code, warn)
		}
	}
}

// TestInput: what is wrong with files and texts is exit code 1, in one line.
func TestInput(t *testing.T) {
	t.Chdir(t.TempDir())
	bad := func(want string, args ...string) {
		t.Helper()
		code, out, warn := command(t, args...)
		if code != 1 || out != "" || !strings.Contains(warn, want) || strings.Count(warn, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q", args, code, warn)
		}
	}
	bad("train a model first")
	bad("train a model first", "-http", "127.0.0.1:0")
	bad("train a model first", "-probe")
	bad("-ckpt: nowhere", "-ckpt", "nowhere")
	bad("-ckpt: nowhere", "-ckpt", "nowhere", "-http", "127.0.0.1:0")
	bad("-ckpt: nowhere", "-ckpt", "nowhere", "-probe")
	save(t, "checkpoints/plays", small())
	bad("-prompt: 1 character is not in the vocabulary: 'Z'", "-prompt", "Z")
	bad("-compare: 1 character", "-prompt", "a", "-compare", "Z")
	bad("-prompt: ", "-prompt", "a\xff")
	bad("inspect: -compare: nothing to compare: one context ends in a, the other in b", "-prompt", "a", "-compare", "b")
	bad("no/file", "-o", "no/file")
	bad("-o: checkpoints is a folder", "-o", "checkpoints")
	if _, err := os.Stat("/dev/full"); err == nil {
		bad("-o: write /dev/full", "-o", "/dev/full")
		bad("-o: write /dev/full", "-o", "/dev/full", "-format", "html")
	}
	bad("train with -probe", "-probe")
	if err := os.WriteFile("bad", []byte("not a checkpoint"), 0o666); err != nil {
		t.Fatal(err)
	}
	bad("-ckpt: bad", "-ckpt", "bad")
	bad("-ckpt: bad", "-ckpt", "bad", "-http", "127.0.0.1:0")
}

// TestRange: a layer or head that the model does not have is a usage error that gives the range.
func TestRange(t *testing.T) {
	inRun(t)
	for _, args := range []string{"-layer 2", "-head 3", "-format json -layer 9", "-format html -head 3", "-http 127.0.0.1:0 -layer 2"} {
		code, out, warn := command(t, strings.Fields(args)...)
		if code != 2 || out != "" || !strings.Contains(warn, "0 to ") || strings.Count(warn, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", args, code, warn)
		}
	}
}

func TestText(t *testing.T) {
	inRun(t)
	out := succeed(t, "-prompt", "the end")
	for _, want := range []string{"checkpoints/plays/best.safetensors, step 7", "layer 0, mean of 3 heads", "layer 1, mean of 3 heads", "the␣end", "KL(model ‖ Markov)"} {
		if !strings.Contains(filepath.ToSlash(out), want) {
			t.Errorf("the text lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("colour, but this is no terminal")
	}
	if out := succeed(t, "-layer", "1", "-head", "2", "-top", "1", "-prompt", "the"); !strings.Contains(out, "layer 1 head 2") || strings.Contains(out, "layer 0") {
		t.Errorf("layer 1 head 2:\n%s", out)
	}
	if out := succeed(t); !strings.Contains(out, "8 characters: ") { // of the model's own, as many as it sees
		t.Errorf("no prompt:\n%s", out)
	}
	if out, again := succeed(t), succeed(t); out != again {
		t.Errorf("no prompt twice:\n%s%s", out, again)
	}
	if out := succeed(t, "-prompt", "the the end."); !strings.Contains(out, "4 characters before it left out") {
		t.Errorf("a long prompt:\n%s", out)
	}
}

func TestSkipUnknown(t *testing.T) {
	inRun(t)
	code, out, warn := command(t, "-skip_unknown", "-prompt", "ZtXhe")
	if code != 0 || !strings.Contains(out, ": the\n") || !strings.Contains(warn, "-prompt: dropped what is not in the vocabulary: 'Z', 'X'\n") {
		t.Errorf("exit code %d, %q:\n%s", code, warn, out)
	}
	if code, out, _ := command(t, "-skip_unknown", "-prompt", "ZX"); code != 0 || !strings.Contains(out, "1 character: ⏎") {
		t.Errorf("nothing is left of the prompt: exit code %d\n%s", code, out)
	}
}

func TestCompare(t *testing.T) {
	inRun(t)
	if out := succeed(t, "-prompt", "a the", "-compare", "b the"); !strings.Contains(out, "both end in 4 characters: ␣the") {
		t.Errorf("the comparison:\n%s", out)
	}
	code, _, warn := command(t, "-prompt", "the the end.", "-compare", "end.")
	if code != 0 || !strings.Contains(warn, "-prompt has 12 characters; its last 8 are shown") {
		t.Errorf("exit code %d, %q", code, warn)
	}
}

func TestCompareHTML(t *testing.T) {
	inRun(t)
	out := succeed(t, "-prompt", "a the", "-compare", "b the", "-format", "html")
	if !strings.Contains(out, `"other":{"step":7`) {
		t.Error("the page has no second prompt")
	}
	if out := succeed(t, "-prompt", "the", "-format", "html"); !strings.Contains(out, `"other":null`) {
		t.Error("the page has a second prompt that nobody gave")
	}
}

func TestJSONAndCSV(t *testing.T) {
	inRun(t)
	var trace struct {
		Version int   `json:"format_version"`
		Step    int   `json:"step"`
		Dropped int   `json:"dropped"`
		Heads   []any `json:"heads"`
	}
	code, out, warn := command(t, "-format", "json", "-prompt", "the the end.")
	if err := json.Unmarshal([]byte(out), &trace); err != nil {
		t.Fatal(err)
	}
	if code != 0 || trace.Version != 1 || trace.Step != 7 || trace.Dropped != 4 || len(trace.Heads) != 6 || !strings.Contains(warn, "its last 8") {
		t.Errorf("exit code %d, %+v, %q", code, trace, warn)
	}
	rows, err := csv.NewReader(strings.NewReader(succeed(t, "-format", "csv", "-layer", "0", "-head", "mean", "-prompt", corpus[:2]))).ReadAll()
	if err != nil || len(rows) < 10 {
		t.Errorf("%d rows: %v", len(rows), err)
	}
}

func TestPNG(t *testing.T) {
	inRun(t)
	succeed(t, "-format", "png", "-o", "heads.png", "-prompt", "é日🙂")
	f, err := os.Open("heads.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}
	if _, err := png.Decode(strings.NewReader(succeed(t, "-format", "png", "-o", "-"))); err != nil {
		t.Error("to standard output: ", err)
	}
}

func TestDOT(t *testing.T) {
	inRun(t)
	all := succeed(t, "-format", "dot", "-prompt", "the", "-min_weight", "0")
	some := succeed(t, "-format", "dot", "-prompt", "the", "-min_weight", "0.9")
	if !strings.HasPrefix(all, "digraph") || strings.Count(all, "penwidth") != 2*6 || strings.Count(some, "penwidth") != 2 {
		t.Errorf("the graph:\n%s\n%s", all, some)
	}
}

func TestHTML(t *testing.T) {
	inRun(t)
	if out := succeed(t, "-format", "html", "-prompt", "the", "-layer", "1", "-head", "2"); !strings.Contains(out, `"view":{"layer":1,"head":2}`) {
		t.Error("the page does not start with the chosen head")
	}
	succeed(t, "-format", "html", "-o", "page.html")
	if b, err := os.ReadFile("page.html"); err != nil || !bytes.HasPrefix(b, []byte("<!doctype html>")) {
		t.Error("the page is not in its file: ", err)
	}
}

// TestOtherModels: no layers, and a checkpoint without Markov chain and training state.
func TestOtherModels(t *testing.T) {
	t.Chdir(t.TempDir())
	c := small()
	c.NLayer = 0
	save(t, "flat", c)
	for _, format := range []string{"text", "json", "csv", "dot", "html"} {
		succeed(t, "-ckpt", "flat", "-format", format)
	}
	if code, _, warn := command(t, "-ckpt", "flat", "-layer", "0"); code != 2 || !strings.Contains(warn, "the model has none") {
		t.Errorf("exit code %d, %q", code, warn)
	}
	read, err := checkpoint.Read("flat/best.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	read.Bigram, read.Train = nil, nil
	if err := checkpoint.Write("bare", read); err != nil {
		t.Fatal(err)
	}
	code, out, warn := command(t, "-ckpt", "bare", "-prompt", "the")
	if code != 0 || !strings.Contains(out, "bare, step 0") || !strings.Contains(warn, "no Markov chain") {
		t.Errorf("exit code %d, %q:\n%s", code, warn, out)
	}
}

func TestColour(t *testing.T) {
	for _, c := range []struct {
		env    map[string]string
		colour bool
	}{
		{nil, false},
		{map[string]string{"COLORTERM": "truecolor"}, true},
		{map[string]string{"COLORTERM": "24bit"}, true},
		{map[string]string{"COLORTERM": "truecolor", "NO_COLOR": "1"}, false},
		{map[string]string{"COLORTERM": "yes"}, false},
	} {
		if got := colourOf(func(name string) string { return c.env[name] }); (got != 0) != c.colour {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

// TestStopped: a command that is stopped returns why, and writes nothing.
func TestStopped(t *testing.T) {
	inRun(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	cancel(stop)
	var out bytes.Buffer
	err := run(ctx, cli.Env{Args: []string{"-o", "file"}, Stdout: &out, Stderr: &out})
	if !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, err := os.Stat("file"); err == nil {
		t.Error("there is a file")
	}
}

// later makes a file look newer, whatever the file system's clock.
func later(t *testing.T, path string, by time.Duration) {
	t.Helper()
	when := time.Now().Add(by)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

package page

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"chargpt/data"
	"chargpt/model/checkpoint"
	"chargpt/model/sample"
)

// margins is a Predictor that notes by how much the likeliest character leads.
type margins struct {
	sample.Predictor
	leads []float32
}

func (m *margins) Next(tokens []int32) ([]float32, error) {
	logits, err := m.Predictor.Next(tokens)
	first, second := float32(math.Inf(-1)), float32(math.Inf(-1))
	for _, l := range logits {
		first, second = max(first, l), max(second, min(first, l))
	}
	m.leads = append(m.leads, first-second)
	return logits, err
}

// greedy is the likeliest text of n characters after a prompt, as cmd/sample has it, as far as the choice is clear:
// float16 weights may choose otherwise where two logits are within 0.02.
func greedy(t *testing.T, g Playground, prompt string, n int) string {
	t.Helper()
	tokenizer, err := data.NewTokenizerFromVocab(g.Vocab)
	if err != nil {
		t.Fatal(err)
	}
	tokens := encoded(t, g, prompt)
	decoder, err := g.Model.NewDecoder(1)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	m, text := margins{Predictor: decoder}, ""
	err = sample.Generate(t.Context(), &m, 1, 0, tokens, tokenizer.Char, sample.Options{MaxNewTokens: n}, func(e sample.Event) error {
		text += e.Text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, lead := range m.leads[len(tokens)-1:] {
		if lead < 0.02 {
			return string([]rune(text)[:i])
		}
	}
	return text
}

// continues presses Run at temperature 0, and compares with the text that should come.
func (p *tab) continues(prompt, want string) {
	p.t.Helper()
	want = prompt + want
	p.slide("#temperature", "0")
	p.slide("#prompt", prompt)
	p.press("#run")
	p.until(fmt.Sprintf("[...%s].length >= %d", promptText, utf8.RuneCountInString(want)))
	p.click("#stop")
	if got := read[string](p, promptText); !strings.HasPrefix(got, want) {
		p.t.Errorf("the page continues %q, want %q", got, want)
	}
}

// TestPlaygroundGreedy compares the likeliest texts inside the window and past it.
func TestPlaygroundGreedy(t *testing.T) {
	t.Parallel()
	p := newTab(t)
	for _, g := range []Playground{learned(t), learnedRope(t)} {
		p.playground(g)
		block, inside, past := g.Model.Config.BlockSize, 0, 0
		for _, prompt := range []string{"MIRA:", "The ", "PELL: I would not", "OWL:\nWho"} {
			text := greedy(t, g, prompt, block+16)
			p.continues(prompt, text)
			begin, end := utf8.RuneCountInString(prompt), utf8.RuneCountInString(prompt+text)
			inside += min(end, block) - begin
			past += max(0, end-block)
		}
		t.Logf("%s positions: %d characters inside the window, %d past it", g.Model.Config.Position, inside, past)
		if inside < 32 || past < 16 {
			t.Errorf("%s positions: %d characters inside the window and %d past it were clear, want 32 and 16 at least", g.Model.Config.Position, inside, past)
		}
	}
	p.quiet()
}

// TestPlaygroundOfCommands opens the page that cmd/inspect makes of a checkpoint: it continues a prompt as cmd/sample does.
func TestPlaygroundOfCommands(t *testing.T) {
	t.Parallel()
	g, p, dir := learnedRope(t), newTab(t), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "chargpt/cmd/inspect", "chargpt/cmd/sample").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	file, html := filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "page.html")
	err := checkpoint.Write(file, &checkpoint.Checkpoint{Config: g.Model.Config, Vocab: g.Vocab, Weights: g.Model.Weights(),
		Bigram: g.Bigram, Train: json.RawMessage(`{"iteration":200}`)})
	if err != nil {
		t.Fatal(err)
	}
	const prompt = "MIRA:"
	output := func(command string, args ...string) string {
		out, err := exec.Command(filepath.Join(dir, command), append(args, "-ckpt", file, "-prompt", prompt)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	output("inspect", "-format", "playground", "-o", html)
	clear := greedy(t, g, prompt, 48)
	text := output("sample", "-temperature", "0", "-max_new_tokens", strconv.Itoa(utf8.RuneCountInString(clear)))
	text = strings.TrimSuffix(strings.TrimPrefix(text, prompt), "\n")
	if len(text) < 16 {
		t.Fatalf("only %q is clear of what cmd/sample makes of %q", text, prompt)
	}
	p.visit((&url.URL{Scheme: "file", Path: html}).String())
	p.watchWorker()
	p.continues(prompt, text)
	p.quiet()
}

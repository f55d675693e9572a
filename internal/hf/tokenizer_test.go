package hf

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"chargpt/data"
	"chargpt/model"
)

// npmPackage is Hugging Face's own tokenizers in JavaScript.
const npmPackage = "@huggingface/tokenizers@0.2.0"

// hostile is a text that a tokenizer which normalizes, trims, or cleans up would change.
const hostile = "  a\t\tb \r\n\n . , ! ? 's n't I 'm\n0123 \u00e9 e\u0301 \u00c5 A\u030a \ufb01 \u00bd \u200d\u200b\u00a0\u3000\u2028\u2029\u0085\ufeff\ufffd\x00\x7f" +
	"👩‍👩‍👧 🇩🇪 👍🏽 𝔘 漢字 한글 ᄒ ğ İ ß \\ \" ' < > & </w> <0x41> ## Ġ ▁▁ __proto__ \n\n  "

// TestTokenizer: Hugging Face's tokenizers give our ids, and the text back.
func TestTokenizer(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	install := func() ([]byte, error) {
		return exec.Command("npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", work, npmPackage).CombinedOutput()
	}
	out, err := install()
	if err != nil {
		out, err = install() // registries fail at times
	}
	if err != nil {
		missing(t, "npm install %s: %v: %.200s", npmPackage, err, out)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "tokenizer.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(work, "tokenizer.mjs"), script) // it finds packages beside itself
	corpus, err := os.ReadFile(filepath.Join("..", "..", "data", "plays.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"corpus": string(corpus), "hostile": hostile} {
		t.Run(name, func(t *testing.T) { checkTokenizer(t, work, filepath.Join(work, name), text) })
	}
}

// checkTokenizer writes a folder for the characters of text, and has node compare ids and text.
func checkTokenizer(t *testing.T, work, dir, text string) {
	tokenizer, err := data.NewTokenizer(text)
	if err != nil {
		t.Fatal(err)
	}
	config := model.Config{VocabSize: tokenizer.Size(), BlockSize: 8, NLayer: 1, NHead: 1, NEmbd: 2, Tied: true}
	if err := Write(dir, random(config, tokenizer.Vocab())); err != nil {
		t.Fatal(err)
	}
	ids, err := tokenizer.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "text")
	write(t, path, []byte(text))
	write(t, path+".ids", encoded)
	out, err := exec.Command("node", filepath.Join(work, "tokenizer.mjs"), dir, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%d characters, %d of them distinct: %s", len(ids), tokenizer.Size(), out)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

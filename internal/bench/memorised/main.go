// Command memorised tells learning from copying: it reads a sample from standard input and prints which share of its
// 32-character windows occur in the text that the model was trained on, for shorter windows too, and the same for the
// part of the text that the model has not seen:
//
//	go run ./cmd/sample -max_new_tokens 1250 -num_samples 8 | go run ./internal/bench/memorised -data input.txt
//
// A line "---", which cmd/sample prints between samples, is none of the model's: no window reaches over it.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"chargpt/data"
	"chargpt/internal/cli"
)

// windows are the lengths that are looked for.
var windows = []int{8, 16, 32}

// separator is what cmd/sample prints between two samples.
const separator = "\n---\n"

func main() { cli.Main("internal/bench/memorised", run) }

func run(ctx context.Context, env cli.Env) error {
	fs := cli.NewFlags("memorised", "which share of a sample, on standard input, is in the text a model was trained on",
		"go run ./cmd/sample -max_new_tokens 1250 -num_samples 8 | go run ./internal/bench/memorised -data input.txt")
	fs.Group("Text")
	path := fs.String("data", "", "`file` that the model was trained on")
	valFraction := fs.Float64("val_fraction", 0.1, "`x`: share of it, its end, that it was not trained on")
	if err := fs.Parse(env.Args, env.Stdout); err != nil {
		return err
	}
	if *path == "" {
		return cli.Usagef("give -data FILE, the text that the model was trained on")
	}
	if !(*valFraction >= 0 && *valFraction < 1) {
		return cli.Usagef("-val_fraction is %v; it must be at least 0 and under 1", *valFraction)
	}
	text, err := cli.Await(ctx, func() (*data.Text, error) { return data.ReadFile(*path) })
	if err != nil {
		return fmt.Errorf("-data: %w", err)
	}
	sample, err := cli.Await(ctx, func() (*data.Text, error) { return data.Read(env.Stdin) })
	if err != nil {
		return fmt.Errorf("standard input, the sample: %w", err)
	}
	samples := strings.Split(strings.TrimSuffix(characters(sample), "\n"), separator)
	all := []rune(characters(text))
	split := int(float64(len(all)) * (1 - *valFraction)) // as data.NewDataset does
	training, validation := all[:split], []string{string(all[split:])}
	least := slices.Max(windows)
	if longest(samples) < least || len(training) < least {
		return fmt.Errorf("the longest sample has %d characters and the training text %d; both need %d, a window: pipe more from cmd/sample", longest(samples), len(training), least)
	}
	fmt.Fprintf(env.Stdout, "windows that occur in the %d characters of training text:\n", split)
	for _, n := range windows {
		seen := windowsOf(training, n)
		fmt.Fprintf(env.Stdout, "%2d characters: %6.2f %% of the sample", n, 100*share(samples, n, seen))
		if longest(validation) >= least {
			fmt.Fprintf(env.Stdout, ", %6.2f %% of the validation text", 100*share(validation, n, seen))
		}
		fmt.Fprintln(env.Stdout)
	}
	return nil
}

// characters is a text that was read as a string again.
func characters(t *data.Text) string {
	ids := make([]int32, t.Tokens.Len())
	t.Tokens.Copy(ids, 0)
	return t.Tokenizer.Decode(ids)
}

// windowsOf are all windows of n characters in a text.
func windowsOf(text []rune, n int) map[string]bool {
	seen := map[string]bool{}
	for i := 0; i+n <= len(text); i++ {
		seen[string(text[i:i+n])] = true
	}
	return seen
}

// share is which part of the windows of n characters of some texts have been seen; 0 where all texts are shorter.
func share(texts []string, n int, seen map[string]bool) float64 {
	count, known := 0, 0
	for _, text := range texts {
		characters := []rune(text)
		for i := 0; i+n <= len(characters); i++ {
			count++
			if seen[string(characters[i:i+n])] {
				known++
			}
		}
	}
	return float64(known) / float64(max(count, 1))
}

// longest is how many characters the longest of some texts has.
func longest(texts []string) (n int) {
	for _, text := range texts {
		n = max(n, len([]rune(text)))
	}
	return n
}

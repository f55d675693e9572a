// Command memorised tells learning from copying: it reads a sample from standard input and prints which share of its
// 32-character windows occur in the text that the model was trained on, for shorter windows too, and the same for the
// part of the text that the model has not seen:
//
//	go run ./cmd/sample -max_new_tokens 1250 -num_samples 8 | go run ./internal/bench/memorised -data input.txt
//
// A line "---", which cmd/sample prints between samples, is none of the model's: no window reaches over it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// windows are the lengths that are looked for.
var windows = []int{8, 16, 32}

// separator is what cmd/sample prints between two samples.
const separator = "\n---\n"

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "memorised:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("memorised", flag.ContinueOnError)
	path := flags.String("data", "", "text that the model was trained on")
	valFraction := flags.Float64("val_fraction", 0.1, "share of it, its end, that the model was not trained on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *path == "" || !(*valFraction >= 0 && *valFraction < 1) {
		return errors.New("give -data FILE, and a -val_fraction from 0 to under 1")
	}
	text, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	sample, err := io.ReadAll(stdin)
	if err != nil {
		return err
	}
	samples := strings.Split(strings.TrimSuffix(string(sample), "\n"), separator)
	if longest(samples) < windows[len(windows)-1] {
		return fmt.Errorf("standard input has no sample of %d characters: pipe one from cmd/sample", windows[len(windows)-1])
	}
	characters := []rune(string(text))
	split := int(float64(len(characters)) * (1 - *valFraction)) // as data.NewDataset does
	fmt.Fprintf(stdout, "windows that occur in the %d characters of training text:\n", split)
	for _, n := range windows {
		seen := windowsOf(characters[:split], n)
		fmt.Fprintf(stdout, "%2d characters: %6.2f %% of the sample, %6.2f %% of the validation text\n",
			n, 100*share(samples, n, seen), 100*share([]string{string(characters[split:])}, n, seen))
	}
	return nil
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

// Command memorised tells learning from copying: it reads a sample from standard input and prints which share of its
// 32-character windows occur in the text that the model was trained on, for shorter windows too, and the same for the
// part of the text that the model has not seen:
//
//	go run ./cmd/sample -max_new_tokens 10000 | go run ./internal/bench/memorised -data input.txt
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// windows are the lengths that are looked for.
var windows = []int{8, 16, 32}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
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
	characters := []rune(string(text))
	split := int(float64(len(characters)) * (1 - *valFraction)) // as data.NewDataset does
	fmt.Fprintf(stdout, "windows that occur in the %d characters of training text:\n", split)
	for _, n := range windows {
		seen := windowsOf(characters[:split], n)
		fmt.Fprintf(stdout, "%2d characters: %6.2f %% of the sample, %6.2f %% of the validation text\n",
			n, 100*share([]rune(string(sample)), n, seen), 100*share(characters[split:], n, seen))
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

// share is which part of a text's windows of n characters have been seen; 0 where the text is shorter.
func share(text []rune, n int, seen map[string]bool) float64 {
	count, known := 0, 0
	for i := 0; i+n <= len(text); i++ {
		count++
		if seen[string(text[i:i+n])] {
			known++
		}
	}
	return float64(known) / float64(max(count, 1))
}

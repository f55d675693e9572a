package main

import (
	"fmt"
	"io"
	"strings"

	"chargpt/internal/cli"
	"chargpt/internal/runs"
	"chargpt/model/sample"
)

// options is what the command line asks for.
type options struct {
	sample.Options
	ckpt, prompt, promptFile string
	samples                  int
	skipUnknown, interactive bool
	json, logprobs           bool
}

func parseFlags(args []string, help io.Writer) (*options, error) {
	o := &options{}
	fs := cli.NewFlags("sample", "continues a prompt with a trained model",
		`go run ./cmd/sample -prompt "MIRA:"                         the newest run's best weights`,
		`go run ./cmd/sample -ckpt checkpoints/plays -i              of a certain run, a prompt a line`,
		`go run ./cmd/sample -temperature 0.5 -num_samples 3 -json   safer, three times, for a program`)
	fs.Group("Model and prompt")
	fs.StringVar(&o.ckpt, "ckpt", "", "checkpoint `file` or run folder; the newest run under "+runs.Root+" if not given")
	fs.StringVar(&o.prompt, "prompt", "", "`text` to continue; a newline if not given")
	fs.StringVar(&o.promptFile, "prompt_file", "", "`file` whose whole content is the prompt; - is standard input")
	fs.BoolVar(&o.interactive, "i", false, "interactive: continue every line of standard input, until its end")
	fs.BoolVar(&o.skipUnknown, "skip_unknown", false, "drop characters of the prompt that the model does not know")

	fs.Group("Sampling")
	fs.IntVar(&o.MaxNewTokens, "max_new_tokens", 500, "`characters` to draw at most")
	fs.Float64Var(&o.Temperature, "temperature", 0.8, "`divisor` of the logits: 0 always takes the likeliest character, 1 is the model's own distribution")
	fs.IntVar(&o.TopK, "top_k", 0, "draw from the `k` likeliest characters; 0 for all")
	fs.Float64Var(&o.TopP, "top_p", 1, "draw from the likeliest characters that together have this `probability`; 1 for all")
	fs.Uint64Var(&o.Seed, "seed", 1337, "`number` that the draws follow from")
	fs.IntVar(&o.samples, "num_samples", 1, "`samples` of the same prompt")
	fs.Var((*stops)(&o.Stop), "stop", "`text` that ends a sample, and is not printed; may be given several times")

	fs.Group("Output")
	fs.BoolVar(&o.json, "json", false, "print a JSON document a sample, on a line: prompt, text, finish_reason, seed, settings")
	fs.BoolVar(&o.logprobs, "logprobs", false, "print a JSON document a character drawn, on a line: its probability, and the likeliest others")
	if err := fs.Parse(args, help); err != nil {
		return nil, err
	}
	if err := exclusive(fs.Given()); err != nil {
		return nil, err
	}
	return o, o.validate()
}

// exclusive is an error if two flags were given that cannot both be.
func exclusive(given map[string]bool) error {
	for _, pair := range [][2]string{{"i", "prompt"}, {"i", "prompt_file"}, {"i", "num_samples"}, {"prompt", "prompt_file"}, {"json", "logprobs"}} {
		if given[pair[0]] && given[pair[1]] {
			return cli.Usagef("-%s and -%s exclude each other", pair[0], pair[1])
		}
	}
	return nil
}

func (o *options) validate() error {
	if o.TopP == 0 {
		return cli.Usagef("-top_p is 0; it must be over 0 and at most 1")
	}
	if err := o.Options.Validate(); err != nil {
		return cli.Usagef("-%v", err)
	}
	if o.samples < 1 || o.samples > 1<<20 {
		return cli.Usagef("-num_samples is %d; it must be from 1 to %d", o.samples, 1<<20)
	}
	return nil
}

// stops is a flag that may be given several times.
type stops []string

func (s *stops) String() string { return strings.Join(*s, " ") }

func (s *stops) Set(text string) error {
	if text == "" {
		return fmt.Errorf("it is empty; give the text to stop at")
	}
	*s = append(*s, text)
	return nil
}

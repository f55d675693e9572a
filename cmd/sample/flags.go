package main

import (
	"fmt"
	"io"
	"strings"

	"chargpt/internal/cli"
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
		`go run ./cmd/sample -prompt "MIRA:"              the newest run's best weights`,
		`go run ./cmd/sample -ckpt checkpoints/plays -i   a prompt a line`,
		`go run ./cmd/sample -num_samples 3 -json         three times, for a program`)
	fs.Group("Model and prompt")
	fs.StringVar(&o.ckpt, "ckpt", "", "checkpoint `file` or run folder; else the newest run")
	fs.StringVar(&o.prompt, "prompt", "", "`text` to continue; a newline if not given")
	fs.StringVar(&o.promptFile, "prompt_file", "", "`file` that is the prompt; - for standard input")
	fs.BoolVar(&o.interactive, "i", false, "continue each line of standard input")
	fs.BoolVar(&o.skipUnknown, "skip_unknown", false, "drop characters the model does not know")

	fs.Group("Sampling")
	fs.IntVar(&o.MaxNewTokens, "max_new_tokens", 500, "`n` characters to draw at most")
	fs.Float64Var(&o.Temperature, "temperature", 0.8, "`x` divides the logits; 0: take the likeliest")
	fs.IntVar(&o.TopK, "top_k", 0, "`k` likeliest characters to draw from; 0: all")
	fs.Float64Var(&o.TopP, "top_p", 1, "`p`: draw from the likeliest of so much together")
	fs.Uint64Var(&o.Seed, "seed", 1337, "`n`: number that the draws follow from")
	fs.IntVar(&o.samples, "num_samples", 1, "`n` samples of the prompt")
	fs.Var((*stops)(&o.Stop), "stop", "`text` that ends a sample; may be given several times")

	fs.Group("Output")
	fs.BoolVar(&o.json, "json", false, "print samples as JSON, a line each")
	fs.BoolVar(&o.logprobs, "logprobs", false, "print each character's probability as JSON")
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

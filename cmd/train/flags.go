package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"chargpt/internal/cli"
	"chargpt/internal/runs"
	"chargpt/model"
	"chargpt/model/train"
)

// options is what the command line asks for.
type options struct {
	train.Preset
	data, out string
	probe     string
	config    string
	resume    bool
	dryRun    bool
	resolved  []byte // all settings, as a -config file
	threads   int
	given     map[string]bool   // flags that were set on the command line
	values    map[string]string // what they were set to
}

// parseFlags reads and checks the command line. A preset applies first, wherever it stands: any other flag overrides it, and
// the help shows its values. ctx ends the wait for a -config that comes through a pipe.
func parseFlags(ctx context.Context, args []string, help io.Writer) (*options, error) {
	o := &options{}
	o.Preset, _ = train.FindPreset(train.DefaultPreset)
	fs := o.flags()
	if err := fs.Parse(args, io.Discard); errors.Is(err, flag.ErrHelp) {
		return nil, printHelp(args, help)
	} else if err != nil {
		return nil, err
	}
	o.given, o.values = fs.Given(), map[string]string{} // on the command line
	fs.Visit(func(f *flag.Flag) { o.values[f.Name] = f.Value.String() })
	settings, err := readConfig(ctx, fs, o.config)
	if err != nil {
		return nil, err
	}
	if err := o.choosePreset(settings); err != nil {
		return nil, err
	}
	presetIters := o.MaxIters
	fs = o.flags() // with the preset's values; the file's go over them, the command line's over both
	if err := fs.Apply(settings); err != nil {
		return nil, cli.Usagef("-config %s: %v", o.config, err)
	}
	if err := fs.Parse(args, help); err != nil {
		return nil, err
	}
	if err := o.chooseLength(presetIters); err != nil {
		return nil, err
	}
	but := []string{"config", "out", "resume", "dry_run", "threads"}
	if o.Minutes > 0 {
		but = append(but, "max_iters") // which does not say how long the run is
	}
	o.resolved = fs.Config(but...)
	return o, o.validate()
}

// choosePreset takes the preset that -preset names, or else the settings of -config.
func (o *options) choosePreset(settings map[string]string) (err error) {
	if o.given["preset"] && len(settings) > 0 {
		return cli.Usagef("-preset and -config both say how to train: give one of them, and single flags over it")
	}
	name := settings["preset"]
	if o.given["preset"] {
		name = o.values["preset"]
	}
	if name != "" { // an empty one is refused by validate
		o.Preset, err = findPreset(name)
	}
	return err
}

// chooseLength decides between a length in minutes and one in iterations: -max_iters goes over the minutes of a -config,
// which may not have both itself.
func (o *options) chooseLength(presetIters int) error {
	if o.given["max_iters"] && !o.given["minutes"] {
		o.Minutes = 0
	}
	if o.Minutes > 0 && !o.given["minutes"] && o.MaxIters != presetIters {
		return cli.Usagef("-config %s: minutes %v and max_iters %d both say how long to train: keep one of them", o.config, o.Minutes, o.MaxIters)
	}
	return nil
}

// readConfig reads a file of flags, and refuses what makes no sense in one. No file has no settings.
func readConfig(ctx context.Context, fs *cli.Flags, file string) (map[string]string, error) {
	if file == "" {
		return nil, nil
	}
	settings, err := cli.Await(ctx, func() (map[string]string, error) { return fs.ReadConfig(file) })
	switch {
	case errors.Is(err, cli.ErrConfig):
		return nil, cli.Usagef("-config: %v", err)
	case ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("-config: %w: check the path", err)
	}
	for _, name := range []string{"config", "version"} {
		if _, ok := settings[name]; ok {
			return nil, cli.Usagef("-config: %s: %q makes no sense in a file of flags: leave it out", file, name)
		}
	}
	for _, name := range notEmpty {
		if value, ok := settings[name]; ok && value == "" {
			return nil, cli.Usagef("-config: %s: %q is empty: give a value, or leave it out", file, name)
		}
	}
	return settings, nil
}

// notEmpty are the flags of texts that must have one.
var notEmpty = []string{"data", "out", "config", "preset", "position"}

func findPreset(name string) (train.Preset, error) {
	p, ok := train.FindPreset(name)
	if !ok {
		return p, cli.Usagef("-preset %s: there is no such preset; choose one of %s", name, presetNames())
	}
	return p, nil
}

// printHelp does what -h or -version in args asks for, with the values of the -preset there as defaults, and returns
// flag.ErrHelp.
func printHelp(args []string, out io.Writer) error {
	o := &options{}
	fs := o.flags()
	rest := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return slices.Contains([]string{"-h", "--h", "-help", "--help"}, arg) })
	if err := fs.Parse(rest, io.Discard); err != nil && !errors.Is(err, flag.ErrHelp) {
		return err
	}
	p, err := findPreset(fs.Lookup("preset").Value.String())
	if err != nil {
		return err
	}
	return (&options{Preset: p}).flags().Parse(args, out)
}

func presetNames() string {
	var names []string
	for _, p := range train.Presets() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// flags defines the flags with the values that o has as defaults: a preset's, at first.
func (o *options) flags() *cli.Flags {
	fs := cli.NewFlags("train", "fits a character-level GPT to a text file",
		"go run ./cmd/train                                 the embedded corpus",
		"go run ./cmd/train -data a.txt -out checkpoints/a  another text",
		"go run ./cmd/train -resume -max_iters 4000         go on with the newest run")
	fs.Group("Text and run")
	fs.StringVar(&o.data, "data", o.data, "UTF-8 text `file`, - for standard input; else built-in")
	fs.StringVar(&o.out, "out", o.out, "run `folder`; else "+runs.Root+"/NAME after the text")
	fs.BoolVar(&o.resume, "resume", o.resume, "go on with -out's run, or the newest")
	fs.StringVar(&o.config, "config", o.config, "JSON `file` of flags by name; flags given go over them")
	fs.BoolVar(&o.dryRun, "dry_run", o.dryRun, "print size and measured time, and stop")
	fs.Float64Var(&o.ValFraction, "val_fraction", o.ValFraction, "`x`: share at the end to validate; 0: none")
	fs.Uint64Var(&o.Seed, "seed", o.Seed, "`n`: number that all random draws follow from")
	fs.StringVar(&o.probe, "probe", o.probe, "`text` whose attention is recorded, for: inspect -probe")
	fs.IntVar(&o.threads, "threads", o.threads, "`n` threads in all; 0: one a core")

	fs.Group("Model")
	fs.String("preset", train.DefaultPreset, "`name`: "+strings.ReplaceAll(strings.TrimPrefix(presetNames(), train.DefaultPreset+", "), ", ", "|"))
	c := &o.Config
	fs.IntVar(&c.NLayer, "n_layer", c.NLayer, "`n` blocks")
	fs.IntVar(&c.NHead, "n_head", c.NHead, "`n` attention heads a block")
	fs.IntVar(&c.NEmbd, "n_embd", c.NEmbd, "`n` channels of the residual stream")
	fs.IntVar(&c.HeadSize, "head_size", c.HeadSize, "`n` channels of a head; 0: n_embd/n_head")
	fs.IntVar(&c.BlockSize, "block_size", c.BlockSize, "`n` characters of context")
	fs.Float64Var(&c.Dropout, "dropout", c.Dropout, "`x`: share of activations dropped in training")
	fs.BoolVar(&c.Bias, "bias", c.Bias, "biases in linear layers and LayerNorms")
	fs.BoolVar(&c.Tied, "tied", c.Tied, "the LM head is the token embedding")
	fs.BoolVar(&c.AttnOnly, "attn_only", c.AttnOnly, "blocks without MLPs")
	fs.StringVar(&c.Position, "position", c.Position, "`kind` of positions: learned or rope")

	fs.Group("Training")
	t := &o.Options
	fs.IntVar(&t.MaxIters, "max_iters", t.MaxIters, "`n` iterations")
	fs.Float64Var(&t.Minutes, "minutes", t.Minutes, "`n` minutes, evaluations included; 0: max_iters")
	fs.IntVar(&t.BatchSize, "batch_size", t.BatchSize, "`n` windows of text an iteration")
	fs.Float64Var(&t.LearningRate, "learning_rate", t.LearningRate, "`x`: rate after the warm-up")
	fs.Float64Var(&t.MinLR, "min_lr", t.MinLR, "`x`: rate at the last iteration")
	fs.IntVar(&t.WarmupIters, "warmup_iters", t.WarmupIters, "`n` iterations of linear warm-up")
	fs.StringVar(&t.Optimizer, "optimizer", t.Optimizer, "`name`: adamw, or muon for matrices")
	fs.Float64Var(&t.MuonLR, "muon_lr", t.MuonLR, "`x`: Muon's rate after the warm-up")
	fs.Float64Var(&t.MuonWeightDecay, "muon_weight_decay", t.MuonWeightDecay, "`x`: decay of Muon's matrices, times its rate")
	fs.Float64Var(&t.WeightDecay, "weight_decay", t.WeightDecay, "`x`: decay of AdamW's matrices, times its rate")
	fs.Float64Var(&t.Beta1, "beta1", t.Beta1, "`x`: AdamW's decay of the mean gradient")
	fs.Float64Var(&t.Beta2, "beta2", t.Beta2, "`x`: AdamW's decay of the squared gradient")
	fs.Float64Var(&t.GradClip, "grad_clip", t.GradClip, "`x`: norm of the gradients at most; 0: any")
	fs.IntVar(&t.Patience, "patience", t.Patience, "`n` evaluations in a row 1% worse end it; 0: off")
	fs.IntVar(&t.EvalInterval, "eval_interval", t.EvalInterval, "`n` iterations between evaluations")
	fs.IntVar(&t.SampleInterval, "sample_interval", t.SampleInterval, "`n` iterations between samples; 0: none")
	return fs
}

// validate checks every flag before the text is read.
func (o *options) validate() error {
	c, t := o.Config, o.Options
	if o.resume { // the rest must be what the run has: contradiction compares
		usual, _ := train.FindPreset(train.DefaultPreset)
		c, t = usual.Config, usual.Options
		t.MaxIters, t.Minutes, t.Patience = o.MaxIters, o.Minutes, o.Patience
	}
	c.VocabSize = 1 // known when the text is read
	for _, err := range []error{c.Validate(), t.Validate()} {
		var bad *model.ConfigError
		if errors.As(err, &bad) {
			return cli.Usagef("-%s", bad.Error())
		}
	}
	if o.given["probe"] && o.probe == "" {
		return cli.Usagef("-probe is empty; give a text or leave it out")
	}
	for _, name := range notEmpty {
		if o.given[name] && o.values[name] == "" {
			return cli.Usagef("-%s is empty: give a value, or leave the flag out", name)
		}
	}
	if err := checkMemory(c, t); err != nil {
		return err
	}
	if o.given["minutes"] && o.given["max_iters"] && o.Minutes > 0 {
		return cli.Usagef("-minutes %v and -max_iters %d both say how long to train: give one of them", o.Minutes, o.MaxIters)
	}
	if o.resume && o.config != "" {
		return cli.Usagef("-resume with -config: leave -config out: a run keeps its settings")
	}
	if o.resume && o.dryRun {
		return cli.Usagef("-dry_run measures a new run: leave -resume out")
	}
	if o.threads < 0 || o.threads > 4096 {
		return cli.Usagef("-threads is %d; it must be from 1 to 4096, or 0 for one a core", o.threads)
	}
	return nil
}

// checkMemory refuses what takes more memory than there is, or than any run is worth.
func checkMemory(c model.Config, t train.Options) error {
	need, most := train.Memory(c, t), train.MaxMemory()
	if need <= most {
		return nil
	}
	characters := ""
	if c.VocabSize > 1 {
		characters = fmt.Sprintf(", for a text of %d distinct characters,", c.VocabSize)
	}
	return cli.Usagef("-batch_size %d with -block_size %d, -n_layer %d, -n_head %d and -n_embd %d%s needs about %.1f GB of memory; here the most is %.1f: make the batch or the model smaller",
		t.BatchSize, c.BlockSize, c.NLayer, c.NHead, c.NEmbd, characters, need/1e9, most/1e9)
}

// shape are the flags of the model, which a preset sets too: the preset of a resumed run must agree with the checkpoint in
// them. In the rest the checkpoint's settings go on.
var shape = map[string]bool{"n_layer": true, "n_head": true, "n_embd": true, "head_size": true, "block_size": true, "dropout": true,
	"bias": true, "tied": true, "attn_only": true, "position": true}

// mayChange are the flags that a resumed run may be given whatever its checkpoint says.
var mayChange = map[string]bool{"data": true, "out": true, "resume": true, "threads": true, "max_iters": true, "minutes": true, "patience": true, "preset": true, "config": true, "dry_run": true, "version": true, "probe": true}

// contradiction refuses a resumed run whose flags say something else than its checkpoint: the first such flag by name.
func (o *options) contradiction(c model.Config, s train.State) (err error) {
	if o.given["max_iters"] && s.Options.Minutes > 0 {
		return &resumeConflict{"max_iters", strconv.Itoa(o.MaxIters), fmt.Sprintf("a length of %v minutes", s.Options.Minutes)}
	}
	if o.given["max_iters"] && o.MaxIters < s.Iteration {
		return &resumeConflict{"max_iters", strconv.Itoa(o.MaxIters), fmt.Sprintf("done %d iterations", s.Iteration)}
	}
	if o.given["minutes"] && o.Minutes > 0 && s.Options.Minutes == 0 {
		return &resumeConflict{"minutes", fmt.Sprint(o.Minutes), fmt.Sprintf("a length of %d iterations", s.Options.MaxIters)}
	}
	if o.given["minutes"] && 60*o.Minutes < s.Seconds && o.Minutes != s.Options.Minutes {
		return &resumeConflict{"minutes", fmt.Sprint(o.Minutes), fmt.Sprintf("trained for %.2f minutes", s.Seconds/60)}
	}
	saved := &options{Preset: train.Preset{Config: c, Options: s.Options}}
	before, now := saved.flags(), o.flags()
	now.VisitAll(func(f *flag.Flag) {
		if err != nil || mayChange[f.Name] || !o.given[f.Name] && !(o.given["preset"] && shape[f.Name]) {
			return
		}
		was, is := before.Lookup(f.Name).Value.String(), f.Value.String()
		if f.Name == "head_size" && is == "0" {
			return // 0 stands for the quotient that the checkpoint holds
		}
		if was != is {
			err = &resumeConflict{f.Name, is, was}
			if !o.given[f.Name] {
				err = &resumeConflict{"preset", fmt.Sprintf("%s with its %s %s", o.Name, f.Name, is), was}
			}
		}
	})
	return err
}

type resumeConflict struct{ flag, is, was string }

func (e *resumeConflict) Error() string {
	return "-" + e.flag + " " + e.is + " contradicts the run, which has " + e.was + ": leave the flag out to resume, or start a new run without -resume"
}

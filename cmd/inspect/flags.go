package main

import (
	"cmp"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"chargpt/internal/attention"
	"chargpt/internal/attention/page"
	"chargpt/internal/cli"
)

// options is what the command line asks for.
type options struct {
	ckpt, prompt, compare string
	layer, head           string
	format, out           string
	top                   int
	minWeight             float64
	http                  string
	probe, skipUnknown    bool
	given                 map[string]bool // flags that were set
}

func parseFlags(args []string, help io.Writer) (*options, error) {
	o := &options{}
	fs := o.flags()
	if err := fs.Parse(args, help); err != nil {
		return nil, err
	}
	o.given = fs.Given()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := o.contradiction(func(name string) string { return fs.Lookup(name).Value.String() }); err != nil {
		return nil, err
	}
	return o, o.checkOut()
}

func (o *options) flags() *cli.Flags {
	fs := cli.NewFlags("inspect", "shows what the attention of a trained model learned",
		`go run ./cmd/inspect -prompt "MIRA: The sea"        heat maps in the terminal`,
		`go run ./cmd/inspect -format html -o page.html      a file for the browser`,
		`go run ./cmd/inspect -http :8080                    type and see it live`,
		`go run ./cmd/inspect -format playground -o m.html   live, the model inside`)
	fs.Group("Model and prompt")
	fs.StringVar(&o.ckpt, "ckpt", "", "checkpoint `file` or run folder; else the newest run")
	fs.StringVar(&o.prompt, "prompt", "", "`text` to look at; else what the model writes itself")
	fs.StringVar(&o.compare, "compare", "", "another `text` of the same last characters (text, html)")
	fs.BoolVar(&o.skipUnknown, "skip_unknown", false, "drop characters that the model does not know")

	fs.Group("What to show")
	fs.StringVar(&o.layer, "layer", "all", "`n`: number from 0, all, or mean")
	fs.StringVar(&o.head, "head", "", "`n`: number from 0, all, or mean (default mean for text and dot)")
	fs.IntVar(&o.top, "top", 3, "`n` strongest keys listed for each query (text)")
	fs.Float64Var(&o.minWeight, "min_weight", 0.1, "`w`: least weight of an edge (dot)")

	fs.Group("Output")
	fs.StringVar(&o.format, "format", "text", "`kind`: "+strings.Join(formats(), ", "))
	fs.StringVar(&o.out, "o", "", "`file` to write; - or nothing for standard output")
	fs.BoolVar(&o.probe, "probe", false, "write the page of a run trained with -probe")
	fs.StringVar(&o.http, "http", "", "serve the live page at an `address`, such as :8080")
	return fs
}

func formats() []string { return []string{"text", "json", "csv", "png", "dot", "html", "playground"} }

// validate checks every flag by itself, before anything is read.
func (o *options) validate() error {
	for _, f := range []struct{ name, value string }{{"ckpt", o.ckpt}, {"compare", o.compare}, {"head", o.head}, {"o", o.out}, {"http", o.http}} {
		if f.value == "" && o.given[f.name] {
			return cli.Usagef("-%s is empty; give a value or leave it out", f.name)
		}
	}
	for _, f := range []struct{ name, value string }{{"layer", o.layer}, {"head", o.head}} {
		if _, err := attention.ParseSelection(f.value, math.MaxInt); err != nil && (f.name == "layer" || o.given["head"]) {
			return cli.Usagef(`-%s is %q; it must be a number from 0, "all" or "mean"`, f.name, f.value)
		}
	}
	switch {
	case !slices.Contains(formats(), o.format):
		return cli.Usagef("-format is %q; it must be one of %s", o.format, strings.Join(formats(), ", "))
	case o.top < 1 || o.top > 1<<30:
		return cli.Usagef("-top is %d; it must be from 1 to %d", o.top, 1<<30)
	case !(o.minWeight >= 0 && o.minWeight <= 1):
		return cli.Usagef("-min_weight is %v; it must be from 0 to 1", o.minWeight)
	}
	return validateAddress(o.http)
}

func validateAddress(addr string) error {
	if addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return cli.Usagef("-http is %q; it must be HOST:PORT or :PORT, such as :8080", addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return cli.Usagef("-http is %q; its port must be a number from 0 (any free one) to 65535", addr)
	}
	return nil
}

// mode is what the command does, as a person asked for it.
func (o *options) mode() string {
	switch {
	case o.http != "":
		return "-http"
	case o.probe:
		return "-probe"
	case o.given["compare"]:
		return "-compare"
	}
	return "-format " + o.format
}

// uses are the flags that a mode reads.
func uses(mode string) string {
	const prompt, selection = "ckpt prompt skip_unknown ", "layer head "
	switch mode {
	case "-http":
		return prompt + selection + "http"
	case "-probe":
		return selection + "ckpt format o probe"
	case "-compare":
		return prompt + selection + "compare format o"
	case "-format text":
		return prompt + selection + "format o top"
	case "-format dot":
		return prompt + selection + "format o min_weight"
	}
	return prompt + selection + "format o"
}

// contradiction refuses flags that do not go together; value is a flag's.
func (o *options) contradiction(value func(name string) string) error {
	mode := o.mode()
	used := strings.Fields(uses(mode))
	for _, name := range []string{"http", "probe", "compare", "format", "o", "prompt", "skip_unknown", "top", "min_weight"} {
		if o.given[name] && value(name) != "false" && !slices.Contains(used, name) {
			return cli.Usagef("-%s %.40q has no effect with %s: leave one of them out", name, value(name), mode)
		}
	}
	switch {
	case mode == "-compare" && o.format != "text" && o.format != "html":
		return cli.Usagef("-format is %s, but -compare writes text or html: leave one of them out", o.format)
	case mode == "-probe" && o.given["format"] && o.format != "html":
		return cli.Usagef("-format is %s, but -probe writes html: leave one of them out", o.format)
	case mode == "-format png" && o.out == "":
		return cli.Usagef("-format png is binary: name a file with -o (or -o - for standard output)")
	}
	if o.page() && (o.layer == "mean" || o.head == "mean") {
		return cli.Usagef("-layer %s -head %s: the page shows single heads, so mean is no choice; give the number of the first to show", o.layer, cmp.Or(o.head, "all"))
	}
	return nil
}

// page tells whether the output is an HTML page.
func (o *options) page() bool {
	return o.http != "" || o.probe || o.format == "html" || o.format == "playground"
}

// saysDropped tells whether the output itself says that a prompt is cut.
func (o *options) saysDropped() bool {
	return !o.given["compare"] && (o.format == "text" || o.page())
}

// selection reads -layer and -head against what the model has.
func (o *options) selection(s attention.Shape) (attention.Selection, error) {
	head := o.head
	if head == "" {
		head = "all"
		if !o.page() && (o.format == "text" || o.format == "dot") {
			head = "mean"
		}
	}
	var chosen attention.Selection
	for _, f := range []struct {
		name, value string
		limit       int
		to          *int
	}{{"layer", o.layer, s.NLayer, &chosen.Layer}, {"head", head, s.NHead, &chosen.Head}} {
		i, err := attention.ParseSelection(f.value, f.limit)
		if err != nil {
			return chosen, cli.Usagef("-%s %v", f.name, err)
		}
		*f.to = i
	}
	return chosen, nil
}

// view is the head that a page shows first.
func view(s attention.Selection) page.View {
	return page.View{Layer: max(0, s.Layer), Head: max(0, s.Head)}
}

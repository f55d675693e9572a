package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"chargpt/model"
)

func TestPlayground(t *testing.T) {
	inRun(t)
	page := succeed(t, "-format", "playground", "-prompt", "the <b>", "-layer", "1", "-head", "2")
	for _, want := range []string{`"kind":"playground"`, `"source":"plays/best.safetensors"`, `"step":7`, `"prompt":"the \u003cb\u003e"`,
		`"view":{"layer":1,"head":2}`, `worker-src blob:`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "connect-src") {
		t.Error("the page may use the network")
	}
	if page := succeed(t, "-format", "playground", "-prompt", ""); !strings.Contains(page, `"prompt":"\n"`) {
		t.Error("with an empty prompt the page does not begin with a newline")
	}
	own := regexp.MustCompile(`"prompt":"((?:[^"\\]|\\.)*)"`).FindStringSubmatch(succeed(t, "-format", "playground"))
	if own == nil || len(own[1]) < small().BlockSize {
		t.Errorf("without a prompt the page begins with %q, want a window of %d characters of the model's own", own, small().BlockSize)
	}
	succeed(t, "-format", "playground", "-prompt", "the <b>", "-layer", "1", "-head", "2", "-ckpt", "checkpoints/plays/best.safetensors", "-o", "page.html")
	if b, err := os.ReadFile("page.html"); err != nil || string(b) != page {
		t.Errorf("-o wrote %d bytes, want the %d of standard output: %v", len(b), len(page), err)
	}
}

// TestPlaygroundRefuses: one line that says why, exit code 1, and no file.
func TestPlaygroundRefuses(t *testing.T) {
	inRun(t)
	c := small()
	c.NLayer, c.NHead, c.NEmbd = 3, 8, 1024
	save(t, "checkpoints/large", c)
	c = small()
	c.Position, c.BlockSize = model.PositionRope, 1<<15
	save(t, "checkpoints/long", c)
	for _, tt := range []struct {
		args, want string // want is a regular expression
	}{
		{"-ckpt checkpoints/large", `best\.safetensors: -format playground: the model has 37,[\d,]+ parameters, so its page would have \d+ MB, over the 100 MB`},
		{"-ckpt checkpoints/long", "block_size is 32768"},
		{"-ckpt checkpoints/plays -prompt Z", "-skip_unknown"},
		{"-ckpt checkpoints/none", "checkpoints/none"},
	} {
		code, out, warn := command(t, append(strings.Fields(tt.args), "-format", "playground", "-o", "page.html")...)
		if code != 1 || out != "" || !regexp.MustCompile(tt.want).MatchString(warn) || strings.Count(warn, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, want one line with %q", tt.args, code, warn, tt.want)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, want the runs alone: %v", entries, err)
	}
}

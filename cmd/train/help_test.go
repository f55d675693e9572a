package main

import (
	"strings"
	"testing"

	"chargpt/internal/cli/clitest"
	"chargpt/model/train"
)

func TestHelpFits(t *testing.T) {
	clitest.Help(t, "train", run)
	for _, p := range train.Presets() {
		clitest.Help(t, "train", run, "-preset", p.Name)
	}
}

// The help has the numbers of the preset that is given, and not those of other flags.
func TestHelpOfPreset(t *testing.T) {
	for _, tt := range []struct {
		args string
		want map[string]string // how a flag's line ends
	}{
		{"-h", map[string]string{"-n_embd": "(default 96)", "-dropout": "(default 0)", "-bias": "(default false)"}},
		{"-data a.txt -n_embd 8 -h", map[string]string{"-n_embd": "(default 96)", "-data": "else built-in"}},
		{"-preset baby -h", map[string]string{"-n_embd": "(default 384)", "-dropout": "(default 0.2)", "-position": "(default learned)"}},
		{"-h -preset baby", map[string]string{"-n_embd": "(default 384)", "-preset": "(default default)"}},
		{"-preset=multi-head -n_embd 8 -h", map[string]string{"-n_embd": "(default 128)", "-attn_only": "(default true)"}},
	} {
		code, stdout, stderr := call(t, "", strings.Fields(tt.args)...)
		lines := map[string]string{}
		for line := range strings.Lines(stdout) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			lines[name] = strings.TrimSpace(line)
		}
		for name, want := range tt.want {
			if code != 0 || !strings.HasSuffix(lines[name], want) {
				t.Errorf("%s: exit code %d, %q, want %q at its end: %s", tt.args, code, lines[name], want, stderr)
			}
		}
	}
	if code, _, stderr := call(t, "", "-preset", "huge", "-h"); code != 2 || !strings.Contains(stderr, "choose one of default, cpu") {
		t.Errorf("-preset huge -h: exit code %d: %s", code, stderr)
	}
}

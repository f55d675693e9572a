package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// The config.json of a run is a -config, and the command line's flags go over it.
func TestConfigOfARun(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Repeat("abcdefgh ", 40)
	for i, length := range [][]string{nil, {"-minutes", "0.001"}} {
		run := fmt.Sprint("run", i)
		args := append([]string{"-data", "-", "-out", run}, fast...)
		if length != nil {
			args = append([]string{"-data", "-", "-out", run}, fast[:len(fast)-6]...)
			args = append(append(args, length...), "-eval_interval", "2")
		}
		if code, _, stderr := call(t, text, args...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		code, stdout, stderr := call(t, text, "-config", run+"/config.json", "-out", run+"b", "-n_layer", "2")
		if code != 0 || !strings.Contains(stdout, "model: 2 layers, 2 heads, 8 channels, block 8") {
			t.Errorf("-config of %v with -n_layer 2: exit code %d: %s%s", length, code, stdout, stderr)
		}
	}
	code, _, stderr := call(t, text, "-config", "run0/config.json", "-preset", "tiny")
	if code != 2 {
		t.Errorf("-config with -preset: exit code %d, want 2", code)
	}
	checkOneLine(t, stderr, "-preset and -config")
}

// The config.json of a run has all of its settings: a run from it ends with the same bytes.
func TestConfigIsWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	settings := []string{"-val_fraction", "0.2", "-seed", "7", "-n_layer", "1", "-n_head", "2", "-n_embd", "8", "-head_size", "6",
		"-block_size", "8", "-dropout", "0.1", "-bias", "-tied=false", "-attn_only", "-position", "learned", "-max_iters", "4",
		"-batch_size", "2", "-learning_rate", "0.002", "-min_lr", "0.001", "-warmup_iters", "1", "-optimizer", "adamw",
		"-muon_lr", "0.03", "-muon_weight_decay", "0.02", "-weight_decay", "0.2", "-beta1", "0.8", "-beta2", "0.95",
		"-grad_clip", "0.5", "-patience", "2", "-eval_interval", "2", "-sample_interval", "3"}
	o, err := parseFlags(t.Context(), settings, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	usual, _ := parseFlags(t.Context(), nil, io.Discard)
	defaults := usual.flags()
	o.flags().VisitAll(func(f *flag.Flag) {
		if f.Value.String() == defaults.Lookup(f.Name).Value.String() && !mayChange[f.Name] {
			t.Errorf("-%s is %v, its default: the test would not see that it is lost", f.Name, f.Value)
		}
	})
	var files [2][]byte
	for i, args := range [][]string{append(settings, "-data", "-", "-out", "run0"), {"-config", "run0/config.json", "-out", "run1"}} {
		if code, _, stderr := call(t, strings.Repeat("abcdefgh ", 40), args...); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
		if files[i], err = os.ReadFile(fmt.Sprintf("run%d/ckpt.safetensors", i)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the checkpoint of a run from a config.json differs from that of the run that wrote it")
	}
}

// A -config that makes no sense says so; what the command line says of the length goes over the file's.
func TestConfigErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		content string
		args    []string
		code    int
		want    string
	}{
		{`[]`, nil, 2, "(array): it must be a JSON object of flags"}, {``, nil, 2, "c.json is empty: it must be"}, {`null`, nil, 2, "c.json is null: it must be"},
		{`{"nonsense": 1}`, nil, 2, `c.json: "nonsense" is no flag of train`},
		{`{"preset": ""}`, nil, 2, `"preset" is empty: give a value, or leave it out`}, {`{"position": ""}`, nil, 2, `"position" is empty`},
		{`{"config": "d.json"}`, nil, 2, `"config" makes no sense in a file of flags`}, {`{"version": true}`, nil, 2, `"version" makes no sense`},
		{`{"minutes": 1, "max_iters": 5}`, nil, 2, "minutes 1 and max_iters 5 both say how long to train: keep one of them"},
		{`{}`, []string{"-resume"}, 2, "leave -config out: a run keeps its settings"}, {`{"resume": true}`, nil, 2, "leave -config out"},
		{`{"minutes": 1}`, []string{"-max_iters", "3"}, 0, "iterations 0 to 3"},
		{`{"minutes": 1, "max_iters": 5}`, []string{"-max_iters", "3"}, 0, "iterations 0 to 3"},
		{`{"max_iters": 1000000}`, []string{"-minutes", "0.001"}, 0, "0.001 minutes, from"},
		{`{"minutes": 0.001, "preset": "tiny", "max_iters": 2000}`, nil, 0, "0.001 minutes, from"}, // as the config.json of a run once was
	} {
		if err := os.WriteFile("c.json", []byte(tt.content), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-config", "c.json", "-data", "-"}, tt.args...)
		if tt.code == 0 {
			args = append(append(args, fast[:len(fast)-6]...), "-threads", "1")
		}
		code, stdout, stderr := call(t, strings.Repeat("abcdefgh ", 40), args...)
		if code != tt.code || !strings.Contains(stdout+stderr, tt.want) {
			t.Errorf("%s %v: exit code %d, want %d and %q: %s%s", tt.content, tt.args, code, tt.code, tt.want, stdout, stderr)
		}
		if tt.code != 0 {
			checkOneLine(t, stderr, tt.want)
		}
	}
	code, _, stderr := call(t, "", "-config", "nosuch.json")
	if code != 1 {
		t.Errorf("no file: exit code %d, want 1", code)
	}
	checkOneLine(t, stderr, "-config", "nosuch.json", "check the path")
	code, _, stderr = call(t, "", "-tied", "false")
	if code != 2 {
		t.Errorf("-tied false: exit code %d, want 2", code)
	}
	checkOneLine(t, stderr, "write -tied=false")
}

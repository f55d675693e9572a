package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"chargpt/data"
	"chargpt/internal/cli"
	"chargpt/internal/runs"
	"chargpt/model/checkpoint"
	"chargpt/model/train"
)

// resume opens a run folder, refuses flags that contradict it, and goes on.
func resume(ctx context.Context, o *options, stdin io.Reader) (*train.Trainer, error) {
	path := o.out
	if path == "" {
		newest, err := train.Newest(runs.Root)
		if err != nil {
			return nil, err
		}
		path = newest
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("-out %s is a file: name the folder of the run to resume", path)
	}
	folder, err := train.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no run to resume in %s: name a run folder with -out, or leave -resume out to start one", path)
	}
	if errors.Is(err, train.ErrNoCheckpoint) {
		return nil, fmt.Errorf("%w: it cannot go on; sample from its best weights, or start a new run in another folder", err)
	}
	if err != nil {
		return nil, lockedHint(err)
	}
	t, err := resumeFolder(ctx, o, folder, stdin)
	if err != nil {
		folder.Close()
		return nil, err
	}
	return t, nil
}

func resumeFolder(ctx context.Context, o *options, folder *train.Folder, stdin io.Reader) (*train.Trainer, error) {
	c, err := checkpoint.Read(folder.Checkpoint())
	if err != nil {
		return nil, err
	}
	state, err := train.ReadState(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder.Checkpoint(), err)
	}
	if err := o.contradiction(c.Config, state); err != nil {
		return nil, err
	}
	if need, most := train.Memory(c.Config, state.Options), train.MaxMemory(); need > most {
		return nil, fmt.Errorf("%s needs about %.1f GB of memory to go on; here the most is %.1f: go on where there is more", folder.Checkpoint(), need/1e9, most/1e9)
	}
	text, err := resumedText(ctx, o, state, stdin)
	if err != nil {
		return nil, err
	}
	return train.Resume(c, text, o.length(), train.Run{Folder: folder, Threads: o.threads})
}

// length is what the command line says of how long a resumed run is to be.
func (o *options) length() (l train.Length) {
	if o.given["max_iters"] {
		l.MaxIters = o.MaxIters
	}
	if o.given["minutes"] {
		l.Minutes = o.Minutes
	}
	if o.given["patience"] {
		l.Patience = &o.Patience
	}
	return l
}

// resumedText reads the text of a run again: from -data, or from where the run had it. It does not wait at a keyboard for
// what once came through a pipe.
func resumedText(ctx context.Context, o *options, s train.State, stdin io.Reader) (*data.Text, error) {
	if o.given["data"] {
		return readText(ctx, o.data, stdin)
	}
	const piped = "the run's text came from standard input: pipe the same text again, or give -data FILE"
	if _, keyboard := cli.Terminal(stdin); s.Data == "-" && keyboard {
		return nil, errors.New(piped)
	}
	text, err := readText(ctx, s.Data, stdin)
	switch {
	case err == nil:
		if s.Data == "-" && text.SHA256 != s.TextSHA256 {
			return nil, errors.New(piped + " (this is another)")
		}
		return text, nil
	case s.Data == "-":
		return nil, fmt.Errorf("%s (%w)", piped, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the run's text %s is not there, seen from this folder: go to where the run was started, or give -data FILE", s.Data)
	}
	return nil, err
}

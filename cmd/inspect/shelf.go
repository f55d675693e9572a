package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"chargpt/internal/attention/page"
	"chargpt/internal/trace"
	"chargpt/model/train"
)

// maxOpen is how many models stay in memory: somebody who compares runs goes back and forth between few.
const maxOpen = 4

// shelf is the checkpoints that the live page offers: that of -ckpt, and the runs under root.
type shelf struct {
	root, ckpt string
	ids        map[string]string // by path; an id stays a path's for good
	paths      map[string]string // by id
	opened     []*opened         // the last used at the end
}

// opened is a model in memory, and the file it was read from as it was then.
type opened struct {
	*trace.Loaded
	path, file string
	size       int64
	modified   time.Time
}

func newShelf(root, ckpt string) *shelf {
	return &shelf{root: root, ckpt: ckpt, ids: map[string]string{}, paths: map[string]string{}}
}

// List is what -ckpt names, if anything, and then the runs, the newest first.
func (s *shelf) List() []page.Checkpoint {
	var list []page.Checkpoint
	if s.ckpt != "" {
		list = append(list, page.Checkpoint{ID: s.id(s.ckpt), Name: filepath.ToSlash(s.ckpt)})
	}
	runs, _ := train.Runs(s.root) // a folder that cannot be read has none to offer
	for _, run := range runs {
		if filepath.Clean(s.ckpt) != run {
			list = append(list, page.Checkpoint{ID: s.id(run), Name: filepath.Base(run)})
		}
	}
	return list
}

// id makes up a name for a path, which the page may know; the path stays here.
func (s *shelf) id(path string) string {
	id, ok := s.ids[path]
	if !ok {
		id = fmt.Sprintf("c%d", len(s.ids)+1)
		s.ids[path], s.paths[id] = id, path
	}
	return id
}

// Open returns the model of a listed id: the one in memory, unless its file is another by now.
func (s *shelf) Open(ctx context.Context, id string) (page.Model, error) {
	path, ok := s.paths[id]
	if !ok {
		return nil, fmt.Errorf("%q: %w", id, page.ErrNoCheckpoint)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return s.open(path)
}

// first is the model that the page starts with.
func (s *shelf) first() (*opened, error) {
	list := s.List()
	if len(list) == 0 {
		_, err := train.Newest(s.root) // says what to do
		return nil, err
	}
	return s.open(s.paths[list[0].ID])
}

func (s *shelf) open(path string) (*opened, error) {
	file, err := train.Locate(s.root, path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if o := s.take(path); o != nil {
		if o.file == file && o.size == info.Size() && o.modified.Equal(info.ModTime()) {
			s.opened = append(s.opened, o)
			return o, nil
		}
		o.Close()
	}
	m, err := trace.Load(file)
	if err != nil {
		return nil, err
	}
	o := &opened{m, path, file, info.Size(), info.ModTime()}
	if len(s.opened) == maxOpen {
		s.opened[0].Close()
		s.opened = s.opened[1:]
	}
	s.opened = append(s.opened, o)
	return o, nil
}

// take removes a path's model from those in memory; nil if there is none.
func (s *shelf) take(path string) *opened {
	for i, o := range s.opened {
		if o.path == path {
			s.opened = append(s.opened[:i], s.opened[i+1:]...)
			return o
		}
	}
	return nil
}

func (s *shelf) close() {
	for _, o := range s.opened {
		o.Close()
	}
}

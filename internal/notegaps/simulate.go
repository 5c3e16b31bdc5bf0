package notegaps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/notes"
)

// A simulator computes the notes that the hook would show with the calls if some notes
// were different. It builds a copy of the notes and their database in a temporary folder.
type simulator struct {
	in      *Input
	dir     string
	db      config.Database // the copy
	calls   []*notes.Call
	others  [][]notes.Entry   // of the other databases, by call
	changed map[string][]byte // original contents of the files that differ; nil: none
	writes  int64
}

func newSimulator(ctx context.Context, in *Input, calls []*notes.Call) (*simulator, error) {
	dir, err := os.MkdirTemp("", "docsearch-coverage-")
	if err != nil {
		return nil, err
	}
	s := &simulator{in: in, dir: dir, db: in.Database, calls: calls, changed: map[string][]byte{}}
	s.db.Path = filepath.Join(dir, "database")
	if err := s.copyNotes(ctx); err != nil {
		s.close()
		return nil, fmt.Errorf("cannot copy the notes: %w", err)
	}
	s.others = make([][]notes.Entry, len(calls))
	for i := range in.Others {
		found, err := lookup.Indexes{}.EntriesOf(&in.Others[i], calls, in.Floor)
		if err != nil {
			continue // the hook shows none of its notes either
		}
		for n := range calls {
			s.others[n] = append(s.others[n], found[n]...)
		}
	}
	return s, nil
}

func (s *simulator) close() { os.RemoveAll(s.dir) }

func (s *simulator) folder() string { return filepath.Join(s.dir, "notes") }

// copyNotes copies the files that the database is built from.
func (s *simulator) copyNotes(ctx context.Context) error {
	filter, err := folder.NewFilter(s.in.Files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.folder(), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(string(s.in.Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the first note creates the folder
	}
	if err != nil {
		return err
	}
	defer root.Close()
	items, _, err := folder.Walk(ctx, root, filter)
	if err != nil {
		return err
	}
	for _, it := range items {
		data, _, err := folder.ReadFile(root, it.Name)
		if err != nil {
			continue // the database skips it, too
		}
		if err := s.write(it.Name, data); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the copy. Nil data removes it.
func (s *simulator) write(name string, data []byte) error {
	path := filepath.Join(s.folder(), filepath.FromSlash(name))
	if data == nil {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	// Updates detect changes by time, and the clocks of file systems are coarse.
	s.writes++
	at := time.Unix(1e9+s.writes, 0)
	return os.Chtimes(path, at, at)
}

// with returns the notes that the hook would show with each call if these files had these
// contents.
func (s *simulator) with(ctx context.Context, files map[string][]byte) (shown, error) {
	if err := s.change(files); err != nil {
		return nil, err
	}
	source, err := ingest.NewFolder(s.folder(), folder.Options{KeepSecrets: s.in.Files.KeepSecrets, NoIgnore: true})
	if err != nil {
		return nil, err
	}
	_, err = index.Build(ctx, s.db.Path, source, index.BuildOptions{Language: s.in.Language, Update: true})
	if errors.Is(err, index.ErrNoPassages) {
		return make(shown, len(s.calls)), nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := lookup.Indexes{}.EntriesOf(&s.db, s.calls, s.in.Floor)
	if err != nil {
		return nil, err
	}
	result := make(shown, len(s.calls))
	for i := range entries {
		for _, e := range notes.Best(append(entries[i], s.others[i]...)) {
			if e.Database == s.db.Name {
				result[i] = append(result[i], e.Document)
			}
		}
	}
	return result, nil
}

// change gives the files these contents and all others their original ones.
func (s *simulator) change(files map[string][]byte) error {
	for name, original := range s.changed {
		if err := s.write(name, original); err != nil {
			return err
		}
		delete(s.changed, name)
	}
	for name, data := range files {
		original, err := os.ReadFile(filepath.Join(s.folder(), filepath.FromSlash(name)))
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		s.changed[name] = original
		if err := s.write(name, data); err != nil {
			return err
		}
	}
	return nil
}

// shown contains the names of the notes that the hook would show, by call.
type shown [][]string

func (s shown) has(call int, note string) bool { return slices.Contains(s[call], note) }

// calls returns the calls with which a note is shown.
func (s shown) calls(note string) []int {
	var list []int
	for i := range s {
		if s.has(i, note) {
			list = append(list, i)
		}
	}
	return list
}

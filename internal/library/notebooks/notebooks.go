// Package notebooks keeps the databases of folders of notes up to date with the notes.
package notebooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/doctor"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/notes"
	"github.com/docsearch/docsearch/internal/notes/notebook"
	"github.com/docsearch/docsearch/internal/usererror"
)

const (
	// noteIndexWait is how long a writer waits for another build of the database.
	noteIndexWait     = 30 * time.Second
	recentTranscripts = 10
	recentCalls       = 500
)

// Of returns the folders of notes that the config names. Copies of the builder update
// their databases.
func Of(c *config.Config, b library.Builder) []notebook.Notebook {
	var all []notebook.Notebook
	for _, db := range c.Databases {
		if db.Notes != "" {
			all = append(all, notebook.Notebook{Name: db.Name, Description: db.Description,
				Folder:   notebook.Folder(db.Notes),
				Database: &noteDatabase{builder: b, config: c, db: db}})
		}
	}
	return all
}

// A noteDatabase is the database of a folder of notes. It implements
// notebook.Database.
type noteDatabase struct {
	builder library.Builder
	config  *config.Config
	db      config.Database
}

// Update builds the database, or updates it from the folder.
func (d *noteDatabase) Update(ctx context.Context) error {
	b := d.builder
	b.Out, b.Name, b.Wait = d.db.Path, d.db.Name, noteIndexWait
	info, err := index.Inspect(d.db.Path)
	var p library.Plan
	switch {
	case errors.Is(err, generation.ErrNoIndex), errors.Is(err, fs.ErrNotExist):
		l := config.Locate(os.Getenv)
		p, err = b.PlanFolder(l, nil, d.db.Notes)
	case err != nil:
		err = library.WithRepair(d.db.Path, err)
	case !library.SamePath(info.Source.Location, d.db.Notes):
		err = usererror.WithHint(fmt.Errorf("database %s was built from %s, not from %s", d.db.Name,
			info.Source.Location, d.db.Notes),
			`set "path" to a new folder, or "notes" to the source of the database`)
	default:
		p, err = b.PlanUpdate(library.Ref{Name: d.db.Name, Path: d.db.Path, Configured: true}, info, false)
	}
	if err == nil {
		_, err = b.Build(ctx, &p)
	}
	return err
}

// Similar returns the notes about the same subject.
func (d *noteDatabase) Similar(f notebook.Fields) ([]string, error) {
	if !library.HasIndex(d.db.Path) {
		return nil, nil
	}
	found, err := lookup.Indexes{}.Similar(&d.db, f.Title+" "+strings.Join(f.Tags, " "), f.AppliesWhen.Commands)
	var names []string
	for _, e := range found {
		names = append(names, e.Document)
	}
	return names, err
}

// MatchingCalls returns recent calls of the project with which the hook would show the
// note, latest session first, each once.
func (d *noteDatabase) MatchingCalls(ctx context.Context, name string) ([]string, error) {
	calls, err := d.recentCalls(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, call := range calls {
		entries, err := uncached.Indexes(d.config, uncached.NoReport).Entries(&d.db, call, d.config.Inject.Floor)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return nil, err
		}
		text := call.Tool + " " + strings.TrimSpace(call.Command+call.Path)
		if slices.ContainsFunc(notes.Best(entries), func(e notes.Entry) bool { return e.Document == name }) &&
			!slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	return found, nil
}

// errEnough ends the reading of a transcript.
var errEnough = errors.New("enough calls")

// recentCalls returns the recent calls of the project that can get notes. It ignores
// transcripts that cannot be read.
func (d *noteDatabase) recentCalls(ctx context.Context) ([]*notes.Call, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	place := config.PlaceOf(config.Locate(os.Getenv), os.Getenv, cwd)
	files, err := replay.Transcripts(SessionFolder(place), time.Now().Add(-doctor.RecentPeriod))
	if err != nil {
		return nil, nil // no session of Claude Code in this project
	}
	var calls []*notes.Call
	for _, file := range files[:min(len(files), recentTranscripts)] {
		in, err := os.Open(file)
		if err != nil {
			continue
		}
		_, _ = replay.Read(in, func(e replay.Event) error {
			if len(calls) >= recentCalls || ctx.Err() != nil {
				return errEnough
			}
			if e.Name == event.PreToolUse && slices.Contains(d.config.Inject.Tools, e.Tool) {
				calls = append(calls, hook.CallOf(e.Event))
			}
			return nil
		})
		in.Close()
	}
	return calls, ctx.Err()
}

// SessionFolder returns Claude Code's folder for the sessions of a project. Its name is the
// path of the project with hyphens for everything but letters and digits.
func SessionFolder(p config.RoutesPlace) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, p.Project)
	return filepath.Join(p.Claude, "projects", name)
}

package library

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/provenance"
)

// Updatable returns the databases with an index that an update may change. Those of projects
// keep the contents of a version.
func Updatable(l config.Locations) ([]Ref, error) {
	all, err := List(l)
	return slices.DeleteFunc(all, func(d Ref) bool {
		if d.Project != "" {
			return true
		}
		_, err := index.Inspect(d.Path)
		return err != nil && !index.IsOutdated(err)
	}), err
}

// An Updated is the result of an update.
type Updated struct {
	Plan
	Before, After index.Info
	Reused        bool // unchanged documents were not read again
	Took          time.Duration
}

// Update runs the plan of an update. A source that seems to have lost documents leaves the
// database as it was before; see Plan.Lost.
func (b *Builder) Update(ctx context.Context, p *Plan, before index.Info) (*Updated, error) {
	start := time.Now()
	info, err := b.Build(ctx, p)
	if errors.As(err, &p.Lost) {
		info, err = before, nil
	}
	if err != nil {
		return nil, origins.Explain("", err)
	}
	if source, ok := p.Source.(*pack.Database); ok && b.Lock {
		if err := RecordLock(source.Head, pack.Key(p.Options.Publisher), source.Location); err != nil {
			return nil, err
		}
	}
	return &Updated{Plan: *p, Before: before, After: info, Reused: b.Reuse, Took: time.Since(start)}, nil
}

// Remake rebuilds an index of an older format from the database's own passages. The database
// then answers again, even if its source cannot be read.
func Remake(ctx context.Context, d Ref, wait time.Duration, report progress.Func) (index.Info, error) {
	dir, err := index.Locate(d.Path)
	if err != nil {
		return index.Info{}, err
	}
	g, err := generation.Outdated(dir)
	if err != nil {
		return index.Info{}, WithRepair(d.Path, err)
	}
	info, err := index.Reindex(ctx, d.Path, index.BuildOptions{
		Language: OptionsOf(&g.Manifest, dir).Language, Wait: wait, Report: report,
		Key: provenance.Load(config.KeyPath(os.Getenv)),
	})
	if err != nil {
		return info, ExplainBuild(Plan{Label: d.Name, Dir: dir}, err)
	}
	_ = config.Forget(config.Locate(os.Getenv)) // see Build
	return info, nil
}

// updateLock is the file in the cache folder that the process locks that updates in the
// background.
const updateLock = "update.lock"

// A Background selects the databases that an update in the background changes.
type Background struct {
	Chosen      []Ref
	Tool        string // version of docsearch
	ReindexOnly bool   // only rebuild indexes of an older format
}

// due returns the databases with an index of an older format, and the overdue ones.
func (u *Background) due(attempts map[string]time.Time) (outdated, overdue []Ref) {
	outdated = Outdated(u.Chosen, attempts, u.Tool)
	if !u.ReindexOnly {
		overdue = Overdue(u.Chosen, attempts)
	}
	return outdated, overdue
}

// Start starts a process that updates the databases, if any is due, and does not wait for it.
func (u *Background) Start() error {
	cache, err := CacheFolder()
	if err != nil {
		return err
	}
	if outdated, overdue := u.due(ReadAttempts(cache)); len(outdated)+len(overdue) == 0 {
		return nil
	}
	args := []string{"update", "--detached", "--wait", "1m"}
	if u.ReindexOnly {
		args = append(args, "--reindex")
	}
	for _, d := range u.Chosen {
		args = append(args, d.Path)
	}
	return background.Start(cache, args)
}

// Run records an attempt for each database that is due, and calls f with those whose index
// has an older format, and with the overdue ones. It does nothing if none is due, or if
// another process updates databases.
func (u *Background) Run(f func(outdated, overdue []Ref) error) error {
	cache, err := CacheFolder()
	if err != nil {
		return err
	}
	lock, err := filelock.TryLock(filepath.Join(cache, updateLock))
	if errors.Is(err, filelock.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()
	attempts := ReadAttempts(cache)
	outdated, overdue := u.due(attempts) // the previous lock holder may have updated them
	if len(outdated)+len(overdue) == 0 {
		return nil
	}
	background.LowerPriority()
	if err := background.EmptyLog(cache); err != nil {
		return err
	}
	for _, d := range outdated {
		attempts[ReindexAttempt(d, u.Tool)] = time.Now()
	}
	for _, d := range overdue {
		attempts[d.Path] = time.Now()
	}
	data, err := json.Marshal(attempts)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteCache(filepath.Join(cache, UpdateAttempts), data, 0o644); err != nil {
		return err
	}
	return f(outdated, overdue)
}

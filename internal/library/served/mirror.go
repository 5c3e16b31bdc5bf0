package served

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack/origins"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// Mirrors builds copies of servers' databases, from the packs that the servers' databases came
// as. The publisher of a pack must be one that the user trusts, as for every pack: the
// server only names the location.
type Mirrors struct {
	Builder library.Builder              // copies of it build the mirrors; its console receives failures
	Asker   library.Asker                // asks about publishers; nil: they must be known
	Keys    []string                     // public keys that the user gave
	Stale   bool                         // also update mirrors of the server's version
	Done    func(*library.Updated) error // receives each mirror
}

// mirrorLock is the file in the cache folder that one process locks to build mirrors.
const mirrorLock = "mirror.lock"

// Update builds the missing mirrors of the config's servers, updates those of another version
// than the server's, and removes those of databases that the servers no longer list. It
// continues after failures, and returns whether there were none.
func (m *Mirrors) Update(ctx context.Context) (ok bool, err error) {
	l := config.Locate(os.Getenv)
	loaded, err := load.Load(l)
	if err != nil {
		return false, usererror.WithHint(err, "run docsearch config check to list all problems")
	}
	dir := config.MirrorFolder(l)
	servers := slices.DeleteFunc(loaded.Config.Remotes, func(r config.Remote) bool { return !r.Mirror })
	if _, err := os.Stat(dir); dir == "" || len(servers) == 0 && errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	cache, err := library.CacheFolder()
	if err != nil {
		return false, err
	}
	lock, err := filelock.TryLock(filepath.Join(cache, mirrorLock))
	if errors.Is(err, filelock.ErrLocked) {
		return true, nil // another process does the same
	}
	if err != nil {
		return false, err
	}
	defer lock.Unlock()
	keep := map[string]bool{}
	ok, complete := true, true
	for i := range servers {
		databases, err := FetchDatabases(ctx, &servers[i], l)
		if err != nil {
			m.Builder.Console.Report(fmt.Errorf("cannot list the databases of %s: %w", servers[i].URL, err))
			ok, complete = false, false
			continue
		}
		for _, d := range databases {
			path := config.MirrorPath(l, servers[i].URL, d.Name)
			if d.Pack == "" {
				continue
			}
			keep[filepath.Base(path)] = true
			err := library.CheckOffered(d.Pack, servers[i].URL)
			if err == nil {
				err = m.mirror(ctx, path, &d)
			}
			if err != nil {
				m.Builder.Console.Report(fmt.Errorf("cannot mirror %s of %s: %w", d.Name, servers[i].URL, err))
				ok = false
			}
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
		}
	}
	if complete {
		err = library.RemoveMirrors(dir, keep)
	}
	if err == nil {
		err = config.Forget(l) // the hook must not look for a mirror that is gone
	}
	return ok, err
}

// mirror builds or updates the mirror of a database. Without Stale, it leaves a mirror of the
// server's version as it is for a day.
func (m *Mirrors) mirror(ctx context.Context, dir string, d *remote.Database) error {
	if !m.Stale && !IsMirrorDue(dir, d) {
		return nil
	}
	before, err := index.Inspect(dir)
	exists := err == nil
	b := m.Builder
	b.Reuse = exists
	p := library.Plan{Dir: dir, Label: safetext.Printable(d.Name), Configured: true}
	if exists {
		p.Options = b.MergeOptions(dir)
	}
	recorded := p.Options.Publisher
	// The pack may have another location now, or the first build is that of the server's
	// choice: in both cases the publisher decides.
	head, err := origins.ReadHead(ctx, d.Pack)
	if err != nil {
		return err
	}
	key, err := library.Trust(ctx, b.Console, m.Asker, head.Signatures, head.Subject(),
		append(library.NonEmpty(recorded), m.Keys...))
	if err != nil {
		return err
	}
	p.Options.Language, p.Options.Publisher = head.Language, string(key)
	p.Source = b.PackUpdate(dir, cmp.Or(recorded, string(key)), d.Pack)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	start := time.Now()
	info, err := b.Build(ctx, &p)
	if err != nil {
		return origins.Explain(d.Pack, err)
	}
	if err := library.SavePublisher(b.Console, key); err != nil {
		return err
	}
	return m.Done(&library.Updated{Plan: p, Before: before, After: info, Reused: exists, Took: time.Since(start)})
}

package main

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
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/pack/origins"
	"github.com/docsearch/docsearch/internal/remote"
)

// A mirror is a copy of a server's database, built from the pack that the server's
// database came as. Its publisher must be one that the user trusts, as for every pack:
// the server only names the location.

// mirrorLock is the file in the cache folder that one process locks to build mirrors.
const mirrorLock = "mirror.lock"

// updateMirrors builds the missing mirrors of the config's servers, updates those of
// another version than the server's, or all if stale is set, and removes those of
// databases that the servers no longer list. It continues after failures.
func (u *updateCommand) updateMirrors(ctx context.Context, stale bool) error {
	l := config.Locate(os.Getenv)
	loaded, err := load.Load(l)
	if err != nil {
		return withHint(err, "run docsearch config check to list all problems")
	}
	dir := config.MirrorFolder(l)
	servers := slices.DeleteFunc(loaded.Config.Remotes, func(r config.Remote) bool { return !r.Mirror })
	if _, err := os.Stat(dir); dir == "" || len(servers) == 0 && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	cache, err := library.CacheFolder()
	if err != nil {
		return err
	}
	lock, err := filelock.TryLock(filepath.Join(cache, mirrorLock))
	if errors.Is(err, filelock.ErrLocked) {
		return nil // another process does the same
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()
	keep := map[string]bool{}
	failed, complete := false, true
	for i := range servers {
		databases, err := served.FetchDatabases(ctx, &servers[i], l)
		if err != nil {
			report(u.stderr, fmt.Errorf("cannot list the databases of %s: %w", servers[i].URL, err))
			failed, complete = true, false
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
				err = u.mirror(ctx, path, &d, stale)
			}
			if err != nil {
				report(u.stderr, fmt.Errorf("cannot mirror %s of %s: %w", d.Name, servers[i].URL, err))
				failed = true
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	if complete {
		err = library.RemoveMirrors(dir, keep)
	}
	if err == nil {
		err = config.Forget(l) // the hook must not look for a mirror that is gone
	}
	return cmp.Or(err, failureIf(failed))
}

// mirror builds or updates the mirror of a database. If stale is not set, it leaves a
// mirror of the server's version as it is for a day.
func (u *updateCommand) mirror(ctx context.Context, dir string, d *remote.Database, stale bool) error {
	if !stale && !served.IsMirrorDue(dir, d) {
		return nil
	}
	before, err := index.Inspect(dir)
	exists := err == nil
	b := u.newBuildCommand()
	b.Reuse = exists
	p := library.Plan{Dir: dir, Label: printable(d.Name), Configured: true}
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
	key, err := library.Trust(ctx, b.Console, askerOf(u.prompter), head.Signatures, head.Subject(), append(library.NonEmpty(recorded), u.keys...))
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
	return u.printResult(b, p, before, info, time.Since(start))
}

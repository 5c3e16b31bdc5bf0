package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/provenance"
)

// A listing is a database that a name can mean: one of the config's, or one
// of docsearch's own data folder.
type databaseRef struct {
	Name         string
	Path         string // as the config has it, or of the folder
	Configured   bool
	ExternalTool bool     // the config has another server answer from it
	Aliases      []string // what the database is called, for a query to be read by
	Version      string   // of what it documents; empty if unknown
	URLs         []string // prefixes of its pages
}

// listDatabases are the databases of the config and of the data folder. What is
// wrong with the config is for docsearch config check to say; what can be read
// of it counts.
func listDatabases(l config.Locations) ([]databaseRef, error) {
	var all []databaseRef
	if l.Config != "" {
		loaded, err := load.Load(l)
		if err != nil {
			return nil, withHint(err, "run docsearch config check to list all problems")
		}
		for _, db := range loaded.Config.Databases {
			all = append(all, databaseRef{
				Name: db.Name, Path: db.Path, Configured: true, ExternalTool: db.Tool != "",
				Aliases: append([]string{db.Name}, db.Keywords...), Version: db.Version, URLs: db.URLs,
			})
		}
	}
	made, err := dataFolderDatabases(l.Data)
	if err != nil {
		return nil, err
	}
	for _, m := range made {
		if !slices.ContainsFunc(all, func(have databaseRef) bool { return samePath(have.Path, m.Path) }) {
			all = append(all, m)
		}
	}
	return all, nil
}

// dataFolderDatabases are the databases in docsearch's own data folder.
func dataFolderDatabases(dir string) ([]databaseRef, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var made []databaseRef
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && isDatabase(path) {
			made = append(made, databaseRef{Name: e.Name(), Path: path, Aliases: []string{e.Name()}})
		}
	}
	return made, nil
}

// isDatabase reports whether the folder is one that docsearch or LEANN made,
// even if what is in it cannot be read.
func isDatabase(dir string) bool {
	if generation.HasManifest(dir) {
		return true
	}
	_, err := leann.Folder(dir)
	return err == nil && !isIncompleteBuild(dir)
}

// isIncompleteBuild reports whether the folder has what a killed first build left.
func isIncompleteBuild(dir string) bool {
	if generation.HasManifest(dir) || !generation.InProgress(dir) {
		return false
	}
	found, err := leann.Find(dir)
	switch {
	case errors.Is(err, leann.ErrNotLEANN):
		return true
	case err != nil:
		return false
	case found.Kind == leann.KindIndex:
		return found.Meta.Origin != nil
	}
	return isBuildOutput(dir, found.Location)
}

// isBuildOutput reports whether a passages file without a meta file is one that a
// build of the database in dir was about to publish, and not the user's own.
func isBuildOutput(dir, passages string) bool {
	shards, err := filepath.Glob(filepath.Join(dir, generation.Folder, "g*", passage.ShardName(0)))
	return err == nil && slices.ContainsFunc(shards, func(shard string) bool { return samePath(shard, passages) })
}

// cleanUp removes what killed builds left of a database, or of one that never came to
// be.
func cleanUp(dir string) {
	unfinished := isIncompleteBuild(dir)
	generation.Tidy(dir, func(first bool) {
		switch {
		case !first:
			index.Republish(dir, provenance.Load(config.KeyPath(os.Getenv)))
			ingest.CleanCopy(dir)
		case unfinished:
			leann.Unpublish(dir)
			ingest.RemoveCopy(dir)
		}
	})
	if unfinished {
		os.Remove(dir) // fails where downloaded pages are kept for the next build
	}
}

// cleanUpEach does so with several databases.
func cleanUpEach(all []databaseRef) {
	for _, d := range all {
		if dir, err := index.Locate(d.Path); err == nil {
			cleanUp(dir)
		}
	}
}

// cleanUpDataFolder does so with the folders in docsearch's data folder in which no database
// ever came to be.
func cleanUpDataFolder(l config.Locations) {
	entries, _ := os.ReadDir(l.Data)
	for _, e := range entries {
		if dir := filepath.Join(l.Data, e.Name()); e.IsDir() && isIncompleteBuild(dir) {
			cleanUp(dir)
		}
	}
}

// findDatabase finds the database that a name or a path on the command line means.
// A name, that of a folder in docsearch's data folder among them, comes before a
// file of that name in the working directory; a path can always be told from it by
// a separator.
func findDatabase(all []databaseRef, arg string) (databaseRef, error) {
	if !hasSeparator(arg) {
		if i := slices.IndexFunc(all, func(d databaseRef) bool { return strings.EqualFold(d.Name, arg) }); i >= 0 {
			return all[i], nil
		}
		if folder, ok := dataFolderPath(arg); ok {
			arg = folder
		}
	}
	path, err := filepath.Abs(arg)
	if err != nil {
		return databaseRef{}, err
	}
	if i := slices.IndexFunc(all, func(d databaseRef) bool { return samePath(d.Path, path) }); i >= 0 {
		return all[i], nil
	}
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = leann.Folder(path) // LEANN's name of an index need not exist
	}
	if err == nil {
		name := filepath.Base(path)
		if dir, err := index.Locate(path); err == nil {
			name = filepath.Base(dir)
		}
		return databaseRef{Name: name, Path: path, Aliases: []string{name}}, nil
	}
	if hasSeparator(arg) || !errors.Is(err, fs.ErrNotExist) {
		return databaseRef{}, err
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
	}
	unknown := &notFoundError{arg, decode.Nearest(arg, names)}
	switch {
	case unknown.suggestion != "":
		return databaseRef{}, withHint(unknown, "did you mean %q?", unknown.suggestion)
	case len(all) == 0:
		return databaseRef{}, withHint(unknown, "run docsearch index build SOURCE to build one")
	}
	return databaseRef{}, withHint(unknown, "available databases: %s", strings.Join(names, ", "))
}

// An notFoundError says that no database has a name.
type notFoundError struct {
	name       string
	suggestion string // a name that is like it, if there is one
}

func (e *notFoundError) Error() string { return fmt.Sprintf("database %q not found", e.name) }

// dataFolderPath is the path of the folder of that name in docsearch's data folder,
// if there is one. The config may know the database by another name.
func dataFolderPath(name string) (string, bool) {
	data := config.Locate(os.Getenv).Data
	if data == "" || strings.HasPrefix(name, ".") {
		return "", false
	}
	path := filepath.Join(data, name)
	st, err := os.Stat(path)
	return path, err == nil && st.IsDir()
}

func hasSeparator(s string) bool {
	return strings.ContainsRune(s, filepath.Separator) || strings.Contains(s, "/") || s == "." || s == ".."
}

// samePath reports whether two paths lead to one file, as far as their texts
// and the file system can tell.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	stA, errA := os.Stat(a)
	stB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(stA, stB)
}

// States of a database, as index list shows them.
const (
	stateOK      = "ok"
	stateStale   = "stale"
	stateNone    = "no index"
	stateMissing = "missing"
	stateDamaged = "corrupt"
	stateVersion = "other version"
)

// inspect opens the database, which costs the same whatever its size, and says
// what state it is in; why is a sentence where that is not "ok".
func inspect(path string) (info index.Info, state, why string) {
	info, err := index.Inspect(path)
	if err == nil {
		var db *index.Database
		if db, err = index.Open(path); err == nil {
			db.Close()
			if why := staleness(info); why != "" {
				return info, stateStale, why
			}
			return info, stateOK, ""
		}
	}
	return info, stateForError(err), userMessage(err)
}

// staleness says why the index is older than its source; "" if it is not, or
// nobody can tell: the source that another user's database names is not looked at.
func staleness(info index.Info) string {
	switch {
	case info.Stale != "" || !isOwn(info):
		return info.Stale
	case info.Source.Kind != ingest.KindFolder:
		return info.StaleOutside()
	}
	why, err := ingest.Changed(context.Background(), generationOf(info))
	if err != nil {
		return ""
	}
	return why
}

// generationOf is the generation that the info is of.
func generationOf(info index.Info) generation.Generation {
	return generation.GenerationOf(info.Dir, info.Manifest)
}

func stateForError(err error) string {
	var corrupt *container.CorruptError
	var version *container.VersionError
	switch {
	case errors.As(err, &version):
		return stateVersion
	case errors.As(err, &corrupt):
		return stateDamaged
	case errors.Is(err, generation.ErrNoIndex):
		return stateNone
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, leann.ErrNotLEANN):
		return stateMissing
	}
	return stateDamaged
}

// withRepair adds to an error of a database the command that mends it.
func withRepair(path string, err error) error {
	if command := index.Repair(path, err); command != "" {
		return withHint(err, "run %s", command)
	}
	return err
}

// completeDatabases completes an argument that is a database: by its name, and
// the shell by its path.
func completeDatabases(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	all, err := listDatabases(config.Locate(os.Getenv))
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, d := range all {
		if strings.HasPrefix(strings.ToLower(d.Name), strings.ToLower(start)) {
			names = append(names, d.Name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

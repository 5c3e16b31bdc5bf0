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
	"github.com/docsearch/docsearch/internal/remote"
)

// A databaseRef identifies a database by name: an entry of the config or a
// folder in docsearch's data folder.
type databaseRef struct {
	Name         string
	Path         string // from the config, or the database folder
	Configured   bool
	ExternalTool bool     // another server's tool searches it
	Aliases      []string // names and keywords that select it in a query
	Version      string   // documented version; empty if unknown
	URLs         []string // URL prefixes of its pages
	Software     []string // identities of the documented software; see config.Database
	Used         string   // version that the project uses; see config.ChosenEdition
	IsPackage    bool     // the config names the packages that it documents
	Project      string   // folder of the project that it belongs to; empty: the user's own
	Threshold    float64  // see config.Database
	// Server is the URL of the server, or of the first node of the cluster, that holds the
	// database, and Host its host. Both are empty for a database on this machine; else Path
	// is empty.
	Server, Host string
}

// label returns the name for results, with the host of a database on another machine.
func (d databaseRef) label() string {
	if d.Server != "" {
		return d.Name + " on " + d.Host
	}
	return d.Name
}

// searchError adds the repair command to an error of a search.
func (d databaseRef) searchError(err error) error {
	if d.Server != "" {
		return err
	}
	return withRepair(quoteArgument(d.Path), err)
}

// configuredRef returns the reference to a database of the config or of a project.
func configuredRef(db *config.Database) databaseRef {
	return databaseRef{
		Name: db.Name, Path: db.Path, Configured: db.Project == "", ExternalTool: db.Tool != "",
		Aliases: db.QueryNames(), Version: db.Version, URLs: db.URLs,
		Software: db.Software(), IsPackage: len(db.Packages) > 0, Threshold: db.Threshold, Project: db.Project,
	}
}

// listDatabases lists the databases of the config, of the project in the working
// directory, and of the data folder. It ignores problems of the config that docsearch config check reports, and uses
// the valid entries.
func listDatabases(l config.Locations) ([]databaseRef, error) {
	var all []databaseRef
	if l.Config != "" {
		loaded, err := load.Load(l)
		if err != nil {
			return nil, withHint(err, "run docsearch config check to list all problems")
		}
		// A list that cannot be read is reported by the doctor.
		_ = remote.AddTo(&loaded.Config, l)
		if cwd, err := os.Getwd(); err == nil {
			loaded.Config.AddProject(cwd)
		}
		for i := range loaded.Config.Databases {
			if db := &loaded.Config.Databases[i]; db.Remote == "" { // else it is not on this machine
				all = append(all, configuredRef(db))
			}
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

// dataFolderDatabases lists the databases in docsearch's data folder.
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

// isDatabase reports whether docsearch or LEANN created the folder, even if its
// contents are unreadable.
func isDatabase(dir string) bool {
	if generation.HasManifest(dir) {
		return true
	}
	_, err := leann.Folder(dir)
	return err == nil && !isIncompleteBuild(dir)
}

// isIncompleteBuild reports whether the folder contains only the leftovers of a
// killed first build.
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

// isBuildOutput reports whether a passages file without a meta file is the
// output of an unfinished build of the database in dir, as opposed to a file of
// the user.
func isBuildOutput(dir, passages string) bool {
	shards, err := filepath.Glob(filepath.Join(dir, generation.Folder, "g*", passage.ShardName(0)))
	return err == nil && slices.ContainsFunc(shards, func(shard string) bool { return samePath(shard, passages) })
}

// cleanUp removes the leftovers of killed builds of a database, including those
// of a first build that never finished.
func cleanUp(dir string) {
	unfinished := isIncompleteBuild(dir)
	generation.Tidy(dir, func(first bool) {
		switch {
		case !first:
			index.Republish(dir, provenance.Load(config.KeyPath(os.Getenv)))
			ingest.CleanExtracted(dir)
		case unfinished:
			leann.Unpublish(dir)
			ingest.RemoveExtracted(dir)
		}
	})
	if unfinished {
		os.Remove(dir) // fails if the folder keeps downloaded pages for the next build
	}
}

// cleanUpEach calls cleanUp for each database.
func cleanUpEach(all []databaseRef) {
	for _, d := range all {
		if dir, err := index.Locate(d.Path); err == nil {
			cleanUp(dir)
		}
	}
}

// cleanUpDataFolder calls cleanUp for each folder in the data folder that
// contains only an incomplete first build.
func cleanUpDataFolder(l config.Locations) {
	entries, _ := os.ReadDir(l.Data)
	for _, e := range entries {
		if dir := filepath.Join(l.Data, e.Name()); e.IsDir() && isIncompleteBuild(dir) {
			cleanUp(dir)
		}
	}
}

// findHere resolves a name or path from the command line. Names, including
// the folder names in docsearch's data folder, take precedence over files in
// the working directory. An argument with a path separator is always a path.
func findHere(all []databaseRef, arg string) (databaseRef, error) {
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
		_, err = leann.Folder(path) // the path prefix of a LEANN index need not be a file
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
	names := collect(all, func(d databaseRef) string { return d.Name })
	unknown := &notFoundError{name: arg, suggestion: decode.Nearest(arg, names)}
	switch {
	case unknown.suggestion != "":
		return databaseRef{}, withHint(unknown, "did you mean %q?", unknown.suggestion)
	case len(all) == 0:
		return databaseRef{}, withHint(unknown, "run docsearch index build SOURCE to build one")
	}
	return databaseRef{}, withHint(unknown, "available databases: %s", strings.Join(names, ", "))
}

// findDatabase is findHere, but the error of a database that another machine holds is an
// *elsewhereError.
func findDatabase(all []databaseRef, arg string) (databaseRef, error) {
	d, err := findHere(all, arg)
	if _, unknown := errors.AsType[*notFoundError](err); unknown {
		if elsewhere := findElsewhere(arg); elsewhere != nil {
			return databaseRef{}, elsewhere.explain("")
		}
	}
	return d, err
}

// A notFoundError reports that no database has the given name.
type notFoundError struct {
	name       string
	suggestion string // closest existing name, if any
}

func (e *notFoundError) Error() string { return fmt.Sprintf("database %q not found", e.name) }

// dataFolderPath returns the path of the folder with that name in docsearch's
// data folder, if it exists. The config may list the same database under
// another name.
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

// samePath reports whether two paths refer to the same file, comparing them as
// text and through the file system.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	stA, errA := os.Stat(a)
	stB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(stA, stB)
}

// Database states, as printed by index list.
const (
	stateOK      = "ok"
	stateStale   = "stale"
	stateNone    = "no index"
	stateMissing = "missing"
	stateDamaged = "corrupt"
	stateVersion = "other version"
)

// inspect opens the database, in constant time, and returns its state. If the
// state is not "ok", why explains it in a sentence.
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

// staleness returns why the index is older than its source, or "" if it is
// current or if that is unknown. It does not access the source of a database
// that another user built.
func staleness(info index.Info) string {
	switch {
	case info.Stale != "" || !isOwn(info):
		return info.Stale
	case info.Source.Kind != ingest.KindFolder:
		return info.StaleOutside()
	case packageMoved(info), config.Contains(config.Locate(os.Getenv).Projects, info.Dir):
		return "" // other contents of a package get another database
	}
	why, err := ingest.Changed(context.Background(), generationOf(info))
	if err != nil {
		return ""
	}
	return why
}

// generationOf returns the generation that info describes.
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

// withRepair adds the repair command as a hint to an error of a database.
func withRepair(path string, err error) error {
	if command := index.Repair(path, err); command != "" {
		return withHint(err, "run %s", command)
	}
	return err
}

// completeAnyDatabase completes a database argument by name, also of a database that
// another machine holds.
func completeAnyDatabase(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	names, directive := completeDatabases(cmd, args, start)
	remotes := openRemotes(config.Locate(os.Getenv))
	defer remotes.Close()
	held := collect(remotes.databases(), func(d remoteDatabase) string { return d.Name })
	names = append(names, beginning(held, start)...)
	return names, directive
}

// completeDatabases completes a database argument by name; the shell completes
// paths.
func completeDatabases(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	all, err := listDatabases(config.Locate(os.Getenv))
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names := collect(all, func(d databaseRef) string { return d.Name })
	return beginning(names, start), cobra.ShellCompDirectiveDefault
}

// beginning returns the names that begin with a text, ignoring case.
func beginning(names []string, start string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(strings.ToLower(name), strings.ToLower(start))
	})
}

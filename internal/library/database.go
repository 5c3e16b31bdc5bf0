package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// A Ref identifies a database by name: an entry of the config or a
// folder in docsearch's data folder.
type Ref struct {
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
	Ignored      string   // who makes it not answer here, see config.Config.IgnoredBy; empty: it answers
	Threshold    float64  // see config.Database
	// Server is the URL of the server, or of the first node of the cluster, that holds the
	// database, and Host its host. Both are empty for a database on this machine; else Path
	// is empty.
	Server, Host string
}

// Label returns the name for results, with the host of a database on another machine.
func (d Ref) Label() string {
	if d.Server != "" {
		return d.Name + " on " + d.Host
	}
	return d.Name
}

// SearchError adds the repair command to an error of a search.
func (d Ref) SearchError(err error) error {
	if d.Server != "" {
		return err
	}
	return WithRepair(humanize.Argument(d.Path), err)
}

// Configured returns the reference to a database of the config or of a project.
func Configured(db *config.Database) Ref {
	return Ref{
		Name: db.Name, Path: db.Path, Configured: db.Project == "", ExternalTool: db.Tool != "",
		Aliases: db.QueryNames(), Version: db.Version, URLs: db.URLs,
		Software: db.Software(), IsPackage: len(db.Packages) > 0, Threshold: db.Threshold, Project: db.Project,
	}
}

// List lists the databases of the config, of the project in the working
// directory, and of the data folder. It ignores problems of the config that docsearch
// config check reports, and uses the valid entries.
func List(l config.Locations) ([]Ref, error) {
	var all []Ref
	var c config.Config
	if l.Config != "" {
		loaded, err := load.Load(l)
		if err != nil {
			return nil, usererror.WithHint(err, "run docsearch config check to list all problems")
		}
		// A list that cannot be read is reported by the doctor.
		_ = remote.AddTo(&loaded.Config, l)
		if cwd, err := os.Getwd(); err == nil {
			loaded.Config.AddProject(cwd)
		}
		c = loaded.Config
		for _, list := range [][]config.Database{c.Databases, c.Ignored} {
			for i := range list {
				if db := &list[i]; db.Remote == "" { // else it is not on this machine
					all = append(all, Configured(db))
				}
			}
		}
	}
	made, err := InDataFolder(l.Data)
	if err != nil {
		return nil, err
	}
	for _, m := range made {
		if !slices.ContainsFunc(all, func(have Ref) bool { return SamePath(have.Path, m.Path) }) {
			all = append(all, m)
		}
	}
	markIgnored(&c, all)
	return all, nil
}

// InDataFolder lists the databases in docsearch's data folder.
func InDataFolder(dir string) ([]Ref, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var made []Ref
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && IsDatabase(path) {
			made = append(made, Ref{Name: e.Name(), Path: path, Aliases: []string{e.Name()}})
		}
	}
	return made, nil
}

// Find resolves a name or path from the command line. Names, including
// the folder names in docsearch's data folder, take precedence over files in
// the working directory. An argument with a path separator is always a path. If no database
// on this machine has the name, elsewhere may return the error for one that another machine
// holds; it may be nil.
func Find(all []Ref, arg string, elsewhere func(name string) error) (Ref, error) {
	if !IsPath(arg) {
		if i := slices.IndexFunc(all, func(d Ref) bool { return strings.EqualFold(d.Name, arg) }); i >= 0 {
			return all[i], nil
		}
		if folder, ok := dataFolderPath(arg); ok {
			arg = folder
		}
	}
	path, err := filepath.Abs(arg)
	if err != nil {
		return Ref{}, err
	}
	if i := slices.IndexFunc(all, func(d Ref) bool { return SamePath(d.Path, path) }); i >= 0 {
		return all[i], nil
	}
	if err = FindPath(path); err == nil {
		name := filepath.Base(path)
		if dir, err := index.Locate(path); err == nil {
			name = filepath.Base(dir)
		}
		return Ref{Name: name, Path: path, Aliases: []string{name}}, nil
	}
	if IsPath(arg) || !errors.Is(err, fs.ErrNotExist) {
		return Ref{}, err
	}
	if elsewhere != nil {
		if err := elsewhere(arg); err != nil {
			return Ref{}, err
		}
	}
	names := collect(all, func(d Ref) string { return d.Name })
	unknown := &NotFoundError{name: arg, Suggestion: decode.Nearest(arg, names)}
	switch {
	case unknown.Suggestion != "":
		return Ref{}, usererror.WithHint(unknown, "did you mean %q?", unknown.Suggestion)
	case len(all) == 0:
		return Ref{}, usererror.WithHint(unknown, "run docsearch index build SOURCE to build one")
	}
	return Ref{}, usererror.WithHint(unknown, "available databases: %s", strings.Join(names, ", "))
}

// FindPath returns why a path of a database does not exist, nil if it does.
func FindPath(path string) error {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = leann.Folder(path) // the path prefix of a LEANN index need not be a file
	}
	return err
}

// A NotFoundError reports that no database has the given name.
type NotFoundError struct {
	name       string
	Suggestion string // closest existing name, if any
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("database %q not found", e.name) }

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

// Place returns the path of a database, with the project that it belongs to, and who makes it
// not answer here.
func (d Ref) Place() string {
	place := d.Path
	if d.Project != "" {
		place += " (of the project " + safetext.Printable(d.Project) + ")"
	}
	return place + Off(d.Ignored)
}

// Off returns a note about a database that does not answer here, see Ref.Ignored.
func Off(ignored string) string {
	if ignored == "" {
		return ""
	}
	return " (off here: " + ignored + ")"
}

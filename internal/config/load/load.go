// Package load reads the config file. It is the only importer of viper. The hook's fast
// path does not use it: that reads the snapshot that a load writes (see config.Snapshot).
//
// Viper layers environment variables over the file over the defaults. It also folds the
// case of keys, loses their order, and splits keys at dots. None of that affects the
// config: keys are never paths here, lines and order are taken from the file's text, and
// sections with user-defined keys are passed on as written.
package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/viper"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// MaxSize is the maximum size of a config file in bytes.
const MaxSize = 4 << 20

// delimiter separates sections from fields in viper's keys. No key contains it, so no key
// is split.
const delimiter = "\x00"

// A Result is a loaded config file.
type Result struct {
	Path     string // of the config file
	Exists   bool
	Config   config.Config
	Problems []decode.Problem

	rules    []config.Rule // of this file
	stamp    config.Stamp
	projects config.Stamp // of the folder of the projects' registrations
	line     func(path string) int
	env      map[string]string // path of a value -> environment variable that sets it
}

// A SyntaxError is a syntax error in a config file.
type SyntaxError struct {
	Path         string
	Line, Column int // 0 if unknown
	Err          error
}

func (e *SyntaxError) Error() string { return "config " + e.Path + e.position() + ": " + e.Err.Error() }

// position returns the position of the error as a suffix to the file's name.
func (e *SyntaxError) position() string {
	switch {
	case e.Line == 0:
		return ""
	case e.Column == 0:
		return fmt.Sprintf(":%d", e.Line)
	}
	return fmt.Sprintf(":%d:%d", e.Line, e.Column)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// Load reads the config file that l names. A missing file counts as empty, with Exists
// false. A file that cannot be read is an error; for invalid syntax it is a *SyntaxError.
func Load(l config.Locations) (*Result, error) {
	if l.Config == "" {
		return nil, errors.New("cannot find the config: DOCSEARCH_CONFIG_PATH and the home directory are not set")
	}
	stamp, err := config.StampOf(l.Config)
	if err != nil {
		return nil, readError(l.Config, err)
	}
	r := &Result{Path: l.Config, Exists: stamp.Exists, stamp: stamp}
	var data []byte
	if stamp.Exists {
		if data, err = read(l.Config); err != nil {
			return nil, err
		}
	}
	if err := r.decode(data); err != nil {
		return nil, err
	}
	if l.Projects != "" {
		if r.projects, err = config.StampOf(l.Projects); err != nil {
			return nil, err
		}
		r.Config.Projects = config.ProjectFolders(l)
	}
	r.Config.SetSession(os.Getenv)
	if r.Config.Hook.Adapt && l.State != "" {
		if t, err := (adapt.Store{Dir: l.State}).Read(); err == nil { // otherwise those of the builds hold
			t.Apply(&r.Config)
		}
	}
	return r, nil
}

// Defaults returns the config if the file cannot be used: the defaults, and what the environment
// sets.
func Defaults() config.Config {
	var r Result
	if r.decode(nil) != nil {
		return config.Default()
	}
	return r.Config
}

func read(path string) ([]byte, error) {
	data, err := atomicfile.Read(path, MaxSize)
	if errors.Is(err, atomicfile.ErrTooLong) {
		return nil, fmt.Errorf("cannot read config %s: larger than %d MiB", path, MaxSize>>20)
	}
	if err != nil {
		return nil, readError(path, err)
	}
	return data, nil
}

func readError(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("cannot read config %s: %w", path, err)
}

func (r *Result) decode(data []byte) error {
	doc := &document{path: r.Path, format: Format(r.Path)}
	v := viper.NewWithOptions(viper.KeyDelimiter(delimiter), viper.WithDecoderRegistry(doc))
	v.SetConfigType(doc.format)
	if err := v.ReadConfig(bytes.NewReader(data)); err != nil {
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			syntax.Path = r.Path
			return syntax
		}
		return fmt.Errorf("config %s: %w", r.Path, err)
	}
	r.line = doc.line
	values := map[string]any{}
	for _, key := range doc.root.foldedKeys() {
		values[key] = v.Get(key)
	}
	r.env = map[string]string{}
	for _, o := range config.Overrides() {
		if err := applyOverride(v, o, values); err != nil {
			return err
		}
		if os.Getenv(o.Env) != "" {
			r.env[o.Section+"."+o.Field] = o.Env
		}
	}
	r.Config, r.Problems = decode.Config(decode.Settings{
		Values:   values,
		Line:     doc.line,
		Dir:      config.Dir(r.Path),
		Home:     config.Home(os.Getenv),
		Sections: doc.sections,
	})
	r.Problems = append(doc.problems, r.Problems...)
	if r.Exists && doc.empty {
		r.Problems = append(r.Problems, decode.Problem{
			Line: 1, Expected: `a config with "databases"`, Got: "an empty file", Effect: "the hook denies no searches",
		})
	}
	r.rules = doc.rules
	for i, p := range r.Problems {
		if env := r.env[p.Entry+"."+p.Field]; env != "" {
			r.Problems[i].Entry, r.Problems[i].Field, r.Problems[i].Line = "", "$"+env, 0
		}
	}
	r.sortProblems()
	return nil
}

// sortProblems sorts the problems by line.
func (r *Result) sortProblems() {
	slices.SortStableFunc(r.Problems, func(a, b decode.Problem) int { return cmp.Compare(a.Line, b.Line) })
}

// Format returns the format for a file's extension: "yaml", "toml", or "json" for any
// other.
func Format(path string) string {
	path = strings.ToLower(path)
	switch {
	case strings.HasSuffix(path, ".yaml"), strings.HasSuffix(path, ".yml"):
		return "yaml"
	case strings.HasSuffix(path, ".toml"):
		return "toml"
	}
	return "json"
}

// Origins returns the origin of every value of the config: the environment variable, the
// line of the file, or "default". Paths are like "hook.retry". Those of a database start
// with its position in Config.Databases.
func (r *Result) Origins() map[string]string {
	from := map[string]string{}
	for _, o := range config.Overrides() {
		path := o.Section + "." + o.Field
		from[path] = r.origin(path)
	}
	for _, section := range append(ownSections(), "embedder", "route_files", "servers") {
		if r.line(section) > 0 {
			from[section] = r.origin(section)
		}
	}
	for i, db := range r.Config.Databases {
		entry := fmt.Sprintf("databases[%d].", db.Entry)
		for _, field := range [...]string{"name", "keywords", "path", "description", "mcp_tool_name", "urls", "mode", "version", "inject", "notes", "packages"} {
			from[fmt.Sprintf("databases[%d].%s", i, field)] = r.origin(entry + field)
		}
	}
	return from
}

func (r *Result) origin(path string) string {
	if env := r.env[path]; env != "" {
		return "$" + env
	}
	if n := r.line(path); n > 0 {
		return "line " + strconv.Itoa(n)
	}
	return "default"
}

// CheckPaths reports the databases whose paths do not exist, as find says. Load does not
// check, because the hook would pay for it on every config change, and a network drive may be
// temporarily unavailable.
func (r *Result) CheckPaths(find func(path string) error) {
	for _, db := range r.Config.Databases {
		err := find(db.Path)
		if err == nil || db.Notes != "" { // the first note builds the database
			continue
		}
		got := db.Path + " (not found)"
		if !errors.Is(err, fs.ErrNotExist) {
			got = err.Error()
		}
		entry := "databases[" + strconv.Itoa(db.Entry) + "]"
		r.Problems = append(r.Problems, decode.Problem{
			Line: r.line(entry + ".path"), Entry: entry + " (" + db.Name + ")", Field: "path",
			Expected: "a database", Got: got, Effect: "its searches run on the web",
		})
	}
	r.sortProblems()
}

// WriteSnapshot writes the snapshot that saves the hook the next load.
func (r *Result) WriteSnapshot(l config.Locations) error {
	return writeSnapshot(l, r.stamp, config.Snapshot{Projects: r.projects, Config: r.Config, Problems: r.Messages()})
}

// Messages returns the problems for the user, one per line. A missing file is not a
// problem: the hook runs before every search, also where docsearch is not used yet.
func (r *Result) Messages() []string {
	var lines []string
	for _, p := range r.Problems {
		lines = append(lines, "config "+r.Path+": "+p.String())
	}
	return lines
}

// WriteFailureSnapshot writes a snapshot for a config file with invalid syntax, so that
// the hook reports the error as quickly.
func WriteFailureSnapshot(l config.Locations, err *SyntaxError) error {
	stamp, statErr := config.StampOf(l.Config)
	projects, projectsErr := config.StampOf(l.Projects)
	if statErr != nil || projectsErr != nil {
		return errors.Join(statErr, projectsErr)
	}
	return writeSnapshot(l, stamp, config.Snapshot{Projects: projects, Config: Defaults(), Problems: []string{err.Error()}})
}

// writeSnapshot writes the snapshot unless the file may have changed since stamp, or may
// still change without changing its stamp.
func writeSnapshot(l config.Locations, stamp config.Stamp, s config.Snapshot) error {
	now, err := config.StampOf(l.Config)
	if err != nil || now != stamp || !stamp.Settled(time.Now()) || !s.Projects.Settled(time.Now()) {
		return err
	}
	s.Source = stamp
	return s.Write(l, os.Getenv)
}

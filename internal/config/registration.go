package config

import (
	"errors"
	"os"
	"runtime"
	"strings"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// A Registration lists the databases of one project: those that were made for its folder,
// and answer there only. It is a JSON file in Locations.Projects, written by
// docsearch setup --project, and never part of the project or of the config file.
type Registration struct {
	Folder string `json:"folder"` // absolute, without symbolic links
	// Also are further folders of the checkout: its worktrees, and other paths to it.
	Also []string `json:"also,omitempty"`
	// Ignored are the names of the databases that do not answer there, of the project and of
	// the user; docsearch ignore writes them.
	Ignored   []string   `json:"ignored,omitempty"`
	Databases []Database `json:"databases,omitempty"`
}

// A ProjectFolder is a folder in which the databases of a registration answer, except the
// ignored ones.
type ProjectFolder struct {
	Folder  string
	File    string // of the registration
	Ignored []string
}

const (
	registrationExtension = ".json"
	maxRegistration       = 4 << 20
)

// ReadRegistration reads the registration in a file.
func ReadRegistration(file string) (*Registration, error) {
	data, err := atomicfile.Read(file, maxRegistration)
	if err != nil {
		return nil, err
	}
	r, err := parseRegistration(data)
	if err != nil {
		return nil, errors.New("cannot read " + file + ": " + err.Error())
	}
	return r, nil
}

func parseRegistration(data []byte) (*Registration, error) {
	fields, err := rawjson.Object(data)
	if err != nil {
		return nil, err
	}
	r := &Registration{Folder: fields.String("folder"), Also: fields.Strings("also"), Ignored: fields.Strings("ignored")}
	if !IsAbs(r.Folder) {
		return nil, errors.New("no folder")
	}
	databases := fields.Raw("databases")
	if databases == nil {
		return r, nil
	}
	list, err := rawjson.List(databases)
	if err != nil {
		return nil, err
	}
	for _, item := range list {
		f, err := rawjson.Object(item)
		if err != nil {
			return nil, err
		}
		db := Database{
			Name: f.String("name"), Keywords: f.Strings("keywords"), Path: f.String("path"), Description: f.String("description"),
			URLs: f.Strings("urls"), Version: f.String("version"), Packages: f.Strings("packages"), Entry: -1, Project: r.Folder,
		}
		if db.Name == "" || len(db.Keywords) == 0 || !IsAbs(db.Path) {
			return nil, errors.New("invalid database " + db.Name)
		}
		r.Databases = append(r.Databases, db)
	}
	return r, nil
}

// Registrations returns the files with the registrations of all projects.
func Registrations(l Locations) []string {
	if l.Projects == "" {
		return nil
	}
	entries, err := os.ReadDir(l.Projects)
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), registrationExtension) && e.Name()[0] != '.' {
			files = append(files, Join(l.Projects, e.Name()))
		}
	}
	return files
}

// ProjectFolders returns the folders in which registered databases answer. It leaves out
// registrations that cannot be read, which the doctor reports.
func ProjectFolders(l Locations) []ProjectFolder {
	var all []ProjectFolder
	for _, file := range Registrations(l) {
		r, err := ReadRegistration(file)
		if err != nil {
			continue
		}
		for _, folder := range append([]string{r.Folder}, r.Also...) {
			all = append(all, ProjectFolder{folder, file, r.Ignored})
		}
	}
	return all
}

// AddProject adds the databases of the project in which a session works in folder cwd: those
// of the nearest registered folder at or above cwd. A database of the user with the same name
// has precedence. Then it removes the ignored databases, see RemoveIgnored.
func (c *Config) AddProject(cwd string) {
	if nearest := c.projectFolder(cwd); nearest != "" {
		c.addDatabases(nearest)
	}
	c.RemoveIgnored(cwd)
}

// projectFolder returns the nearest registered folder at or above cwd, or "".
func (c *Config) projectFolder(cwd string) (nearest string) {
	for i := range c.Projects {
		if f := c.Projects[i].Folder; len(f) > len(nearest) && Contains(f, cwd) {
			nearest = f
		}
	}
	return nearest
}

// addDatabases adds the databases of the registrations of a folder.
func (c *Config) addDatabases(nearest string) {
	var own []Database
	for _, p := range c.Projects { // a worktree has its own registration, and that of its repository
		if p.Folder != nearest {
			continue
		}
		r, err := ReadRegistration(p.File)
		if err != nil {
			continue
		}
		if r.Folder == nearest {
			own = append(r.Databases, own...)
		} else {
			own = append(own, r.Databases...)
		}
	}
	before := len(c.Databases)
	c.Databases = append([]Database(nil), c.Databases...) // the caller may share them
	for _, db := range own {
		if !c.hasName(db.Name) {
			c.Databases = append(c.Databases, db)
		}
	}
	c.Names.addProject(nearest, before, c.Databases[before:])
}

// Results of IgnoredBy.
const (
	IgnoredByProject  = "docsearch ignore"
	IgnoredBySettings = ProjectSettings
	IgnoredBySession  = "$" + IgnoreVariable
)

// IgnoreVariable is the environment variable with the names of the databases that do not
// answer in a session, separated by commas; AllDatabases means all.
const IgnoreVariable = "DOCSEARCH_IGNORE"

// IgnoredBy returns who makes the database of a name not answer, after RemoveIgnored; "" if
// nobody does.
func (c *Config) IgnoredBy(name string) string {
	if by := c.Ignores[strings.ToLower(name)]; by != "" {
		return by
	}
	return c.Ignores[AllDatabases]
}

// SetSession reads the names of the databases that the session ignores, and the user's home.
func (c *Config) SetSession(getenv Getenv) {
	c.Home = Home(getenv)
	for name := range strings.SplitSeq(getenv(IgnoreVariable), ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.SessionIgnores = append(c.SessionIgnores, name)
		}
	}
}

// RemoveIgnored moves the databases that are ignored in folder cwd, or in the session, from
// Databases to Ignored. Settings of the project that cannot be read ignore none; the doctor
// reports them.
func (c *Config) RemoveIgnored(cwd string) {
	add := func(list []string, by string) {
		for _, name := range list {
			if c.Ignores == nil {
				c.Ignores = map[string]string{}
			}
			c.Ignores[strings.ToLower(name)] = by
		}
	}
	add(c.SessionIgnores, IgnoredBySession)
	byProject, _ := ReadProjectSettings(ProjectSettingsPath(cwd, c.Home))
	add(byProject, IgnoredBySettings)
	if nearest := c.projectFolder(cwd); nearest != "" {
		for i := range c.Projects {
			if c.Projects[i].Folder == nearest {
				add(c.Projects[i].Ignored, IgnoredByProject)
			}
		}
	}
	if c.Ignores == nil {
		return
	}
	var kept []Database
	places := make([]int, len(c.Databases))
	for i, db := range c.Databases {
		places[i] = len(kept)
		if c.IgnoredBy(db.Name) != "" {
			places[i] = -1
			c.Ignored = append(c.Ignored, db)
			continue
		}
		kept = append(kept, db)
	}
	c.Databases = kept
	c.Names.move(places)
}

func (c *Config) hasName(name string) bool {
	for i := range c.Databases {
		if strings.EqualFold(c.Databases[i].Name, name) {
			return true
		}
	}
	return false
}

// Contains reports whether path is the folder dir or below it. Both are absolute.
func Contains(dir, path string) bool {
	if len(path) < len(dir) || !samePath(path[:len(dir)], dir) {
		return false
	}
	rest := path[len(dir):]
	return rest == "" || os.IsPathSeparator(rest[0]) || dir != "" && os.IsPathSeparator(dir[len(dir)-1])
}

// samePath reports whether two paths are equal. On Windows, clients write the drive's letter
// and the separators in either form.
func samePath(a, b string) bool {
	if runtime.GOOS != "windows" {
		return a == b
	}
	return strings.EqualFold(strings.ReplaceAll(a, "/", `\`), strings.ReplaceAll(b, "/", `\`))
}

func (p *ProjectFolder) code(c *coder) {
	c.text(&p.Folder)
	c.text(&p.File)
	c.texts(&p.Ignored)
}

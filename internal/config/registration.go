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
	Also      []string   `json:"also,omitempty"`
	Databases []Database `json:"databases"`
}

// A ProjectFolder is a folder in which the databases of a registration answer.
type ProjectFolder struct {
	Folder string
	File   string // of the registration
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
	r := &Registration{Folder: fields.String("folder"), Also: fields.Strings("also")}
	if !IsAbs(r.Folder) {
		return nil, errors.New("no folder")
	}
	list, err := rawjson.List(fields.Raw("databases"))
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
			all = append(all, ProjectFolder{folder, file})
		}
	}
	return all
}

// AddProject adds the databases of the project in which a session works in folder cwd: those
// of the nearest registered folder at or above cwd. A database of the user with the same name
// has precedence.
func (c *Config) AddProject(cwd string) {
	nearest := ""
	for i := range c.Projects {
		if f := c.Projects[i].Folder; len(f) > len(nearest) && Contains(f, cwd) {
			nearest = f
		}
	}
	if nearest == "" {
		return
	}
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
}

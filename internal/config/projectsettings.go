package config

import (
	"errors"
	"io/fs"
	"strconv"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// ProjectSettings is the path, in a project's folder, of the project's own settings: a JSON
// object whose key "ignore" lists the databases that do not answer there. Their author may not
// be trusted. So they can only take documentation away, and the rules of the user stay.
const ProjectSettings = ".docsearch/settings.json"

// AllDatabases is the name by which a list of ignored databases means all of them.
const AllDatabases = "*"

const maxProjectSettings = 64 << 10

// ProjectSettingsPath returns the path of the settings that hold in folder cwd, whether they
// exist or not; "" if cwd is not absolute.
func ProjectSettingsPath(cwd, home string) string {
	if !IsAbs(cwd) {
		return ""
	}
	return Join(nearestProject(cwd, home), ProjectSettings)
}

// ReadProjectSettings returns the names in the settings of a project at a path. A missing file
// has none. It returns the names also with the error about another key, which has no effect.
func ReadProjectSettings(path string) (ignored []string, err error) {
	if path == "" {
		return nil, nil
	}
	data, err := atomicfile.Read(path, maxProjectSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	fields, err := rawjson.Object(data)
	if err != nil {
		return nil, errors.New("cannot read " + path + ": " + err.Error())
	}
	for _, f := range fields {
		if f.Name != "ignore" {
			err = errors.New(path + ": " + strconv.Quote(f.Name) + " has no effect: a project can only set \"ignore\"")
		}
	}
	return fields.Strings("ignore"), err
}

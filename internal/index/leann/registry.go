package leann

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Registered is an index in a project that LEANN has registered.
type Registered struct {
	Name    string // by which LEANN's command selects it
	Path    string // for Find: the folder of an index that the command built, or else the meta file
	Project string // folder
}

// maxRegisteredDepth limits the search for the indexes of programs, as in LEANN's own list.
const maxRegisteredDepth = 5

// RegisteredIndexes returns the indexes in the projects that LEANN has registered in
// ~/.leann/projects.json, in its order. There are none without that file. Projects that no longer
// exist are skipped.
func RegisteredIndexes(home string) ([]Registered, error) {
	data, err := os.ReadFile(filepath.Join(home, ".leann", "projects.json"))
	if home == "" || os.IsNotExist(err) {
		return nil, nil
	}
	var projects []string
	if err == nil {
		err = json.Unmarshal(data, &projects)
	}
	var all []Registered
	seen := map[string]bool{}
	for _, project := range projects {
		for _, x := range indexesIn(project) {
			if !seen[x.Path] {
				seen[x.Path] = true
				all = append(all, x)
			}
		}
	}
	return all, err
}

// indexesIn returns the indexes of a project: those that LEANN's command built, and those that
// programs built, which are named after their folders.
func indexesIn(project string) (all []Registered) {
	if !filepath.IsAbs(project) {
		return nil
	}
	built := filepath.Join(project, ".leann", "indexes")
	entries, _ := os.ReadDir(built)
	for _, e := range entries {
		dir := filepath.Join(built, e.Name())
		if !strings.HasPrefix(e.Name(), ".") && isFile(filepath.Join(dir, "documents"+leannMeta)) {
			all = append(all, Registered{e.Name(), dir, project})
		}
	}
	_ = filepath.WalkDir(project, func(path string, e fs.DirEntry, err error) error {
		below := strings.Count(strings.TrimPrefix(path, project), string(filepath.Separator))
		switch {
		case err != nil: // a folder that cannot be read has none
			return fs.SkipDir
		case path == project:
		case e.IsDir() && (below > maxRegisteredDepth || strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules"):
			return fs.SkipDir
		case !e.IsDir() && strings.HasSuffix(e.Name(), leannMeta):
			all = append(all, Registered{filepath.Base(filepath.Dir(path)), path, project})
		}
		return nil
	})
	return all
}

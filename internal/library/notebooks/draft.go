package notebooks

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/notes/notebook"
)

// WithNote returns the config, the notebook and the name of a note. If note is the path of a
// draft outside of the folder of notes, the notebook is a copy in a temporary folder that
// contains the draft, with a database of its own, and the config has that. The function remove
// deletes the copy.
func WithNote(
	c *config.Config, b *notebook.Notebook, note string,
) (_ *config.Config, _ *notebook.Notebook, name string, remove func(), err error) {
	remove = func() {}
	if _, err = b.Folder.Read(note); err == nil {
		return c, b, note, remove, nil
	}
	draft, readErr := os.ReadFile(note)
	if readErr != nil {
		return nil, nil, "", remove, err
	}
	if inside, ok := within(string(b.Folder), note); ok {
		return c, b, inside, remove, nil
	}
	name = filepath.Base(note)
	if err = notebook.CheckName(name); err != nil {
		return nil, nil, "", remove, err
	}
	dir, err := os.MkdirTemp("", "docsearch-draft-")
	if err != nil {
		return nil, nil, "", remove, err
	}
	remove = func() { os.RemoveAll(dir) }
	folder := filepath.Join(dir, "notes")
	if err = copyNotes(b.Folder, folder); err == nil {
		err = writeFile(filepath.Join(folder, name), draft) // which may replace a note
	}
	if err != nil {
		remove()
		return nil, nil, "", func() {}, err
	}
	copied := *c
	copied.Databases = slices.Clone(c.Databases)
	i := slices.IndexFunc(copied.Databases, func(db config.Database) bool { return db.Name == b.Name })
	copied.Databases[i].Notes, copied.Databases[i].Path = folder, filepath.Join(dir, "database")
	all := Of(&copied, b.Database.(*noteDatabase).builder)
	chosen, _ := notebook.Choose(all, b.Name)
	return &copied, chosen, name, remove, nil
}

// within returns the name of a file in a folder of notes.
func within(dir, file string) (name string, ok bool) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", false
	}
	name, err = filepath.Rel(dir, file)
	return filepath.ToSlash(name), err == nil && filepath.IsLocal(name)
}

// copyNotes copies the notes and the files that exclude some of them.
func copyNotes(from notebook.Folder, to string) error {
	names, err := from.List()
	if err != nil {
		return err
	}
	dirs := map[string]bool{".": true}
	for _, name := range names {
		for dir := path.Dir(name); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for dir := range dirs {
		for _, name := range folder.IgnoreFiles {
			names = append(names, path.Join(dir, name))
		}
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(string(from), filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = writeFile(filepath.Join(to, filepath.FromSlash(name)), data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

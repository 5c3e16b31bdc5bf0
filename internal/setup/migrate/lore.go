package migrate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/file/inplace"
	"github.com/docsearch/docsearch/internal/library"
)

// A loreConfig has the values of lore.toml that the config of docsearch also has.
type loreConfig struct {
	path   string
	folder string             // with the notes
	inject map[string]float64 // values of the section "inject" that differ from docsearch's config
}

// findLore plans to move the notes of Lore and its thresholds.
func (m *Migration) findLore() {
	path := ""
	used := false
	for _, h := range m.Hooks {
		if h.Tool == agentconfig.Lore {
			path, used = h.Config, true
		}
	}
	if path == "" {
		path = loreTOML()
	}
	c, err := readLore(path, &m.config.Config.Inject)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !used:
		return
	case err != nil:
		m.leave("the notes of Lore: %v", err)
		return
	}
	m.lore = c
	for _, db := range m.config.Config.Databases {
		if db.Notes != "" && library.SamePath(db.Notes, c.folder) {
			return
		}
	}
	if st, err := os.Stat(c.folder); err != nil || !st.IsDir() {
		m.leave("the notes of Lore: %s has no folder %q as knowledge_dir", path, c.folder)
		return
	}
	name := m.unique("lore")
	m.Databases = append(m.Databases, &Database{Source: c.folder, Entry: edit.Entry{
		Keywords: []string{name}, Path: filepath.Join(m.locations.Data, name),
		Description: "Conventions in " + filepath.Base(c.folder), Notes: c.folder,
	}})
}

// loreTOML returns the path of Lore's config file.
func loreTOML() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		dir = filepath.Join(config.Home(os.Getenv), ".config")
	}
	return filepath.Join(dir, "lore", "lore.toml")
}

// readLore reads lore.toml. in has docsearch's values.
func readLore(path string, in *config.Inject) (*loreConfig, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := inplace.Parse(data, inplace.TOML, inplace.Short)
	if err != nil {
		return nil, err
	}
	v := d.Values()
	c := &loreConfig{path: path, inject: map[string]float64{}}
	folder, _ := v["knowledge_dir"].(string)
	c.folder = filepath.Clean(folder)
	search := values(v["search"])
	if relevance, ok := number(search["min_relevance"]); ok {
		c.add("floor", config.FloorOf(relevance), in.Floor)
	}
	if k, ok := number(search["top_k"]); ok {
		c.add("top_k", min(max(k, 1), config.MaxInject), float64(in.TopK))
	}
	return c, nil
}

func (c *loreConfig) add(key string, value, have float64) {
	if value != have {
		c.inject[key] = value
	}
}

// changes reports whether the config lacks a value.
func (c *loreConfig) changes() bool { return len(c.inject) > 0 }

// rewrite returns the contents of the config file with the values.
func (c *loreConfig) rewrite(path string, data []byte) (after []byte, err error) {
	for _, key := range []string{"floor", "top_k"} {
		if value, ok := c.inject[key]; ok && err == nil {
			data, err = edit.Set(path, data, "inject", key, value)
		}
	}
	return data, err
}

// number returns a number of a TOML file.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

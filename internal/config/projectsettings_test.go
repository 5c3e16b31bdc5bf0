package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A project's settings hold in its folder and below it, and only take databases away.
func TestProjectSettings(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(path)
	}
	write(".docsearch/settings.json", `{"ignore": ["*"]}`) // of the home, which is no project
	other := write("other/.git/x", "")
	work := write("shop/src/x", "")
	settings := filepath.Join(home, "shop", ".docsearch", "settings.json")
	for _, tt := range []struct{ name, text, kept, problem string }{
		{"one", `{"ignore": ["TEA", "unknown"]}`, "kettle", ""},
		{"all", `{"ignore": ["*"]}`, "", ""},
		{"none", `{"ignore": []}`, "tea kettle", ""},
		{"one name", `{"ignore": "tea"}`, "kettle", ""},
		{"added", `{"databases": [{"name": "planted"}], "ignore": ["tea"]}`, "kettle",
			`"databases" has no effect`},
		{"invalid", `{"ignore": ["tea"]`, "tea kettle", "cannot read "},
		{"too long", `{"ignore": ["tea"], "x": "` + strings.Repeat("x", maxProjectSettings) + `"}`, "tea kettle",
			"too large"},
	} {
		write("shop/.docsearch/settings.json", tt.text)
		c := Config{Databases: []Database{{Name: "tea"}, {Name: "kettle"}}}
		c.SetSession(func(key string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[key] })
		elsewhere := c
		c.RemoveIgnored(work)
		if kept := strings.Join(names(c.Databases), " "); kept != tt.kept {
			t.Errorf("%s: %q answer, want %q", tt.name, kept, tt.kept)
		}
		for _, name := range names(c.Ignored) {
			if by := c.IgnoredBy(name); by != IgnoredBySettings {
				t.Errorf("%s: %s is ignored by %q", tt.name, name, by)
			}
		}
		_, err := ReadProjectSettings(settings)
		if (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.problem)
		}
		elsewhere.RemoveIgnored(filepath.Dir(other))
		if !slices.Equal(names(elsewhere.Databases), []string{"tea", "kettle"}) {
			t.Errorf("%s: only %q answer in another project", tt.name, names(elsewhere.Databases))
		}
	}
}

func names(all []Database) (list []string) {
	for i := range all {
		list = append(list, all[i].Name)
	}
	return list
}

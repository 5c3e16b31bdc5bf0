package config

import (
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeRegistration writes a registration as docsearch setup --project does.
func writeRegistration(t *testing.T, l Locations, name string, r Registration) {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(l.Projects, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(Join(l.Projects, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// abs returns an absolute path of this system.
func abs(path string) string {
	if runtime.GOOS == "windows" {
		return "C:" + path
	}
	return path
}

func packageDatabase(name string) Database {
	return Database{Name: name, Keywords: []string{"tea"}, Path: abs("/d/") + name, Description: "tea documentation", Version: "1.0.0", Packages: []string{"node:tea"}, Entry: -1}
}

// Each folder is answered by the databases of the user and those of its own project.
func TestAddProject(t *testing.T) {
	l := Locations{Projects: Join(t.TempDir(), ".projects")}
	user := Database{Name: "Manual", Keywords: []string{"manual"}, Path: abs("/d/manual")}
	writeRegistration(t, l, "a.json", Registration{Folder: abs("/src/shop"), Also: []string{abs("/src/shop-feature"), abs("/link/shop")}, Databases: []Database{packageDatabase("tea-1"), packageDatabase("manual")}})
	writeRegistration(t, l, "b.json", Registration{Folder: abs("/src/shop-feature"), Databases: []Database{packageDatabase("tea-2"), packageDatabase("tea-1")}})
	writeRegistration(t, l, "c.json", Registration{Folder: abs("/src/shop/vendor/evil"), Databases: []Database{packageDatabase("forged")}})
	if err := os.WriteFile(Join(l.Projects, "broken.json"), []byte(`{"folder": "/src`), 0o600); err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string][]string{
		abs("/src/shop"):                 {"Manual", "tea-1"}, // the user's Manual has precedence
		abs("/src/shop/web"):             {"Manual", "tea-1"},
		abs("/link/shop/web"):            {"Manual", "tea-1"},
		abs("/src/shop-feature/web"):     {"Manual", "tea-2", "tea-1"},
		abs("/src/shop/vendor/evil/src"): {"Manual", "forged"},
		abs("/src/shopping"):             {"Manual"},
		abs("/src"):                      {"Manual"},
		abs("/"):                         {"Manual"},
		"":                               {"Manual"},
	} {
		shared := []Database{user}
		c := Config{Databases: shared, Projects: ProjectFolders(l)}
		c.AddProject(cwd)
		var got []string
		for _, db := range c.Databases {
			got = append(got, db.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("in %q: %q, want %q", cwd, got, want)
		}
		if cwd == abs("/src/shop") {
			want := packageDatabase("tea-1")
			want.Project = abs("/src/shop")
			if diff := cmp.Diff(want, c.Databases[1]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
	}
}

// A project, and a session, ignore databases of the user and of the project by their names.
func TestRemoveIgnored(t *testing.T) {
	l := Locations{Projects: Join(t.TempDir(), ".projects")}
	writeRegistration(t, l, "a.json", Registration{Folder: abs("/src/shop"), Also: []string{abs("/src/shop-feature")}, Ignored: []string{"Manual", "tea-1"}, Databases: []Database{packageDatabase("tea-1"), packageDatabase("tea-2")}})
	writeRegistration(t, l, "b.json", Registration{Folder: abs("/src/site"), Ignored: []string{"other"}})
	for _, tt := range []struct {
		cwd, session  string
		want, ignored []string
	}{
		{abs("/src/shop/web"), "", []string{"other", "tea-2"}, []string{"manual", "tea-1"}},
		{abs("/src/shop-feature"), "", []string{"other", "tea-2"}, []string{"manual", "tea-1"}},
		{abs("/src/shop"), " OTHER,,unknown", []string{"tea-2"}, []string{"manual", "other", "tea-1"}},
		{abs("/src/site"), "", []string{"manual"}, []string{"other"}},
		{abs("/src"), "", []string{"manual", "other"}, nil},
		{abs("/src"), "manual", []string{"other"}, []string{"manual"}},
		{"", "manual", []string{"other"}, []string{"manual"}},
	} {
		names := func(dbs []Database) [][]string {
			all := make([][]string, len(dbs))
			for i := range dbs {
				all[i] = []string{dbs[i].Name}
			}
			return all
		}
		user := []Database{{Name: "manual", Keywords: []string{"k"}, Path: abs("/d/manual")}, {Name: "other", Keywords: []string{"k"}, Path: abs("/d/other")}}
		c := Config{Databases: user, Projects: ProjectFolders(l), Names: NewNames(user, names, names)}
		c.SetSession(func(string) string { return tt.session })
		c.AddProject(tt.cwd)
		var ignored, got []string
		for _, db := range c.Ignored {
			ignored = append(ignored, db.Name)
			if _, found := c.Names.Page(db.Name); found || c.IgnoredBy(db.Name) == "" {
				t.Errorf("in %q: a name leads to the ignored database %s", tt.cwd, db.Name)
			}
		}
		for i, db := range c.Databases {
			got = append(got, db.Name)
			if place, found := c.Names.Page(db.Name); !found || place != i {
				t.Errorf("in %q: the name of %s leads to %d, %v, want %d", tt.cwd, db.Name, place, found, i)
			}
		}
		if !slices.Equal(got, tt.want) || !slices.Equal(ignored, tt.ignored) {
			t.Errorf("in %q with %q: %q answer and %q are ignored, want %q and %q", tt.cwd, tt.session, got, ignored, tt.want, tt.ignored)
		}
	}
}

// A name that a project's database defines is that database's in the project only.
func TestProjectNames(t *testing.T) {
	l := Locations{Config: Join(t.TempDir(), "c.json"), Cache: t.TempDir(), Projects: Join(t.TempDir(), ".projects")}
	writeRegistration(t, l, "a.json", Registration{Folder: abs("/src/shop"), Databases: []Database{packageDatabase("tea")}})
	reads := 0
	names := func(dbs []Database) [][]string {
		reads++
		all := make([][]string, len(dbs))
		for i := range dbs {
			all[i] = []string{"steep", dbs[i].Name}
		}
		return all
	}
	user := []Database{{Name: "manual", Keywords: []string{"k"}, Path: abs("/d/manual")}, {Name: "other", Keywords: []string{"k"}, Path: abs("/d/other")}}
	if err := NewNames(user, names, names).Write(l); err != nil {
		t.Fatal(err)
	}
	reads = 0
	for cwd, want := range map[string]map[string]int{
		abs("/src/shop"): {"steep": 2, "tea": 2, "manual": 0, "other": 1, "none": -1},
		abs("/src"):      {"steep": -1, "tea": -1, "manual": 0, "other": 1, "none": -1},
	} {
		for range 2 {
			c := Config{Databases: user, Projects: ProjectFolders(l), Names: NamesOf(l, user, names, names)}
			c.AddProject(cwd)
			for name, want := range want {
				place, found := c.Names.Page(name)
				if !found {
					place = -1
				}
				if place != want {
					t.Errorf("%q in %s: database %d, want %d", name, cwd, place, want)
				}
			}
		}
	}
	if reads != 1 {
		t.Errorf("the project's names were read %d times, want once and then from the file", reads)
	}
}

// FuzzRegistration reads any text. What it accepts is complete.
func FuzzRegistration(f *testing.F) {
	f.Add([]byte(`{"folder": "/src/shop", "also": ["/x"], "databases": [{"name": "tea", "keywords": ["tea"], "path": "/d/tea", "urls": [], "packages": ["node:tea"]}]}`))
	f.Add([]byte(`{"folder": "src", "databases": []}`))
	f.Add([]byte(`{"folder": "/s", "databases": [{"name": "tea", "keywords": [], "path": "tea"}]}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRegistration(data)
		if err != nil {
			return
		}
		if !IsAbs(r.Folder) {
			t.Errorf("folder %q", r.Folder)
		}
		for _, db := range r.Databases {
			if db.Name == "" || len(db.Keywords) == 0 || !IsAbs(db.Path) || db.Project != r.Folder || db.Entry != -1 {
				t.Errorf("database %+v", db)
			}
		}
	})
}

func TestContains(t *testing.T) {
	type paths struct{ dir, path string }
	tests := map[paths]bool{
		{abs("/src"), abs("/src")}: true, {abs("/src"), abs("/src/a")}: true, {abs("/src"), abs("/srcs")}: false,
		{abs("/src"), abs("/")}: false, {abs("/"), abs("/src")}: true,
	}
	if runtime.GOOS == "windows" {
		tests[paths{`C:\src`, `c:/SRC/a`}] = true
		tests[paths{`C:\src`, `c:/srcs`}] = false
	}
	for p, want := range tests {
		if got := Contains(p.dir, p.path); got != want {
			t.Errorf("%q contains %q: %t", p.dir, p.path, got)
		}
	}
}

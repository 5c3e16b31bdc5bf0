package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func wholeProject() *ProjectSnapshot {
	return &ProjectSnapshot{
		Config: "/c.json", Folder: "/p",
		Sources: []Stamp{{"/p/go.mod", true, 12, 1 << 60, 7, 1 << 50}},
		Uses:    []Use{{"node:react", []string{"19.1.0", "18.3.1"}, true}, {"go:example.org/x", []string{"1.0.0"}, false}},
	}
}

// Each folder has its own snapshot. The one of the nearest folder above applies, up to the
// root of the repository.
func TestProjectSnapshot(t *testing.T) {
	dir := t.TempDir()
	l := Locations{Config: filepath.Join(dir, "c.json"), Cache: filepath.Join(dir, "cache")}
	web := filepath.Join(dir, "repo", "web")
	if err := os.MkdirAll(filepath.Join(web, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "repo", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	versions := func(cwd string) []string { return ProjectAt(l, none, cwd).Versions([]string{"node:react"}) }
	if got := versions(web); got != nil {
		t.Errorf("versions without a snapshot: %q", got)
	}
	for folder, version := range map[string]string{web: "18.3.1", filepath.Join(dir, "repo"): "19.1.0", dir: "17.0.0"} {
		s := ProjectSnapshot{Folder: folder, Uses: []Use{{"node:react", []string{version}, true}}}
		if err := s.Write(l); err != nil {
			t.Fatal(err)
		}
	}
	for cwd, want := range map[string]string{
		web: "18.3.1", filepath.Join(web, "src"): "18.3.1", filepath.Join(dir, "repo"): "19.1.0", filepath.Join(dir, "repo", "api"): "19.1.0", dir: "17.0.0",
	} {
		if got := versions(cwd); !cmp.Equal(got, []string{want}) {
			t.Errorf("versions in %s: %q, want %s", cwd, got, want)
		}
	}
	if got := versions("relative"); got != nil {
		t.Errorf("versions in a relative folder: %q", got)
	}
	other := l
	other.Config += "x"
	if got := ProjectAt(other, none, web).Snapshot(); got != nil {
		t.Error("the snapshot is used for another config")
	}
	if n := len(ProjectSnapshots(l)); n != 3 {
		t.Errorf("%d snapshots, want 3", n)
	}
}

func TestProjectSnapshotCurrent(t *testing.T) {
	dir := t.TempDir()
	lock := filepath.Join(dir, "go.sum")
	if err := os.WriteFile(lock, []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	stamps := func() []Stamp {
		file, err := StampOf(lock)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := StampOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		return []Stamp{file, folder}
	}
	s := ProjectSnapshot{Sources: stamps()}
	if !s.Current() {
		t.Error("outdated without a change")
	}
	if err := os.WriteFile(lock, []byte("ab"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s.Current() {
		t.Error("current after a change of the lock file")
	}
	s.Sources = stamps()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if s.Current() {
		t.Error("current although a file was created")
	}
}

func TestChooseEditions(t *testing.T) {
	react := func(version string) Edition { return Edition{[]string{"node:react", "node:react-dom"}, version} }
	vue := Edition{[]string{"node:vue"}, "3.4"}
	uses := func(versions ...string) *Project {
		return &Project{read: true, snapshot: &ProjectSnapshot{Uses: []Use{{"node:react-dom", versions, true}}}}
	}
	for name, tt := range map[string]struct {
		project *Project
		all     []Edition
		named   string
		want    []ChosenEdition
	}{
		"no project: the newest":           {nil, []Edition{react("18.3.1"), react("19.1.0"), vue}, "", []ChosenEdition{{1, ""}, {2, ""}}},
		"unknown version is the newest":    {nil, []Edition{react("18.3.1"), react("")}, "", []ChosenEdition{{1, ""}}},
		"exact":                            {uses("18.3.1"), []Edition{vue, react("18.3.1"), react("18.3.2"), react("19.1.0")}, "", []ChosenEdition{{0, ""}, {1, "18.3.1"}}},
		"same minor":                       {uses("18.3.9"), []Edition{react("18.3.1"), react("18.4.0")}, "", []ChosenEdition{{0, "18.3.9"}}},
		"same major":                       {uses("18.0.0"), []Edition{react("18.3.1"), react("19.1.0")}, "", []ChosenEdition{{0, "18.0.0"}}},
		"none close: the newest":           {uses("17.0.0"), []Edition{react("18.3.1"), react("19.1.0")}, "", []ChosenEdition{{1, "17.0.0"}}},
		"several versions in use":          {uses("17.0.0", "18.3.1"), []Edition{react("18.3.1"), react("19.1.0")}, "", []ChosenEdition{{0, "18.3.1"}}},
		"the query names a version":        {uses("18.3.1"), []Edition{react("18.3.1"), react("19.1.0")}, "19", []ChosenEdition{{1, ""}}},
		"the query names a missing one":    {uses("18.3.1"), []Edition{react("18.3.1"), react("19.1.0")}, "16", []ChosenEdition{{0, ""}}},
		"one edition, of another major":    {uses("17.0.0"), []Edition{react("19.1.0")}, "", []ChosenEdition{{0, "17.0.0"}}},
		"no edition":                       {uses("17.0.0"), nil, "", nil},
		"the last of several with a pivot": {uses("19.1.0"), []Edition{react("18.3.1"), {[]string{"node:react"}, "17.0.2"}, react("19.1.0")}, "", []ChosenEdition{{2, "19.1.0"}}},
	} {
		got := tt.project.ChooseEditions(tt.all, func(int) string { return tt.named })
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestSoftware(t *testing.T) {
	for want, db := range map[string]Database{
		"name:react":   {Name: "React-18.3", Version: "18.3"},
		"name:gitlab":  {Name: "gitlab"},
		"node:react":   {Name: "react-18.3.1", Version: "18.3.1", Packages: []string{"node:react"}},
		"name:react-1": {Name: "react-1", Version: "18.3"},
	} {
		if got := db.Software(); len(got) != 1 || got[0] != want {
			t.Errorf("Software of %s: %q, want %s", db.Name, got, want)
		}
	}
}

func FuzzProjectSnapshot(f *testing.F) {
	encoded := func(s *ProjectSnapshot) []byte {
		c := coder{writing: true}
		s.code(&c)
		return c.out
	}
	f.Add(encoded(wholeProject()))
	f.Add([]byte(projectMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The checksum would block the fuzzer.
		s := &ProjectSnapshot{}
		c := coder{data: string(data)}
		s.code(&c)
		if c.corrupt || len(c.data) > 0 {
			return
		}
		again := &ProjectSnapshot{}
		c = coder{data: string(encoded(s))}
		again.code(&c)
		if c.corrupt || !cmp.Equal(s, again) {
			t.Errorf("%+v was read back as %+v", s, again)
		}
		if _, err := parseProjectSnapshot(data); err == nil && len(data) < len(projectMagic) {
			t.Error("a short file is accepted")
		}
	})
}

package load

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
)

// withRouteFiles adds rule files that the config and the environment name to
// rulesEverywhere.
func withRouteFiles(t *testing.T) (l config.Locations, p config.RoutesPlace, dir string) {
	l, p, _ = rulesEverywhere(t)
	dir = t.TempDir()
	writeSettled(t, oneRule("team"), dir, "team.yaml")
	writeSettled(t, oneRule("folder-b"), dir, "rules", "b.toml.json")
	writeSettled(t, "[routes.folder-a]\npattern = 'x'\nmessage = 'm'\n", dir, "rules", "a.toml")
	writeSettled(t, "no rules", dir, "rules", "README.md")
	writeSettled(t, "no rules", dir, "rules", ".hidden.json")
	writeSettled(t, oneRule("below"), dir, "rules", "more", "c.json")
	writeSettled(t, oneRule("listed"), dir, "listed.json")
	p.Files = filepath.Join(dir, "listed.json") + string(os.PathListSeparator) + filepath.Join(dir, "rules") + string(os.PathListSeparator)
	writeConfig(t, l, `{"routes": {"user": {"pattern": "x", "message": "m"}}, "route_files": [%q, %q]}`, filepath.Join(dir, "team.yaml"), filepath.Join(dir, "rules"))
	settle(t, filepath.Join(dir, "rules"))
	return l, p, dir
}

func writeConfig(t *testing.T, l config.Locations, format string, args ...any) {
	t.Helper()
	writeSettled(t, fmt.Sprintf(format, args...), l.Config)
}

// The files of the config come before those of plugins. Those of the environment, which a
// project's settings can change, come after all that a project must not override.
func TestNamedRouteFiles(t *testing.T) {
	l, p, _ := withRouteFiles(t)
	got := LoadRoutes(mustLoad(t, l), p)
	want := []string{"user", "team", "folder-a", "folder-b", "own", "plugin", "skill", "off", "old", "direct", "listed", "project", "project-yaml", "project-plugin"}
	if diff := cmp.Diff(want, names(got.Rules)); diff != "" || len(got.Problems) > 0 {
		t.Errorf("problems %q, rules (-want +got):\n%s", got.Problems, diff)
	}
}

// The list of the environment is that of the tool-routing plugin, too: separated by commas, with
// relative paths.
func TestCommaSeparatedRouteFiles(t *testing.T) {
	l, p, dir := withRouteFiles(t)
	writeSettled(t, oneRule("relative"), p.Project, "skills", "a.json")
	p.Files = "./skills/a.json, " + filepath.Join(dir, "listed.json") + ",,"
	got := LoadRoutes(mustLoad(t, l), p)
	for _, name := range []string{"relative", "listed"} {
		if !slices.Contains(names(got.Rules), name) {
			t.Errorf("no rule %s in %q, problems %q", name, names(got.Rules), got.Problems)
		}
	}
}

// A file that the environment names cannot replace a rule of the user or of a plugin, and
// its exceptions come after their rules.
func TestEnvironmentOverridesNothing(t *testing.T) {
	l, p, dir := withRouteFiles(t)
	writeSettled(t, `{"routes": {"all": {"tool_pattern": ".", "action": "allow"}, "user": {"pattern": "y", "message": "taken"}, "plugin": {"pattern": "y", "message": "taken"}, "team": {"pattern": "y", "message": "taken"}}}`, dir, "listed.json")
	got := LoadRoutes(mustLoad(t, l), p)
	if diff := cmp.Diff([]string{"user", "plugin", "team"}, names(got.Overruled)); diff != "" {
		t.Errorf("overridden (-want +got):\n%s", diff)
	}
	all := slices.Index(names(got.Rules), "all")
	for _, name := range []string{"user", "team", "own", "plugin"} {
		if i := slices.Index(names(got.Rules), name); i < 0 || i > all {
			t.Errorf("rule %s is at %d, the exception of the environment at %d", name, i, all)
		}
	}
}

func TestRouteFileProblems(t *testing.T) {
	l, p, dir := withRouteFiles(t)
	if err := os.Mkdir(filepath.Join(dir, "many"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n := range maxFolderFiles + 2 {
		if err := os.WriteFile(filepath.Join(dir, "many", strconv.Itoa(1000+n)+".json"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	absent, many := filepath.Join(dir, "absent.json"), filepath.Join(dir, "many")
	writeSettled(t, "{]", dir, "broken.json")
	below := filepath.Join(dir, "team.yaml", "x")
	writeConfig(t, l, `{"route_files": [%q, "relative", 3, %q, %q, %q]}`, absent, many, filepath.Join(dir, "broken.json"), below)
	p.Files = "listed.json" + string(os.PathListSeparator) + absent
	r := mustLoad(t, l)
	want := []string{
		`line 1: route_files: want an absolute path, got "relative"; using ` + filepath.Join(filepath.Dir(l.Config), "relative"),
		`line 1: route_files: want paths of files and folders, got 3; the other items are used`,
	}
	if diff := cmp.Diff(want, problems(r)); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	want = []string{
		"routes " + absent + ": file not found",
		"routes " + filepath.Join(filepath.Dir(l.Config), "relative") + ": file not found",
		"routes " + many + ": want at most 100 files, got 102; using the first ones",
		"routes " + filepath.Join(dir, "broken.json") + ":1:2: invalid JSON",
		"routes " + below + ": file not found",
		"routes " + filepath.Join(p.Project, "listed.json") + ": file not found",
		"routes " + absent + ": file not found",
	}
	got := LoadRoutes(r, p).Problems
	if len(got) != len(want) {
		t.Fatalf("problems %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("problem %s, want %s", got[i], want[i])
		}
	}
}

// The config file itself may be in a folder of rules.
func TestRouteFolderOfConfig(t *testing.T) {
	l := locations(t, "config.json", "{}")
	writeConfig(t, l, `{"routes": {"user": {"pattern": "x", "message": "m"}}, "route_files": [%q]}`, filepath.Dir(l.Config))
	if got := LoadRoutes(mustLoad(t, l), config.RoutesPlace{Config: l.Config}); !slices.Equal(names(got.Rules), []string{"user"}) || len(got.Problems) > 0 {
		t.Errorf("rules %q, problems %q", names(got.Rules), got.Problems)
	}
}

// A change of a named file or folder, or of the list in the environment, makes the
// snapshot stale.
func TestNamedRouteFilesAreFresh(t *testing.T) {
	l, p, dir := withRouteFiles(t)
	remember := func() []string {
		t.Helper()
		if err := LoadRoutes(mustLoad(t, l), p).WriteSnapshot(l); err != nil {
			t.Fatal(err)
		}
		s, err := readRoutes(l, p)
		if err != nil {
			t.Fatal(err)
		}
		return names(s.Rules)
	}
	if got := remember(); !slices.Contains(got, "team") || !slices.Contains(got, "listed") {
		t.Errorf("rules %q", got)
	}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"file", func() { writeSettled(t, oneRule("team2"), dir, "team.yaml") }},
		{"file in the folder", func() { writeSettled(t, oneRule("folder-b")+" ", dir, "rules", "b.toml.json") }},
		{"new file in the folder", func() { writeSettled(t, oneRule("new"), dir, "rules", "new.json") }},
		{"removed file in the folder", func() { remove(t, dir, "rules", "a.toml") }},
		{"removed file", func() { remove(t, dir, "listed.json") }},
		{"file that is back", func() { writeSettled(t, oneRule("listed"), dir, "listed.json") }},
		{"folder replaced by a file", func() {
			remove(t, dir, "rules")
			writeSettled(t, oneRule("file"), dir, "rules")
		}},
	} {
		change.do()
		if st, err := os.Stat(filepath.Join(dir, "rules")); err == nil && st.IsDir() {
			settle(t, filepath.Join(dir, "rules"))
		}
		if s, err := readRoutes(l, p); err == nil {
			t.Errorf("%s: the rules are still %q", change.name, names(s.Rules))
		}
		remember()
	}
	p.Files = filepath.Join(dir, "team.yaml")
	if s, err := readRoutes(l, p); err == nil {
		t.Errorf("another list: the rules are still %q", names(s.Rules))
	}
}

func remove(t *testing.T, path ...string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(path...)); err != nil {
		t.Fatal(err)
	}
}

// A device is not read: it may have no end.
func TestRouteFileIsDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev")
	}
	l := locations(t, "config.json", "{}")
	got := LoadRoutes(mustLoad(t, l), config.RoutesPlace{Config: l.Config, Files: "/dev/zero"})
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "not a regular file") {
		t.Errorf("problems %q", got.Problems)
	}
}

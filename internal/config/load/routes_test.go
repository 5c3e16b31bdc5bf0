package load

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
)

// settle waits until a change of the file will change its stamp.
func settle(t *testing.T, path string) {
	t.Helper()
	for {
		stamp, err := config.StampOf(path)
		if err != nil {
			t.Fatal(err)
		}
		if stamp.Settled(time.Now()) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// writeSettled writes a file and waits until a change of it will change its stamp.
func writeSettled(t *testing.T, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	settle(t, name)
	return name
}

func names(rules []config.Rule) []string {
	var list []string
	for _, r := range rules {
		list = append(list, r.Name)
	}
	return list
}

// oneRule returns a file with one rule.
func oneRule(name string) string {
	return `{"routes": {"` + name + `": {"pattern": "x", "message": "m"}}}`
}

// The rules have the order of the file, in every format.
func TestRouteOrder(t *testing.T) {
	want := []string{"zebra", "C++ rule", "apple", "m.n"}
	for name, text := range map[string]string{
		"config.json": `{"routes": {
  "zebra": {"pattern": "z", "message": "m"},
  "C++ rule": {"pattern": "c", "message": "m"},
  "apple": {"pattern": "a", "message": "m"},
  "m.n": {"pattern": "m", "message": "m"}}}`,
		"config.yaml": "routes:\n  zebra: {pattern: z, message: m}\n  C++ rule: {pattern: c, message: m}\n  apple: {pattern: a, message: m}\n  m.n: {pattern: m, message: m}\n",
		"config.toml": "[routes.zebra]\npattern = 'z'\nmessage = 'm'\n[routes.\"C++ rule\"]\npattern = 'c'\nmessage = 'm'\n[routes.apple]\npattern = 'a'\nmessage = 'm'\n[routes.\"m.n\"]\npattern = 'm'\nmessage = 'm'\n",
		"list.yaml":   "routes:\n- {name: zebra, pattern: z, message: m}\n- {name: C++ rule, pattern: c, message: m}\n- {name: apple, pattern: a, message: m}\n- {name: m.n, pattern: m, message: m}\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := locations(t, name, text)
			inConfig := LoadRoutes(mustLoad(t, l), config.RoutesPlace{Config: l.Config})
			inFile := LoadRouteFiles([]string{l.Config})
			for _, routes := range []*Routes{inConfig, inFile} {
				if diff := cmp.Diff(want, names(routes.Rules)); diff != "" || len(routes.Problems) > 0 {
					t.Errorf("problems %q, rules (-want +got):\n%s", routes.Problems, diff)
				}
				for i, r := range routes.Rules {
					if i > 0 && r.Line <= routes.Rules[i-1].Line {
						t.Errorf("%s is said to be in line %d", r.Name, r.Line)
					}
					if r.Origin != l.Config || r.Pattern.Expr == "" || len(r.Pattern.Literals) != 1 {
						t.Errorf("%+v", r)
					}
				}
			}
		})
	}
}

// rulesEverywhere creates rules in every supported place.
func rulesEverywhere(t *testing.T) (l config.Locations, p config.RoutesPlace, plugins string) {
	l = locations(t, "config.json", oneRule("user"))
	writeSettled(t, oneRule("user"), l.Config)
	dir := t.TempDir()
	p = config.RoutesPlace{Config: l.Config, Project: filepath.Join(dir, "project"), Plugin: filepath.Join(dir, "own"), Claude: filepath.Join(dir, "claude")}
	writeSettled(t, oneRule("project"), p.Project, ".docsearch", "routes.json")
	writeSettled(t, "routes:\n  project-yaml: {pattern: x, message: m}\n", p.Project, ".docsearch", "routes.yaml")
	writeSettled(t, oneRule("project-plugin"), p.Project, ".claude", "tool-routes.yaml")
	writeSettled(t, oneRule("own"), p.Plugin, "hooks", "tool-routes.json")

	plugins = filepath.Join(dir, "plugins")
	writeSettled(t, `{"routes": ["./hooks/tool-routes.yaml", "skills/pr/tool-routes.yaml", "./nowhere.yaml"]}`, plugins, "b", ".claude-plugin", "routes.json")
	writeSettled(t, oneRule("plugin"), plugins, "b", "hooks", "tool-routes.yaml")
	writeSettled(t, oneRule("skill"), plugins, "b", "skills", "pr", "tool-routes.yaml")
	writeSettled(t, oneRule("direct"), plugins, "a", ".claude-plugin", "routes.json")
	for _, name := range []string{"off", "unlisted", "elsewhere", "old"} {
		writeSettled(t, oneRule(name), plugins, name, "hooks", "tool-routes.yaml")
	}
	type install map[string]string
	list, err := json.Marshal(map[string]any{"version": 2, "plugins": map[string]any{
		"b@m":         []install{{"scope": "user", "installPath": filepath.Join(plugins, "b")}},
		"a@m":         []install{{"scope": "user", "installPath": filepath.Join(plugins, "nowhere")}, {"scope": "local", "projectPath": p.Project, "installPath": filepath.Join(plugins, "a")}},
		"off@m":       []install{{"scope": "user", "installPath": filepath.Join(plugins, "off")}},
		"unlisted@m":  []install{{"scope": "user", "installPath": filepath.Join(plugins, "unlisted")}},
		"elsewhere@m": []install{{"scope": "project", "projectPath": "/elsewhere", "installPath": filepath.Join(plugins, "elsewhere")}},
		"old@m":       install{"installPath": filepath.Join(plugins, "old")}, // as the first version of the list has it
		"own@m":       []install{{"scope": "user", "installPath": p.Plugin}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	writeSettled(t, string(list), p.Claude, "plugins", "installed_plugins.json")
	writeSettled(t, `{"enabledPlugins": {"b@m": true, "off@m": true, "elsewhere@m": true, "old@m": ["1.0"], "own@m": true}} // with a comment`+"\n", p.Claude, "settings.json")
	writeSettled(t, `{"enabledPlugins": {"a@m": true}}`, p.Project, ".claude", "settings.json")
	writeSettled(t, `{"enabledPlugins": {"off@m": false}}`, p.Project, ".claude", "settings.local.json")
	return l, p, plugins
}

func TestRouteFiles(t *testing.T) {
	l, p, _ := rulesEverywhere(t)
	got := LoadRoutes(mustLoad(t, l), p)
	// The user has enabled the plugin "off". No file of the project can switch its rules off.
	want := []string{"user", "own", "plugin", "skill", "off", "old", "direct", "project", "project-yaml", "project-plugin"}
	if diff := cmp.Diff(want, names(got.Rules)); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if len(got.Problems) > 0 {
		t.Errorf("problems %q", got.Problems)
	}
	if len(got.Files) != len(want)+1 { // and the plugin's list of files
		t.Errorf("files %q", got.Files)
	}
	// Without the config file, the others count.
	if rest := LoadRoutes(nil, p); !slices.Equal(names(rest.Rules), want[1:]) {
		t.Errorf("without the config: %q", names(rest.Rules))
	}
}

// A project's rule cannot replace a rule of the user or of a plugin.
func TestRouteNames(t *testing.T) {
	l, p, plugins := rulesEverywhere(t)
	writeSettled(t, `{"routes": {"user": {"pattern": "y", "message": "own"}, "shared": {"pattern": "y", "message": "own"}}}`, p.Plugin, "hooks", "tool-routes.json")
	writeSettled(t, `{"routes": {"plugin": {"pattern": "y", "message": "plugin"}, "shared": {"pattern": "y", "message": "plugin"}}}`, plugins, "b", "hooks", "tool-routes.yaml")
	writeSettled(t, `{"routes": {
		"user": {"pattern": "nothing", "message": "project"}, "plugin": {"pattern": "nothing", "message": "project", "action": "warn"},
		"shared": {"pattern": "nothing", "message": "project"}, "project": {"pattern": "y", "message": "project"}}}`, p.Project, ".docsearch", "routes.json")
	got := LoadRoutes(mustLoad(t, l), p)
	messages := map[string]string{}
	for _, r := range got.Rules {
		messages[r.Name] = r.Message
	}
	for name, want := range map[string]string{"user": "m", "shared": "own", "plugin": "plugin", "project": "project"} {
		if messages[name] != want {
			t.Errorf("rule %s says %q, want %q", name, messages[name], want)
		}
	}
	if diff := cmp.Diff([]string{"user", "shared", "user", "plugin", "shared"}, names(got.Overruled)); diff != "" {
		t.Errorf("overruled (-want +got):\n%s", diff)
	}
	if len(got.Problems) != 5 {
		t.Errorf("problems %q", got.Problems)
	}
}

func TestRouteProblems(t *testing.T) {
	dir := t.TempDir()
	files := []string{
		writeSettled(t, oneRule("a"), dir, "first.json"),
		writeSettled(t, `{"routes": {"b": {"pattern": "x", "message": "m"},
			"a": {"pattern": "y", "message": "m"}}}`, dir, "second.json"),
		writeSettled(t, `{"routes": {"c": {"pattern": "(?P<x", "message": "m"}, "d": {"command_pattern": "x{3,2}", "message": "m"}, "e": {"pattern": "x", "unless": "[", "message": "m"}}}`, dir, "patterns.json"),
		writeSettled(t, "{\n\"routes\": {", dir, "broken.json"),
		writeSettled(t, "routes: [", dir, "broken.yaml"),
		writeSettled(t, `["x"]`, dir, "list.json"),
		writeSettled(t, ``, dir, "empty.json"),
		writeSettled(t, "{\"routes\": {\"f\": {\"pattern\": \"x\", \"message\": \"m\"},\n\"f\": {\"pattern\": \"y\", \"message\": \"m\"}}}", dir, "twice.json"),
		writeSettled(t, `{"routes": ["../outside.yaml"]}`, dir, "outside.json"),
		filepath.Join(dir, "absent.json"),
	}
	got := LoadRouteFiles(files)
	if want := []string{"a", "b", "f"}; !slices.Equal(names(got.Rules), want) {
		t.Errorf("rules %q, want %q", names(got.Rules), want)
	}
	wants := []string{
		`second.json: line 2: routes.a: want a unique rule name, got the name of a rule in ` + files[0] + `; the rule is ignored`,
		`patterns.json: line 1: routes.c: pattern: want a regular expression, got byte 0: invalid group name; the rule is ignored`,
		`patterns.json: line 1: routes.d: command_pattern: want a regular expression, got `,
		`patterns.json: line 1: routes.e: unless: want a regular expression, got byte 1: unterminated character class; the rule is ignored`,
		`broken.json:2:12: invalid JSON`,
		`broken.yaml:1: invalid YAML`,
		`list.json:1:1: want an object at the top level`,
		`twice.json: line 2: routes.f: want a unique rule name, got a name that is already in the file; the last rule is used`,
		`outside.json: line 1: routes[0]: want a file of the plugin, got "../outside.yaml"; ignored`,
		`absent.json`,
	}
	if len(got.Problems) != len(wants) {
		t.Errorf("%d problems, want %d: %q", len(got.Problems), len(wants), got.Problems)
	}
	for i, want := range wants {
		if i < len(got.Problems) && !strings.Contains(filepath.ToSlash(got.Problems[i]), filepath.ToSlash(want)) {
			t.Errorf("problem %s, want %s", got.Problems[i], want)
		}
	}
}

func TestRouteDatabases(t *testing.T) {
	unixPaths(t)
	l := locations(t, "config.json", `{"databases": [{"keywords": ["k8s"], "name": "kubernetes", "path": "/docs/k8s", "description": "d"}], "routes": {
		"good": {"tool": "WebFetch", "database": "kubernetes"},
		"bad": {"tool": "WebFetch", "database": "k8s"}}}`)
	got := LoadRoutes(mustLoad(t, l), config.RoutesPlace{Config: l.Config})
	want := []string{"routes " + l.Config + `: line 3: routes.bad: database: want a database name, got "k8s"; the rule does not search`}
	if diff := cmp.Diff(want, got.Problems); diff != "" || len(got.Rules) != 2 {
		t.Errorf("%d rules, problems (-want +got):\n%s", len(got.Rules), diff)
	}
}

// readRoutes reads all rules of a place from their snapshots.
func readRoutes(l config.Locations, p config.RoutesPlace) (*config.RoutesSnapshot, error) {
	user, err := config.ReadUserRoutes(l, p, nil)
	if err != nil || p == p.User() {
		return user, err
	}
	s, err := config.ReadProjectRoutes(l, p, user, nil)
	if err != nil {
		return nil, err
	}
	s.Rules, s.Problems = slices.Concat(user.Rules, s.Rules), slices.Concat(user.Problems, s.Problems)
	return s, nil
}

// The snapshot is valid exactly as long as none of the files changes.
func TestRoutesSnapshot(t *testing.T) {
	l, p, plugins := rulesEverywhere(t)
	remember := func() []config.Rule {
		t.Helper()
		routes := LoadRoutes(mustLoad(t, l), p)
		if err := routes.WriteSnapshot(l); err != nil {
			t.Fatal(err)
		}
		s, err := readRoutes(l, p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(names(s.Rules), names(routes.Rules)) {
			t.Errorf("rules %q, want %q", names(s.Rules), names(routes.Rules))
		}
		return s.Rules
	}
	rules := remember()
	if r := rules[0]; r.Pattern.Expr != "x" || !slices.Equal(r.Pattern.Literals, []string{"x"}) || r.Message != "m" {
		t.Errorf("%+v", r)
	}
	other := p
	other.Project = filepath.Join(filepath.Dir(p.Project), "other")
	if s, err := readRoutes(l, other); err == nil {
		t.Errorf("another project has the rules %q", names(s.Rules))
	}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"config", func() { writeSettled(t, oneRule("user")+" ", l.Config) }},
		{"project's file", func() { writeSettled(t, oneRule("project")+" ", p.Project, ".docsearch", "routes.json") }},
		{"new file of the project", func() { writeSettled(t, "", p.Project, ".docsearch", "routes.toml") }},
		{"new file of the plugin", func() { writeSettled(t, oneRule("new"), p.Plugin, "hooks", "tool-routes.yaml") }},
		{"file that a plugin names", func() { writeSettled(t, oneRule("nowhere"), plugins, "b", "nowhere.yaml") }},
		{"removed file", func() { os.Remove(filepath.Join(p.Project, ".claude", "tool-routes.yaml")) }},
		{"settings", func() { writeSettled(t, `{"enabledPlugins": {}}`, p.Project, ".claude", "settings.local.json") }},
		{"list of plugins", func() { writeSettled(t, `{"plugins": {}}`, p.Claude, "plugins", "installed_plugins.json") }},
		{"file of the same size and time", func() { replace(t, oneRule("prOject")+" ", p.Project, ".docsearch", "routes.json") }},
		{"folder in a file's place", func() {
			os.RemoveAll(filepath.Join(p.Project, ".docsearch"))
			writeSettled(t, "", p.Project, ".docsearch")
		}},
	} {
		change.do()
		if s, err := readRoutes(l, p); err == nil {
			t.Errorf("%s: the rules are still %q", change.name, names(s.Rules))
		}
		remember()
	}
	// Files that may change without changing their stamps are not stored.
	fresh := writeSettled(t, oneRule("fresh"), p.Plugin, "hooks", "tool-routes.json")
	routes := LoadRoutes(mustLoad(t, l), p)
	soon := time.Now().Add(time.Hour)
	if err := os.Chtimes(fresh, soon, soon); err != nil {
		t.Fatal(err)
	}
	if err := routes.WriteSnapshot(l); err != nil {
		t.Fatal(err)
	}
	if s, err := readRoutes(l, p); err == nil {
		t.Errorf("a snapshot was made of a file that was just written: %q", names(s.Rules))
	}
}

// replace replaces a file with one of the same size and time.
func replace(t *testing.T, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	before, err := os.Stat(name)
	if err != nil || before.Size() != int64(len(text)) {
		t.Fatalf("%v, %v: want %d bytes", before, err, len(text))
	}
	if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name+".new", before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" { // without inodes and change times
		writeSettled(t, text+" ", name)
	}
	settle(t, name)
}

// Rules that could not be read are read again, even if the stamp is unchanged.
func TestUnreadRoutesHaveNoSnapshot(t *testing.T) {
	l, p, _ := rulesEverywhere(t)
	dir := filepath.Join(p.Project, ".docsearch", "routes.toml")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	routes := LoadRoutes(mustLoad(t, l), p)
	if len(routes.Problems) != 1 {
		t.Fatalf("problems %q", routes.Problems)
	}
	if err := routes.WriteSnapshot(l); err != nil {
		t.Fatal(err)
	}
	if s, err := readRoutes(l, p); err == nil {
		t.Errorf("a snapshot was made without a file's rules: %q", names(s.Rules))
	}
}

func TestOldSnapshotsAreRemoved(t *testing.T) {
	l := locations(t, "config.json", "{}")
	writeSettled(t, "{}", l.Config)
	old := writeSettled(t, "", l.Cache, "routes-0000000000000001.snapshot")
	longAgo := time.Now().Add(-60 * 24 * time.Hour)
	if err := os.Chtimes(old, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	young := writeSettled(t, "", l.Cache, "routes-0000000000000002.snapshot")
	if err := LoadRoutes(mustLoad(t, l), config.RoutesPlace{Config: l.Config}).WriteSnapshot(l); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the old one is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}

func FuzzRoutes(f *testing.F) {
	f.Add(0, []byte(`{"routes": {"a": {"pattern": "(?P<n>x)[^]]{2,}", "message": "${n}", "tests": [{"input": "x", "expect": "deny"}]}}}`))
	f.Add(1, []byte("routes:\n  a: {tool: Bash, pattern: '\\d+', unless: [x], message: m}\n  1: x\n"))
	f.Add(2, []byte("[routes.a]\ncommand_pattern = 'x'\nmessage = 'm'\n"))
	f.Fuzz(func(t *testing.T, format int, data []byte) {
		path := "r." + []string{"json", "yaml", "toml"}[uint(format)%3]
		routes, err := parseRoutes(path, data)
		if err != nil {
			return
		}
		rules, problems, err := decodeRules(path, routes, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rules {
			if r.Name == "" && r.Message == "" {
				t.Errorf("a rule without anything: %+v", r)
			}
		}
		for _, p := range problems {
			if p.Expected == "" || p.Entry == "" {
				t.Errorf("a problem without anything: %+v", p)
			}
		}
	})
}

package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func environment(vars map[string]string) Getenv {
	return func(name string) string { return vars[name] }
}

func TestLocate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	cache := "/home/me/.cache/docsearch"
	if runtime.GOOS == "darwin" {
		cache = "/home/me/Library/Caches/docsearch"
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		env  map[string]string
		want Locations
	}{
		{"home only", map[string]string{"HOME": "/home/me"}, Locations{
			"/home/me/.claude/hooks/docsearch-config.json", "/home/me/.claude/hooks", cache, "/home/me/.local/share/docsearch", "/home/me/.local/share/docsearch/.projects",
		}},
		{"XDG", map[string]string{"HOME": "/home/me", "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"}, Locations{
			"/home/me/.claude/hooks/docsearch-config.json", "/home/me/.claude/hooks", "/c/docsearch", "/d/docsearch", "/d/docsearch/.projects",
		}},
		{"plugin", map[string]string{"HOME": "/home/me", "XDG_DATA_HOME": "/d", "CLAUDE_PLUGIN_DATA": "/p"}, Locations{
			"/home/me/.claude/hooks/docsearch-config.json", "/home/me/.claude/hooks", cache, "/p/databases", "/d/docsearch/.projects",
		}},
		{"all named", map[string]string{
			"HOME": "/home/me", "CLAUDE_PLUGIN_DATA": "/p", "DOCSEARCH_CONFIG_PATH": "/a/b/c.yaml",
			"DOCSEARCH_STATE_DIR": "~/state", "DOCSEARCH_CACHE_DIR": "cache", "DOCSEARCH_DATA": "~",
		}, Locations{"/a/b/c.yaml", "/home/me/state", filepath.Join(dir, "cache"), "/home/me", "/home/me/.projects"}},
		{"config alone", map[string]string{"DOCSEARCH_CONFIG_PATH": "/c.json"}, Locations{Config: "/c.json", State: "/"}},
		{"nothing", nil, Locations{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Locate(environment(test.env))); diff != "" {
				t.Errorf("locations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	for path, want := range map[string]string{"a": ".", "/a": "/", "/a/b": "/a", "a/b/": "a/b", "/": "/"} {
		if got := Dir(filepath.FromSlash(path)); got != filepath.FromSlash(want) {
			t.Errorf("Dir(%q) = %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]string{"~": "/h", "~/a": "/h/a", "~me/a": "~me/a", "a~": "a~", "": ""} {
		if got := Expand(path, "/h"); got != want {
			t.Errorf("Expand(%q) = %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{t.TempDir(), "a", "", "/", `C:\a`, "C:a", `\\host\share`, `\a`} {
		if got, want := IsAbs(path), filepath.IsAbs(path); got != want {
			t.Errorf("IsAbs(%q) = %t, want %t", path, got, want)
		}
	}
}

func TestHost(t *testing.T) {
	for url, want := range map[string]string{
		"https://docs.gitlab.com/ee/":      "docs.gitlab.com",
		"HTTP://Docs.GitLab.com":           "docs.gitlab.com",
		"docs.gitlab.com":                  "docs.gitlab.com",
		"docs.gitlab.com/ee":               "docs.gitlab.com",
		"*.gitlab.com":                     "gitlab.com",
		"gitlab.com.":                      "gitlab.com",
		"https://me@docs.gitlab.com:8443/": "docs.gitlab.com",
		"localhost:6060":                   "localhost",
		"http://[::1]:80/x":                "[::1]",
		"http://[::1]":                     "[::1]",
		"https://":                         "",
		"":                                 "",
	} {
		if got := Host(url); got != want {
			t.Errorf("Host(%q) = %q, want %q", url, got, want)
		}
	}
}

func TestServer(t *testing.T) {
	plugin := func(manifest string) map[string]string {
		dir := t.TempDir()
		file := filepath.Join(dir, ".claude-plugin", "plugin.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(manifest), 0o644)); err != nil {
			t.Fatal(err)
		}
		return map[string]string{"CLAUDE_PLUGIN_ROOT": dir}
	}
	own := plugin(`{"version": "1", "name": "docsearch"}`)
	for _, test := range []struct {
		name string
		env  map[string]string
		tool string
		want string
	}{
		{"plain", nil, "", "mcp__docsearch__search"},
		{"plugin", own, "", "mcp__plugin_docsearch_docs__search"},
		{"another plugin", plugin(`{"name": "docs"}`), "", "mcp__docsearch__search"},
		{"a damaged plugin", plugin(`{"name": `), "", "mcp__docsearch__search"},
		{"no plugin", map[string]string{"CLAUDE_PLUGIN_ROOT": "/PLUGIN_ROOT_NOT_EXPANDED_ERROR"}, "", "mcp__docsearch__search"},
		{"config", own, "mcp__docs__search", "mcp__docs__search"},
		{"environment", map[string]string{"DOCSEARCH_MCP_TOOL": "mcp__mine__search"}, "mcp__docs__search", "mcp__mine__search"},
		{"a tool of the client", map[string]string{"DOCSEARCH_MCP_TOOL": "Bash"}, "Edit", "mcp__docsearch__search"},
		{"another tool of the server", nil, "mcp__docs__find", "mcp__docsearch__search"},
		{"no server", nil, "mcp____search", "mcp__docsearch__search"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Config{Hook: Hook{Tool: test.tool}}
			s := c.Server(environment(test.env))
			if s.Search != test.want {
				t.Errorf("tool %s, want %s", s.Search, test.want)
			}
			for _, tool := range []string{s.Search, strings.TrimSuffix(s.Search, s.Search[strings.LastIndex(s.Search, "__"):]) + "__read"} {
				if !s.Reads(tool) {
					t.Errorf("%s is not one of its own", tool)
				}
			}
			for _, tool := range []string{"", "search", "read", "__search", "mcp__leann__search", "WebSearch"} {
				if s.Reads(tool) {
					t.Errorf("%s is one of its own", tool)
				}
			}
			own, other := Database{Tool: "mcp__docsearch__leann_search"}, Database{Tool: "mcp__leann__search"}
			if !s.Serves(&own) || !s.Serves(&Database{}) || s.Serves(&other) || s.ToolOf(&Database{}) != test.want || s.ToolOf(&other) != other.Tool {
				t.Error("tools of databases are mixed up")
			}
		})
	}
}

// TestSnapshotFormat fails if a type in the snapshot changes: then Snapshot.code,
// snapshotMagic and this list must change, too. Routes and their files have a snapshot of
// their own, and names a file.
func TestSnapshotFormat(t *testing.T) {
	var got []string
	for _, v := range []any{Snapshot{}, Stamp{}, Config{}, Database{}, Hook{}, Search{}, Inject{}, Update{}, Embedder{}, Remote{}, ProjectFolder{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			got = append(got, fmt.Sprintf("%s.%s %s", typ.Name(), typ.Field(i).Name, typ.Field(i).Type))
		}
	}
	want := []string{
		"Snapshot.Source config.Stamp", "Snapshot.Projects config.Stamp", "Snapshot.Env []string", "Snapshot.Home string", "Snapshot.Config config.Config", "Snapshot.Problems []string",
		"Stamp.Path string", "Stamp.Exists bool", "Stamp.Size int64", "Stamp.ModTime int64", "Stamp.Inode int64", "Stamp.Change int64",
		"Config.Databases []config.Database", "Config.Hook config.Hook", "Config.Search config.Search", "Config.Inject config.Inject", "Config.Update config.Update", "Config.Embedders []config.Embedder", "Config.Remotes []config.Remote", "Config.Clustered []config.Database", "Config.Publishers []string", "Config.Catalogs []string",
		"Config.Routes config.Raw", "Config.RouteFiles []string", "Config.Projects []config.ProjectFolder", "Config.Ignored []config.Database", "Config.Ignores map[string]string", "Config.SessionIgnores []string", "Config.Home string", "Config.Names *config.Names", "Config.Project *config.Project",
		"Database.Name string", "Database.Keywords []string", "Database.Path string", "Database.Description string", "Database.Tool string",
		"Database.URLs []string", "Database.Mode config.Mode", "Database.Version string", "Database.Publisher string", "Database.Inject []string", "Database.Notes string", "Database.Packages []string", "Database.Threshold float64", "Database.Remote string", "Database.RemoteName string", "Database.Cluster *config.Cluster", "Database.Entry int", "Database.Project string", "Database.Used string",
		"Hook.Retry config.Retry", "Hook.TimeoutMS int", "Hook.Tool string", "Hook.Log bool", "Hook.LogQueries bool", "Hook.Adapt bool",
		"Search.TopK int", "Search.MaxTokens int", "Search.MaxAgeDays int",
		"Inject.Sessions bool", "Inject.Tools []string", "Inject.Failures bool", "Inject.TopK int", "Inject.Hybrid bool", "Inject.MaxChars int", "Inject.Floor float64", "Inject.SkipAgents []string",
		"Update.OnSessionStart bool",
		"Embedder.Provider string", "Embedder.Model string", "Embedder.URL string", "Embedder.KeyEnv string",
		"Embedder.QueryPrompt string", "Embedder.DocumentPrompt string", "Embedder.Dimensions int", "Embedder.Batch int", "Embedder.Weight float64",
		"Remote.URL string", "Remote.TokenFile string", "Remote.TokenEnv string", "Remote.TokenCommand []string", "Remote.TimeoutMS int", "Remote.Mirror bool",
		"ProjectFolder.Folder string", "ProjectFolder.File string", "ProjectFolder.Ignored []string",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields of %q (-want +got):\n%s", snapshotMagic, diff)
	}
	whole := wholeSnapshot()
	back, err := parseSnapshot(whole.encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// wholeSnapshot returns a snapshot with a value in every field.
func wholeSnapshot() *Snapshot {
	return &Snapshot{
		Source:   Stamp{"/c.json", true, 1 << 40, -1, 7, 1 << 50},
		Projects: Stamp{"/p", true, 1, 2, 3, 4},
		Env:      []string{"", "evidence"},
		Home:     "/home/me",
		Config: Config{
			Databases: []Database{
				{"n", []string{"k", "ü\x00"}, "/p", "d", "t", []string{"https://u/"}, ModeAdvise, "1", "docs.example.com", []string{"a/**"}, "/n", []string{"node:k"}, .62, "https://h", "n", nil, 3, "", ""},
				{Name: "o", Keywords: []string{"k"}},
			},
			Hook:      Hook{RetryEvidence, 900, "tool", false, true, true},
			Search:    Search{7, 100, 30},
			Embedders: []Embedder{{"openai", "m", "https://u/v1", "KEY", "q: ", "d: ", 256, 32, 0.75}},
			Remotes:   []Remote{{"https://h", "/t", "T", []string{"pass", "x"}, 400, true}},
			Inject:    Inject{true, []string{"Bash"}, true, 3, true, 500, 1.5, []string{"Plan"}},
			Update:    Update{true},
			Projects:  []ProjectFolder{{"/src/shop", "/d/.projects/1.json", []string{"tea"}}},
		},
		Problems: []string{"p"},
	}
}

func FuzzSnapshot(f *testing.F) {
	f.Add(wholeSnapshot().encode())
	f.Add((&Snapshot{Config: Default()}).encode())
	f.Add([]byte(snapshotMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The checksum blocks the fuzzer, so the code after it is fuzzed with a valid one.
		if len(data) > len(snapshotMagic)+8 {
			fields := data[len(snapshotMagic)+8:]
			c := coder{data: string(fields)}
			new(Snapshot).code(&c)
		}
		s, err := parseSnapshot(data)
		if err != nil {
			return
		}
		if again, err := parseSnapshot(s.encode()); err != nil || !cmp.Equal(s, again) {
			t.Errorf("%+v was read back as %+v, %v", s, again, err)
		}
	})
}

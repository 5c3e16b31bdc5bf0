package load

import (
	"encoding/json"
	"errors"
	"fmt"
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

// locations returns locations in a temporary folder. The environment overrides no value.
func locations(t *testing.T, name, text string) config.Locations {
	t.Helper()
	for _, o := range config.Overrides() {
		t.Setenv(o.Env, "")
	}
	t.Setenv("HOME", filepath.FromSlash("/home/me"))
	t.Setenv("USERPROFILE", filepath.FromSlash("/home/me"))
	dir := t.TempDir()
	l := config.Locations{Config: filepath.Join(dir, name), State: dir, Cache: filepath.Join(dir, "cache")}
	if err := os.WriteFile(l.Config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

func mustLoad(t *testing.T, l config.Locations) *Result {
	t.Helper()
	r, err := Load(l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func problems(r *Result) []string {
	var lines []string
	for _, p := range r.Problems {
		lines = append(lines, p.String())
	}
	return lines
}

// unixPaths skips a test whose absolute paths are relative on Windows.
func unixPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
}

// TestNotesFolder checks that a folder of notes is resolved, and that its database has
// notes.
func TestNotesFolder(t *testing.T) {
	unixPaths(t)
	r := mustLoad(t, locations(t, "docsearch-config.json", `{"databases": [
  {"keywords": ["a"], "path": "/a", "description": "A", "notes": "/notes"},
  {"keywords": ["b"], "path": "/b", "description": "B", "notes": "/notes", "inject": ["x/**"]},
  {"keywords": ["c"], "path": "/c", "description": "C", "notes": ["/notes"]}]}`))
	for i, want := range []config.Database{
		{Notes: "/notes", Inject: []string{config.All}}, {Notes: "/notes", Inject: []string{"x/**"}}, {},
	} {
		if got := r.Config.Databases[i]; got.Notes != want.Notes || !slices.Equal(got.Inject, want.Inject) {
			t.Errorf("database %d has the folder %q and the notes %q", i, got.Notes, got.Inject)
		}
	}
	if got := problems(r); len(got) != 1 || !strings.Contains(got[0], "databases[2] (c): notes: want the path of a folder") {
		t.Errorf("problems %q", got)
	}
}

// The original format of the config, which users still have.
const originalFormat = `{"databases": [
  {"keywords": ["gitlab", "gl", "gitlab-ci"], "path": "/home/me/.leann/indexes/gitlab",
   "mcp_tool_name": "mcp__leann__search", "description": "GitLab documentation"}]}`

func TestFirstForm(t *testing.T) {
	unixPaths(t)
	r := mustLoad(t, locations(t, "docsearch-config.json", originalFormat))
	want := config.Default()
	want.Home = "/home/me"
	want.Databases = []config.Database{{
		Name: "gitlab", Keywords: []string{"gitlab", "gl", "gitlab-ci"}, Path: "/home/me/.leann/indexes/gitlab",
		Description: "GitLab documentation", Tool: "mcp__leann__search",
	}}
	if diff := cmp.Diff(want, r.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if len(r.Problems) > 0 {
		t.Errorf("problems %q", problems(r))
	}
}

func TestFormats(t *testing.T) {
	unixPaths(t)
	want := config.Default()
	want.Home = "/home/me"
	want.Databases = []config.Database{
		{
			Name: "gl", Keywords: []string{"GitLab", "c++", ".net"}, Path: "/docs/gitlab", Description: "GitLab: docs",
			Tool: "mcp__leann__search", URLs: []string{"https://docs.gitlab.com/ee/"}, Mode: config.ModeRedirect, Version: "17.2",
		},
		{Name: "k8s", Keywords: []string{"k8s"}, Path: "/docs/k8s", Description: "Kubernetes", Entry: 1},
	}
	want.Hook = config.Hook{Retry: config.RetryEvidence, TimeoutMS: 500, Tool: "mcp__docs__search", LogQueries: true}
	want.Search = config.Search{TopK: 8, MaxTokens: 2000, MaxAgeDays: 30}
	want.Routes = config.Raw(`{"Zeta.x":{"pattern":"z\\d","message":"z"},"alpha":{"pattern":"a","message":"a","_Note":[{"b":1}]}}`)
	want.Embedders = []config.Embedder{{Provider: "ollama", Model: "Nomic", QueryPrompt: "Query: ", Weight: 1}}
	for name, text := range map[string]string{
		"config.json": `{
  "Databases": [
    {"name": "gl", "keywords": ["GitLab", "c++", ".net"], "path": "/docs/gitlab", "description": "GitLab: docs",
     "mcp_tool_name": "mcp__leann__search", "urls": ["https://docs.gitlab.com/ee/"], "mode": "Redirect", "version": "17.2"},
    {"KEYWORDS": ["k8s"], "path": "/docs/k8s", "description": "Kubernetes"}
  ],
  "hook": {"retry": "evidence", "timeout_ms": 500, "mcp_tool_name": "mcp__docs__search", "log": false, "log_queries": true},
  "search": {"top_k": 8, "max_tokens": 2000, "max_age_days": 30},
  "routes": {"Zeta.x": {"pattern": "z\\d", "message": "z"}, "alpha": {"pattern": "a", "message": "a", "_Note": [{"b": 1}]}},
  "embedder": {"Provider": "ollama", "model": "Nomic", "query_prompt": "Query: ", "weight": 1}
}`,
		"config.yaml": `# a comment
databases:
  - name: gl
    keywords: [GitLab, c++, .net]
    path: /docs/gitlab
    description: "GitLab: docs"
    mcp_tool_name: mcp__leann__search
    urls: https://docs.gitlab.com/ee/
    mode: redirect
    version: "17.2"
  - keywords: k8s
    path: /docs/k8s
    description: Kubernetes
hook: {retry: evidence, timeout_ms: 500, mcp_tool_name: mcp__docs__search, log: false, log_queries: true}
search:
  top_k: 8
  max_tokens: 2000
  max_age_days: 30
routes:
  Zeta.x: {pattern: 'z\d', message: z}
  alpha:
    pattern: a
    message: a
    _Note: [{b: 1}]
embedder: {provider: ollama, model: Nomic, query_prompt: "Query: ", weight: 1}
`,
		"config.toml": `# a comment
[[databases]]
name = "gl"
keywords = ["GitLab", "c++", ".net"]
path = "/docs/gitlab"
description = "GitLab: docs"
mcp_tool_name = "mcp__leann__search"
urls = ["https://docs.gitlab.com/ee/"]
mode = "redirect"
version = "17.2"

[[databases]]
keywords = ["k8s"]
path = "/docs/k8s"
description = "Kubernetes"

[hook]
retry = "evidence"
timeout_ms = 500
mcp_tool_name = "mcp__docs__search"
log = false
log_queries = true

[search]
top_k = 8
max_tokens = 2000
max_age_days = 30

[routes."Zeta.x"]
pattern = 'z\d'
message = "z"
[routes.alpha]
pattern = "a"
message = "a"
_Note = [{b = 1}]

[embedder]
provider = "ollama"
model = "Nomic"
query_prompt = "Query: "
weight = 1
`,
	} {
		t.Run(name, func(t *testing.T) {
			r := mustLoad(t, locations(t, name, text))
			if diff := cmp.Diff(want, r.Config); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			if len(r.Problems) > 0 {
				t.Errorf("problems %q", problems(r))
			}
		})
	}
}

func TestProblems(t *testing.T) {
	unixPaths(t)
	for _, test := range []struct {
		name, file, text string
		databases        int
		want             []string
	}{
		{"nothing", "c.json", "", 0, []string{`line 1: want a config with "databases", got an empty file; the hook denies no searches`}},
		{"blanks", "c.json", " \n", 0, []string{`line 1: want a config with "databases", got an empty file; the hook denies no searches`}},
		{"null", "c.json", "null", 0, []string{`line 1: want a config with "databases", got an empty file; the hook denies no searches`}},
		{"comments alone", "c.yaml", "# databases:\n", 0, []string{`line 1: want a config with "databases", got an empty file; the hook denies no searches`}},
		{"empty object", "c.json", "{}", 0, nil},
		{"entry without keywords", "c.json", `{"databases": [
  {"path": "/a", "description": "A"},
  {"keywords": ["b"], "path": "/b", "description": "B"}]}`, 1, []string{
			`line 2: databases[0]: keywords: want a list of one or more words, got nothing; the entry is ignored`,
		}},
		{"fields of wrong types", "c.json", `{"databases": [
  {"keywords": [],
   "path": 3,
   "description": ["A"]},
  {"keywords": ["b", 7, ""], "path": "/b", "description": "B",
   "name": {}},
  "gitlab"]}`, 1, []string{
			`line 2: databases[0]: keywords: want a list of one or more words, got an empty list; the entry is ignored`,
			`line 3: databases[0]: path: want the path of the database, got 3; the entry is ignored`,
			`line 4: databases[0]: description: want a short description of the database, got a list; the entry is ignored`,
			`line 5: databases[1] (b): keywords: want only words, got 7; the other items are used`,
			`line 6: databases[1] (b): name: want a name, got an object; ignored`,
			`line 7: databases[2]: want a database with "keywords", "path" and "description", got "gitlab"; the entry is ignored`,
		}},
		{"unknown mode", "c.yaml", "databases:\n- keywords: [a]\n  path: /a\n  description: A\n  mode: anser\n", 1, []string{
			`line 5: databases[0] (a): mode: want "answer", "redirect", "advise" or "off", got "anser"; using the default`,
		}},
		{"no URL", "c.toml", "[[databases]]\nkeywords = [\"a\"]\npath = \"/a\"\ndescription = \"A\"\nurls = [\"https://a.b/\", \"https://\"]\n", 1, []string{
			`line 5: databases[0] (a): urls: want a list of URL prefixes, as in "https://docs.gitlab.com/", got "https://"; the item is ignored`,
		}},
		{"relative path", "c.json", `{"databases": [{"keywords": ["a"], "path": "indexes/a", "description": "A"}]}`, 1, []string{
			`line 1: databases[0] (a): path: want an absolute path, got "indexes/a"; using DIR/indexes/a`,
		}},
		{"databases is an object", "c.json", `{"databases": {"gitlab": {}}}`, 0, []string{
			`line 1: databases: want a list of databases, got an object; no databases`,
		}},
		{"misspelled keys", "c.json", `{"database": [],
  "databases": [{"keyword": ["x"], "keywords": ["a"], "path": "/a", "description": "A", "Mod": "off", "nonsense": 1}],
  "hook": {"timeout": 5}}`, 1, []string{
			`line 1: database: unknown key, ignored; did you mean "databases"?`,
			`line 2: databases[0] (a): keyword: unknown key, ignored; did you mean "keywords"?`,
			`line 2: databases[0] (a): mod: unknown key, ignored; did you mean "mode"?`,
			`line 2: databases[0] (a): nonsense: unknown key, ignored; want one of name, keywords, path, weaviate, description, mcp_tool_name, urls, mode, version, publisher, inject, notes, packages`,
			`line 3: hook: timeout: unknown key, ignored; want one of retry, timeout_ms, mcp_tool_name, log, log_queries, adapt`,
		}},
		{"injection", "c.yaml", "databases:\n- {keywords: [a], path: /a, description: A, inject: {x: 1}}\ninject:\n  sessions: often\n  tools: [edit, Grep]\n  max_chars: 9\n  floor: -1\n  skip_agents: [1]\n  tags: []\n", 1, []string{
			`line 2: databases[0] (a): inject: want true, or patterns of documents as in "conventions/**", got an object; no notes are added`,
			`line 4: inject: sessions: want true or false, got "often"; using true`,
			`line 5: inject: tools: want tools of Bash, Edit, MultiEdit, NotebookEdit, Write, Read, got "Grep"; the other items are used`,
			`line 6: inject: max_chars: want a whole number from 200 to 9000, got 9; using 3000`,
			`line 7: inject: floor: want a number from 0 to 100, got -1; using 1.2`,
			`line 8: inject: skip_agents: want names of subagent types, got 1; the other items are used`,
			`line 9: inject: tags: unknown key, ignored; want one of sessions, tools, failures, top_k, hybrid, max_chars, floor, skip_agents`,
		}},
		{"values of sections", "c.yaml", "hook:\n  retry: always\n  timeout_ms: 0\n  log: often\nsearch:\n  top_k: 2.5\n  max_tokens: lots\n", 0, []string{
			`line 2: hook: retry: want "identical" or "evidence", got "always"; using "identical"`,
			`line 3: hook: timeout_ms: want a whole number from 1 to 60000, got 0; using 2000`,
			`line 4: hook: log: want true or false, got "often"; using true`,
			`line 6: search: top_k: want a whole number from 1 to 100, got 2.5; using 5`,
			`line 7: search: max_tokens: want a whole number from 200 to 25000, got "lots"; using 4000`,
		}},
		{"sections of wrong types", "c.json", `{"hook": "fast", "search": []}`, 0, []string{
			`line 1: hook: want an object, got "fast"; using the defaults`,
			`line 1: search: want an object, got an empty list; using the defaults`,
		}},
		{"names clash", "c.json", `{"databases": [
  {"keywords": ["a"], "path": "/a", "description": "A"},
  {"keywords": ["a"], "path": "/b", "description": "B"},
  {"name": "n", "keywords": ["c"], "path": "/c", "description": "C"},
  {"name": "n", "keywords": ["d"], "path": "/d", "description": "D"}]}`, 4, []string{
			`line 5: databases[3] (n): name: want a unique name, got "n"; using another name`,
		}},
		{"keys twice", "c.json", `{"databases": [],
  "Databases": [{"keywords": ["a"], "path": "/a",
    "path": "/b", "description": "A"}]}`, 1, []string{
			`line 2: Databases: want unique keys, got the key of line 1 twice; the last value is used`,
			`line 3: databases[0]: path: want unique keys, got the key of line 2 twice; the last value is used`,
		}},
		{"embedders", "c.json", `{"embedder": [
  {"provider": "ollama", "model": "m"},
  {"provider": "oracle", "model": "m"},
  {"provider": "openai", "model": "m"},
  {"provider": "openai", "model": "m", "url": "localhost:8080"},
  {"provider": "openai", "model": "m", "url": "http://localhost:8080/v1", "api_key_env": "sk-very-secret"},
  {"provider": "openai", "model": "m", "url": "http://localhost:8080/v1", "api_key": "sk-very-secret"},
  {"provider": "ollama", "dimensions": 0},
  {"provider": "ollama", "model": "m", "weight": -1},
  {"provider": "model2vec", "model": "models/m", "batch": 2.5},
  {"model": "m"},
  {"provider": "builtin"},
  "ollama",
  {"provider": "onnx", "model": "/models/m"}]}`, 0, []string{
			`line 3: embedder[1]: provider: want "builtin", "ollama", "openai" or "model2vec", got "oracle"; the embedder is ignored`,
			`line 4: embedder[2]: url: want the server's address, as in "https://api.example.com/v1", got nothing; the embedder is ignored`,
			`line 5: embedder[3]: url: want the server's address, as in "https://api.example.com/v1", got "localhost:8080"; the embedder is ignored`,
			`line 6: embedder[4]: api_key_env: want the name of an environment variable, not the key; the embedder is ignored`,
			`line 7: embedder[5]: api_key: want api_key_env with the name of the environment variable that contains the key; the embedder is ignored`,
			`line 8: embedder[6]: model: want a model name, got nothing; the embedder is ignored`,
			`line 8: embedder[6]: dimensions: want a whole number from 1 to 65536, got 0; the embedder is ignored`,
			`line 9: embedder[7]: weight: want a number above 0, up to 10, got -1; the embedder is ignored`,
			`line 10: embedder[8]: model: want the absolute path of the model folder, got "models/m"; using DIR/models/m`,
			`line 10: embedder[8]: batch: want a whole number from 1 to 4096, got 2.5; the embedder is ignored`,
			`line 11: embedder[9]: provider: want "builtin", "ollama", "openai" or "model2vec", got nothing; the embedder is ignored`,
			`line 13: embedder[11]: want an embedder with "provider" and "model", got "ollama"; the embedder is ignored`,
			`line 14: embedder[12]: provider: want "ollama" or "openai" with the server that runs the ONNX model, or "model2vec", got "onnx"; the embedder is ignored`,
		}},
		{"keys that look like paths", "c.json", `{"databases.0": 1, "hook.retry": "evidence", "a\nb": 2}`, 0, []string{
			`line 1: "a\nb": unknown key, ignored; want one of databases, hook, search, routes, route_files, inject, update, embedder, servers, publishers, catalogs`,
			`line 1: databases.0: unknown key, ignored; did you mean "databases"?`,
			`line 1: hook.retry: unknown key, ignored; want one of databases, hook, search, routes, route_files, inject, update, embedder, servers, publishers, catalogs`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := locations(t, test.file, test.text)
			r := mustLoad(t, l)
			var got []string
			for _, line := range problems(r) {
				got = append(got, strings.ReplaceAll(line, config.Dir(l.Config)+string(os.PathSeparator), "DIR/"))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if len(r.Config.Databases) != test.databases {
				t.Errorf("databases %+v, want %d", r.Config.Databases, test.databases)
			}
		})
	}
}

func TestNames(t *testing.T) {
	unixPaths(t)
	r := mustLoad(t, locations(t, "c.json", `{"databases": [
  {"keywords": ["a"], "path": "/1", "description": "1"},
  {"keywords": ["a"], "path": "/2", "description": "2"},
  {"keywords": ["b"], "path": "/3", "description": "3", "name": "a-2"},
  {"keywords": ["x"], "path": "~/4", "description": "4"}]}`))
	var got []string
	for _, db := range r.Config.Databases {
		got = append(got, db.Name+" "+filepath.ToSlash(db.Path))
	}
	if diff := cmp.Diff([]string{"a /1", "a-3 /2", "a-2 /3", "x /home/me/4"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if len(r.Problems) > 0 {
		t.Errorf("problems %q", problems(r))
	}
}

func TestOriginsCountSkippedEntries(t *testing.T) {
	unixPaths(t)
	r := mustLoad(t, locations(t, "c.json", `{"databases": [
  {"keywords": ["a"]},
  {"keywords": ["b"],
   "path": "/b", "description": "B"}]}`))
	from := r.Origins()
	for path, want := range map[string]string{
		"databases[0].keywords": "line 3", "databases[0].path": "line 4", "databases[0].mode": "default",
	} {
		if from[path] != want {
			t.Errorf("%s is from %q, want %q", path, from[path], want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, test := range []struct {
		file, text string
		line       int
		want       string
	}{
		{"c.json", "{\n  \"databases\": [\n    {\"keywords\": [}\n", 3, "invalid JSON"},
		{"c.json", "{\n  \"databases\": [],\n}\n", 2, ":2:18: invalid JSON: trailing comma before '}'"},
		{"c.json", "{\n  // mine\n  \"databases\": []\n}\n", 2, ":2:3: invalid JSON: JSON does not allow comments"},
		{"c.json", `{"databases": []`, 1, "unexpected end of file"},
		{"c.json", `[1]`, 1, "want an object at the top level"},
		{"c.json", "\"text\"", 1, "want an object at the top level"},
		{"c.json", "\x00\x01", 1, "invalid JSON"},
		{"c.json", strings.Repeat("[", 1<<20), 1, "invalid JSON"},
		{"c.yaml", "databases:\n  - keywords: [a\n  path: b\n", 1, "invalid YAML"},
		{"c.yml", "a: &x [*x]\nb: *nowhere\n", 0, "invalid YAML"},
		{"c.yaml", "- a\n", 1, "want an object at the top level"},
		{"c.yaml", "hook: {}\nhook: {}\n", 2, "invalid YAML"},
		{"c.toml", "[hook]\nretry = evidence\n", 2, "invalid TOML"},
		{"c.toml", "a = 1\na = 2\n", 2, "invalid TOML"},
	} {
		_, err := Load(locations(t, test.file, test.text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.40q: error %v, want a syntax error", test.text, err)
			continue
		}
		if syntax.Line != test.line || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.file) {
			t.Errorf("%.40q: error %q at line %d, want %q at line %d", test.text, err, syntax.Line, test.want, test.line)
		}
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.json")
	if err := os.WriteFile(huge, []byte(`{"databases": []`+strings.Repeat(" ", MaxSize)+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{dir: "not a regular file", huge: "larger than 4 MiB"}
	if runtime.GOOS != "windows" {
		loop := filepath.Join(dir, "loop.json")
		if err := os.Symlink(loop, loop); err != nil {
			t.Fatal(err)
		}
		cases[loop] = "too many levels of symbolic links"
		cases["/dev/zero"] = "not a regular file"
	}
	for path, want := range cases {
		_, err := Load(config.Locations{Config: path})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("config %s: error %v, want %q and the path", path, err, want)
		}
	}
	if _, err := Load(config.Locations{}); err == nil || !strings.Contains(err.Error(), "DOCSEARCH_CONFIG_PATH") {
		t.Errorf("without a place: %v", err)
	}
	r, err := Load(config.Locations{Config: filepath.Join(dir, "absent.json")})
	if err != nil || r.Exists || len(r.Config.Databases) != 0 || len(r.Messages()) != 0 {
		t.Errorf("absent config: %+v, %v", r, err)
	}
}

func TestSnapshot(t *testing.T) {
	unixPaths(t)
	l := locations(t, "c.json", strings.Replace(originalFormat, `"path"`, `"mode": "of", "path"`, 1))
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(l.Config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Replace(originalFormat, `"path"`, `"mode": "of", "path"`, 1)
	remember := func() *Result {
		t.Helper()
		r := mustLoad(t, l)
		if err := r.WriteSnapshot(l); err != nil {
			t.Fatal(err)
		}
		return r
	}
	read := func() *config.Snapshot {
		s, err := config.ReadSnapshot(l, os.Getenv)
		if err != nil {
			t.Log(err)
		}
		return s
	}

	settle(t, l.Config)
	r := remember()
	s := read()
	if s == nil {
		t.Fatal("no snapshot")
	}
	if diff := cmp.Diff(r.Config, s.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(r.Messages(), s.Problems); diff != "" || len(s.Problems) != 1 {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if runtime.GOOS != "windows" {
		entries, err := os.ReadDir(l.Cache)
		if err != nil || len(entries) != 1 {
			t.Fatalf("cache holds %v, %v", entries, err)
		}
		if info, err := entries[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
		}
	}

	t.Setenv("DOCSEARCH_HOOK_RETRY", "evidence")
	if read() != nil {
		t.Error("the snapshot serves another environment")
	}
	t.Setenv("DOCSEARCH_HOOK_RETRY", "")
	t.Setenv("CLAUDE_PLUGIN_ROOT", "/plugin")
	if read() == nil {
		t.Error("the snapshot depends on the environment of a plugin")
	}
	write(strings.Replace(text, "gitlab", "gitlub", 1)) // of the same length
	if read() != nil {
		t.Error("the snapshot outlives a change of the file")
	}
	remember()
	if soon := time.Now().Add(time.Hour); os.Chtimes(l.Config, soon, soon) == nil && read() != nil {
		t.Error("a file that may yet change without a trace has a snapshot")
	}
	write(text)
	settle(t, l.Config)
	remember()
	if err := os.Remove(l.Config); err != nil {
		t.Fatal(err)
	}
	if read() != nil {
		t.Error("the snapshot outlives the file")
	}
	remember()
	if s := read(); s == nil || len(s.Problems) != 0 || len(s.Config.Databases) != 0 {
		t.Errorf("snapshot of an absent file: %+v", s)
	}
	if err := os.WriteFile(l.Config, []byte(originalFormat), 0o600); err != nil {
		t.Fatal(err)
	}
	if read() != nil {
		t.Error("the snapshot of an absent file outlives its absence")
	}
}

// The snapshot of a symbolic link follows its target.
func TestSnapshotOfLink(t *testing.T) {
	unixPaths(t)
	dir := t.TempDir()
	l := config.Locations{Config: filepath.Join(dir, "config.json"), Cache: filepath.Join(dir, "cache")}
	texts := []string{originalFormat, strings.Replace(originalFormat, "gitlab", "gitlub", 1)}
	for i, text := range texts {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Unix(1_700_000_000, 0)
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
		settle(t, name)
	}
	for i := range texts {
		os.Remove(l.Config)
		if err := os.Symlink(fmt.Sprint(i), l.Config); err != nil {
			t.Fatal(err)
		}
		if s, err := config.ReadSnapshot(l, os.Getenv); err == nil {
			t.Errorf("the snapshot outlives a change of the link: keywords %q", s.Config.Databases[0].Keywords)
		}
		if err := mustLoad(t, l).WriteSnapshot(l); err != nil {
			t.Fatal(err)
		}
		if _, err := config.ReadSnapshot(l, os.Getenv); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedSnapshot(t *testing.T) {
	unixPaths(t)
	l := locations(t, "c.json", originalFormat)
	settle(t, l.Config)
	if err := mustLoad(t, l).WriteSnapshot(l); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(l.Cache, "*"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":        "",
		"cut":          string(whole[:len(whole)/2]),
		"longer":       string(whole) + "x",
		"other format": strings.Replace(string(whole), "docsearch snapshot ", "docsearch snapshot 0", 1),
		"flipped":      strings.Replace(string(whole), "gitlab", "gitlub", 1),
		"binary":       "\x00\xff",
	} {
		if text == string(whole) {
			t.Fatalf("%s: the damage did nothing", name)
		}
		if err := os.WriteFile(paths[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := config.ReadSnapshot(l, os.Getenv); err == nil {
			t.Errorf("%s: read as %+v", name, s)
		}
	}
	if err := os.WriteFile(paths[0], whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.ReadSnapshot(l, os.Getenv); err != nil {
		t.Error(err)
	}
}

func TestCheckPaths(t *testing.T) {
	unixPaths(t)
	l := locations(t, "c.json", "")
	there, err := json.Marshal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gone, err := json.Marshal(filepath.Join(t.TempDir(), "gone"))
	if err != nil {
		t.Fatal(err)
	}
	text := `{"databases": [
  {"keywords": ["bad"]},
  {"keywords": ["a"], "description": "A", "path": ` + string(there) + `},
  {"keywords": ["b"], "description": "B",
   "path": ` + string(gone) + `}]}`
	if err := os.WriteFile(l.Config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := mustLoad(t, l)
	before := len(r.Problems)
	r.CheckPaths(statPath)
	if got := problems(r)[before:]; len(got) != 1 || !strings.HasPrefix(got[0], "line 5: databases[2] (b): path: want a database, got ") {
		t.Errorf("problems %q", got)
	}
}

func statPath(path string) error {
	_, err := os.Stat(path)
	return err
}

// FuzzConfig verifies for every format that a config is either rejected or usable.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		originalFormat,
		"databases:\n- keywords: [a]\n  path: /a\n  description: A\nroutes: {B: {x: 1}, a: [*x]}\n",
		"[[databases]]\nkeywords = [\"a\"]\npath = \"/a\"\ndescription = \"A\"\n[routes.B]\nx.y = [{z = 1}]\n",
		`{"routes": {"A": {"b": [1, {"C": null}]}}, "Routes": 1}`,
		"x: &a {b: 1}\ny: {<<: *a, 1: 2}\nroutes: {<<: *a, 1: 2}\n",
	} {
		for format := range 3 {
			f.Add(uint8(format), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		r := &Result{Path: "c." + []string{"json", "yaml", "toml"}[format%3]}
		if err := r.decode(data); err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %v of type %T", err, err)
			}
			return
		}
		names := map[string]bool{}
		for _, db := range r.Config.Databases {
			if len(db.Keywords) == 0 || db.Path == "" || db.Description == "" || names[db.Name] {
				t.Errorf("database %+v", db)
			}
			names[db.Name] = true
		}
		for _, section := range []config.Raw{r.Config.Routes} {
			if section != nil && !json.Valid(section) {
				t.Errorf("section %s", section)
			}
		}
		if _, err := json.Marshal(r.Config); err != nil {
			t.Error(err)
		}
		r.Origins()
	})
}

func TestInject(t *testing.T) {
	unixPaths(t)
	r := &Result{Path: "c.json"}
	err := r.decode([]byte(`{"databases": [
  {"keywords": ["a"], "path": "/a", "description": "A", "inject": true},
  {"keywords": ["b"], "path": "/b", "description": "B", "inject": ["team/**", "*.md"]},
  {"keywords": ["c"], "path": "/c", "description": "C", "inject": false}],
 "inject": {"sessions": false, "tools": ["bash", "Read"], "top_k": 2, "hybrid": true, "max_chars": 500, "floor": 2, "skip_agents": []}}`))
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, problems(r))
	}
	want := config.Inject{Tools: []string{"Bash", "Read"}, Failures: true, TopK: 2, Hybrid: true, MaxChars: 500, Floor: 2}
	if diff := cmp.Diff(want, r.Config.Inject); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var injected [][]string
	for _, db := range r.Config.Databases {
		injected = append(injected, db.Inject)
	}
	if diff := cmp.Diff([][]string{{config.All}, {"team/**", "*.md"}, nil}, injected); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExample(t *testing.T) {
	unixPaths(t)
	path := filepath.Join("..", "..", "..", "config.example.json")
	r := mustLoad(t, config.Locations{Config: path})
	if len(r.Problems) > 0 || len(r.Config.Databases) != 3 {
		t.Errorf("%d databases, problems %q", len(r.Config.Databases), problems(r))
	}
	if diff := cmp.Diff(config.DefaultInject(), r.Config.Inject); diff != "" {
		t.Errorf("it shows other values than the defaults (-want +got):\n%s", diff)
	}
	r.CheckPaths(statPath)
	if len(r.Problems) != 3 {
		t.Errorf("problems %q, want that of each path", problems(r))
	}
}

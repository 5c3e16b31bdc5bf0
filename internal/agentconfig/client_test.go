package agentconfig

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testPlaces returns the folders of an empty home and an empty project.
func testPlaces(t *testing.T) *Places {
	t.Helper()
	home := t.TempDir()
	return &Places{Server: "docsearch", home: home, config: filepath.Join(home, ".config"), project: t.TempDir(), getenv: func(string) string { return "" }}
}

// others returns all clients but Claude Code.
func otherClients() []*Client {
	return slices.DeleteFunc(Clients(), (*Client).IsClaude)
}

func TestClientNames(t *testing.T) {
	var names []string
	for _, c := range Clients() {
		names = append(names, c.Name)
		if found, ok := ClientNamed(c.Name); !ok || found.Title != c.Title {
			t.Errorf("ClientNamed(%q) = %v, %v", c.Name, found, ok)
		}
	}
	slices.Sort(names)
	want := []string{
		"amp", "antigravity", "auggie", "claude", "cline", "codex", "copilot", "crush", "cursor", "devin", "droid", "gemini", "goose",
		"grok", "kilo", "kiro", "opencode", "qwen", "vscode", "windsurf", "zed",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("clients (-want +got):\n%s", diff)
	}
}

// oddFiles are config files of each format, as people write them.
var oddFiles = map[string][]string{
	".toml": {
		"",
		"\n",
		"model = \"gpt-5.1\"",
		"# mine\nmodel = \"gpt-5.1\" # the good one\n\n[mcp_servers.leann]\ncommand = 'leann_mcp'\n\n# the end\n",
		"\ufeffmodel = \"gpt-5.1\"\r\n[features]\r\nhooks = true\r\n",
		"[mcp_servers]\n\t[mcp_servers.\"x.y\"]\n\tcommand = \"x\"\n\targs = [\n\t\t\"[a]\",\n\t]\n\n\n",
		"text = \"\"\"\n[mcp_servers.docsearch]\n\"\"\"\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n",
		"[projects.\"/home/me\"]\ntrust_level = \"trusted\"\nwhen = 2026-01-02T03:04:05Z",
	},
	".yaml": {
		"",
		"# nothing yet\n",
		"GOOSE_MODEL: gpt-5",
		"GOOSE_MODEL: gpt-5\nextensions:\n",
		"extensions: # all of them\n  # the developer\n  developer: &dev\n    type: builtin\n    enabled: true\n  other:\n    <<: *dev\n    name: other\n# the end\nGOOSE_MODE: auto\n",
		"extensions:\r\n    developer:\r\n        enabled: true\r\n\r\nGOOSE_MODE: auto",
		"\ufeffextensions: {}\n",
		"extensions: { developer: {enabled: true} } # one line\n",
		"\"extensions\":\n  developer: {enabled: true, args: [\"a: b\"]}\n  \n\n",
		"---\nextensions:\n  developer:\n    cmd: |\n      docsearch:\n        cmd: x\n",
	},
	"rc": {
		"",
		"# mine\nmodel add gpt-5 # the good one",
		"#!/bin/sh\nif true; then\n\tmcp add leann --command leann_mcp\nfi\n\n# the end\n\n",
		"hook add PreToolUse --name mine --command 'check.sh | tee \"x y\"' \\\n  --timeout 5\n",
		"mcp add leann --command leann_mcp\r\n",
		"cat <<'EOF'\nmcp add docsearch --command docsearch --args serve\nEOF\n",
	},
}

// oddContents returns the contents to test for a file.
func oddContents(path string) []string {
	if strings.HasSuffix(path, "crushrc") {
		return oddFiles["rc"]
	}
	if list, ok := oddFiles[filepath.Ext(path)]; ok {
		return list
	}
	list := []string{
		"{\n  // mine\n  \"hooks\": {\n    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"check.sh\"}]}],\n    \"pre_run_command\": [{\"command\": \"check.sh\"}],\n  },\n}\n",
		"{\n\t\"mcpServers\": {\n\t\t\"leann\": {\"command\": \"leann_mcp\"}\n\t},\n\t\"mcp\": {\"leann\": {\"type\": \"local\", \"command\": [\"leann_mcp\"]}},\n\t\"version\": 1\n}\n",
		"{\"version\": 1}",
	}
	for _, data := range layouts {
		list = append(list, data)
	}
	return list
}

// ownsFile reports whether install refuses a file of another program, because the
// file is docsearch's own.
func ownsFile(q part) bool {
	_, own := q.entries[0].(ownFile)
	return own
}

func TestClientsInEmptyHome(t *testing.T) {
	for _, c := range otherClients() {
		for _, s := range []Scope{User, Project} {
			t.Run(c.Name+" "+string(s), func(t *testing.T) {
				p := testPlaces(t)
				if c.Found(p) && !onPath(c) {
					t.Error("found in an empty home")
				}
				installAndUninstall(t, c, p, s)
				for _, dir := range []string{p.home, p.project} {
					filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
						if err == nil && !d.IsDir() {
							t.Errorf("uninstall left %s", path)
						}
						return err
					})
				}
			})
		}
	}
}

func onPath(c *Client) bool {
	p := &Places{home: "/nonexistent", config: "/nonexistent", getenv: func(string) string { return "" }}
	return c.Found(p)
}

// installAndUninstall checks that install is idempotent and complete, and that
// uninstall restores every file.
func installAndUninstall(t *testing.T, c *Client, p *Places, s Scope) {
	t.Helper()
	parts := c.parts(p, s)
	before := map[string][]byte{}
	for _, q := range parts {
		before[q.path], _ = os.ReadFile(q.path)
	}
	plan, err := c.Install(p, s, ProgramAt(program))
	if err != nil {
		t.Fatalf("install: %v", err)
	}
	if len(plan) != len(parts) {
		t.Errorf("install changes %v, want all of %d files", paths(plan), len(parts))
	}
	apply(t, plan)
	in := c.Installed(p)
	if len(in.Ignored) > 0 {
		t.Errorf("ignored: %v", in.Ignored)
	}
	hooked := slices.ContainsFunc(parts, func(q part) bool { return q.hasHook() })
	if hooked != (len(in.Hooks) > 0) {
		t.Errorf("hooks = %+v", in.Hooks)
	}
	for _, h := range in.Hooks {
		if h.Program != program || h.Scope != s || !strings.Contains(h.Command, "--client "+c.Name) || h.OtherCommand != "" {
			t.Errorf("hook = %+v", h)
		}
	}
	for _, server := range in.Servers {
		if !server.Ours || server.Command != program || server.Scope != s || !slices.Equal(server.Args, []string{"serve"}) {
			t.Errorf("server = %+v", server)
		}
	}
	if again, err := c.Install(p, s, ProgramAt(program)); err != nil || len(again) > 0 {
		t.Errorf("a second install would change %v, %v", paths(again), err)
	}
	moved, err := c.Install(p, s, ProgramAt("/opt/other dir/docsearch-2"))
	if err != nil {
		t.Fatalf("install of a moved program: %v", err)
	}
	for _, change := range moved {
		if change.before == nil || change.Removes() {
			t.Errorf("a moved program changes %s", change.Path)
		}
	}
	back, err := c.Uninstall(p, s)
	if err != nil {
		t.Fatalf("uninstall: %v", err)
	}
	apply(t, back)
	for path, want := range before {
		got, err := os.ReadFile(path)
		if want == nil && err == nil || want != nil && err != nil {
			t.Errorf("%s: %v, before install it had %q", path, err, want)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not as it was (-before +after):\n%s", path, diff)
		}
	}
	if again, err := c.Uninstall(p, s); err != nil || len(again) > 0 {
		t.Errorf("a second uninstall would change %v, %v", paths(again), err)
	}
}

func TestClientsInOddFiles(t *testing.T) {
	for _, c := range otherClients() {
		for _, s := range []Scope{User, Project} {
			t.Run(c.Name+" "+string(s), func(t *testing.T) {
				t.Parallel()
				for i, q := range c.parts(testPlaces(t), s) {
					for _, contents := range oddContents(q.path) {
						p := testPlaces(t)
						if ownsFile(q) {
							checkForeignFile(t, c, p, s, i)
							break
						}
						fresh := c.parts(p, s)
						write(t, fresh[i].path, contents)
						installAndUninstall(t, c, p, s)
					}
				}
			})
		}
	}
}

// checkForeignFile checks that install refuses to replace another program's file.
func checkForeignFile(t *testing.T, c *Client, p *Places, s Scope, i int) {
	t.Helper()
	parts := c.parts(p, s)
	write(t, parts[i].path, "{\"name\": \"mine\"}\n")
	if _, err := c.Install(p, s, ProgramAt(program)); err == nil || !strings.Contains(err.Error(), parts[i].path) {
		t.Errorf("install over another program's file: %v", err)
	}
	if changes, err := c.Uninstall(p, s); err != nil || len(changes) > 0 {
		t.Errorf("uninstall would change %v, %v", paths(changes), err)
	}
}

// textEntries are the entries whose edits are not those of Claude Code's files.
func textEntries() map[string]entry {
	p := &Places{Server: "docsearch", config: "/c", home: "/h", project: "/p", getenv: func(string) string { return "" }}
	first := func(client string, part int) entry {
		c, _ := ClientNamed(client)
		return c.parts(p, User)[part].entries[0]
	}
	crush, _ := ClientNamed("crush")
	return map[string]entry{
		"toml": first("codex", 1), "yaml": first("goose", 2), "rc": first("crush", 0),
		"flat": crush.hookEntry(p, User), "copilot": first("copilot", 0),
	}
}

// Install and uninstall of any file either fail or reverse each other.
func FuzzClientEdits(f *testing.F) {
	for kind, list := range map[string][]string{"toml": oddFiles[".toml"], "yaml": oddFiles[".yaml"], "rc": oddFiles["rc"], "flat": oddContents(".json")} {
		for _, data := range list {
			f.Add(kind, []byte(data))
			if kind == "flat" {
				f.Add("copilot", []byte(data))
			}
		}
	}
	entries := textEntries()
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		e := entries[kind]
		if e == nil {
			return
		}
		after, err := e.put(data, ProgramAt(program))
		if err != nil {
			return
		}
		if again, err := e.put(after, ProgramAt(program)); err != nil || !bytes.Equal(again, after) {
			t.Fatalf("a second install of %q: %v\n%q\n%q", data, err, after, again)
		}
		if hooks, servers := e.find(after); len(hooks)+len(servers) == 0 {
			t.Fatalf("install of %q left no entry: %q", data, after)
		}
		removed, err := e.drop(after)
		if err != nil {
			t.Fatalf("uninstall of %q: %v\n%q", data, err, after)
		}
		if hooks, servers := e.find(removed); len(hooks)+len(servers) > 0 && !bytes.Contains(data, []byte("docsearch")) {
			t.Fatalf("uninstall of %q left an entry: %q", data, removed)
		}
		if again, err := e.drop(removed); err != nil || !bytes.Equal(again, removed) {
			t.Fatalf("a second uninstall of %q: %v\n%q\n%q", data, err, removed, again)
		}
	})
}

// A second hook in another file of the client is refused, and one in the other
// scope is reported.
func TestClientTwins(t *testing.T) {
	tests := []struct {
		client, path, contents string
		scope                  Scope
		refused                bool
		doubles                int
	}{
		{"codex", ".codex/config.toml", "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = \"docsearch hook\"\n", User, true, 0},
		{"copilot", ".copilot/hooks/mine.json", `{"hooks": {"preToolUse": [{"bash": "docsearch hook"}]}}`, User, true, 0},
		{"copilot", ".copilot/settings.json", `{"hooks": {"PreToolUse": [{"command": "/x/docsearch hook"}]}}`, User, true, 0},
		{"copilot", ".copilot/hooks/mine.json", `{"hooks": {"preToolUse": [{"bash": "check.sh docsearch"}]}}`, User, false, 0},
		{"opencode", ".config/opencode/plugins/docsearch.js", opencodePlugin, User, true, 0},
		{"crush", ".config/crush/crush.json", `{"hooks": {"PreToolUse": [{"command": "docsearch hook"}]}}`, User, false, 0},
		{"gemini", "PROJECT/.gemini/settings.json", `{"hooks": {"BeforeTool": [{"matcher": "web_fetch", "hooks": [{"type": "command", "command": "docsearch hook"}]}]}}`, User, false, 2},
		{"gemini", "PROJECT/.gemini/settings.json", `{"hooks": {"BeforeTool": [{"matcher": "web_fetch", "hooks": [{"type": "command", "command": "COMMAND"}]}]}}`, User, false, 0},
		{"codex", "PROJECT/.codex/hooks.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "COMMAND"}]}]}}`, User, false, 2},
	}
	for _, tt := range tests {
		c, _ := ClientNamed(tt.client)
		p := testPlaces(t)
		path := filepath.Join(p.home, tt.path)
		if rest, ok := strings.CutPrefix(tt.path, "PROJECT/"); ok {
			path = filepath.Join(p.project, rest)
		}
		command := invocation{scope: User, client: tt.client, exitCode: c.exitCode}.command(program)
		write(t, path, strings.ReplaceAll(tt.contents, "COMMAND", command))
		plan, err := c.Install(p, tt.scope, ProgramAt(program))
		if tt.refused != (err != nil) {
			t.Errorf("%s with %s: %v", tt.client, tt.path, err)
		}
		if err != nil {
			continue
		}
		apply(t, plan)
		if got := c.Doubles(c.Installed(p).Hooks); len(got) != tt.doubles {
			t.Errorf("%s with %s: doubles = %+v, want %d", tt.client, tt.path, got, tt.doubles)
		}
	}
}

// A client that runs what Claude Code's settings contain gets no second copy in that scope. One
// in the other scope is reported.
func TestFollowedInstall(t *testing.T) {
	for _, name := range []string{"grok", "devin"} {
		c, _ := ClientNamed(name)
		p := testPlaces(t)
		write(t, filepath.Join(p.home, ".claude", "settings.json"),
			`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "docsearch hook"}]}]}}`)
		if plan, err := c.Install(p, User, ProgramAt(program)); err != nil || len(plan) > 0 || c.Covered(p, User) == "" {
			t.Errorf("%s: install beside Claude Code's hook changes %v, %v", name, paths(plan), err)
		}
		plan, err := c.Install(p, Project, ProgramAt(program))
		if err != nil || len(plan) == 0 {
			t.Fatalf("%s: install in the project changes %v, %v", name, paths(plan), err)
		}
		apply(t, plan)
		if got := c.Doubles(c.Installed(p).Hooks); len(got) != 2 {
			t.Errorf("%s: doubles = %+v", name, got)
		}
	}
}

func TestClientObstacles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the files have the paths of other systems")
	}
	tests := []struct {
		client, path, contents string
		scope                  Scope
		want                   string // part of the obstacle; "" if none
	}{
		{"codex", "", "", User, "because you have not reviewed it"},
		{"codex", ".codex/config.toml", "[hooks.state.\"HOME/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"x\"\n", User, ""},
		{"codex", ".codex/config.toml", "[hooks.state.\"HOME/.codex/hooks.json:pre_tool_use:0:0\"]\n[features]\nhooks = false\n", User, "turns all hooks off"},
		{"codex", ".codex/config.toml", "[hooks.state.\"PROJECT/.codex/hooks.json:pre_tool_use:0:0\"]\n", Project, "does not trust the project"},
		{"codex", ".codex/config.toml", "[hooks.state.\"PROJECT/.codex/hooks.json:pre_tool_use:0:0\"]\n[projects.\"PROJECT\"]\ntrust_level = \"trusted\"\n", Project, ""},
		{"gemini", "", "", User, ""},
		{"gemini", ".gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, User, "turns all hooks off"},
		{"gemini", "", "", Project, "does not trust the folder"},
		{"gemini", ".gemini/trustedFolders.json", `{"PROJECT": "TRUST_FOLDER"}`, Project, ""},
		{"copilot", "", "", User, ""},
		{"copilot", ".copilot/settings.json", `{"disableAllHooks": true}`, User, "turns all hooks off"},
		{"copilot", "", "", Project, "does not trust the folder"},
		{"copilot", ".copilot/config.json", `{"trustedFolders": ["PROJECT"]}`, Project, ""},
		{"qwen", ".qwen/settings.json", `{"disableAllHooks": true}`, User, "turns all hooks off"},
		{"qwen", "", "", User, ""},
		{"cursor", "", "", User, ""},
	}
	for _, tt := range tests {
		c, _ := ClientNamed(tt.client)
		p := testPlaces(t)
		if tt.path != "" {
			write(t, filepath.Join(p.home, tt.path), strings.NewReplacer("HOME", filepath.ToSlash(p.home), "PROJECT", filepath.ToSlash(p.project)).Replace(tt.contents))
		}
		plan, err := c.Install(p, tt.scope, ProgramAt(program))
		if err != nil {
			t.Fatal(err)
		}
		apply(t, plan)
		var got []string
		for _, o := range c.Blocked(p, c.Installed(p).Hooks) {
			got = append(got, o.Problem)
		}
		if all := strings.Join(got, "\n"); tt.want == "" && all != "" || !strings.Contains(all, tt.want) {
			t.Errorf("%s %s with %s %q: obstacles %q, want %q", tt.client, tt.scope, tt.path, tt.contents, all, tt.want)
		}
	}
}

// Install corrects a hook that a person entered, and keeps the rest of it.
func TestClientCorrectsHook(t *testing.T) {
	p := testPlaces(t)
	c, _ := ClientNamed("gemini")
	path := filepath.Join(p.home, ".gemini", "settings.json")
	write(t, path, `{"hooks": {"BeforeTool": [{"matcher": ".*", "hooks": [{"type": "command", "command": "docsearch hook", "timeout": 5000}]}]}}`)
	plan, err := c.Install(p, User, ProgramAt(program))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, plan)
	in := c.Installed(p)
	if len(in.Hooks) != 5 || strings.Contains(read(t, path), `"docsearch hook"`) {
		t.Errorf("hooks = %+v\n%s", in.Hooks, read(t, path))
	}
}

// A server of another program with docsearch's name stays.
func TestClientForeignServer(t *testing.T) {
	for _, tt := range []struct{ client, path, contents string }{
		{"codex", ".codex/config.toml", "[mcp_servers.docsearch]\ncommand = \"other\"\n"},
		{"goose", "", "extensions:\n  docsearch:\n    cmd: other\n"},
		{"crush", ".config/crush/crushrc", "mcp add docsearch --command other\n"},
		{"cursor", ".cursor/mcp.json", `{"mcpServers": {"docsearch": {"url": "http://localhost"}}}`},
	} {
		c, _ := ClientNamed(tt.client)
		p := testPlaces(t)
		path := filepath.Join(p.home, tt.path)
		if tt.client == "goose" { // the folder depends on the system
			path = filepath.Join(p.path("$GOOSE"), "config.yaml")
		}
		write(t, path, tt.contents)
		if _, err := c.Install(p, User, ProgramAt(program)); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("%s: install: %v", tt.client, err)
		}
		if plan, err := c.Uninstall(p, User); err != nil || len(plan) > 0 || read(t, path) != tt.contents {
			t.Errorf("%s: uninstall would change %v, %v", tt.client, paths(plan), err)
		}
	}
}

// The dry run shows no secrets of TOML, YAML and shell files.
func TestClientDiffMasksSecrets(t *testing.T) {
	for _, tt := range []struct{ client, path, contents string }{
		{"codex", ".codex/config.toml", "[mcp_servers.x]\nenv = { API_KEY = \"hidden1\", B = \"shown\" }\nauth_token = 'hidden2'\n"},
		{"goose", "", "B: shown\nOPENAI_API_KEY: sk-hidden3\n"},
		{"crush", ".config/crush/crushrc", "export B=shown\nexport OPENAI_API_KEY=sk-hidden4\n"},
	} {
		c, _ := ClientNamed(tt.client)
		p := testPlaces(t)
		path := filepath.Join(p.home, tt.path)
		if tt.client == "goose" {
			path = filepath.Join(p.path("$GOOSE"), "config.yaml")
		}
		write(t, path, tt.contents)
		plan, err := c.Install(p, User, ProgramAt(program))
		if err != nil {
			t.Fatal(err)
		}
		text := plan[len(plan)-1].Diff()
		if strings.Contains(text, "hidden") || !strings.Contains(text, "shown") {
			t.Errorf("%s: the diff shows a secret, or no context:\n%s", tt.client, text)
		}
	}
}

// Agents that run Claude Code's hooks are found by their folders.
func TestFollowers(t *testing.T) {
	t.Setenv("PATH", "")
	p := testPlaces(t)
	if got := Followers(p); len(got) > 0 {
		t.Errorf("found %q on an empty machine", got)
	}
	write(t, p.path("~/.grok/config.toml"), "")
	write(t, p.path("$DEVIN/config.json"), "{}")
	if diff := cmp.Diff([]string{"Grok Build", "Devin CLI"}, Followers(p)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

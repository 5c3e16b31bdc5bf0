//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A web search is denied with an answer, the tool call in the denial works, and
// the retry runs on the web. This holds for all client versions and all
// installation methods.
func TestSearch(t *testing.T) {
	for _, version := range versions {
		for _, way := range installMethods {
			t.Run(version+"/"+way.name, func(t *testing.T) {
				s := newSession(t, version)
				s.database(t)
				s.write(t, s.settings(), settings)
				flags := way.set(t, s)
				m := newModel(t, searchingModel)
				r := s.ask(t, m, "How does a denied web search go through?", flags...)
				checkSearch(t, version, way.tool, m, r)
				if way.unset != nil {
					way.unset(t, s)
				}
			})
		}
	}
}

// Settings of a user who allows web searches, and has a hook and formatting of
// their own.
const settings = `{
    "permissions": {"allow": ["WebSearch"]},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
        ]
    }
}`

func (s *session) settings() string { return filepath.Join(s.home, ".claude", "settings.json") }

// installMethods are the ways to install docsearch in the client.
var installMethods = []struct {
	name  string
	tool  string // docsearch's search tool, as the client names it
	set   func(*testing.T, *session) (flags []string)
	unset func(*testing.T, *session)
}{
	{
		name: "plugin-dir",
		tool: "mcp__plugin_docsearch_docs__search",
		set: func(t *testing.T, s *session) []string {
			return []string{"--plugin-dir", pluginWithProgram(t)}
		},
	},
	{
		name: "plugin of a marketplace",
		tool: "mcp__plugin_docsearch_docs__search",
		set: func(t *testing.T, s *session) []string {
			// This plugin contains no program and uses the one on PATH.
			s.setenv("PATH", filepath.Dir(program(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
			market := filepath.Dir(pluginWithoutProgram(t))
			const manifest = ".claude-plugin"
			if err := os.CopyFS(filepath.Join(market, manifest), os.DirFS(filepath.Join(root(t), manifest))); err != nil {
				t.Fatal(err)
			}
			s.claude(t, noModel, "plugin", "marketplace", "add", market)
			s.claude(t, noModel, "plugin", "install", "docsearch@docsearch")
			return nil
		},
	},
	{
		name: "install",
		tool: "mcp__docsearch__search",
		set: func(t *testing.T, s *session) []string {
			s.docsearch(t, "install")
			return nil
		},
		unset: func(t *testing.T, s *session) {
			s.docsearch(t, "uninstall")
			if got := read(t, s.settings()); got != settings {
				t.Errorf("uninstall left the settings as\n%s\nwant\n%s", got, settings)
			}
			if got := read(t, filepath.Join(s.home, ".claude.json")); strings.Contains(got, "docsearch\"") {
				t.Errorf("uninstall left the server in\n%s", got)
			}
		},
	},
	{
		name: "install for one project",
		tool: "mcp__docsearch__search",
		set: func(t *testing.T, s *session) []string {
			s.docsearch(t, "install", "--scope", "local")
			return nil
		},
	},
	{
		name: "install for a team",
		tool: "mcp__docsearch__search",
		set: func(t *testing.T, s *session) []string {
			s.docsearch(t, "install", "--scope", "project")
			// The client writes this when the user approves the project's server.
			s.write(t, filepath.Join(s.project, ".claude", "settings.local.json"), `{"enabledMcpjsonServers": ["docsearch"]}`)
			return nil
		},
	},
}

// pluginWithoutProgram returns the plugin as it is in the repository.
func pluginWithoutProgram(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plugin")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root(t), "plugin"))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pluginWithProgram returns the plugin with its programs, as built by "make plugin".
func pluginWithProgram(t *testing.T) string {
	t.Helper()
	dir := pluginWithoutProgram(t)
	if err := os.CopyFS(filepath.Join(dir, "bin"), os.DirFS(filepath.Dir(program(t)))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// searchingModel is a model that searches the web, follows the instructions of
// the denial, and repeats the search. Each step depends only on the
// conversation so far.
func searchingModel(c conversation) reply {
	search := map[string]any{"query": question}
	results := c.results()
	switch searches := results["WebSearch"]; {
	case c.tool("WebSearch") == nil && len(results["ToolSearch"]) == 0 && c.tool("ToolSearch") != nil:
		return call("load", "ToolSearch", map[string]any{"query": "select:WebSearch", "max_results": 5})
	case len(searches) == 0:
		return call("first", "WebSearch", search)
	case len(searches) == 1:
		denial := c.text() // its reason and its context
		name, arguments, ok := namedCall(denial)
		switch {
		case !ok:
			return say("The denial names no call.")
		case len(results[name]) > 0:
			return call("second", "WebSearch", search)
		case c.tool(name) == nil && len(results["ToolSearch"]) < 2:
			return call("load2", "ToolSearch", namedLoad(denial))
		}
		return call("named", name, arguments)
	default:
		return say("Done.")
	}
}

// returnsFurther reports whether the call that a denial names has returned passages that
// the model has not seen in the denial. Version 2.0.30 shows none there.
func returnsFurther(version, answer string) bool {
	return strings.Contains(answer, " passages from docsearch for ") && strings.Contains(answer, sentence) == (version == "2.0.30")
}

// namedCall finds the tool call in a denial: the last line with a tool and its
// arguments, because the passages before it may quote calls.
func namedCall(denial string) (name string, arguments map[string]any, ok bool) {
	lines := regexp.MustCompile(`(?m)^(mcp__\w+) (\{.*\})$`).FindAllStringSubmatch(denial, -1)
	if len(lines) == 0 || json.Unmarshal([]byte(lines[len(lines)-1][2]), &arguments) != nil {
		return "", nil, false
	}
	return lines[len(lines)-1][1], arguments, true
}

// namedLoad returns the ToolSearch arguments in a denial.
func namedLoad(denial string) (arguments map[string]any) {
	found := regexp.MustCompile(`ToolSearch[^\n]*(\{"query": "select:[^\n]*\})`).FindStringSubmatch(denial)
	if found == nil || json.Unmarshal([]byte(found[1]), &arguments) != nil {
		return map[string]any{"query": "nothing was named"}
	}
	arguments["max_results"] = 5
	return arguments
}

func checkSearch(t *testing.T, version, tool string, m *model, r run) {
	t.Helper()
	if t.Failed() || len(m.requests) == 0 {
		t.Fatalf("the model was not asked; the client said\n%s", r)
	}
	last := m.requests[len(m.requests)-1]
	results := last.results()
	seen := last.text()
	defer func() {
		if t.Failed() {
			t.Logf("the model saw\n%s\nthe client said\n%s", seen, r)
		}
	}()

	if first := m.requests[0].tool(tool); first == nil || first.DeferLoading {
		t.Errorf("the first request has no %s", tool)
	}
	searches := results["WebSearch"]
	if len(searches) != 2 {
		t.Fatalf("the model has the results of %d web searches, want 2", len(searches))
	}

	denial := searches[0].Content.text()
	if !searches[0].IsError || !strings.Contains(denial, "Found in local documentation (") {
		t.Errorf("the first search was not denied: %s", denial)
	}
	if !strings.Contains(seen, "\n"+tool+` {"query": "`+question) {
		t.Errorf("the denial does not name the call of %s: %s", tool, denial)
	}
	if version == "2.0.30" { // shows no context
		if !strings.Contains(denial, "\n> ") {
			t.Errorf("the denial has no excerpt: %s", denial)
		}
	} else if !strings.Contains(seen, "These passages from ") || !strings.Contains(seen, sentence) {
		t.Error("the model did not see the context with the passages")
	}

	if answers := results[tool]; len(answers) != 1 {
		t.Errorf("the model has %d results of %s, want 1", len(answers), tool)
	} else if answer := answers[0].Content.text(); answers[0].IsError || !returnsFurther(version, answer) {
		t.Errorf("the call that the denial names returned %s", answer)
	}

	web := searches[1].Content.text()
	if searches[1].IsError || !strings.Contains(web, webResult) {
		t.Errorf("the repeated search was not let through: %s", web)
	}
	if len(m.searches) != 1 || !strings.Contains(m.searches[0], question) {
		t.Errorf("these searches went to the web: %q, want one", m.searches)
	}

	if strings.Contains(seen, "requested permissions") {
		t.Error("a permission was asked for")
	}
	for _, denied := range r.result.Denials {
		if denied.Tool != "WebSearch" || denied.ID != "toolu_first" {
			t.Errorf("the call %s of %s was denied", denied.ID, denied.Tool)
		}
	}
	for name, blocks := range results {
		for _, b := range blocks {
			if b.IsError && b.ToolUseID != "toolu_first" {
				t.Errorf("%s returned an error: %s", name, b.Content.text())
			}
		}
	}
	if !slices.ContainsFunc(r.init.Servers, func(s serverState) bool {
		return strings.Contains(s.Name, "docsearch") && s.Status == "connected"
	}) {
		t.Errorf("the server is not connected: %v", r.init.Servers)
	}
	if r.stderr != "" {
		t.Errorf("the client complains: %s", r.stderr)
	}
	if len(m.strays) > 0 {
		t.Errorf("requests that are not in the script: %q", m.strays)
	}
}

// tool finds a tool in the request.
func (c conversation) tool(name string) *tool {
	for i := range c.Tools {
		if c.Tools[i].Name == name {
			return &c.Tools[i]
		}
	}
	return nil
}

// results returns the results of tool calls so far, by tool name.
func (c conversation) results() map[string][]block {
	names := map[string]string{}
	results := map[string][]block{}
	for _, message := range c.Messages {
		for _, b := range message.Content {
			switch b.Type {
			case "tool_use":
				names[b.ID] = b.Name
			case "tool_result":
				results[names[b.ToolUseID]] = append(results[names[b.ToolUseID]], b)
			}
		}
	}
	return results
}

// text returns the whole text of the conversation.
func (c conversation) text() string {
	var b bytes.Buffer
	for _, message := range c.Messages {
		b.WriteString(message.Role + ": " + message.Content.text() + "\n")
	}
	return b.String()
}

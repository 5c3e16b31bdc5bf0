//go:build e2e

package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// With the command line in place of the server, a denial names a shell command, which runs
// without a question. There is no server and no tool of one.
func TestCommandLine(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := newSession(t, version)
			s.onPath(t)
			s.database(t)
			s.write(t, s.settings(), settings)
			s.docsearch(t, "install", "--cli")
			m := newModel(t, followingModel)
			r := s.ask(t, m, "How does a denied web search go through?")
			o := outcomeOf(t, m, r)
			if o.named != "Bash" || !o.ran || !strings.Contains(o.answer, sentence) || !o.retried {
				t.Errorf("%+v", o)
			}
			if text := o.seen; strings.Contains(text, "mcp__docsearch") || len(r.init.Servers) > 0 {
				t.Errorf("the model saw a tool of the server, servers %v:\n%s", r.init.Servers, text)
			}
			if version != "2.0.30" && !strings.Contains(o.seen, "docsearch-cli") {
				t.Errorf("the model does not know the skill:\n%s", o.seen)
			}
			s.docsearch(t, "uninstall")
			if got := read(t, s.settings()); got != settings {
				t.Errorf("uninstall left the settings as\n%s", got)
			}
		})
	}
}

// What a denial promises holds in each situation: a call that it names runs, and so does the
// retry, unless the text makes it depend on the permissions.
func TestDenialPromises(t *testing.T) {
	const allowsSearch = `{"permissions": {"allow": ["WebSearch"]}}`
	for name, test := range map[string]struct {
		settings string
		flags    []string
		agent    string // definition of a subagent, which searches

		named       string // tool of the call that the denial names
		conditional bool   // the retry depends on the permissions
		retried     bool
	}{
		"headless":                          {settings: allowsSearch, named: "mcp__docsearch__search", conditional: true, retried: true},
		"headless, no permission":           {settings: `{}`, named: "mcp__docsearch__search", conditional: true},
		"dontAsk":                           {settings: allowsSearch, flags: []string{"--permission-mode", "dontAsk"}, named: "mcp__docsearch__search", conditional: true, retried: true},
		"dontAsk, no permission":            {settings: `{}`, flags: []string{"--permission-mode", "dontAsk"}, named: "mcp__docsearch__search", conditional: true},
		"bypassPermissions":                 {settings: `{}`, flags: []string{"--permission-mode", "bypassPermissions"}, named: "mcp__docsearch__search", retried: true},
		"permissions.deny":                  {settings: `{"permissions": {"allow": ["WebSearch"], "deny": ["mcp__docsearch"]}}`, conditional: true, retried: true},
		"permissions.deny, Bash allowed":    {settings: `{"permissions": {"allow": ["WebSearch", "Bash(docsearch search:*)"], "deny": ["mcp__docsearch"]}}`, named: "Bash", conditional: true, retried: true},
		"permissions.deny, Bash denied":     {settings: `{"permissions": {"deny": ["mcp__docsearch", "Bash"]}}`, flags: []string{"--permission-mode", "bypassPermissions"}, retried: true},
		"--strict-mcp-config":               {settings: allowsSearch, flags: []string{"--strict-mcp-config"}, conditional: true, retried: true},
		"--strict-mcp-config, Bash":         {settings: `{"permissions": {"allow": ["WebSearch", "Bash"]}}`, flags: []string{"--strict-mcp-config"}, named: "Bash", conditional: true, retried: true},
		"subagent with all tools":           {settings: allowsSearch, agent: "", named: "mcp__docsearch__search", conditional: true, retried: true},
		"subagent without our tools":        {settings: allowsSearch, agent: "tools: WebSearch\n", conditional: true, retried: true},
		"subagent with our tool":            {settings: allowsSearch, agent: "tools: WebSearch, mcp__docsearch__search\n", named: "mcp__docsearch__search", conditional: true, retried: true},
		"subagent with Bash":                {settings: `{"permissions": {"allow": ["WebSearch", "Bash"]}}`, agent: "tools: [WebSearch, Bash]\n", named: "Bash", conditional: true, retried: true},
		"subagent that disallows our tools": {settings: allowsSearch, agent: "disallowedTools: mcp__docsearch__search\n", conditional: true, retried: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, versions[0])
			s.env = append(s.env, "IS_SANDBOX=1") // root may bypass permissions only there
			s.onPath(t)
			s.database(t)
			s.write(t, s.settings(), test.settings)
			s.docsearch(t, "install")
			s.ask(t, newModel(t, func(conversation) reply { return say("Done.") }), "Start the server once.")
			turn := followingModel
			if strings.HasPrefix(name, "subagent") {
				s.write(t, filepath.Join(s.home, ".claude", "agents", "searcher.md"),
					"---\nname: searcher\ndescription: Searches the web.\n"+test.agent+"---\nSearch the web.\n")
				turn = delegatingModel
			}
			m := newModel(t, turn)
			r := s.ask(t, m, "How does a denied web search go through?", test.flags...)
			o := outcomeOf(t, m, r)
			if o.named != test.named || o.named != "" && !o.ran || o.conditional != test.conditional || o.retried != test.retried {
				t.Errorf("%+v", o)
			}
		})
	}
}

// If the hooks are switched off, nothing is denied, and nothing is promised.
func TestHooksOff(t *testing.T) {
	s := newSession(t, versions[0])
	s.database(t)
	s.write(t, s.settings(), `{"permissions": {"allow": ["WebSearch"]}}`)
	s.docsearch(t, "install")
	m := newModel(t, followingModel)
	o := outcomeOf(t, m, s.ask(t, m, "How does a denied web search go through?", "--settings", `{"disableAllHooks": true}`))
	if o.denied || len(m.searches) != 1 {
		t.Errorf("%+v", o)
	}
}

// onPath puts docsearch on the session's PATH.
func (s *session) onPath(t *testing.T) {
	t.Helper()
	s.setenv("PATH", strings.Join([]string{filepath.Dir(program(t)), npm(t, claudePackage, s.version), os.Getenv("PATH")},
		string(filepath.ListSeparator)))
}

// task is the task of the subagent of delegatingModel.
const task = "Find out by a web search how a denied web search goes through."

// delegatingModel is a model whose subagent is a followingModel.
func delegatingModel(c conversation) reply {
	if c.startsWith(task) {
		return followingModel(c)
	}
	agent := cmp.Or(c.tool("Agent"), c.tool("Task"))
	if agent == nil || len(c.results()[agent.Name]) > 0 {
		return say("Done.")
	}
	return call("agent", agent.Name, map[string]any{
		"description": "search the web", "prompt": task, "subagent_type": "searcher", "run_in_background": false,
	})
}

// followingModel is a model that searches the web, makes the call or runs the command that
// the denial names, and repeats the search.
func followingModel(c conversation) reply {
	results := c.results()
	searches := results["WebSearch"]
	if len(searches) == 1 && searches[0].IsError {
		denial := c.text()
		command := namedCommand(denial)
		name, _, _ := namedCall(denial)
		switch {
		case command != "" && len(results["Bash"]) == 0:
			return call("named", "Bash", map[string]any{"command": command, "description": "Search local documentation"})
		case name == "" || len(results[name]) > 0:
			return call("second", "WebSearch", map[string]any{"query": question})
		}
	}
	return searchingModel(c)
}

// namedCommand finds the shell command in a denial.
func namedCommand(denial string) string {
	found := regexp.MustCompile(`(?m)this shell command is available[^\n]*:\n([^\n]*docsearch search [^\n]*)$`).FindStringSubmatch(denial)
	if found == nil {
		return ""
	}
	return found[1]
}

// An outcome is what became of a denied search.
type outcome struct {
	denied      bool
	named       string // tool of the call that the denial names
	ran         bool   // that call ran
	answer      string // of that call
	conditional bool   // the retry depends on the permissions
	retried     bool   // the retry ran on the web
	seen        string // by the model that searched
}

func outcomeOf(t *testing.T, m *model, r run) (o outcome) {
	t.Helper()
	var last *conversation
	for i := range m.requests {
		if c := &m.requests[i]; len(c.results()["WebSearch"]) > 0 {
			last = c
		}
	}
	if last == nil {
		t.Fatalf("the model did not search; the client said\n%s", r)
	}
	o.seen = last.text()
	t.Logf("the model saw\n%s", o.seen)
	searches := last.results()["WebSearch"]
	o.denied = searches[0].IsError
	o.retried = len(searches) == 2 && !searches[1].IsError && strings.Contains(searches[1].Content.text(), webResult)
	o.conditional = strings.Contains(o.seen, "if your permissions allow it")
	o.named, _, _ = namedCall(o.seen)
	if namedCommand(o.seen) != "" {
		o.named = "Bash"
	}
	if answers := last.results()[o.named]; len(answers) > 0 {
		o.answer = answers[0].Content.text()
		o.ran = !answers[0].IsError
	}
	return o
}

package glance

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/inject"
)

// talkative has something to say to whatever it is asked.
type talkative struct{}

func (talkative) Check(*config.Database) (string, error) { return "", nil }

func (talkative) Present(*config.Database) bool { return true }

func (talkative) Server(string, string) (found, own bool) { return true, true }

func (talkative) Search(*config.Database, event.Search) (hook.Answer, error) {
	return hook.Answer{}, errors.New("asked")
}

func (talkative) Page(*config.Database, event.Fetch) (hook.Answer, bool, error) {
	return hook.Answer{}, false, errors.New("asked")
}

func (talkative) Entries(*config.Database, *inject.Call, float64) ([]inject.Entry, error) {
	return nil, errors.New("asked")
}

func (talkative) Contents(*config.Database) ([]inject.Entry, int, error) {
	return nil, 0, errors.New("asked")
}

func (talkative) Remedy(*config.Database, *inject.Call) ([]hook.Remedy, error) {
	return nil, errors.New("asked")
}

func configs() map[string]config.Config {
	with := func(change func(c *config.Config)) config.Config {
		c := config.Default()
		c.Databases = []config.Database{
			{Name: "gitlab", Keywords: []string{"gitlab", "ci file"}, Path: "/d/gitlab", Description: "GitLab", URLs: []string{"https://docs.gitlab.com/"}},
			{Name: "k8s", Keywords: []string{"kubernetes"}, Path: "/d/k8s", Description: "Kubernetes", Mode: config.ModeOff},
		}
		change(&c)
		return c
	}
	return map[string]config.Config{
		"none":     config.Default(),
		"plain":    with(func(*config.Config) {}),
		"evidence": with(func(c *config.Config) { c.Hook.Retry = config.RetryEvidence; c.Databases[1].Tool = "Lookup" }),
		"notes":    with(func(c *config.Config) { c.Databases[0].Inject = []string{config.All} }),
		"renamed":  with(func(c *config.Config) { c.Hook.Tool = "mcp__docs__leann_search" }),
	}
}

// look is what plain and package hook say of an event; hook by that it does
// nothing at all, unless it keeps that a search matched no database.
func look(t *testing.T, c config.Config, data string) (settled, nothing bool) {
	t.Helper()
	e, err := event.Parse([]byte(data))
	if err != nil {
		return false, false
	}
	server := c.Server(func(string) string { return "" })
	remembered := hook.State{Denied: []hook.Denial{{Call: hook.Call{Search: event.Search{Query: "denied before"}}, At: time.Unix(1, 0)}}}
	d := hook.Decide(e, &c, server, remembered, time.Unix(2, 0), talkative{}, hook.Routes{})
	outcome := d.Outcome(&e)
	search := e.Name == event.PreToolUse && e.Tool == event.WebSearch
	nothing = d.Verdict == hook.Pass && d.Context == "" && d.Notes == nil && len(d.Faults) == 0 && !d.Update && !d.Later &&
		!d.Change.Deny && !d.Change.Permit && !d.Change.Consult &&
		(outcome == "" && !search || outcome == eventlog.Unmatched && search)
	return plain(&e, &c, &server), nothing
}

func TestPlain(t *testing.T) {
	call := func(tool, input string) string {
		return `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":` + input + `}`
	}
	for _, test := range []struct {
		config, event string
		want          bool
	}{
		{"plain", call("WebSearch", `{"query":"how to cook rice"}`), true},
		{"plain", call("WebSearch", `{"query":"GitLab runner"}`), false},
		{"plain", call("WebSearch", `{"query":"the CI  file"}`), false},
		{"plain", call("WebSearch", `{"query":"gitlabs"}`), true},
		{"plain", call("WebSearch", `{"query":"kubernetes"}`), true},
		{"plain", call("WebSearch", `{"query":"rice","allowed_domains":["docs.gitlab.com"]}`), false},
		{"plain", call("WebSearch", `{"query":"gitlab","blocked_domains":["gitlab.com"]}`), true},
		{"plain", call("WebSearch", `{"query":" "}`), false},
		{"plain", call("WebSearch", `{"query":"`+strings.Repeat("rice ", 5000)+`"}`), false},
		{"plain", call("WebFetch", `{"url":"https://docs.gitlab.com/ci","prompt":"p"}`), false},
		{"plain", call("Bash", `{"command":"gitlab"}`), true},
		{"plain", call("Edit", `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`), true},
		{"plain", call("mcp__docsearch__search", `{"query":"x"}`), false},
		{"plain", call("mcp__github__search", `{"query":"x"}`), true},
		{"plain", `{"hook_event_name":"SessionStart","source":"startup"}`, false},
		{"plain", `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"gitlab"},"tool_response":{"stdout":"x"}}`, true},
		{"plain", `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"gitlab"},"tool_response":{"exit_code":1,"stderr":"x"}}`, false},
		{"plain", `{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"gitlab"},"error":"x"}`, false},
		{"none", call("WebSearch", `{"query":"gitlab"}`), true},
		{"evidence", call("Lookup", `{}`), false},
		{"evidence", call("Bash", `{"command":"x"}`), true},
		{"renamed", call("mcp__docs__leann_search", `{}`), false},
		{"renamed", call("mcp__docs__read", `{}`), false},
		{"notes", call("Bash", `{"command":"x"}`), false},
		{"notes", call("Read", `{"file_path":"x"}`), false},
	} {
		settled, nothing := look(t, configs()[test.config], test.event)
		if settled != test.want || settled && !nothing {
			t.Errorf("%s, %.200s: settled %v, want %v; package hook does nothing: %v", test.config, test.event, settled, test.want, nothing)
		}
	}
}

// FuzzPlain holds that nothing is let through here that package hook would
// have something to say to, or to keep.
func FuzzPlain(f *testing.F) {
	f.Add(`{"tool_name":"WebSearch","tool_input":{"query":"gitlab ci","allowed_domains":["a.b"]}}`)
	f.Add(`{"tool_name":"mcp__docsearch__read","tool_input":{}}`)
	f.Add(`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{"exit_code":2,"stderr":"kubernetes"}}`)
	f.Add(`{"hook_event_name":"SubagentStart","agent_type":"Explore"}`)
	f.Add(`{"toolName":"web_fetch","toolArgs":"{\"url\":\"https://docs.gitlab.com/\"}"}`)
	f.Fuzz(func(t *testing.T, data string) {
		for name, c := range configs() {
			if settled, nothing := look(t, c, data); settled && !nothing {
				t.Errorf("%s: %q is let through", name, data)
			}
		}
	})
}

package hook

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notes"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

// fakeSearcher answers by database name. A missing entry is a database without an index, a nil
// entry one with a corrupt index.
type fakeSearcher map[string]func(query string) (Answer, error)

func (x fakeSearcher) Check(db *config.Database) (version string, err error) {
	switch answer, ok := x[db.Name]; {
	case !ok:
		return "", fmt.Errorf("%s: %w", db.Path, generation.ErrNoIndex)
	case answer == nil:
		return "", &container.CorruptError{File: db.Path, Problem: "test"}
	}
	return db.Version, nil
}

func (x fakeSearcher) Search(db *config.Database, s event.Search) (Answer, error) {
	if _, err := x.Check(db); err != nil {
		return Answer{}, err
	}
	return x[db.Name](s.Query)
}

// Present is true except for paths below /absent.
func (x fakeSearcher) Present(db *config.Database) bool {
	return !strings.HasPrefix(db.Path, "/absent/")
}

// Server finds LEANN's server, and docsearch under the name mydocs.
func (x fakeSearcher) Server(_ event.Host, tool, _ string) (found, own bool) {
	name, _ := config.ServerName(tool)
	return name == "leann" || name == "mydocs", name == "mydocs"
}

// Withheld is true for sessions in /withheld, and returns a command that the host does not refuse.
func (x fakeSearcher) Withheld(e *event.Event, _ string) (command string, withheld bool) {
	if withheld = e.CLI || e.Cwd == "/withheld"; withheld && (e.CLI || !e.Refuses) {
		command = "docsearch"
	}
	return command, withheld
}

// OwnServer finds docsearch's server for sessions in /renamed.
func (x fakeSearcher) Opens(*config.Database) error { return nil }

func (x fakeSearcher) OwnServer(_ event.Host, cwd string) string {
	if cwd == "/renamed" {
		return "my docs"
	}
	return ""
}

// Page answers for a page as Search does for its URL.
func (x fakeSearcher) Page(db *config.Database, f event.Fetch) (Answer, bool, error) {
	a, err := x.Search(db, event.Search{Query: f.URL})
	return a, len(a.Passages) > 0, err
}

func (x fakeSearcher) Entries(db *config.Database, call *notes.Call, floor float64) ([]notes.Entry, error) {
	entries, _, err := x.Contents(db)
	for i := range entries {
		entries[i].Rarity = 1
		call.Judge(&entries[i], floor)
	}
	return entries, err
}

// Contents returns a document for each passage of the answer.
func (x fakeSearcher) Contents(db *config.Database) ([]notes.Entry, int, error) {
	a, err := x.Search(db, event.Search{})
	var entries []notes.Entry
	for _, p := range a.Passages {
		entries = append(entries, notes.Entry{Database: db.Name, Document: p.Document(), Title: p.Title, Source: p.Document(), Text: p.Text, Use: p.NoteMeta()})
	}
	return entries, len(entries), err
}

// Remedy returns the answer's passages. The evidence for the first is the answer's
// confidence; each further one has half of it.
func (x fakeSearcher) Remedy(db *config.Database, call *notes.Call) ([]Remedy, error) {
	a, err := x.Search(db, event.Search{Query: call.Query().Text})
	var found []Remedy
	for _, p := range a.Passages {
		found = append(found, Remedy{Passage: p, Evidence: a.Confidence})
		a.Confidence /= 2
	}
	return found, err
}

func always(a Answer) func(string) (Answer, error) {
	return func(string) (Answer, error) { return a, nil }
}

var (
	expiry = passage.Passage{
		Title: "Job artifacts", Headings: []string{"Job artifacts", "Expiry"},
		URL: "https://docs.gitlab.com/ci/jobs/job_artifacts#expiry", Text: "Artifacts expire after 30 days unless `expire_in` says otherwise.",
	}
	ingress = passage.Passage{
		Title: "Ingress", Path: "docs/ingress.md", StartLine: 12, EndLine: 20, Text: "An Ingress exposes routes from outside the cluster.",
	}
	sure   = Answer{Passages: []passage.Passage{expiry}, Confidence: 0.97, Confident: true}
	unsure = Answer{Passages: []passage.Passage{expiry}, Confidence: 0.12, Confident: false}
)

func testConfig(mode config.Mode, tool string) *config.Config {
	c := config.Default()
	c.Databases = []config.Database{
		{Name: "gitlab", Keywords: []string{"gitlab", "gl"}, Path: "/docs/gitlab", Description: "GitLab documentation", Tool: tool, Mode: mode},
		{Name: "kubernetes", Keywords: []string{"kubernetes", "k8s"}, Path: "/docs/kubernetes", Description: "Kubernetes documentation", Tool: tool, Mode: mode},
	}
	return &c
}

func noEnv(string) string { return "" }

func webSearchEvent(query string) event.Event {
	return event.Event{Host: event.Claude, Name: event.PreToolUse, Session: "s", Tool: event.WebSearch, Search: event.Search{Query: query}}
}

const foreignTool = "mcp__leann__search"

func TestDecideByMode(t *testing.T) {
	failing := func(string) (Answer, error) { return Answer{}, errors.New("disk on fire") }
	for _, test := range []struct {
		name    string
		mode    config.Mode
		tool    string
		indexes fakeSearcher
		query   string
		verdict Verdict
		context bool // with a pass
		answer  bool // the denial quotes a passage
		fault   string
	}{
		{name: "no keyword", query: "cooking", indexes: fakeSearcher{"gitlab": always(sure)}},
		{name: "default, sure", query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(sure)}, verdict: Deny, answer: true},
		{name: "default, unsure", query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(unsure)}},
		{name: "default, no hit", query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(Answer{Confident: true})}},
		{name: "default, search fails", query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": failing}, fault: "disk on fire"},
		{name: "default, no index", query: "gitlab artifacts", fault: "no docsearch index"},
		{name: "default, damaged", query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": nil}, fault: "corrupt"},
		{name: "default, other tool, sure", query: "gitlab artifacts", tool: foreignTool, indexes: fakeSearcher{"gitlab": always(sure)}, verdict: Deny, answer: true},
		{name: "default, other tool, unsure", query: "gitlab artifacts", tool: foreignTool, indexes: fakeSearcher{"gitlab": always(unsure)}},
		{name: "default, other tool, no index", query: "gitlab artifacts", tool: foreignTool, verdict: Deny},
		{name: "default, other tool, damaged", query: "gitlab artifacts", tool: foreignTool, indexes: fakeSearcher{"gitlab": nil}, fault: "corrupt"},

		{name: "answer, sure", mode: config.ModeAnswer, query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(sure)}, verdict: Deny, answer: true},
		{name: "answer, unsure", mode: config.ModeAnswer, query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(unsure)}},
		{name: "answer, other tool, no index", mode: config.ModeAnswer, tool: foreignTool, query: "gitlab artifacts", fault: "no docsearch index"},

		{name: "redirect", mode: config.ModeRedirect, query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(unsure)}, verdict: Deny},
		{name: "redirect, no index", mode: config.ModeRedirect, query: "gitlab artifacts", fault: "no docsearch index"},
		{name: "redirect, damaged", mode: config.ModeRedirect, query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": nil}, fault: "corrupt"},
		{name: "redirect, other tool", mode: config.ModeRedirect, tool: foreignTool, query: "gitlab artifacts", verdict: Deny},
		{name: "redirect, other tool, damaged", mode: config.ModeRedirect, tool: foreignTool, query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": nil}, verdict: Deny},

		{name: "advise", mode: config.ModeAdvise, query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(unsure)}, context: true},
		{name: "advice only", query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(Answer{Confidence: .99, AdviceOnly: "documentation in German"})}, context: true},
		{name: "advise, no index", mode: config.ModeAdvise, query: "gitlab artifacts", fault: "no docsearch index"},
		{name: "advise, other tool", mode: config.ModeAdvise, tool: foreignTool, query: "gitlab artifacts", context: true},

		{name: "default, absent, tool of a server that the client has", query: "absent", tool: foreignTool, verdict: Deny},
		{name: "default, absent, unknown tool", query: "absent", tool: "mcp__gone__search", fault: "/absent/db does not exist"},
		{name: "redirect, absent, unknown tool", query: "absent", mode: config.ModeRedirect, tool: "mcp__gone__search", fault: "/absent/db does not exist"},
		{name: "advise, absent, unknown tool", query: "absent", mode: config.ModeAdvise, tool: "mcp__gone__search", fault: "/absent/db does not exist"},
		{name: "redirect, absent, own tool", query: "absent", mode: config.ModeRedirect, fault: "no docsearch index"},

		{name: "off", mode: config.ModeOff, query: "gitlab artifacts", indexes: fakeSearcher{"gitlab": always(sure)}},

		{name: "two, both sure", query: "gitlab on k8s", indexes: fakeSearcher{"gitlab": always(sure), "kubernetes": always(sure)}, verdict: Deny, answer: true},
		{name: "two, one sure", query: "gitlab on k8s", indexes: fakeSearcher{"gitlab": always(unsure), "kubernetes": always(sure)}, verdict: Deny, answer: true},
		{name: "two, one damaged", query: "gitlab on k8s", indexes: fakeSearcher{"gitlab": nil, "kubernetes": always(sure)}, verdict: Deny, answer: true, fault: "corrupt"},
		{name: "two, none sure", query: "gitlab on k8s", indexes: fakeSearcher{"gitlab": always(unsure), "kubernetes": always(unsure)}},

		{name: "no query", query: "", indexes: fakeSearcher{"gitlab": always(sure)}},
		{name: "blank query", query: " \t", indexes: fakeSearcher{"gitlab": always(sure)}},
		{name: "endless query", query: "gitlab " + strings.Repeat("x", match.MaxQuery), indexes: fakeSearcher{"gitlab": always(sure)}, fault: "bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig(test.mode, test.tool)
			c.Databases = append(c.Databases, config.Database{
				Name: "absent", Keywords: []string{"absent"}, Path: "/absent/db", Description: "Absent documentation", Tool: test.tool, Mode: test.mode,
			})
			d := Decide(webSearchEvent(test.query), c, c.Server(noEnv), State{}, at(0), test.indexes, Routes{})
			if d.Verdict != test.verdict {
				t.Fatalf("verdict %q, want %q; trace %q", d.Verdict, test.verdict, d.Trace)
			}
			if got := d.Context != "" && d.Verdict == Pass; got != test.context {
				t.Errorf("context %q", d.Context)
			}
			if got := strings.Contains(d.Reason, "> ") && strings.Contains(d.Context, "Source: "); got != test.answer {
				t.Errorf("quotes a passage: %t, want %t; reason %q", got, test.answer, d.Reason)
			}
			if faults := strings.Join(d.Faults, "\n"); test.fault == "" && faults != "" || !strings.Contains(faults, test.fault) {
				t.Errorf("faults %q, want %q", faults, test.fault)
			}
			if got := d.Change.Deny; got != (d.Verdict == Deny) {
				t.Errorf("denial to be remembered: %t", got)
			}
		})
	}
}

func TestDecideByEvent(t *testing.T) {
	for _, test := range []struct {
		name    string
		event   event.Event
		env     map[string]string
		tool    string // of the config's hook section
		verdict Verdict
	}{
		{name: "after the search", event: event.Event{Name: "PostToolUse", Tool: event.WebSearch, Search: event.Search{Query: "gitlab"}}},
		{name: "another tool", event: event.Event{Name: event.PreToolUse, Tool: "Bash"}},
		{name: "tool names are exact", event: event.Event{Name: event.PreToolUse, Tool: "websearch", Search: event.Search{Query: "gitlab"}}},
		{name: "own search", event: event.Event{Name: event.PreToolUse, Tool: "mcp__docsearch__search"}, verdict: Allow},
		{name: "own search of the plugin", event: event.Event{Name: event.PreToolUse, Tool: "mcp__plugin_docsearch_docs__search"}, verdict: Allow},
		{name: "own read", event: event.Event{Name: event.PreToolUse, Tool: "mcp__docsearch__read"}, verdict: Allow},
		{name: "own list", event: event.Event{Name: event.PreToolUse, Tool: "mcp__plugin_docsearch_docs__list_databases"}, verdict: Allow},
		{name: "own LEANN name", event: event.Event{Name: event.PreToolUse, Tool: "mcp__docsearch__leann_search"}, verdict: Allow},
		{name: "own tool that writes", event: event.Event{Name: event.PreToolUse, Tool: "mcp__docsearch__note_add"}},
		{name: "own tool that replaces", event: event.Event{Name: event.PreToolUse, Tool: "mcp__plugin_docsearch_docs__note_update"}},
		{name: "own server, unknown tool", event: event.Event{Name: event.PreToolUse, Tool: "mcp__docsearch__delete"}},
		{name: "own server, longer name", event: event.Event{Name: event.PreToolUse, Tool: "mcp__docsearch__search_and_destroy"}},
		{name: "another server", event: event.Event{Name: event.PreToolUse, Tool: foreignTool}},
		{name: "another server's search", event: event.Event{Name: event.PreToolUse, Tool: "mcp__github__search"}},
		{name: "another plugin", event: event.Event{Name: event.PreToolUse, Tool: "mcp__plugin_docsearch_other__search"}},
		{name: "own search after its call", event: event.Event{Name: "PostToolUse", Tool: "mcp__docsearch__search"}},
		{name: "renamed by the environment", event: event.Event{Name: event.PreToolUse, Tool: "mcp__mydocs__read"}, env: map[string]string{"DOCSEARCH_MCP_TOOL": "mcp__mydocs__search"}, verdict: Allow},
		{name: "renamed by the config", event: event.Event{Name: event.PreToolUse, Tool: "mcp__mydocs__search"}, tool: "mcp__mydocs__search", verdict: Allow},
		{name: "renamed, tool for LEANN", event: event.Event{Name: event.PreToolUse, Tool: "mcp__mydocs__leann_search"}, tool: "mcp__mydocs__leann_search", verdict: Allow},
		{name: "renamed, not installed", event: event.Event{Name: event.PreToolUse, Tool: "mcp__notes__search"}, tool: "mcp__notes__search"},
		{name: "renamed to another server", event: event.Event{Name: event.PreToolUse, Tool: "mcp__leann__search"}, tool: "mcp__leann__search"},
		{name: "renamed to no search tool", event: event.Event{Name: event.PreToolUse, Tool: "mcp__mydocs__delete"}, tool: "mcp__mydocs__delete"},
		{name: "renamed to a tool of the client", event: event.Event{Name: event.PreToolUse, Tool: "Bash"}, tool: "Bash"},
		{name: "renamed to a tool of the client, by the environment", event: event.Event{Name: event.PreToolUse, Tool: "Edit"}, env: map[string]string{"DOCSEARCH_MCP_TOOL": "Edit"}},
		{name: "renamed to an empty server", event: event.Event{Name: event.PreToolUse, Tool: "mcp____search"}, tool: "mcp____search"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig("", foreignTool)
			c.Hook.Tool = test.tool
			server := c.Server(func(name string) string { return test.env[name] })
			d := Decide(test.event, c, server, State{}, at(0), fakeSearcher{}, Routes{})
			if d.Verdict != test.verdict || len(d.Faults) > 0 {
				t.Errorf("verdict %q, want %q; trace %q, faults %q", d.Verdict, test.verdict, d.Trace, d.Faults)
			}
		})
	}
}

// TestRetry simulates sessions, step by step: a web search or another tool call, and
// the hook's decision.
func TestRetry(t *testing.T) {
	type step struct {
		query, tool, agent string
		command, resource  string // of Bash, and of ReadMcpResourceTool
		after              time.Duration
		want               Verdict
	}
	const document = `{"server": "plugin:docsearch:docs", "uri": "docsearch://gitlab/ci%2Fyaml.md"}`
	const own = "mcp__docsearch__search"
	both := fakeSearcher{"gitlab": always(sure), "kubernetes": always(sure)}
	nothing := fakeSearcher{"gitlab": always(Answer{}), "kubernetes": always(Answer{})}
	for _, test := range []struct {
		name    string
		retry   config.Retry
		mode    config.Mode
		tool    string
		indexes fakeSearcher
		steps   []step
	}{
		{"identical: repeated, then again", config.RetryIdentical, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {query: "gitlab a", want: Pass}, {query: "gitlab a", want: Deny}, {query: "gitlab a", want: Pass},
		}},
		{"identical: another query", config.RetryIdentical, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {query: "gitlab b", want: Deny}, {query: "Gitlab b", want: Deny},
		}},
		{"identical: too late", config.RetryIdentical, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {query: "gitlab a", after: 5 * time.Minute, want: Deny}, {query: "gitlab a", after: time.Minute, want: Pass},
		}},
		{"identical: three at once", config.RetryIdentical, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {query: "gitlab b", want: Deny}, {query: "gitlab c", want: Deny},
			{query: "gitlab a", want: Pass}, {query: "gitlab b", want: Pass}, {query: "gitlab c", want: Pass},
		}},
		{"evidence: without any", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {query: "gitlab a", want: Deny}, {query: "gitlab a", want: Deny},
		}},
		{"evidence: the tool was called", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {tool: own, want: Allow, after: time.Second}, {query: "gitlab a", want: Pass}, {query: "gitlab a", want: Deny},
		}},
		{"evidence: the tool was called before", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {tool: own, want: Allow, after: time.Second}, {query: "gitlab b", want: Deny, after: time.Second},
			{query: "gitlab b", want: Deny}, {query: "gitlab a", want: Pass},
		}},
		{"evidence: only the databases were listed", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {tool: "mcp__docsearch__list_databases", want: Allow}, {query: "gitlab a", want: Deny},
		}},
		{"evidence: docsearch search in a shell", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {command: "cd /p && sudo /usr/bin/docsearch search 'gitlab a' | head", after: time.Second}, {query: "gitlab a"},
		}},
		{"evidence: other commands", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {command: "grep 'docsearch search' README.md", after: time.Second}, {command: "docsearch index info search"},
			{command: "docsearch search"}, {command: "docsearch-x search y"}, {command: "docsearch search 'y"}, {query: "gitlab a", want: Deny},
		}},
		{"evidence: a resource", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {resource: document, after: time.Second}, {query: "gitlab a"},
		}},
		{"evidence: other resources", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {resource: `{"server": "github", "uri": "docsearch://gitlab/a"}`, after: time.Second},
			{resource: `{"server": "docsearch", "uri": "docsearch://gitlab"}`}, {resource: `{"server": "docsearch", "uri": "file:///gitlab/a"}`},
			{resource: `{"server": "docsearch"}`}, {resource: "[]"}, {query: "gitlab a", want: Deny},
		}},
		{"evidence: a resource, for a subagent", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", want: Deny}, {resource: document, agent: "a1", after: time.Second}, {query: "gitlab a", want: Deny},
		}},
		{"evidence: another server's tool", config.RetryEvidence, config.ModeRedirect, foreignTool, fakeSearcher{}, []step{
			{query: "gitlab a", want: Deny}, {query: "gitlab a", want: Deny}, {tool: foreignTool, want: Pass, after: time.Second}, {query: "gitlab a", want: Pass},
		}},
		{"evidence: nothing to offer", config.RetryEvidence, config.ModeRedirect, "", nothing, []step{
			{query: "gitlab a", want: Deny}, {query: "gitlab a", want: Pass},
		}},
		{"evidence: a subagent may have no tool", config.RetryEvidence, "", "", both, []step{
			{query: "gitlab a", agent: "a1", want: Deny}, {query: "gitlab a", agent: "a1", want: Pass},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig(test.mode, test.tool)
			c.Hook.Retry = test.retry
			var state State
			now := at(0)
			for i, step := range test.steps {
				now = now.Add(step.after + 2*concurrentWindow)
				e := webSearchEvent(step.query)
				e.Agent = step.agent
				if step.tool != "" {
					e.Tool, e.Search = step.tool, event.Search{}
				}
				switch {
				case step.command != "":
					e = event.Event{Name: event.PreToolUse, Tool: event.Bash, Command: event.Command{Line: step.command}, Agent: step.agent}
				case step.resource != "":
					e = event.Event{Name: event.PreToolUse, Tool: event.ReadResource, Input: step.resource, Agent: step.agent}
				}
				d := Decide(e, c, c.Server(noEnv), state, now, test.indexes, Routes{Commands: shell.Commands})
				if d.Verdict != step.want {
					t.Fatalf("step %d: verdict %q, want %q; trace %q", i+1, d.Verdict, step.want, d.Trace)
				}
				state, _ = state.apply(d.Change, now)
			}
		})
	}
}

func TestDecideIsPure(t *testing.T) {
	c := testConfig("", "")
	state := State{Denied: []Denial{{Call: Call{Search: event.Search{Query: "gitlab a"}}, At: at(0)}, {Call: Call{Search: event.Search{Query: "gitlab b"}}, At: at(0)}}}
	var first Decision
	for range 3 {
		d := Decide(webSearchEvent("gitlab a"), c, c.Server(noEnv), state, at(1), fakeSearcher{"gitlab": always(sure)}, Routes{})
		if first.Trace == nil {
			first = d
		}
		if diff := cmp.Diff(first, d); diff != "" {
			t.Fatalf("decisions differ (-first +later):\n%s", diff)
		}
	}
}

// A run for answers only denies a call that it answers. It leaves any other call to the
// second run, and does not change the state.
func TestAnswersOnly(t *testing.T) {
	both := fakeSearcher{"gitlab": always(sure), "kubernetes": always(unsure)}
	denied, _ := State{}.apply(deny("gitlab artifacts"), at(0))
	forbidden := rulesIn(t, rule("secret", "WebSearch", `nimbus`, config.ActionDeny))
	for _, test := range []struct {
		name   string
		query  string
		mode   config.Mode
		state  State
		routes Routes
		want   Verdict
	}{
		{name: "answer", query: "gitlab artifacts", want: Deny},
		{name: "no answer", query: "kubernetes ingress"},
		{name: "nothing matches", query: "cooking"},
		{name: "denial without passages", query: "kubernetes ingress", mode: config.ModeRedirect},
		{name: "advice", query: "gitlab artifacts", mode: config.ModeAdvise},
		{name: "retry", query: "gitlab artifacts", state: denied},
		{name: "rule", query: "nimbus", routes: forbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig(test.mode, "")
			e := webSearchEvent(test.query)
			other := Decide(e, c, c.Server(noEnv), test.state, at(1), both, test.routes)
			if test.routes.Rules != nil && other.Verdict != Deny {
				t.Fatalf("the rule does not match; trace %q", other.Trace)
			}
			e.AnswersOnly = true
			d := Decide(e, c, c.Server(noEnv), test.state, at(1), both, test.routes)
			if d.Verdict != test.want {
				t.Fatalf("verdict %q, want %q; trace %q", d.Verdict, test.want, d.Trace)
			}
			if test.want == Deny {
				if diff := cmp.Diff(other.Context, d.Context); diff != "" || d.Context == "" {
					t.Errorf("context differs from that of the other run: %s", diff)
				}
				return
			}
			if d.Reason != "" || d.Context != "" || !d.Change.empty() || d.Outcome(&e) != "" {
				t.Errorf("reason %q, context %q, change %+v, outcome %q", d.Reason, d.Context, d.Change, d.Outcome(&e))
			}
		})
	}
}

// The call in a denial has the name and the arguments of docsearch's own server, under
// whatever name the client has it.
func TestServerUnderAnotherName(t *testing.T) {
	x := fakeSearcher{"gitlab": always(sure)}
	for _, test := range []struct {
		name, tool, cwd, want, not string
	}{
		{"default", "", "/", `mcp__docsearch__search {"query": "gitlab artifacts", "keywords": ["artifacts"], "database": "gitlab"}`, "my_docs"},
		{"registered by the user", "", "/renamed", `mcp__my_docs__search {"query": "gitlab artifacts", "keywords": ["artifacts"], "database": "gitlab"}`, "mcp__docsearch__"},
		{"named in the config", "mcp__mydocs__search", "/", `mcp__mydocs__search {"query": "gitlab artifacts", "keywords": ["artifacts"], "database": "gitlab"}`, "LEANN"},
		{"with LEANN's arguments", "mcp__mydocs__leann_search", "/", `mcp__mydocs__leann_search {"index_name": "gitlab", "query": "gitlab artifacts"}`, "LEANN"},
		{"LEANN itself", "mcp__leann__search", "/", `mcp__leann__search {"index_name": "gitlab-docs", "query": "gitlab artifacts"}`, "keywords"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig("", "")
			c.Databases[0].Tool, c.Databases[0].Path = test.tool, "/absent/gitlab-docs"
			e := webSearchEvent("gitlab artifacts")
			e.Cwd = test.cwd
			d := denial(t, c, e, x)
			if text := d.Reason + "\n" + d.Context; !strings.Contains(text, test.want) || strings.Contains(text, test.not) {
				t.Errorf("want %s, not %s, in:\n%s", test.want, test.not, text)
			}
		})
	}
	p := &Process{Getenv: noEnv, Now: func() time.Time { return at(0) }}
	own := event.Event{Host: event.Claude, Name: event.PreToolUse, Tool: "mcp__mydocs__search"}
	if d := p.Decide(own, testConfig("", ""), config.Locations{State: t.TempDir()}, x); d.Verdict != Allow {
		t.Errorf("a call of docsearch's own server: verdict %q, %q", d.Verdict, d.Trace)
	}
}

// A countingSearcher counts the reads of the agent's settings.
type countingSearcher struct {
	fakeSearcher
	reads *int
}

func (s countingSearcher) OwnServer(h event.Host, cwd string) string {
	*s.reads++
	return "docs"
}

// The agent's settings, which may be large, are read for the first denial of a session.
func TestSettingsAreReadOnce(t *testing.T) {
	home := t.TempDir()
	getenv := func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home, "CLAUDE_PROJECT_DIR": "/project"}[name]
	}
	p := &Process{Getenv: getenv, Now: func() time.Time { return at(0) }}
	l := config.Locations{State: t.TempDir(), Cache: t.TempDir()}
	reads := 0
	x := countingSearcher{fakeSearcher{"gitlab": always(sure)}, &reads}
	for start := range 2 {
		p.Decide(event.Event{Host: event.Claude, Name: event.SessionStart, Session: "s"}, testConfig("", ""), l, x)
		for i := range 3 {
			d := p.Decide(webSearchEvent(fmt.Sprintf("gitlab artifacts %d-%d", start, i)), testConfig("", ""), l, x)
			if d.Verdict != Deny || !strings.Contains(d.Reason+d.Context, "mcp__docs__search") {
				t.Fatalf("%v: %s %s, faults %q", d.Verdict, d.Reason, d.Context, d.Faults)
			}
		}
	}
	if reads != 2 {
		t.Errorf("%d reads for two starts", reads)
	}
}

package hook

import (
	"fmt"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
)

func TestCoverageOf(t *testing.T) {
	docs := config.Database{Name: "docs", Keywords: []string{"docs"}}
	noted := config.Database{Name: "team", Keywords: []string{"team"}, Mode: config.ModeOff, Inject: []string{config.All}}
	pattern := config.Pattern{Text: "x", Expr: "x"}
	for name, test := range map[string]struct {
		databases []config.Database
		inject    func(*config.Inject)
		retry     config.Retry
		rules     []config.Rule
		want      config.Coverage
	}{
		"nothing":                       {},
		"a database":                    {databases: []config.Database{docs}, want: config.Coverage{Failures: true, Subagents: true}},
		"a database that is off":        {databases: []config.Database{{Mode: config.ModeOff}}},
		"notes":                         {databases: []config.Database{noted}, want: config.Coverage{Edits: true, Failures: true, Subagents: true}},
		"notes for reads only":          {databases: []config.Database{noted}, inject: func(in *config.Inject) { in.Tools = []string{"Read"} }, want: config.Coverage{Failures: true, Subagents: true}},
		"notes, no failures":            {databases: []config.Database{noted}, inject: func(in *config.Inject) { in.Failures = false }, want: config.Coverage{Edits: true, Subagents: true}},
		"a database, no session notes":  {databases: []config.Database{docs}, inject: func(in *config.Inject) { in.Sessions = false }, want: config.Coverage{Failures: true}},
		"another server's database":     {databases: []config.Database{{Tool: "mcp__leann__leann_search", Mode: config.ModeOff}}, want: config.Coverage{Servers: true}},
		"docsearch's own tool":          {databases: []config.Database{{Tool: "mcp__docsearch__search", Mode: config.ModeOff}}},
		"a retry with evidence":         {retry: config.RetryEvidence, want: config.Coverage{Lookups: true}},
		"a rule for fetches":            {rules: []config.Rule{{Pattern: pattern}}},
		"a rule for searches":           {rules: []config.Rule{{Tools: []string{"WebSearch"}, Pattern: pattern}}},
		"a rule for commands":           {rules: []config.Rule{{CommandPattern: pattern}}, want: config.Coverage{Edits: true}},
		"a rule for files, in any case": {rules: []config.Rule{{Tools: []string{"write"}}}, want: config.Coverage{Edits: true}},
		"a rule for an MCP tool":        {rules: []config.Rule{{Tools: []string{"mcp__jira__search"}}}, want: config.Coverage{Servers: true}},
		"a pattern of MCP tools":        {rules: []config.Rule{{ToolPattern: config.Pattern{Text: "mcp__jira", Literals: []string{"mcp__jira"}}}}, want: config.Coverage{Servers: true}},
		"a pattern of any tools":        {rules: []config.Rule{{ToolPattern: config.Pattern{Text: ".*"}}}, want: config.Coverage{Edits: true, Servers: true}},
	} {
		c := config.Default()
		c.Databases, c.Hook.Retry = test.databases, test.retry
		if test.inject != nil {
			test.inject(&c.Inject)
		}
		if got := CoverageOf(&c, test.rules, c.Server(noEnv)); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// The start of a session requests new entries only for events that docsearch did
// not register.
func TestRefresh(t *testing.T) {
	commands := []config.Rule{{CommandPattern: config.Pattern{Text: "x", Expr: "x"}}}
	for _, test := range []struct {
		host       event.Host
		source     string
		registered *config.Coverage
		rules      []config.Rule
		err        error
		want       bool
		needsMain  bool
	}{
		{host: event.Claude, source: "startup", registered: &config.Coverage{}, rules: commands, want: true},
		{host: event.Claude, source: "resume", registered: &config.Coverage{Servers: true}, rules: commands, want: true},
		{host: event.Claude, source: "startup", registered: &config.Coverage{Edits: true}, rules: commands},
		{host: event.Claude, source: "startup", registered: &config.Coverage{Edits: true, Failures: true}},
		{host: event.Claude, source: "startup", rules: commands},
		{host: event.Claude, source: "compact", registered: &config.Coverage{}, rules: commands},
		{host: event.Gemini, source: "startup", registered: &config.Coverage{}, rules: commands},
		{host: event.Claude, source: "startup", registered: &config.Coverage{}, err: fmt.Errorf("no snapshot: %w", ErrNeedsMain), needsMain: true},
	} {
		c := config.Default()
		d := newDecider(event.Event{Host: test.host, Name: event.SessionStart, Source: test.source}, &c, c.Server(noEnv))
		d.search, d.registered = fakeSearcher{}, test.registered
		d.routes = Routes{Rules: func(func(*config.Rule) bool) ([]config.Rule, error) { return test.rules, test.err }}
		if d.decide(); d.Refresh != test.want || d.NeedsMain != test.needsMain {
			t.Errorf("%+v: refresh %t, needs main %t", test, d.Refresh, d.NeedsMain)
		}
	}
}

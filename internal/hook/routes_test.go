package hook

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
	"github.com/docsearch/docsearch/internal/rules"
	"github.com/docsearch/docsearch/internal/rules/pattern"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

// rulesIn makes rules of patterns, without parsing them.
func rulesIn(t *testing.T, rules ...config.Rule) Routes {
	t.Helper()
	for i := range rules {
		rules[i].Origin = "/routes.json"
		for _, p := range []*config.Pattern{&rules[i].ToolPattern, &rules[i].Pattern, &rules[i].CommandPattern} {
			if p.Text == "" {
				continue
			}
			parsed, err := pattern.Parse(p.Text)
			if err != nil {
				t.Fatal(err)
			}
			*p = config.Pattern{Text: parsed.Text, Expr: parsed.Expr, Groups: parsed.Groups, Literals: parsed.Literals}
		}
	}
	return Routes{Rules: func(func(*config.Rule) bool) ([]config.Rule, error) { return rules, nil }, Commands: shell.Commands}
}

func rule(name, tool, text string, action config.Action) config.Rule {
	return config.Rule{Name: name, Tools: []string{tool}, Pattern: config.Pattern{Text: text}, Action: action, Message: "no " + name}
}

func bashEvent(line string) event.Event {
	return event.Event{Host: event.Claude, Name: event.PreToolUse, Session: "s", Tool: event.Bash, Command: event.Command{Line: line}}
}

func TestRoutes(t *testing.T) {
	kubectl := rule("kubectl", "Bash", `^\s*kubectl\b`, config.ActionDeny)
	reading := rule("reading", "Bash", `^kubectl get`, config.ActionPass)
	push := rule("push", "Bash", `git push`, config.ActionAsk)
	slow := rule("style", "Bash", `make`, config.ActionWarn)
	site := rule("site", "WebFetch", `example\.com`, config.ActionDeny)
	secret := rule("secret", "WebSearch", `nimbus`, config.ActionDeny)
	gitlab := rule("gitlab", "WebSearch", `gitlab`, config.ActionDeny)
	jira := config.Rule{Name: "jira", ToolPattern: config.Pattern{Text: "mcp__jira"}, Action: config.ActionDeny, Message: "no jira"}
	own := config.Rule{Name: "own", ToolPattern: config.Pattern{Text: "mcp__"}, Action: config.ActionDeny, Message: "no"}
	edit := rule("vendor", "Edit", `/vendor/`, config.ActionDeny)
	mcp := func(tool string) event.Event {
		return event.Event{Host: event.Claude, Name: event.PreToolUse, Tool: tool, Input: `{"a":1}`}
	}
	for _, test := range []struct {
		name    string
		event   event.Event
		rules   []config.Rule
		verdict Verdict
		reason  string
		context string
		rule    string
	}{
		{name: "deny", event: bashEvent("kubectl get"), rules: []config.Rule{push, kubectl}, verdict: Deny, reason: "no kubectl", rule: "kubectl"},
		{name: "ask", event: bashEvent("git push"), rules: []config.Rule{push, kubectl}, verdict: Ask, reason: "no push", rule: "push"},
		{name: "warn", event: bashEvent("make all"), rules: []config.Rule{slow}, context: "no style", rule: "style"},
		{name: "allowed", event: bashEvent("kubectl get pods"), rules: []config.Rule{reading, kubectl}},
		{name: "not allowed", event: bashEvent("kubectl delete pods"), rules: []config.Rule{reading, kubectl}, verdict: Deny, reason: "no kubectl", rule: "kubectl"},
		{name: "no match", event: bashEvent("ls"), rules: []config.Rule{slow, push, kubectl, site}},
		{name: "no rules", event: bashEvent("kubectl get")},
		{name: "long", event: bashEvent("kubectl " + strings.Repeat("x", 2*rules.MaxText)), rules: []config.Rule{kubectl}, verdict: Deny, reason: "no kubectl", rule: "kubectl"},
		{name: "message", event: bashEvent("ls"), rules: []config.Rule{{Name: "r", Tools: []string{"Bash"}, Action: config.ActionDeny, Message: "\x1b[1mm\x00\n"}}, verdict: Deny, reason: "[1mm", rule: "r"},
		{name: "no command", event: bashEvent(""), rules: []config.Rule{kubectl}},
		{name: "page", event: fetchEvent("https://example.com/x"), rules: []config.Rule{kubectl, site}, verdict: Deny, reason: "no site", rule: "site"},
		{name: "search", event: webSearchEvent("nimbus"), rules: []config.Rule{secret}, verdict: Deny, reason: "no secret", rule: "secret"},
		{name: "databases come first", event: webSearchEvent("gitlab artifacts"), rules: []config.Rule{gitlab}, verdict: Deny, reason: "Found in local documentation (GitLab)"},
		{name: "the rules decide if no database does", event: webSearchEvent("gitlab artifacts unknown"), rules: []config.Rule{gitlab}, verdict: Deny, reason: "no gitlab", rule: "gitlab"},
		{name: "server", event: mcp("mcp__jira__create"), rules: []config.Rule{jira}, verdict: Deny, reason: "no jira", rule: "jira"},
		{name: "no rule applies to docsearch's tools", event: mcp("mcp__docsearch__search"), rules: []config.Rule{own}, verdict: Allow, reason: "docsearch only reads"},
		{name: "file", event: event.Event{Name: event.PreToolUse, Tool: "Edit", File: event.File{Path: "/p/vendor/x.go"}}, rules: []config.Rule{edit}, verdict: Deny, reason: "no vendor", rule: "vendor"},
		{name: "after the call", event: event.Event{Name: event.PostToolUse, Tool: event.Bash, Command: event.Command{Line: "kubectl"}}, rules: []config.Rule{kubectl}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig("", "")
			x := fakeSearcher{"gitlab": func(query string) (Answer, error) {
				if strings.Contains(query, "unknown") {
					return unsure, nil
				}
				return sure, nil
			}, "kubernetes": always(unsure)}
			d := Decide(test.event, c, c.Server(noEnv), State{}, at(0), x, rulesIn(t, test.rules...))
			name := ""
			if d.Rule != nil {
				name = d.Rule.Name
			}
			if d.Verdict != test.verdict || !strings.HasPrefix(d.Reason, test.reason) || name != test.rule {
				t.Errorf("verdict %q, reason %q, rule %q; want %q, %q, %q", d.Verdict, d.Reason, name, test.verdict, test.reason, test.rule)
			}
			if test.rule != "" && d.Context != test.context {
				t.Errorf("context %q, want %q", d.Context, test.context)
			}
			if len(d.Faults) > 0 {
				t.Errorf("faults %q", d.Faults)
			}
		})
	}
}

func TestRoutesDebug(t *testing.T) {
	c := testConfig("", "")
	r := config.Rule{Name: "pr", Pattern: config.Pattern{Text: `/pull/(\d+)`}, Action: config.ActionDeny, Message: "gh pr view $1\n"}
	routes := rulesIn(t, r)
	routes.Debug = true
	d := Decide(fetchEvent("https://github.com/cli/cli/pull/42"), c, c.Server(noEnv), State{}, at(0), fakeSearcher{}, routes)
	want := "Tool Routing: pr (/routes.json)\nMatched URL: https://github.com/cli/cli/pull/42\nPattern: /pull/(\\d+)\n\ngh pr view 42"
	if diff := cmp.Diff(want, d.Reason); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRoutesFaults(t *testing.T) {
	parsed := rule("parsed", "Bash", `kubectl`, config.ActionDeny)
	parsed.Parsed = true
	broken := func(err error) Routes {
		return Routes{Rules: func(func(*config.Rule) bool) ([]config.Rule, error) { return nil, err }}
	}
	noParser := rulesIn(t, parsed)
	noParser.Commands = nil
	for _, test := range []struct {
		name   string
		routes Routes
		line   string
		later  bool
		fault  string
	}{
		{"rules cannot be read", broken(errors.New("disk on fire")), "ls", false, "cannot read the rules: disk on fire; the call runs as usual"},
		{"rules are read later", broken(fmt.Errorf("x: %w", ErrNeedsMain)), "ls", true, ""},
		{"the parser is needed", noParser, "kubectl get", true, ""},
		{"the parser is not needed", noParser, "ls", false, ""},
		{"no shell", rulesIn(t, parsed), "kubectl (", false, "rule parsed skipped: cannot parse the command"},
		{"cut", rulesIn(t, parsed), "kubectl '" + strings.Repeat("ü", rules.MaxText) + "'", false, "rule parsed skipped: cannot parse the command"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig("", "")
			d := Decide(bashEvent(test.line), c, c.Server(noEnv), State{}, at(0), fakeSearcher{}, test.routes)
			fault := strings.Join(d.Faults, "\n")
			if d.Verdict != Pass || d.NeedsMain != test.later || !strings.HasPrefix(fault, test.fault) || (fault == "") != (test.fault == "") {
				t.Errorf("verdict %q, later %t, faults %q", d.Verdict, d.NeedsMain, fault)
			}
		})
	}
}

func TestRouteToDatabase(t *testing.T) {
	explain := config.Rule{Name: "explain", CommandPattern: config.Pattern{Text: `^kubectl explain`}, Action: config.ActionDeny, Database: "kubernetes"}
	worded := explain
	worded.Message = "See the documentation."
	warning := explain
	warning.Action = config.ActionWarn
	unknown := explain
	unknown.Database = "nowhere"
	var query string
	answers := fakeSearcher{"kubernetes": func(q string) (Answer, error) {
		query = q
		return Answer{Passages: sure.Passages, Confident: true}, nil
	}}
	const line = "kubectl explain ingress.spec --recursive=true"
	for _, test := range []struct {
		name    string
		rule    config.Rule
		indexes fakeSearcher
		verdict Verdict
		reason  []string
		context string
		fault   string
	}{
		{name: "answer", rule: explain, indexes: answers, verdict: Deny, context: "Artifacts expire", reason: []string{
			"Local documentation answers this call.\n", `mcp__docsearch__search {"query": "kubectl explain ingress.spec --recursive true"`,
			"sending the same Bash again, unchanged, runs it.", "> Artifacts expire"}},
		{name: "answer and message", rule: worded, indexes: answers, verdict: Deny, context: "Artifacts expire", reason: []string{"See the documentation.\n", "Best match ("}},
		{name: "no answer", rule: explain, indexes: fakeSearcher{"kubernetes": always(unsure)}},
		{name: "no answer, but a message", rule: worded, indexes: fakeSearcher{"kubernetes": always(unsure)}, verdict: Deny, reason: []string{"See the documentation."}},
		{name: "advice", rule: warning, indexes: answers, context: "Kubernetes documentation is on this machine, too"},
		{name: "damaged", rule: explain, indexes: fakeSearcher{"kubernetes": nil}, fault: "database kubernetes skipped"},
		{name: "no such database", rule: unknown, indexes: answers, fault: `rule explain skipped: database "nowhere" not found`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig("", "")
			d := Decide(bashEvent(line), c, c.Server(noEnv), State{}, at(0), test.indexes, rulesIn(t, test.rule))
			if d.Verdict != test.verdict || !strings.Contains(d.Context, test.context) || (test.context == "") != (d.Context == "") {
				t.Errorf("verdict %q, context %q", d.Verdict, d.Context)
			}
			for _, want := range test.reason {
				if !strings.Contains(d.Reason, want) {
					t.Errorf("reason lacks %q: %s", want, d.Reason)
				}
			}
			if fault := strings.Join(d.Faults, "\n"); !strings.HasPrefix(fault, test.fault) || (fault == "") != (test.fault == "") {
				t.Errorf("faults %q", fault)
			}
		})
	}
	if query != "kubectl explain ingress.spec --recursive true" {
		t.Errorf("query %q", query)
	}
	// An answered call runs when it is sent again.
	c := testConfig("", "")
	routes := rulesIn(t, explain)
	first := Decide(bashEvent(line), c, c.Server(noEnv), State{}, at(0), answers, routes)
	state, _ := State{}.apply(first.Change, at(0))
	if d := Decide(bashEvent(line), c, c.Server(noEnv), state, at(60), answers, routes); d.Verdict != Pass || !d.Change.Permit {
		t.Errorf("sent again: verdict %q, change %+v", d.Verdict, d.Change)
	}
	if d := Decide(bashEvent(line+" x"), c, c.Server(noEnv), state, at(60), answers, routes); d.Verdict != Deny {
		t.Errorf("another command: verdict %q", d.Verdict)
	}
}

func TestRouteQuery(t *testing.T) {
	for _, test := range []struct {
		event event.Event
		want  string
	}{
		{event.Event{Tool: event.WebFetch, Fetch: event.Fetch{URL: "https://docs.gitlab.com/ee/ci/yaml/index.html?x=1#cache-key"}}, "ee ci yaml cache-key"},
		{event.Event{Tool: event.WebFetch, Fetch: event.Fetch{URL: "https://docs.gitlab.com/ci_cd.html", Prompt: "how do caches expire?"}}, "ci cd how do caches expire?"},
		{webSearchEvent("a/b  c"), "a/b  c"},
		{bashEvent("man -k 'git log' | head"), "man -k git log head"},
	} {
		if got := routeQuery(test.event); got != test.want {
			t.Errorf("%+v: %q, want %q", test.event, got, test.want)
		}
	}
}

// After the limit of denials in a session, a rule only warns.
func TestLimit(t *testing.T) {
	store := Store{t.TempDir()}
	r := rule("kubectl", "Bash", "kubectl", config.ActionDeny)
	r.Limit = 2
	var got []string
	for i, session := range []string{"a", "a", "b", "a", "b", "b", "a"} {
		p := &Process{Now: func() time.Time { return at(int64(i) * 3600) }}
		d := Decision{Verdict: Deny, Reason: "no", Rule: &r}
		p.applyLimit(&d, event.Event{Session: session}, store)
		got = append(got, fmt.Sprintf("%s:%s%s%s", session, d.Verdict, d.Reason, d.Context))
		if len(d.Faults) > 0 {
			t.Errorf("faults %q", d.Faults)
		}
	}
	want := []string{"a:denyno", "a:denyno", "b:denyno", "a:no", "b:denyno", "b:no", "a:no"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	other := r
	other.Name = "other"
	d := Decision{Verdict: Deny, Reason: "no", Rule: &other}
	p := &Process{Now: func() time.Time { return at(0) }}
	if p.applyLimit(&d, event.Event{Session: "a"}, store); d.Verdict != Deny {
		t.Error("another rule's denials were counted")
	}
	d = Decision{Verdict: Deny, Reason: "no", Rule: &r}
	if p.applyLimit(&d, event.Event{Session: "a"}, Store{}); d.Verdict != Pass || d.Context != "no" || len(d.Faults) != 1 {
		t.Errorf("without a place for the count: %+v", d)
	}
}

// Two copies of the hook count a denial once.
func TestLimitOfDuplicateHooks(t *testing.T) {
	store := Store{t.TempDir()}
	for i, want := range []int{1, 1, 2, 2, 1} {
		use := []string{"toolu_1", "toolu_1", "toolu_2", "toolu_2", "toolu_1"}[i]
		if n, err := store.countDenial("s", "r", use, at(0)); err != nil || n != want {
			t.Errorf("call %d: denial %d, %v; want %d", i, n, err, want)
		}
	}
	if n, err := store.countDenial("s", "q", "toolu_1", at(0)); err != nil || n != 1 {
		t.Errorf("another rule: denial %d, %v", n, err)
	}
}

func TestRoutedFiles(t *testing.T) {
	store := Store{t.TempDir()}
	for _, session := range []string{"a/b", "a_b", "a?b", strings.Repeat("x", 300), strings.Repeat("x", 299) + "y"} {
		for want := 1; want <= 2; want++ {
			if n, err := store.countDenial(session, "r\n", "", at(0)); err != nil || n != want {
				t.Errorf("%.10s: denial %d, %v; want %d", session, n, err, want)
			}
		}
	}
	entries, err := os.ReadDir(store.Dir)
	if err != nil {
		t.Fatal(err)
	}
	old := at(0)
	for _, e := range entries {
		if err := os.Chtimes(config.Join(store.Dir, e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.countDenial("new", "r", "", old.Add(denialsRetention+time.Hour)); err != nil {
		t.Fatal(err)
	}
	if entries, err = os.ReadDir(store.Dir); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), denialsPrefix) {
			left = append(left, e.Name())
		}
	}
	if want := []string{"docsearch-routed-new.txt"}; !slices.Equal(left, want) {
		t.Errorf("files %q, want %q", left, want)
	}
}

// A Run that needs main is completed by another Run, without reading the event again.
func TestRunNeedsMain(t *testing.T) {
	c := config.Default()
	event := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"kubectl get"}}`
	var stdout, stderr bytes.Buffer
	p := &Process{Stdin: strings.NewReader(event), Stdout: &stdout, Stderr: &stderr, Getenv: noEnv, Now: time.Now}
	p.Rules = func(string, func(*config.Rule) bool) ([]config.Rule, []string, error) { return nil, nil, ErrNeedsMain }
	if code := p.Run(&c, config.Locations{}, nil, fakeSearcher{}); code != host.ExitPass || !p.NeedsMain || stdout.Len()+stderr.Len() > 0 {
		t.Fatalf("code %d, left %t, %s%s", code, p.NeedsMain, stdout.String(), stderr.String())
	}
	rules, err := rulesIn(t, rule("kubectl", "Bash", "kubectl", config.ActionDeny)).Rules(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Rules = func(string, func(*config.Rule) bool) ([]config.Rule, []string, error) {
		return rules, []string{"a problem"}, nil
	}
	if code := p.Run(&c, config.Locations{}, nil, fakeSearcher{}); code != host.ExitDeny || p.NeedsMain || stderr.String() != "no kubectl\ndocsearch: a problem\n" {
		t.Errorf("code %d, left %t, stdout %s, stderr %s", code, p.NeedsMain, stdout.String(), stderr.String())
	}
}

package hook

import (
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/index/passage"
)

func fetchEvent(url string) event.Event {
	return event.Event{Host: event.Claude, Name: event.PreToolUse, Session: "s", Tool: event.WebFetch, Fetch: event.Fetch{URL: url, Prompt: "how long artifacts live"}}
}

func TestDecideFetch(t *testing.T) {
	const page = "https://docs.gitlab.com/ci/jobs/job_artifacts/"
	held := fakeSearcher{"gitlab": func(url string) (Answer, error) {
		if url != page {
			return Answer{}, nil
		}
		return sure, nil
	}}
	whole := sure
	whole.Whole = true
	readme := whole
	readme.AdviceOnly = passage.Readme
	for _, test := range []struct {
		name    string
		url     string
		mode    config.Mode
		tool    string
		indexes fakeSearcher
		verdict Verdict
		reason  []string
		context string
		fault   string
	}{
		{name: "held", url: page, indexes: held, verdict: Deny,
			reason: []string{
				"Read from local documentation (GitLab); the page was not fetched.\n",
				"To read the whole page, this call is available:\nmcp__docsearch__read {\"url\": \"https://docs.gitlab.com/ci/jobs/job_artifacts\", \"database\": \"gitlab\"}\n",
				`{"query": "select:mcp__docsearch__read"}`,
				"If the passages do not answer the question, sending the same WebFetch again, unchanged, runs it on the web.",
				"Best match (Job artifacts > Expiry):\n> Artifacts expire after 30 days",
			}, context: `These sections of the page from GitLab (database "gitlab") match the prompt, best first. The read call returns the whole page.`},
		{name: "all of it", url: page, indexes: fakeSearcher{"gitlab": always(whole)}, verdict: Deny,
			reason: []string{"Read from local documentation ("}, context: `This is the whole page from GitLab (database "gitlab"). The read call returns the same text.`},
		{name: "not held", url: page + "none", indexes: held},
		{name: "another site", url: "https://example.org/ci", indexes: held},
		{name: "no URL", url: "", indexes: held},
		{name: "off", url: page, mode: config.ModeOff, indexes: held},
		{name: "redirect", url: page, mode: config.ModeRedirect, indexes: held, verdict: Deny,
			reason: []string{"Local documentation is available (GitLab); the page was not fetched.\n", "mcp__docsearch__read"}},
		{name: "redirect, not held", url: page + "none", mode: config.ModeRedirect, indexes: held},
		{name: "advise", url: page, mode: config.ModeAdvise, indexes: held,
			context: "GitLab documentation is on this machine, too: mcp__docsearch__read {\"url\": "},
		{name: "advice only", url: page, indexes: fakeSearcher{"gitlab": always(readme)},
			context: "GitLab documentation is on this machine, too: mcp__docsearch__read {\"url\": "},
		{name: "another tool", url: page, tool: foreignTool, indexes: held, verdict: Deny,
			reason: []string{foreignTool + ` {"index_name": "gitlab", "query": "how long artifacts live"}`}},
		{name: "a tool whose arguments are unknown", url: page, tool: "mcp__other__find", indexes: held, verdict: Deny,
			reason: []string{"\nmcp__other__find\n"}},
		{name: "another tool, no index", url: page, tool: foreignTool},
		{name: "no index", url: page, fault: "no docsearch index"},
		{name: "damaged", url: page, indexes: fakeSearcher{"gitlab": nil}, fault: "corrupt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig(test.mode, test.tool)
			c.Databases[0].URLs = []string{"https://docs.gitlab.com/"}
			d := Decide(fetchEvent(test.url), c, c.Server(noEnv), State{}, at(0), test.indexes, Routes{})
			if d.Verdict != test.verdict || d.Change.Deny != (d.Verdict == Deny) {
				t.Fatalf("verdict %q, want %q; change %+v, trace %q", d.Verdict, test.verdict, d.Change, d.Trace)
			}
			for _, want := range test.reason {
				if !strings.Contains(d.Reason, want) {
					t.Errorf("reason %q, want %q in it", d.Reason, want)
				}
			}
			if !strings.Contains(d.Context, test.context) || test.context == "" && d.Verdict == Pass && d.Context != "" {
				t.Errorf("context %q, want %q in it", d.Context, test.context)
			}
			if quotes := strings.Contains(d.Context, "Source: "); quotes != (test.verdict == Deny && test.mode == "") {
				t.Errorf("quotes a passage: %t; context %q", quotes, d.Context)
			}
			if faults := strings.Join(d.Faults, "\n"); test.fault == "" && faults != "" || !strings.Contains(faults, test.fault) {
				t.Errorf("faults %q, want %q", faults, test.fault)
			}
		})
	}
}

// A page of a file database is read by its path.
func TestFetchOfFile(t *testing.T) {
	c := testConfig("", "")
	c.Databases[0].URLs = []string{"docs.gitlab.com"}
	x := fakeSearcher{"gitlab": always(Answer{Passages: []passage.Passage{ingress}, Confidence: 1, Confident: true})}
	d := Decide(fetchEvent("https://docs.gitlab.com/ingress"), c, c.Server(noEnv), State{}, at(0), x, Routes{})
	if want := `mcp__docsearch__read {"path": "docs/ingress.md", "database": "gitlab"}`; !strings.Contains(d.Reason, want) {
		t.Errorf("reason %q, want %q in it", d.Reason, want)
	}
}

func TestStoreKeepsFetch(t *testing.T) {
	s := Store{t.TempDir()}
	fetch := Call{Fetch: event.Fetch{URL: "https://docs.gitlab.com/ci?a=\"b\"", Prompt: "what is a runner"}}
	update(t, s, "s", Change{Attempt: Attempt{Call: fetch}, Deny: true}, at(0))
	state, err := s.Read("s", at(0))
	if err != nil {
		t.Fatal(err)
	}
	if !state.retry(fetch, at(0)) {
		t.Errorf("the denial is forgotten: %+v", state)
	}
	if state.retry(Call{Fetch: event.Fetch{URL: fetch.URL}}, at(0)) {
		t.Error("a fetch without the prompt is taken for the one that was denied")
	}
}

// The same fetch runs when it is sent again, once. A different prompt makes it a different
// fetch.
func TestFetchEscapeHatch(t *testing.T) {
	c := testConfig("", "")
	c.Databases[0].URLs = []string{"docs.gitlab.com"}
	x := fakeSearcher{"gitlab": always(sure)}
	e := fetchEvent("https://docs.gitlab.com/ci")
	var s State
	ask := func(e event.Event, after time.Duration) Verdict {
		d := Decide(e, c, c.Server(noEnv), s, at(0).Add(after), x, Routes{})
		s, _ = s.apply(d.Change, at(0).Add(after))
		return d.Verdict
	}
	other := e
	other.Fetch.Prompt = "what is a runner"
	search := webSearchEvent("gitlab https://docs.gitlab.com/ci")
	for i, step := range []struct {
		event event.Event
		after time.Duration
		want  Verdict
	}{
		{e, 0, Deny}, {other, time.Second, Deny}, {search, time.Second, Deny}, {e, 2 * time.Second, Pass}, {e, 3 * time.Second, Deny},
		{search, 4 * time.Second, Pass}, {other, 10 * time.Minute, Deny},
	} {
		if got := ask(step.event, step.after); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}

package hook

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/index/passage"
)

var updateAnswers = flag.Bool("update", false, "write the answers in testdata/hosts")

// TestHosts sends the events of each host in testdata/hosts to the hook, as one session,
// and compares the answers. The hook must give the same answers when the command line names
// the host and when only its events and its environment show it.
func TestHosts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "hosts", "*.txtar"))
	if err != nil || len(files) <= len(event.Hosts()) {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, file := range files {
		base := strings.TrimSuffix(filepath.Base(file), ".txtar")
		name, _, _ := strings.Cut(base, "-")
		h, ok := event.HostNamed(name)
		if !ok {
			t.Fatalf("%s is not named after a host", file)
		}
		t.Run(base, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: archive.Comment}
			named, detected := newHostSession(t, h), newHostSession(t, "")
			if h == event.Devin {
				detected.environ = map[string]string{"DEVIN_PROJECT_DIR": "/p"}
			}
			for _, f := range archive.Files {
				if strings.HasSuffix(f.Name, answerSuffix) {
					continue
				}
				answer := named.answer(t, f.Data)
				got.Files = append(got.Files, f, txtar.File{Name: f.Name + answerSuffix, Data: []byte(answer)})
				if h == event.OpenCode || base == "cline" { // the plugin's events look like Claude Code's
					continue
				}
				if diff := cmp.Diff(answer, detected.answer(t, f.Data)); diff != "" {
					t.Errorf("%s, without the host's name (-with +without):\n%s", f.Name, diff)
				}
			}
			if *updateAnswers {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("-want +got, \"go test -run TestHosts -update\" accepts:\n%s", diff)
			}
		})
	}
}

const answerSuffix = ": answer"

// A hostSession answers events one after the other.
type hostSession struct {
	host   event.Host
	config *config.Config
	state  string
	now    time.Time

	environ map[string]string
}

func newHostSession(t *testing.T, h event.Host) *hostSession {
	c := notesConfig()
	c.Databases[0].URLs = []string{"https://docs.gitlab.com/"}
	c.Inject.SkipAgents = nil
	return &hostSession{host: h, config: c, state: t.TempDir(), now: at(0)}
}

// answer returns the output of the hook for an event that comes ten seconds after the one
// before.
func (s *hostSession) answer(t *testing.T, data []byte) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := Process{
		Stdin: bytes.NewReader(data), Stdout: &stdout, Stderr: &stderr, Host: s.host,
		Getenv: func(name string) string { return s.environ[name] },
		Now:    func() time.Time { return s.now },
		Start:  func(...string) error { return errors.New("nothing to start") },
		Rules:  func(string, func(*config.Rule) bool) ([]config.Rule, []string, error) { return hostRules(), nil, nil },
	}
	s.now = s.now.Add(10 * time.Second)
	answers := fakeSearcher{
		"gitlab": always(sure), "kubernetes": always(Answer{Passages: []passage.Passage{ingress}, Confidence: .9, Confident: true}),
		"team": always(Answer{Passages: []passage.Passage{note("go-errors.md", "Errors", "Wrap errors with %w.", passage.NoteMeta{})}, Confidence: .1}),
	}
	code := p.Run(s.config, config.Locations{State: s.state}, nil, answers)
	answer := fmt.Sprintf("exit code %d\n%s", code, stdout.String())
	if stderr.Len() > 0 {
		answer += "stderr: " + stderr.String()
	}
	return answer
}

// hostRules returns a rule that denies, one that asks, and one that a database answers.
func hostRules() []config.Rule {
	pattern := func(s string) config.Pattern { return config.Pattern{Text: s, Expr: s} }
	return []config.Rule{
		{Name: "pods", Tools: []string{"Bash"}, CommandPattern: pattern(`^\s*kubectl\s+`), Message: "Use the cluster's web page."},
		{Name: "push", Tools: []string{"Bash"}, CommandPattern: pattern(`^git push --force`), Message: "Force pushes need a confirmation.", Action: config.ActionAsk},
		{Name: "curl", Tools: []string{"Bash"}, CommandPattern: pattern(`^curl `), Database: "gitlab"},
	}
}

// With "retry": "evidence", a call of docsearch's tool under the host's name for it opens
// the escape hatch.
func TestEvidenceByHost(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "hosts", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events := map[string][]byte{}
		for _, f := range archive.Files {
			events[f.Name] = f.Data
		}
		call := string(events["search"])
		if call == "" {
			call = string(events["fetch"])
		}
		if call == "" {
			continue // the host has no web calls
		}
		tested++
		base := strings.TrimSuffix(filepath.Base(file), ".txtar")
		name, _, _ := strings.Cut(base, "-")
		s := newHostSession(t, event.Host(name))
		s.config.Hook.Retry = config.RetryEvidence
		for i, step := range []struct {
			event  string
			denied bool
		}{{call, true}, {call, true}, {string(events["own tool"]), false}, {call, false}} {
			// Copies of the hook share the ID of a tool use, retries do not.
			data := step.event
			for _, id := range []string{`"tool_use_id": "`, `"tool_call": {"id": "`} {
				data = strings.Replace(data, id, id+strconv.Itoa(i), 1)
			}
			answer := s.answer(t, []byte(data))
			if denied := strings.Contains(answer, "was not "); denied != step.denied {
				t.Errorf("%s, step %d: denied: %t, want %t:\n%s", base, i+1, denied, step.denied, answer)
			}
		}
	}
	if tested < len(event.Hosts())-2 {
		t.Errorf("%d files have web calls", tested)
	}
}

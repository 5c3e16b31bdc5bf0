package hostile

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// controls are characters that a terminal or a model obeys, and a person does not see.
const controls = "\x1b[2J\x1b]0;owned\a\x7f\u009b31m\u202e\u2066"

// requireNoControls fails the test if an output contains a control character. The output
// of a command with --json must be JSON.
func (s *sandbox) requireNoControls(r result, args ...string) {
	s.Helper()
	for _, output := range []string{r.stdout, r.stderr} {
		for _, c := range output {
			if unicode.IsControl(c) && c != '\n' && c != '\t' || unicode.Is(unicode.Cf, c) {
				s.Errorf("docsearch %s prints %U: %.1500q", strings.Join(args, " "), c, output)
				break
			}
		}
	}
	if len(args) == 0 || args[len(args)-1] != "--json" || r.code != 0 {
		return
	}
	d := json.NewDecoder(strings.NewReader(r.stdout))
	for d.More() {
		var v any
		if err := d.Decode(&v); err != nil {
			s.Errorf("docsearch %s prints no JSON: %v\n%.1500s", strings.Join(args, " "), err, r.stdout)
			return
		}
	}
}

// TestControlCharacters walks the commands that print texts of others: of rules, config
// files, manifests, documents, and team servers.
func TestControlCharacters(t *testing.T) {
	s := newSandbox(t)
	team := hostileTeam(t)
	docs := filepath.Join(s.work, "docs")
	s.write(filepath.Join(docs, "quiet.md"), "# The tool "+controls+"\n\n## How do I make the tool quiet? "+controls+"\n\nThe option `--quiet` keeps the tool"+controls+" from printing.\n")
	data := filepath.Join(s.home, "data")
	run := func(args ...string) result {
		t.Helper()
		r := s.docsearch(args...)
		if r.late {
			t.Errorf("docsearch %s did not end", strings.Join(args, " "))
		}
		s.requireNoControls(r, args...)
		return r
	}
	run("index", "build", docs, "--out", data, "--name", "tool")
	s.configure(map[string]any{"databases": []any{map[string]any{
		"name": "tool" + controls, "keywords": []string{"tool", "k" + controls}, "path": data, "description": "manual" + controls, "version": "1" + controls,
	}}, "servers": []any{map[string]any{"url": team, "timeout_ms": 5000}}, "unknown" + controls: 1})
	rule, err := json.Marshal(map[string]any{"rules": []any{
		map[string]any{"name": "rule" + controls, "tools": []string{"Bash"}, "pattern": "^kubectl", "action": "deny", "message": "no" + controls, "tests": []any{map[string]any{"command": "ls" + controls, "action": "deny"}}},
		map[string]any{"name": "broken" + controls, "pattern": "(" + controls},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.work, ".docsearch", "routes.json"), string(rule))
	s.mkdir(filepath.Join(s.work, ".git"))

	shown := 0
	for _, args := range [][]string{
		{"config", "check"}, {"config", "show"}, {"config", "show", "--json"},
		{"route", "list"}, {"route", "list", "--json"}, {"route", "test"}, {"route", "check", "Bash", "kubectl get pods"},
		{"list"}, {"list", "--json"}, {"index", "info", data}, {"index", "info", data, "--json"}, {"index", "verify", data},
		{"index", "info", "tool" + controls}, {"index", "build", filepath.Join(s.work, "missing"+controls)}, {"update", "tool" + controls},
		{"search", "tool", "quiet"}, {"search", "tool", "quiet", "--json"}, {"search", "--explain", "tool", "quiet"}, {"search", "moon", "phases"}, {"search", "moon", "phases", "--json"},
		{"why", "how do I make the tool quiet"}, {"why", "how do I make the tool quiet", "--json"}, {"stats"}, {"doctor"}, {"doctor", "--json"},
		{"inject", "tool"}, {"recipes", "show", "x" + controls}, {"pack", "add", filepath.Join(s.work, "p"+controls+".pack")}, {"update", "--mirrors"}, {"x" + controls},
	} {
		r := run(args...)
		if strings.Contains(r.stdout+r.stderr, "owned") {
			shown++
		}
	}
	if shown < 10 {
		t.Errorf("%d commands show the texts", shown)
	}
	for _, event := range []string{
		searchEvent{session: "s", query: "how do I make the tool quiet"}.String(),
		`{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "kubectl get pods"}, "cwd": "` + filepath.ToSlash(s.work) + `"}`,
	} {
		s.requireNoControls(s.hook(event), "hook")
	}

	// What a server reports is quoted.
	text := s.serve().call(t, "search", map[string]any{"query": "moon phases", "database": "moon"})
	s.requireNoControls(result{stdout: text}, "serve")
	for _, line := range outsideFences(text) {
		if i := strings.Index(line, "SYSTEM"); i >= 0 && !strings.Contains(line[:i], `the server reports "`) {
			t.Errorf("a note of a server is outside of quotes: %q", line)
		}
	}
	if !strings.Contains(text, "SYSTEM") {
		t.Errorf("no note of the server: %s", text)
	}
}

// hostileTeam starts a team server with texts that control terminals and models.
func hostileTeam(t *testing.T) (url string) {
	t.Helper()
	passage := map[string]any{"id": "1" + controls, "text": "Phases of the moon." + controls, "metadata": map[string]any{"title": "Moon" + controls, "url": "https://moon.example/" + controls}}
	answers := map[string]any{
		"/v1/databases": map[string]any{"databases": []any{
			map[string]any{"name": "moon", "description": "Moon" + controls, "keywords": []string{"moon", "k" + controls}, "version": "1" + controls},
		}, "version": "2" + controls},
		"/v1/search": map[string]any{"databases": map[string]any{"moon": map[string]any{
			"confidence": 0.9, "confident": true, "notes": []string{injectedOrder + controls + "\n" + injectedOrder}, "hits": []any{map[string]any{"score": 3, "passage": passage}},
		}}},
		"/v1/answer": map[string]any{"databases": map[string]any{"moon": map[string]any{"error": injectedOrder + controls}}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			http.Error(w, "no"+controls, http.StatusTeapot)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

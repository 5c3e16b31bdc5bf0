package edit

import (
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/usererror"
)

func TestSetKey(t *testing.T) {
	const file = `# mine
databases:
  - keywords: [widget, crank] # two
    path: /w
    description: Widgets
    mode: "off"
  - name: web.dev
    keywords: [web]
    path: /x
    description: Web
hook:
  log: true # keep
`
	for _, test := range []struct{ key, value, before, after string }{
		{"widget.mode", "Advise", `mode: "off"`, `mode: "Advise"`},
		{"WIDGET.Mode", "default", "    mode: \"off\"\n", ""},
		{"widget.keywords", " widget , gear ", `[widget, crank]`, `[widget, "gear"]`},
		{"widget.description", "The widget, and more", "description: Widgets", `description: "The widget, and more"`},
		{"web.dev.mode", "off", "description: Web\n", "description: Web\n    mode: \"off\"\n"},
		{"web.dev.version", "default", "", ""},
		{"hook.log", "no", "log: true", "log: false"},
		{"Hook.LOG_queries", "off", "# keep\n", "# keep\n  log_queries: false\n"},
		{"hook.log", "default", "  log: true # keep\n", ""},
		{"hook.adapt", "default", "", ""},
		{"hook.timeout_ms", "500", "# keep\n", "# keep\n  timeout_ms: 500\n"},
	} {
		got, err := SetKey("c.yaml", []byte(file), test.key, test.value)
		if want := strings.Replace(file, test.before, test.after, 1); err != nil || string(got) != want {
			t.Errorf("%s %s: got %v\n%s\nwant\n%s", test.key, test.value, err, got, want)
		}
	}

	for _, test := range []struct{ key, value, problem, hint string }{
		{"widget.mode", "maybe", `invalid widget.mode "maybe": want "answer", "redirect", "advise" or "off"`, ""},
		{"widget.keywords", ",", `invalid widget.keywords ",": want one or more words`, ""},
		{"widget.keywords", "default", `invalid widget.keywords "default": want one or more words`, ""},
		{"hook.log", "maybe", `invalid hook.log "maybe": want true or false`, ""},
		{"search.top_k", "101", `invalid search.top_k "101": want a whole number from 1 to 100`, ""},
		{"log_queries", "false", `unknown key "log_queries"`, "did you mean hook.log_queries?"},
		{"mode", "off", `unknown key "mode"`, "did you mean widget.mode?"},
		{"widgets.mode", "off", `unknown key "widgets.mode"`, "did you mean widget.mode?"},
		{"widget.path", "/y", `unknown key "widget.path"`, "run docsearch config show to list the databases and the keys"},
		{".mode", "off", `unknown key ".mode"`, "run docsearch config show to list the databases and the keys"},
	} {
		got, err := SetKey("c.yaml", []byte(file), test.key, test.value)
		if err == nil || err.Error() != test.problem || got != nil {
			t.Errorf("%s %s: got %v, want %s", test.key, test.value, err, test.problem)
		}
		if hint, _ := usererror.Hint(err); hint != test.hint {
			t.Errorf("%s %s: got the hint %q, want %q", test.key, test.value, hint, test.hint)
		}
	}
}

// Each key can be set, or its name would be wrong in the list.
func TestKeys(t *testing.T) {
	const file = `{"databases": [{"keywords": ["a"], "path": "/d", "description": "d"}]}`
	keys := Keys([]config.Database{{Name: "a"}})
	for _, key := range keys {
		if _, err := SetKey("c.json", []byte(file), key, "\x00"); err != nil && strings.Contains(err.Error(), "unknown") {
			t.Error(err)
		}
	}
	if !slices.Contains(keys, "a.mode") || !slices.Contains(keys, "update.on_session_start") {
		t.Error(keys)
	}
}

package edit

import (
	"testing"

	"github.com/docsearch/docsearch/internal/config"
)

func TestSetMode(t *testing.T) {
	entry := func(fields string) string {
		return `{"databases": [{"keywords": ["a"], "path": "/d", "description": "d"` + fields + `}]}`
	}
	for _, test := range []struct {
		before, name string
		mode         config.Mode
		want         string // empty: an error
	}{
		{entry(""), "A", config.ModeOff, entry(`, "mode": "off"`)},
		{entry(`, "Mode": "off"`), "a", config.ModeAdvise, entry(`, "Mode": "advise"`)},
		{entry(`, "mode": "off"`), "a", "", entry("")},
		{entry(""), "a", "", entry("")},
		{entry(""), "b", config.ModeOff, ""},
	} {
		got, err := SetMode("c.json", []byte(test.before), test.name, test.mode)
		if string(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q in %s: got %s, want %s, %v", test.mode, test.before, got, test.want, err)
		}
	}
}

func TestSetKeywords(t *testing.T) {
	entry := func(keywords, name string) string {
		return `{"databases": [{"keywords": ` + keywords + `, "path": "/d", "description": "d"` + name + `}]}`
	}
	const named = `, "name": "a"`
	for _, test := range []struct {
		before   string
		keywords []string
		want     string
	}{
		{entry(`["a", "b"]`, named), []string{"b", "c"}, entry(`["b", "c"]`, named)},
		{entry(`["a", "b"]`, named), []string{"x"}, entry(`["x"]`, named)},
		{entry(`["a", "B"]`, named), []string{"b", "A"}, entry(`["a", "B"]`, named)},
		{entry(`"a"`, ""), []string{"a", "b"}, entry(`["a", "b"]`, "")},
		{entry(`["a"]`, ""), []string{"b"}, entry(`["b"]`, named)}, // the first keyword was its name
	} {
		got, err := SetKeywords("c.json", []byte(test.before), "a", test.keywords)
		if err != nil || string(got) != test.want {
			t.Errorf("%q in %s: got %s, want %s, %v", test.keywords, test.before, got, test.want, err)
		}
	}
	yaml := "databases:\n  - keywords:\n      - a # mine\n      - b\n    path: /d\n    description: d\n    name: a\n"
	want := "databases:\n  - keywords:\n      - a # mine\n      - \"c\"\n    path: /d\n    description: d\n    name: a\n"
	if got, err := SetKeywords("c.yaml", []byte(yaml), "a", []string{"a", "c"}); err != nil || string(got) != want {
		t.Errorf("got %s, want %s, %v", got, want, err)
	}
}

func TestSet(t *testing.T) {
	for _, test := range []struct{ path, before, want string }{
		{"c.json", "", "{\n  \"hook\": {\n    \"log_queries\": false\n  }\n}\n"},
		{"c.json", `{"Hook": {"LOG_queries": true, "x": 1}}`, `{"Hook": {"LOG_queries": false, "x": 1}}`},
		{"c.yaml", "# mine\nhook:\n  log: true\n", "# mine\nhook:\n  log: true\n  log_queries: false\n"},
		{"c.toml", "[hook]\nlog = true\n", "[hook]\nlog = true\nlog_queries = false\n"},
		{"c.json", `{"hook": 1}`, ""},
	} {
		got, err := Set(test.path, []byte(test.before), "hook", "log_queries", false)
		if string(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: got %q, want %q, %v", test.before, got, test.want, err)
		}
	}
}

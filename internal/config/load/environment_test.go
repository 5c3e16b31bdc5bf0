package load

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
)

func TestEnvironment(t *testing.T) {
	l := locations(t, "c.json", `{"hook": {"retry": "identical", "timeout_ms": 700}, "inject": {"tools": ["Edit"], "skip_agents": ["Plan"]}}`)
	for name, value := range map[string]string{
		"DOCSEARCH_HOOK_RETRY":              "evidence",
		"DOCSEARCH_HOOK_TIMEOUT_MS":         "90",
		"DOCSEARCH_HOOK_MCP_TOOL_NAME":      "mcp__docs__search",
		"DOCSEARCH_HOOK_LOG":                "no",
		"DOCSEARCH_HOOK_LOG_QUERIES":        "1",
		"DOCSEARCH_HOOK_ADAPT":              "on",
		"DOCSEARCH_SEARCH_TOP_K":            "many",
		"DOCSEARCH_SEARCH_MAX_TOKENS":       "900",
		"DOCSEARCH_SEARCH_MAX_AGE_DAYS":     "0",
		"DOCSEARCH_INJECT_SESSIONS":         "off",
		"DOCSEARCH_INJECT_TOOLS":            "Bash, read",
		"DOCSEARCH_INJECT_FAILURES":         "maybe",
		"DOCSEARCH_INJECT_TOP_K":            "2",
		"DOCSEARCH_INJECT_HYBRID":           "yes",
		"DOCSEARCH_INJECT_MAX_CHARS":        "500",
		"DOCSEARCH_INJECT_FLOOR":            "0.4",
		"DOCSEARCH_INJECT_SKIP_AGENTS":      ",",
		"DOCSEARCH_UPDATE_ON_SESSION_START": "true",
	} {
		t.Setenv(name, value)
	}
	r := mustLoad(t, l)
	want := config.Default()
	want.Home = config.Home(os.Getenv)
	want.Hook = config.Hook{Retry: config.RetryEvidence, TimeoutMS: 90, Tool: "mcp__docs__search", LogQueries: true, Adapt: true}
	want.Search = config.Search{TopK: 5, MaxTokens: 900}
	want.Inject = config.Inject{Tools: []string{"Bash", "Read"}, Failures: true, TopK: 2, Hybrid: true, MaxChars: 500, Floor: .4}
	want.Update = config.Update{OnSessionStart: true}
	if diff := cmp.Diff(want, r.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		`$DOCSEARCH_INJECT_FAILURES: want true or false, got "maybe"; using true`,
		`$DOCSEARCH_SEARCH_TOP_K: want a whole number from 1 to 100, got "many"; using 5`,
	}, slices.Sorted(slices.Values(problems(r)))); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	from := r.Origins()
	for _, o := range config.Overrides() {
		if name := strings.ToUpper("DOCSEARCH_" + o.Section + "_" + o.Field); o.Env != name {
			t.Errorf("%s.%s has the variable %s, want %s", o.Section, o.Field, o.Env, name)
		}
		if got := from[o.Section+"."+o.Field]; got != "$"+o.Env {
			t.Errorf("%s.%s is from %q, want $%s", o.Section, o.Field, got, o.Env)
		}
	}
	t.Setenv("DOCSEARCH_HOOK_RETRY", "")
	if got := mustLoad(t, l).Origins()["hook.retry"]; got != "line 1" {
		t.Errorf("hook.retry is from %q, want line 1", got)
	}
}

// Every key of the sections has a variable.
func TestOverridesAreComplete(t *testing.T) {
	known := map[string]bool{}
	for _, o := range config.Overrides() {
		known[o.Section+"."+o.Field] = true
	}
	for _, section := range []struct {
		name string
		of   any
	}{{"hook", config.Hook{}}, {"search", config.Search{}}, {"inject", config.Inject{}}, {"update", config.Update{}}} {
		of := reflect.TypeOf(section.of)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if !known[section.name+"."+name] {
				t.Errorf("%s.%s has no variable", section.name, name)
			}
		}
	}
}

func TestCheckEnvironment(t *testing.T) {
	r := mustLoad(t, locations(t, "c.json", `{}`))
	r.CheckEnvironment([]string{
		"HOME=/home/me", "DOCSEARCH_HOOK_LOG=0", "DOCSEARCH_DATA=/data", "DOCSEARCH_MCP_TOOL=mcp__docs__search",
		"DOCSEARCH_HOOK_LOGS=0", "DOCSEARCH_COLOR=1",
	})
	if diff := cmp.Diff([]string{
		`$DOCSEARCH_HOOK_LOGS: unknown variable, ignored; did you mean DOCSEARCH_HOOK_LOG?`,
		`$DOCSEARCH_COLOR: unknown variable, ignored; to list them, run docsearch config show --env`,
	}, problems(r)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// The environment also applies if the config file is broken.
func TestDefaults(t *testing.T) {
	t.Setenv("DOCSEARCH_HOOK_LOG", "no")
	t.Setenv("DOCSEARCH_HOOK_TIMEOUT_MS", "90")
	want := config.Default()
	want.Hook.Log, want.Hook.TimeoutMS = false, 90
	if diff := cmp.Diff(want, Defaults()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

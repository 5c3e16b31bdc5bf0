package decode

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
)

// Routes holds the "routes" section of one file.
type Routes struct {
	Origin string
	Value  any      // decoded JSON, YAML or TOML
	Names  []string // its keys in file order
	// Line returns the line of the value at a path such as "github-pr", "tests", "[0]", or
	// 0 if the file does not contain it.
	Line func(path ...string) int
}

// Rules converts a file's routes to rules, in file order. Invalid rules are omitted and
// reported as problems.
func Rules(r Routes) ([]config.Rule, []Problem) {
	d := routeDecoder{routes: r}
	switch v := r.Value.(type) {
	case map[string]any:
		for _, name := range r.Names {
			if strings.HasPrefix(name, "_") { // a comment
				continue
			}
			d.rule(name, v[name], name)
		}
	case []any:
		for i, item := range v {
			at := "[" + strconv.Itoa(i) + "]"
			name := r.Origin[strings.LastIndexAny(r.Origin, `/\`)+1:] + at
			if m, ok := item.(map[string]any); ok {
				if s, _ := m["name"].(string); s != "" {
					name = s
				}
			}
			d.rule(name, item, at)
		}
	case nil:
	default:
		d.problems = append(d.problems,
			Problem{Line: r.Line(), Entry: "routes", Expected: "an object that maps names to rules", Got: describe(v),
				Effect: "ignored"})
	}
	return d.rules, d.problems
}

type routeDecoder struct {
	routes   Routes
	rules    []config.Rule
	problems []Problem

	// Fields of the current rule.
	entry  string
	path   []string
	fields map[string]any
	usable bool
}

// reportField reports an invalid field. If fatal is set, the rule is ignored.
func (d *routeDecoder) reportField(field, expected string, got any, fatal bool, effect string) {
	line := d.routes.Line(append(d.path[:len(d.path):len(d.path)], field)...)
	if line == 0 {
		line = d.routes.Line(d.path...)
	}
	field = strings.Join(d.path[1:], "") + field
	d.problems = append(d.problems, Problem{Line: line, Entry: d.entry, Field: field, Expected: expected,
		Got: describe(got), Effect: effect})
	d.usable = d.usable && !fatal
}

const ruleIgnored = "the rule is ignored"

func (d *routeDecoder) rule(name string, v any, at string) {
	d.entry, d.path, d.usable = "routes."+name, []string{at}, true
	var ok bool
	if d.fields, ok = v.(map[string]any); !ok {
		d.problems = append(d.problems,
			Problem{Line: d.routes.Line(at), Entry: d.entry, Expected: `a rule with a "pattern" and a "message"`,
				Got: describe(v), Effect: ruleIgnored})
		return
	}

	d.reportUnknown()
	r := config.Rule{Name: name, Origin: d.routes.Origin, Line: d.routes.Line(at)}
	if tool := d.stringField("tool", "a tool name"); tool != "" {
		r.Tools = []string{canonicalTool(tool)}
	}
	if tool := d.stringField("tool_pattern", "a pattern of tool names"); tool != "" {
		if names := strings.Split(tool, "|"); plainNames(names) {
			for _, name := range names {
				r.Tools = append(r.Tools, canonicalTool(name))
			}
		} else {
			r.ToolPattern.Text = tool
		}
	}

	r.Pattern.Text = d.stringField("pattern", "a pattern")
	r.CommandPattern.Text = d.stringField("command_pattern", "a pattern")
	for _, text := range d.stringList("unless", "a pattern or a list of patterns") {
		r.Unless = append(r.Unless, config.Pattern{Text: text})
	}
	if len(r.Tools) == 0 && r.ToolPattern.Text == "" && r.Pattern.Text == "" && r.CommandPattern.Text == "" &&
		d.usable {
		d.reportField("pattern", "a pattern of a URL, a command, or a tool", d.fields["pattern"], true, ruleIgnored)
	}

	switch commands := d.stringField("commands", `"written" or "parsed"`); commands {
	case "", "written":
	case "parsed":
		r.Parsed = true
	default:
		d.reportField("commands", `"written" or "parsed"`, commands, false, `using "written"`)
	}

	r.Action = config.ActionDeny
	const actions = `"deny", "warn", "ask" or "allow"`
	if action := d.stringField("action", actions); action != "" {
		switch a := config.Action(strings.ToLower(action)); a {
		case config.ActionDeny, config.ActionWarn, config.ActionAsk:
			r.Action = a
		case "allow":
			// Allowing a part of a command line must not allow the rest.
			r.Action, r.Parsed = config.ActionPass, true
		default:
			d.reportField("action", actions, action, true, ruleIgnored)
		}
	}

	r.Database = d.stringField("database", "a database name")
	d.limits(&r)
	r.Message = d.stringField("message", "a text")
	if r.Action == config.ActionPass {
		for _, field := range []string{"message", "database", "limit", "rate"} {
			if v, given := d.fields[field]; given {
				d.reportField(field, "no "+field+" in a rule that allows", v, false, "ignored")
			}
		}
		r.Message, r.Database, r.Limit, r.Rate = "", "", 0, config.Rate{}
	} else if r.Message == "" && r.Database == "" && d.usable {
		d.reportField("message", "a message that names an alternative", d.fields["message"], false,
			"using a default message")
		r.Message = "The rule " + name + " applies to this call."
	}

	d.tests(&r)
	if d.usable {
		d.rules = append(d.rules, r)
	}
}

// limits decodes the fields that limit how often the rule applies.
func (d *routeDecoder) limits(r *config.Rule) {
	if v, given := d.fields["limit"]; given {
		var ok bool
		if r.Limit, ok = integer(v); !ok || r.Limit < 1 {
			d.reportField("limit", "a whole number from 1", v, false, "no limit")
			r.Limit = 0
		}
	}
	v, given := d.fields["rate"]
	if !given {
		return
	}
	s, _ := v.(string)
	rate, ok := parseRate(s)
	switch {
	case !ok:
		d.reportField("rate", `a number of calls and a period from 1s to 24h, as in "10/5m"`, v, false, "no rate")
	case r.Database != "":
		d.reportField("rate", "no rate in a rule with a database", v, false, "ignored")
	default:
		r.Rate = rate
	}
}

// parseRate parses a rate such as "10/5m".
func parseRate(s string) (config.Rate, bool) {
	calls, period, _ := strings.Cut(s, "/")
	n, err := strconv.Atoi(strings.TrimSpace(calls))
	if err != nil || n < 1 || n > config.MaxRateCalls {
		return config.Rate{}, false
	}
	d, err := time.ParseDuration(strings.TrimSpace(period))
	if err != nil || d < time.Second || d > config.MaxRatePeriod*time.Second {
		return config.Rate{}, false
	}
	return config.Rate{Calls: n, Seconds: int(d / time.Second)}, true
}

func (d *routeDecoder) reportUnknown() {
	keys := []string{"name", "description", "tool", "tool_pattern", "pattern", "command_pattern", "unless", "commands",
		"action", "message", "limit", "rate", "database", "tests"}
	for _, key := range slices.Sorted(maps.Keys(d.fields)) {
		if slices.Contains(keys, key) || strings.HasPrefix(key, "_") {
			continue
		}
		line := d.routes.Line(d.path[0], key)
		d.problems = append(d.problems,
			Problem{Line: line, Entry: d.entry, Field: key, Expected: knownKey(key, keys), Unknown: "key"})
	}
}

// stringField returns a string field. Blank strings become empty; others are not trimmed, because
// a pattern may end with a space. A value of another type makes the rule unusable.
func (d *routeDecoder) stringField(field, expected string) string {
	v := d.fields[field]
	s, ok := v.(string)
	if !ok && v != nil {
		d.reportField(field, expected, v, true, ruleIgnored)
	}
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return s
}

// stringList returns a list of strings, or a single string as a list.
func (d *routeDecoder) stringList(field, expected string) []string {
	items, ok := d.fields[field].([]any)
	if !ok && d.fields[field] != nil {
		items = []any{d.fields[field]}
	}
	var list []string
	for _, item := range items {
		s, ok := item.(string)
		if !ok || s == "" {
			d.reportField(field, expected, item, true, ruleIgnored)
		}
		list = append(list, s)
	}
	return list
}

// plainNames reports whether a tool pattern consists of plain names. A name with an
// underscore may be a prefix of a server's tools.
func plainNames(names []string) bool {
	for _, name := range names {
		if name == "" {
			return false
		}
		for _, c := range []byte(name) {
			if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
				return false
			}
		}
	}
	return true
}

func (d *routeDecoder) tests(r *config.Rule) {
	v, given := d.fields["tests"]
	if !given || v == nil {
		return
	}
	list, ok := v.([]any)
	if !ok {
		d.reportField("tests", "a list of tests", v, false, "ignored")
		return
	}
	for i, item := range list {
		d.path = append(d.path[:1], "tests")
		field := "[" + strconv.Itoa(i) + "]"
		m, ok := item.(map[string]any)
		if !ok {
			d.reportField(field, `a test with "input" and "expect"`, item, false, "the test is ignored")
			continue
		}
		if t, ok := d.test(r, m, field); ok {
			r.Tests = append(r.Tests, t)
		}
	}
	d.path = d.path[:1]
}

func (d *routeDecoder) test(r *config.Rule, m map[string]any, at string) (config.RuleTest, bool) {
	t := config.RuleTest{Line: d.routes.Line(append(d.path[:2:2], at)...)}
	for _, key := range []string{"desc", "description", "name"} {
		if s, ok := m[key].(string); ok && t.Text == "" {
			t.Text = s
		}
	}
	expect, _ := m["expect"].(string)
	switch t.Expect = config.Action(strings.ToLower(expect)); t.Expect {
	case config.ActionDeny, config.ActionWarn, config.ActionAsk, config.ActionPass:
	case "block":
		t.Expect = config.ActionDeny
	case "allow":
		t.Expect = config.ActionPass
	default:
		d.reportField(at, `"expect" to be "deny" (or "block"), "warn", "ask" or "pass" (or "allow")`, m["expect"],
			false, "the test is ignored")
		return t, false
	}
	if v, given := m["contains"]; given {
		t.Contains, _ = stringList(v)
	}
	t.Rule, _ = m["rule"].(string)
	var input any
	usable := false
	switch v := m["input"].(type) {
	case string:
		t.Tool = mainTool(r)
		argument := mainArgument(t.Tool)
		input, usable = map[string]string{argument: v}, argument != ""
	case map[string]any:
		t.Tool, _ = v["tool_name"].(string)
		input, usable = v["tool_input"].(map[string]any)
	}
	text, err := json.Marshal(input)
	if err != nil || !usable || t.Tool == "" {
		d.reportField(at, `"input" to be a tool call, a URL, or a command`, m["input"], false, "the test is ignored")
		return t, false
	}
	t.Input = text
	return t, true
}

// mainTool returns the main tool of a rule, or "" if it has none.
func mainTool(r *config.Rule) string {
	switch {
	case len(r.Tools) > 0:
		return r.Tools[0]
	case r.ToolPattern.Text != "":
		return ""
	case r.CommandPattern.Text != "":
		return "Bash"
	}
	return "WebFetch"
}

// canonicalTool returns a known tool's name in the client's spelling.
func canonicalTool(tool string) string {
	for _, known := range [...]string{"WebFetch", "WebSearch", "Bash", "Read", "Edit", "MultiEdit", "NotebookEdit",
		"Write"} {
		if strings.EqualFold(tool, known) {
			return known
		}
	}
	return tool
}

// mainArgument returns the argument of a tool that patterns match, or "" if they match all
// arguments.
func mainArgument(tool string) string {
	switch tool {
	case "WebFetch":
		return "url"
	case "Bash":
		return "command"
	case "WebSearch":
		return "query"
	case "Read", "Write", "Edit", "MultiEdit":
		return "file_path"
	case "NotebookEdit":
		return "notebook_path"
	}
	return ""
}

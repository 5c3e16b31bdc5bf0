package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRoutesSnapshotFormat fails if a type in the snapshot changes: then
// RoutesSnapshot.code, routesMagic and this list must change, too.
func TestRoutesSnapshotFormat(t *testing.T) {
	var got []string
	for _, v := range []any{RoutesSnapshot{}, RoutesPlace{}, Rule{}, Pattern{}, Rate{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			got = append(got, fmt.Sprintf("%s.%s %s", typ.Name(), typ.Field(i).Name, typ.Field(i).Type))
		}
	}
	want := []string{
		"RoutesSnapshot.Place config.RoutesPlace", "RoutesSnapshot.User int64", "RoutesSnapshot.Sources []config.Stamp", "RoutesSnapshot.Rules []config.Rule", "RoutesSnapshot.Problems []string",
		"RoutesSnapshot.sum uint64", "RoutesSnapshot.candidate func(*config.Rule) bool",
		"RoutesPlace.Config string", "RoutesPlace.Project string", "RoutesPlace.Plugin string", "RoutesPlace.Claude string", "RoutesPlace.Files string",
		"Rule.Name string", "Rule.Origin string", "Rule.Line int", "Rule.Tools []string",
		"Rule.ToolPattern config.Pattern", "Rule.Pattern config.Pattern", "Rule.CommandPattern config.Pattern", "Rule.Unless []config.Pattern", "Rule.Parsed bool",
		"Rule.Action config.Action", "Rule.Message string", "Rule.Limit int", "Rule.Rate config.Rate", "Rule.Database string", "Rule.Tests []config.RuleTest",
		"Pattern.Text string", "Pattern.Expr string", "Pattern.Groups []string", "Pattern.Literals []string", "Pattern.Samples [2]string",
		"Rate.Calls int", "Rate.Seconds int",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields of %q (-want +got):\n%s", routesMagic, diff)
	}
	whole := wholeRoutes()
	back, err := parseRoutesSnapshot(whole.encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, back, cmpopts.IgnoreUnexported(RoutesSnapshot{})); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// Rejected rules leave no trace in the accepted ones.
func TestCandidate(t *testing.T) {
	whole := wholeRoutes()
	all := whole.Rules[0]
	for i := range 20 {
		r := Rule{Name: fmt.Sprint(i), Message: "m", Tools: []string{"Edit"}, Pattern: Pattern{Text: "y", Expr: "y", Literals: []string{"y", "z"}}}
		if i%3 == 0 {
			r = all
			r.Name = fmt.Sprint(i)
		}
		whole.Rules = append(whole.Rules, r)
	}
	wanted := func(r *Rule) bool { return len(r.Name)%2 == 0 || r.Name == "b" || r.Name == "5" }
	s, err := parseRoutesSnapshot(whole.encode(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(slices.Clone(whole.Rules), func(r Rule) bool { return !wanted(&r) })
	if diff := cmp.Diff(want, s.Rules, cmpopts.EquateEmpty()); diff != "" || !slices.Equal(s.Problems, whole.Problems) {
		t.Errorf("problems %q, rules (-want +got):\n%s", s.Problems, diff)
	}
}

// wholeRoutes returns rules with a value in every stored field.
func wholeRoutes() *RoutesSnapshot {
	p := Pattern{Text: "(?P<n>x)", Expr: "(x)", Groups: []string{"", "n"}, Literals: []string{"x"}}
	return &RoutesSnapshot{
		Place:   RoutesPlace{"/c.json", "/p", "/plugin", "/claude", "/rules"},
		User:    7,
		Sources: []Stamp{{"/c.json", true, 3, 4, 5, 6}, {Path: "/p/.docsearch"}},
		Rules: []Rule{
			{Name: "a", Origin: "/c.json", Line: 3, Tools: []string{"Bash"}, ToolPattern: p, Pattern: p, CommandPattern: p, Unless: []Pattern{p, p},
				Parsed: true, Action: ActionAsk, Message: "m", Limit: 2, Rate: Rate{3, 60}, Database: "db"},
			{Name: "b"},
		},
		Problems: []string{"p"},
	}
}

func TestDamagedRoutesSnapshot(t *testing.T) {
	whole := wholeRoutes().encode()
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 0x20
		if s, err := parseRoutesSnapshot(flipped, nil); err == nil {
			t.Errorf("byte %d flipped: read as %+v", i, s)
		}
		if s, err := parseRoutesSnapshot(whole[:i], nil); err == nil {
			t.Errorf("cut at %d: read as %+v", i, s)
		}
	}
}

func FuzzRoutesSnapshot(f *testing.F) {
	f.Add(wholeRoutes().encode())
	f.Add([]byte(routesMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > len(routesMagic)+8 {
			c := coder{data: string(data[len(routesMagic)+8:])}
			new(RoutesSnapshot).code(&c)
		}
		s, err := parseRoutesSnapshot(data, nil)
		if err != nil {
			return
		}
		if again, err := parseRoutesSnapshot(s.encode(), nil); err != nil || !cmp.Equal(s, again, cmpopts.IgnoreUnexported(RoutesSnapshot{})) {
			t.Errorf("%+v was read back as %+v, %v", s, again, err)
		}
	})
}

func TestPlaceOf(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"repo/.git", "repo/a/b", "app/.docsearch", "app/c", "home/.docsearch", "home/d"} {
		mkdirAll(t, dir, sub)
	}
	at := func(path string) string { return Join(dir, strings.Split(path, "/")...) }
	for _, test := range []struct {
		cwd  string
		env  map[string]string
		want RoutesPlace
	}{
		{at("repo/a/b"), nil, RoutesPlace{Project: at("repo")}},
		{at("repo"), nil, RoutesPlace{Project: at("repo")}},
		{at("app/c"), nil, RoutesPlace{Project: at("app")}},
		{at("home/d"), map[string]string{"HOME": at("home")}, RoutesPlace{Project: at("home/d"), Claude: at("home/.claude")}},
		{at("repo/a"), map[string]string{"CLAUDE_PROJECT_DIR": "/q", "CLAUDE_PLUGIN_ROOT": "/r", "CLAUDE_CONFIG_DIR": "/s", "TOOL_ROUTING_ROUTES": "/t"}, RoutesPlace{Project: "/q", Plugin: "/r", Claude: "/s", Files: "/t"}},
		{"", nil, RoutesPlace{}},
		{"relative", nil, RoutesPlace{}},
	} {
		test.want.Config = "/c.json"
		getenv := func(name string) string {
			if name == "USERPROFILE" {
				name = "HOME"
			}
			return test.env[name]
		}
		if got := PlaceOf(Locations{Config: "/c.json"}, getenv, test.cwd); got != test.want {
			t.Errorf("%s %v: %+v, want %+v", test.cwd, test.env, got, test.want)
		}
	}
}

func mkdirAll(t *testing.T, dir, sub string) {
	t.Helper()
	if err := os.MkdirAll(Join(dir, strings.Split(sub, "/")...), 0o755); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkRoutesSnapshot reads the rules as every hook does.
func BenchmarkRoutesSnapshot(b *testing.B) {
	s := &RoutesSnapshot{}
	for i := range 200 {
		text := fmt.Sprintf(`^\s*tool%d\s+(get|list)\s+(?!--help)`, i)
		s.Rules = append(s.Rules, Rule{Name: fmt.Sprint("rule-", i), Origin: "/home/me/.claude/hooks/docsearch-config.json", Line: i, Tools: []string{"Bash"},
			CommandPattern: Pattern{Text: text, Expr: text, Literals: []string{fmt.Sprint("tool", i)}}, Action: ActionDeny, Message: strings.Repeat("Use the other tool. ", 10)})
	}
	data := s.encode()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := parseRoutesSnapshot(data, func(*Rule) bool { return false }); err != nil {
			b.Fatal(err)
		}
	}
}

package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
)

// manyRules returns rules in the syntax of JSON and YAML.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("{\"routes\": {")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n\"r%d\": {\"pattern\": \"x%d(a|b)+\"}", i, i)
	}
	return b.String() + "}}"
}

// Files of a project that are beyond the bounds are ignored, and named. The rules of the user
// and the other files of the project stay.
func TestProjectBounds(t *testing.T) {
	for _, test := range []struct {
		name, file, text, want string
		dropped                bool
	}{
		{"tables", "routes.toml", strings.Repeat("[a.b]\n", MaxProjectBytes/6+1), "want at most 262144 bytes in the rule files of a project, got 2622", true},
		{"JSON rules", "routes.yml", manyRules(MaxProjectRules), "want at most 1000 rules in the files of a project, got 1001; its rules are ignored", true},
		{"unknown keys", "routes.toml", "[routes.x]\npattern = 'x'\nmessage = 'm'\n" + strings.Repeat("y", 99) + " = 1\n" + keys(maxProjectProblems+4), "5 more problems", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := locations(t, "config.json", oneRule("user"))
			writeSettled(t, oneRule("user"), l.Config)
			p := config.RoutesPlace{Config: l.Config, Project: t.TempDir()}
			path := writeSettled(t, test.text, p.Project, ".docsearch", test.file)
			writeSettled(t, oneRule("small"), p.Project, ".docsearch", "routes.json")
			got := LoadRoutes(mustLoad(t, l), p)
			want := []string{"user", "small"}
			if !test.dropped {
				want = append(want, "x")
			}
			if !slices.Equal(names(got.Rules), want) {
				t.Errorf("rules %q, want %q", names(got.Rules), want)
			}
			if n := len(got.Problems); n == 0 || !strings.HasPrefix(got.Problems[n-1], "routes "+path+": "+test.want) {
				t.Errorf("problems %q, want %q at the end", got.Problems, test.want)
			}
			// The hook keeps that, and does not read the file again.
			if err := got.WriteSnapshot(l); err != nil {
				t.Fatal(err)
			}
			s, err := readRoutes(l, p)
			if err != nil || !slices.Equal(names(s.Rules), want) || !slices.Equal(s.Problems, got.Problems) {
				t.Errorf("the snapshot has %+v, %v", s, err)
			}
		})
	}
}

// keys returns n keys of a TOML table.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "unknown%d = 1\n", i)
	}
	return b.String()
}

// The user's own files have no such bounds.
func TestUserRulesHaveNoBounds(t *testing.T) {
	l := locations(t, "config.json", manyRules(2*MaxProjectRules))
	if got := LoadRoutes(mustLoad(t, l), config.RoutesPlace{Config: l.Config, Project: t.TempDir()}); len(got.Rules) != 2*MaxProjectRules {
		t.Errorf("%d rules", len(got.Rules))
	}
}

// Without time, a project's rules are missing in this call, and no snapshot keeps that.
func TestLateProjectRules(t *testing.T) {
	l := locations(t, "config.json", oneRule("user"))
	writeSettled(t, oneRule("user"), l.Config)
	p := config.RoutesPlace{Config: l.Config, Project: t.TempDir()}
	path := writeSettled(t, oneRule("project"), p.Project, ".docsearch", "routes.json")
	user := LoadUserRoutes(mustLoad(t, l), p)
	if err := user.WriteSnapshot(l); err != nil {
		t.Fatal(err)
	}
	late := LoadProjectRoutes(user.Snapshot(), nil, p, time.Now().Add(-time.Second))
	if !late.Late || len(late.Rules) > 0 || len(late.Problems) != 1 || !strings.Contains(late.Problems[0], path) {
		t.Errorf("late %t, rules %q, problems %q", late.Late, names(late.Rules), late.Problems)
	}
	if err := late.WriteSnapshot(l); err != nil {
		t.Fatal(err)
	}
	if _, err := readRoutes(l, p); err == nil {
		t.Error("a snapshot was made without the project's rules")
	}
	in := LoadProjectRoutes(user.Snapshot(), nil, p, time.Now().Add(time.Hour))
	if err := in.WriteSnapshot(l); err != nil || in.Late {
		t.Fatal(in.Late, err)
	}
	if s, err := readRoutes(l, p); err != nil || !slices.Equal(names(s.Rules), []string{"user", "project"}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// The rules of the user have one snapshot in all projects, and a change of them makes those
// of the projects outdated.
func TestProjectsShareUserRules(t *testing.T) {
	l := locations(t, "config.json", oneRule("user"))
	writeSettled(t, oneRule("user"), l.Config)
	one := config.RoutesPlace{Config: l.Config, Project: t.TempDir()}
	other := config.RoutesPlace{Config: l.Config, Project: t.TempDir()}
	if err := LoadRoutes(mustLoad(t, l), one).WriteSnapshot(l); err != nil {
		t.Fatal(err)
	}
	user, err := config.ReadUserRoutes(l, other, nil)
	if err != nil || !slices.Equal(names(user.Rules), []string{"user"}) {
		t.Fatalf("%+v, %v", user, err)
	}
	writeSettled(t, `{"routes": {"new": {"pattern": "x", "message": "m"}}}`, l.Config)
	if err := LoadUserRoutes(mustLoad(t, l), one).WriteSnapshot(l); err != nil {
		t.Fatal(err)
	}
	if user, err = config.ReadUserRoutes(l, one, nil); err != nil {
		t.Fatal(err)
	}
	if s, err := config.ReadProjectRoutes(l, one, user, nil); err == nil {
		t.Errorf("the project's rules are still %q", names(s.Rules))
	}
}

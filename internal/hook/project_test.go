package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/configtest"
	"github.com/docsearch/docsearch/internal/hook/event"
)

// twoReacts is a config with two editions of one library.
func twoReacts(t *testing.T, used string) *config.Config {
	t.Helper()
	c := config.Default()
	for _, version := range []string{"18.3.1", "19.1.0"} {
		c.Databases = append(c.Databases, config.Database{
			Name: "react-" + version, Keywords: []string{"react"}, Path: "/docs/react-" + version, Description: "react documentation",
			Version: version, Packages: []string{"node:react"},
		})
	}
	if used != "" {
		c.Project = configtest.Project(t, config.Use{Software: "node:react", Versions: []string{used}, Direct: true})
	}
	return &c
}

// The denial quotes the edition for the project and says so if it has only another one.
func TestProjectEditions(t *testing.T) {
	answers := always(sure)
	x := fakeSearcher{"react-18.3.1": answers, "react-19.1.0": answers}
	for _, tt := range []struct {
		query, used, says string
	}{
		{"react effects", "", "(react 19.1.0);"},
		{"react effects", "18.3.1", "(react 18.3.1);"},
		{"react effects", "18.2.0", "(react 18.3.1; this project uses 18.2.0);"},
		{"react effects", "17.0.2", "(react 19.1.0; this project uses 17.0.2);"},
		{"react 18 effects", "19.1.0", "(react 18.3.1);"},
	} {
		c := twoReacts(t, tt.used)
		d := Decide(webSearchEvent(tt.query), c, c.Server(noEnv), State{}, at(0), x, Routes{})
		if d.Verdict != Deny || !strings.Contains(d.Reason, tt.says) || len(d.Offered) != 1 {
			t.Errorf("%q with %q: %v %q of %v, want %q", tt.query, tt.used, d.Verdict, d.Reason, d.Offered, tt.says)
		}
	}
}

// A session start names the databases for the project, and has its snapshot updated if that
// is missing or outdated.
func TestSessionStartOfProject(t *testing.T) {
	dir := t.TempDir()
	l := config.Locations{Config: filepath.Join(dir, "c.json"), Cache: filepath.Join(dir, "cache"), State: filepath.Join(dir, "state")}
	lock := filepath.Join(dir, "package-lock.json")
	if err := os.WriteFile(lock, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	var started [][]string
	p := &Process{Getenv: noEnv, Now: func() time.Time { return at(0) }, Stderr: os.Stderr, Start: func(args ...string) error {
		started = append(started, args)
		return nil
	}}
	start := func() Decision {
		c := twoReacts(t, "")
		e := event.Event{Host: event.Claude, Name: event.SessionStart, Source: "startup", Session: "s", Cwd: dir}
		return p.Decide(e, c, l, fakeSearcher{})
	}
	if d := start(); d.Project != dir || strings.Contains(d.Context, "react") {
		t.Errorf("without a snapshot: folder %q, context %q", d.Project, d.Context)
	}
	stamp, err := config.StampOf(lock)
	if err != nil {
		t.Fatal(err)
	}
	s := config.ProjectSnapshot{Folder: dir, Sources: []config.Stamp{stamp}, Uses: []config.Use{{Software: "node:react", Versions: []string{"18.3.1"}, Direct: true}}}
	if err := s.Write(l); err != nil {
		t.Fatal(err)
	}
	if d := start(); d.Project != "" || !strings.Contains(d.Context, "Documentation of the versions that this project uses: react 18.3.1.") {
		t.Errorf("with a snapshot: folder %q, context %q", d.Project, d.Context)
	}
	if err := os.WriteFile(lock, []byte("{ }"), 0o644); err != nil {
		t.Fatal(err)
	}
	if d := start(); d.Project != dir {
		t.Errorf("after a change of the lock file: folder %q", d.Project)
	}
	for _, update := range []bool{false, true} {
		p.startUpdates(&Decision{Project: dir}, &config.Config{Update: config.Update{OnSessionStart: update}})
	}
	if !slices.Equal(started[0], []string{"project", "--refresh", dir}) || !slices.Equal(started[1], []string{"update", "--project", dir, "--background"}) {
		t.Errorf("started %q", started)
	}
}

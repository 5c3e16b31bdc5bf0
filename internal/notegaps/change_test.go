package notegaps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/notebook"
	"github.com/docsearch/docsearch/internal/replay"
)

// TestChanges checks the changes of single notes that users corrected an agent for.
func TestChanges(t *testing.T) {
	const rule = "Quote each identifier that Debezium captures, snapshots fail otherwise.\n"
	const correction = "No, quote each identifier, Debezium snapshots fail otherwise."
	corrected := func(make func(w *transcriptWriter)) func(w *transcriptWriter) {
		return func(w *transcriptWriter) {
			make(w)
			w.say(correction)
			w.bash("uptime", "", "")
		}
	}
	edit := corrected(func(w *transcriptWriter) { w.edit("etl/load.sql", "SELECT 1") })
	run := corrected(func(w *transcriptWriter) { w.bash("cd etl && dbt run --select staging | tail", "Load", "") })
	for _, test := range []struct {
		name, note string
		calls      func(w *transcriptWriter)
		want       string // change; "none": a gap without one; "": no gap
	}{
		{"a missing language", "---\ntitle: Captured tables\nlanguages: [python]\npaths: [\"etl/**\"]\n---\n" + rule, edit, "languages [python sql]"},
		{"several conditions", "---\ntitle: Captured tables\napplies_when:\n  tools: [Write]\n  languages: [python]\n  paths: [\"etl/*.py\"]\n---\n" + rule, edit,
			"paths [etl/*.py etl/*.sql], languages [python sql], tools [Write Edit]"},
		{"a low priority", "---\ntitle: Captured tables\npriority: -10\napplies_when:\n  paths: [\"etl/**\"]\n---\n" + rule, edit, "without [priority]"},
		{"a condition for files only", "---\ntitle: Captured tables\napplies_when:\n  paths: [\"etl/**\"]\n---\n" + rule, run, "commands [dbt run]"},
		{"commands and files", "---\ntitle: Captured tables\napplies_when:\n  commands: [make etl]\n---\n" + rule,
			func(w *transcriptWriter) { edit(w); run(w) }, "paths [etl/*.sql], commands [make etl dbt run]"},
		{"a misspelled key", "---\ntitle: Captured tables\napplies_when:\n  folders: [\"etl/\"]\n---\n" + rule, edit, "paths [etl/], without [folders]"},
		{"no condition", "---\ntitle: Captured tables\n---\n" + rule, run, "tags [dbt]"},
		{"shown", "---\ntitle: Captured tables\napplies_when:\n  paths: [\"etl/**\"]\n---\n" + rule, edit, ""},
		{"TOML", "+++\ntitle = \"Captured tables\"\n[applies_when]\npaths = [\"src/**\"]\n+++\n" + rule, edit, "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := smallProject(t, test.note, test.calls)
			in.Note = "note.md"
			r := analyze(t, in)
			switch {
			case len(r.Gaps) == 0:
				if test.want != "" {
					t.Error("no gap")
				}
			case r.Gaps[0].Change == nil:
				if test.want != "none" {
					t.Errorf("no change of %+v", r.Gaps[0])
				}
			default:
				if got := describe(r.Gaps[0].Change); got != test.want || len(r.Gaps[0].Open) > 0 {
					t.Errorf("change %q, open %v; want %q", got, r.Gaps[0].Open, test.want)
				}
				apply(t, in, &r.Gaps[0])
				if left := analyze(t, in).Gaps; len(left) > 0 {
					t.Errorf("the change leaves %+v", left)
				}
			}
		})
	}
}

// smallProject returns a project of one note about the calls, and a few others.
func smallProject(t *testing.T, note string, calls func(*transcriptWriter)) *Input {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"note.md":  note,
		"dates.md": projectNotes["dates.md"], "cache.md": projectNotes["cache.md"], "search.md": projectNotes["search.md"], "docker.md": projectNotes["docker.md"],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := &transcriptWriter{tb: t, session: "s"}
	w.say("Load the tables.")
	w.edit("docs/setup.md", "Install it.")
	w.bash("make lint", "Lint", "")
	calls(w)
	found, _, err := replay.Calls(strings.NewReader(w.String()), func(*replay.Event) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	const floor = 1.45 // with few notes, as high as the default with many
	return &Input{Folder: notebook.Folder(dir), Floor: floor, Calls: found,
		Database: config.Database{Name: "team", Inject: []string{config.All}}}
}

// A change that also shows the note with calls of other kinds is not proposed.
func TestUnrelatedCalls(t *testing.T) {
	note := "---\ntitle: Captured tables\n---\nQuote each identifier that Debezium captures, snapshots fail otherwise.\n"
	in := smallProject(t, note, func(w *transcriptWriter) {
		w.edit("dbt/run.yml", "dbt run")
		w.bash("ls", "dbt run", "")
		w.say("Next.")
		w.bash("dbt run", "", "")
		w.say("No, quote each identifier, Debezium snapshots fail otherwise.")
	})
	for _, g := range analyze(t, in).Gaps {
		if g.Kind != NotShown {
			continue
		}
		if got := describe(g.Change); got != "commands [dbt run]" {
			t.Errorf("change %q: the words are in calls of other kinds, too", got)
		}
		return
	}
	t.Error("no gap")
}

func TestWithoutCalls(t *testing.T) {
	r := analyze(t, &Input{Folder: notebook.Folder(filepath.Join(t.TempDir(), "none")), Floor: 1.2, Database: config.Database{Name: "team", Inject: []string{config.All}}})
	if len(r.Notes)+len(r.Gaps) > 0 {
		t.Errorf("report %+v of nothing", r)
	}
	in := smallProject(t, "text", func(*transcriptWriter) {})
	in.Note = "none.md"
	if r := analyze(t, in); len(r.Notes)+len(r.Gaps) > 0 {
		t.Errorf("report %+v of another note", r)
	}
}

// Once the tests are used up, gaps are reported without a change.
func TestTestsAreLimited(t *testing.T) {
	in := smallProject(t, "text", func(*transcriptWriter) {})
	analyzer, err := lexical.NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	a := &analysis{in: in, report: &Report{}, analyzer: analyzer, evidence: make([]evidence, len(in.Calls))}
	for i := range in.Calls {
		c := hook.CallOf(in.Calls[i].Event.Event)
		a.calls, a.families = append(a.calls, c), append(a.families, c.Families())
		a.evidence[i] = evidence{Corrected, "No, use the linter.", ""}
	}
	if err := a.withoutNote(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, g := range a.report.Gaps {
		if !g.Untested || g.Change != nil {
			t.Errorf("without tests, the gap is %+v", g)
		}
	}
	if len(a.report.Gaps) != 2 {
		t.Errorf("%d gaps, want one for each kind of calls", len(a.report.Gaps))
	}
}

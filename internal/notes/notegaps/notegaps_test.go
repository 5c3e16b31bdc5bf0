package notegaps

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/notes/notebook"
)

// maxUnplanted is the number of gaps that may be reported besides the planted ones.
const maxUnplanted = 3

// TestPlantedGaps checks with several sets of calls that Analyze finds each planted gap of
// the made project with its reason, and hardly any others.
func TestPlantedGaps(t *testing.T) {
	for _, seed := range []uint64{300, 1, 2} {
		in := madeProject(t, seed)
		if len(projectNotes) != 30 || len(in.Calls) != 300 {
			t.Fatalf("%d notes, %d calls", len(projectNotes), len(in.Calls))
		}
		report := analyze(t, in)
		names := gapNames(in, report)
		for _, p := range planted {
			i := slices.Index(names, fmt.Sprint(p.kind, " ", p.about))
			if i < 0 {
				t.Errorf("seed %d: %s: not found among %q", seed, p.name, names)
				continue
			}
			if g := &report.Gaps[i]; g.Cause+g.Cases[0].Unmet != p.why {
				t.Errorf("seed %d: %s: cause %q, condition not met %q; want %q", seed, p.name, g.Cause, g.Cases[0].Unmet, p.why)
			}
		}
		if len(names) > len(planted)+maxUnplanted {
			t.Errorf("seed %d: gaps %q", seed, names)
		}
	}
}

func analyze(t *testing.T, in *Input) *Report {
	t.Helper()
	r, err := Analyze(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gapNames returns the kind of each gap with its note or the start of its first call.
func gapNames(in *Input, r *Report) []string {
	var names []string
	for _, g := range r.Gaps {
		about := g.Note
		if about == "" {
			words := strings.Fields(in.Calls[g.Cases[0].Call].Command.Line)
			about = strings.Join(words[:min(len(words), 2)], " ")
		}
		names = append(names, fmt.Sprint(g.Kind, " ", about))
	}
	return names
}

// A note that was shown with the call that needed it has no gap, whatever its conditions are.
func TestShown(t *testing.T) {
	const rule = "Quote each identifier that Debezium captures, snapshots fail otherwise.\n"
	for _, test := range []struct {
		name, note string
		want       string // condition that is not met; "none": no gap
	}{
		{"shown", "---\ntitle: Captured tables\napplies_when:\n  paths: [\"etl/**\"]\n---\n" + rule, "none"},
		{"a missing language", "---\ntitle: Captured tables\nlanguages: [python]\npaths: [\"etl/**\"]\n---\n" + rule, "languages"},
		{"another tool", "---\ntitle: Captured tables\napplies_when:\n  tools: [Write]\n---\n" + rule, "tools"},
		{"a low priority", "---\ntitle: Captured tables\npriority: -8\napplies_when:\n  paths: [\"etl/**\"]\n---\n" + rule, ""},
		{"TOML", "+++\ntitle = \"Captured tables\"\n[applies_when]\npaths = [\"src/**\"]\n+++\n" + rule, "paths"},
	} {
		w := &transcriptWriter{tb: t, session: "s"}
		w.say("Load the tables.")
		w.edit("docs/setup.md", "Install it.")
		w.bash("make lint", "Lint", "")
		w.edit("etl/load.sql", "SELECT 1")
		w.say("No, quote each identifier, Debezium snapshots fail otherwise.")
		w.bash("uptime", "", "")
		calls, _, err := replay.Calls(strings.NewReader(w.String()), func(*replay.Event) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{
			"note.md":  test.note,
			"dates.md": projectNotes["dates.md"], "cache.md": projectNotes["cache.md"], "search.md": projectNotes["search.md"], "docker.md": projectNotes["docker.md"],
		}
		for _, bird := range strings.Fields("heron plover dunlin godwit curlew whimbrel redshank avocet lapwing knot sanderling snipe") {
			files[bird+".md"] = "# The " + bird + "\n\nA wading bird.\n" // with few notes, a low priority does not hide a clear match
		}
		in := projectOf(t, files, calls)
		in.Note = "note.md"
		got := "none"
		r := analyze(t, in)
		if len(r.Gaps) > 0 {
			got = r.Gaps[0].Cases[0].Unmet
		}
		if got != test.want || (got == "none") != slices.Contains(r.Notes[0].Calls, 2) {
			t.Errorf("%s: %q is not met, want %q; shown with %v", test.name, got, test.want, r.Notes[0].Calls)
		}
		in.Note = "none.md"
		if r := analyze(t, in); len(r.Notes)+len(r.Gaps) > 0 {
			t.Errorf("report %+v of another note", r)
		}
	}
}

func TestWithoutNotes(t *testing.T) {
	r := analyze(t, &Input{Folder: notebook.Folder(filepath.Join(t.TempDir(), "none")), Floor: 1.2, Calls: madeCalls(t, 1),
		Database: config.Database{Name: "team", Inject: []string{config.All}}})
	for _, g := range r.Gaps {
		if g.Kind != NoNote {
			t.Errorf("gap %+v of no note", g)
		}
	}
	if len(r.Notes) > 0 || len(r.Gaps) == 0 {
		t.Errorf("%d notes, %d gaps", len(r.Notes), len(r.Gaps))
	}
}

package notegaps

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/notebook"
)

// maxUnplanted is the number of gaps that may be reported besides the planted ones.
const maxUnplanted = 3

// TestPlantedGaps checks that Analyze finds each planted gap of the made project, that it
// names a change, and that the change closes this gap and no other.
func TestPlantedGaps(t *testing.T) {
	in := madeProject(t, 300)
	if len(projectNotes) != 30 || len(in.Calls) != 300 {
		t.Fatalf("%d notes, %d calls", len(projectNotes), len(in.Calls))
	}
	report := analyze(t, in)
	names := gapNames(in, report)
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			i := slices.Index(names, p.id())
			if i < 0 {
				t.Fatalf("not found among %q", names)
			}
			g := &report.Gaps[i]
			if got := describe(g.Change); got != p.change || len(g.Open) > 0 {
				t.Fatalf("change %q, open %v; want %q", got, g.Open, p.change)
			}
			defer apply(t, in, g)()
			want := slices.Delete(slices.Clone(names), i, i+1)
			got := gapNames(in, analyze(t, in))
			slices.Sort(want)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("after the change, the gaps are %q, want %q", got, want)
			}
		})
	}
}

// TestFalseReports checks with other calls that Analyze finds the planted gaps and hardly
// any others.
func TestFalseReports(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		in := madeProject(t, seed)
		names := gapNames(in, analyze(t, in))
		others := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return slices.ContainsFunc(planted, func(p plantedGap) bool { return p.id() == name })
		})
		t.Logf("seed %d: %d of %d planted gaps, others %q", seed, len(names)-len(others), len(planted), others)
		if len(names)-len(others) != len(planted) || len(others) > maxUnplanted {
			t.Errorf("seed %d: gaps %q", seed, names)
		}
	}
}

func (p *plantedGap) id() string { return fmt.Sprint(p.kind, " ", p.about) }

func analyze(t *testing.T, in *Input) *Report {
	t.Helper()
	r, err := Analyze(t.Context(), in)
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

// describe describes a change on one line.
func describe(c *Change) string {
	if c == nil {
		return ""
	}
	var parts []string
	add := func(key string, items []string) {
		if len(items) > 0 {
			parts = append(parts, fmt.Sprint(key, " ", items))
		}
	}
	if c.New {
		parts = append(parts, "new "+c.Fields.Title)
	}
	add("tags", c.Fields.Tags)
	for _, key := range conditionKeys {
		add(key, *condition(&c.Fields.AppliesWhen, key))
	}
	add("without", c.Without)
	add("remove", c.Words)
	return strings.Join(parts, ", ")
}

// apply makes the change of a gap in the folder of the notes.
func apply(t *testing.T, in *Input, g *Gap) (undo func()) {
	t.Helper()
	n, name := notebook.Note{}, g.Note
	if g.Change.New {
		name = notebook.NameFor(g.Change.Fields.Title)
	} else {
		var err error
		if n, err = in.Folder.Read(name); err != nil {
			t.Fatal(err)
		}
	}
	text, err := g.Change.Apply(&n, in.Language)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(string(in.Folder), name)
	before, _ := os.ReadFile(path)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if before == nil {
			os.Remove(path)
		} else if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

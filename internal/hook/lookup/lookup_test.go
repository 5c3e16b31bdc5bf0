package lookup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/notes"
)

func note(path, title, text string, use passage.NoteMeta) passage.Passage {
	p := passage.Passage{ID: path, Path: path, Title: title, Headings: []string{title}, Text: text}
	p.SetNoteMeta(use)
	return p
}

// teamNotes are about one subject each. The other notes give the words their rarity.
func teamNotes() []passage.Passage {
	all := []passage.Passage{
		note("retries.md", "Retries", "The client retries with an exponential backoff and jitter. Edit net/backoff_test.go with it.", passage.NoteMeta{}),
		note("release.md", "Releases", "Tag the commit and publish the changelog.", passage.NoteMeta{AppliesWhen: passage.AppliesWhen{Commands: []string{"git tag"}}}),
		note("oncall.md", "On call", "Hand the pager over at noon.", passage.NoteMeta{Pinned: true}),
		note("draft/timeouts.md", "Timeouts", "A deadline for exponential work.", passage.NoteMeta{}),
	}
	for i := range 12 {
		all = append(all, note(fmt.Sprintf("other%02d.md", i), fmt.Sprintf("Subject %d", i), fmt.Sprintf("Text about subject number%d of the team.", i), passage.NoteMeta{}))
	}
	return all
}

func database(t *testing.T, passages ...passage.Passage) *config.Database {
	t.Helper()
	dir := t.TempDir()
	indextest.Build(t, dir, index.BuildOptions{}, passages...)
	return &config.Database{Name: "team", Keywords: []string{"team"}, Path: dir, Inject: []string{config.All}}
}

func documentsOf(entries []notes.Entry) []string {
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Document)
	}
	return list
}

func TestEntries(t *testing.T) {
	all := database(t, teamNotes()...)
	published := *all
	published.Inject = []string{"*.md"}
	generation := func() string {
		var g string
		if err := (Indexes{}).withIndex(all, func(x *quicksearch.Index) error { g = x.Generation(); return nil }); err != nil {
			t.Fatal(err)
		}
		return g
	}()
	near := func(generation string, similarities map[uint32]float64) Indexes {
		return Indexes{Hybrid: true, Nearest: func(*config.Database, string, int) (string, map[uint32]float64) { return generation, similarities }}
	}
	backoff := &notes.Call{Tool: "Edit", Folder: "/p", Path: "/p/client.go", Text: "exponential backoff with jitter"}
	const floor = 1
	for _, test := range []struct {
		name     string
		indexes  Indexes
		db       *config.Database
		call     *notes.Call
		selected []string
		others   []string
		mentions string // the note with the name of the call's file
	}{
		{name: "words", db: all, call: backoff, selected: []string{"retries.md"}},
		{name: "the weak ones too", indexes: Indexes{Thorough: true}, db: all, call: backoff, selected: []string{"retries.md"}, others: []string{"draft/timeouts.md"}},
		{name: "outside of the pattern", indexes: Indexes{Thorough: true}, db: &published, call: backoff, selected: []string{"retries.md"}},
		{name: "a command", db: all, call: &notes.Call{Tool: "Bash", Folder: "/p", Command: "git tag v1"}, selected: []string{"release.md"}},
		{name: "the name of the file", db: all, call: &notes.Call{Tool: "Edit", Folder: "/p", Path: "/p/net/backoff_test.go", Text: "x := 1"}, mentions: "retries.md", selected: []string{"retries.md"}},
		{name: "nothing in common", db: all, call: &notes.Call{Tool: "Edit", Folder: "/p", Path: "/p/a.css", Text: "color: rebeccapurple"}},
		{name: "near by its vectors", indexes: near(generation, map[uint32]float64{2: .9}), db: all, call: &notes.Call{Tool: "Edit", Folder: "/p", Path: "/p/a.css", Text: "rebeccapurple"}, others: []string{"oncall.md"}},
		{name: "vectors of another generation", indexes: near("old", map[uint32]float64{2: .9}), db: all, call: &notes.Call{Tool: "Edit", Folder: "/p", Path: "/p/a.css", Text: "rebeccapurple"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.indexes.Thorough = test.indexes.Thorough || test.indexes.Hybrid
			entries, err := test.indexes.Entries(test.db, test.call, floor)
			if err != nil {
				t.Fatal(err)
			}
			var selected, others []string
			for _, e := range entries {
				if e.Selected != (e.Text != "") {
					t.Errorf("%s: selected %v, text %q", e.Document, e.Selected, e.Text)
				}
				if e.MentionsFile != (e.Document == test.mentions) || e.Share < 0 || e.Share > 1.1 || e.Rarity > 0 && e.Share == 0 {
					t.Errorf("%s: names the file: %v, share %v", e.Document, e.MentionsFile, e.Share)
				}
				if e.Notes != len(teamNotes()) {
					t.Errorf("%s is one of %d notes", e.Document, e.Notes)
				}
				if e.Selected {
					selected = append(selected, e.Document)
				} else {
					others = append(others, e.Document)
				}
			}
			if diff := cmp.Diff([2][]string{test.selected, test.others}, [2][]string{selected, others}); diff != "" {
				t.Errorf("selected and others (-want +got):\n%s\n%+v", diff, entries)
			}
		})
	}
	of, err := Indexes{}.EntriesOf(all, []*notes.Call{backoff, {Tool: "Bash", Folder: "/p", Command: "git tag v1"}}, floor)
	if err != nil || len(of) != 2 || len(of[0]) == 0 || of[0][0].Document != "retries.md" || len(of[1]) == 0 || of[1][0].Document != "release.md" {
		t.Errorf("entries of two calls: %+v, %v", of, err)
	}
	if _, err := (Indexes{Hybrid: true}).Entries(all, backoff, floor); !errors.Is(err, hook.ErrNeedsMain) {
		t.Errorf("vectors without an embedder: %v", err)
	}
	if _, err := (Indexes{}).Entries(&config.Database{Path: t.TempDir()}, backoff, floor); err == nil {
		t.Error("a folder without an index has entries")
	}
}

func TestContents(t *testing.T) {
	var many []passage.Passage
	for i := range maxListed + 20 {
		many = append(many, note(fmt.Sprintf("n%03d.md", i), fmt.Sprintf("Note %d", i), fmt.Sprintf("About item%d.", i), passage.NoteMeta{Pinned: i == maxListed+10}))
	}
	many = append(many, note("draft/a.md", "A draft", "Unfinished.", passage.NoteMeta{Pinned: true}))
	for _, test := range []struct {
		name     string
		passages []passage.Passage
		inject   string
		listed   int
		all      int
		pinned   string
	}{
		{"all", teamNotes(), config.All, 16, 16, "oncall.md"},
		{"a pattern", teamNotes(), "o*.md", 13, 13, "oncall.md"},
		{"the further ones are pinned", many, "n*.md", maxListed + 1, maxListed + 20, fmt.Sprintf("n%d.md", maxListed+10)},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := database(t, test.passages...)
			db.Inject = []string{test.inject}
			entries, all, err := Indexes{}.Contents(db)
			if err != nil || len(entries) != test.listed || all != test.all {
				t.Fatalf("%d entries of %d (%v), want %d of %d", len(entries), all, err, test.listed, test.all)
			}
			var withText []string
			for _, e := range entries {
				if e.Text != "" {
					withText = append(withText, e.Document)
				}
			}
			if !slices.Equal(withText, []string{test.pinned}) {
				t.Errorf("the notes %q have their text, want %q", withText, test.pinned)
			}
		})
	}
}

func TestSimilarAndAbout(t *testing.T) {
	db := database(t, teamNotes()...)
	for _, test := range []struct {
		name     string
		text     string
		commands []string
		want     []string
	}{
		{"most of the words", "backoff jitter", nil, []string{"retries.md"}},
		{"few of the words", "exponential growth of invoices and contracts", nil, []string{}},
		{"the command", "invoices", []string{"git tag"}, []string{"release.md"}},
		{"the program with another command", "invoices", []string{"git push"}, []string{}},
	} {
		entries, err := Indexes{}.Similar(db, test.text, test.commands)
		if got := documentsOf(entries); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: similar notes %q (%v), want %q", test.name, got, err, test.want)
		}
	}
	entries, err := Indexes{}.About(db, "exponential jitter")
	if got := documentsOf(entries); err != nil || !slices.Equal(got, []string{"retries.md", "draft/timeouts.md"}) {
		t.Fatalf("about it: %q (%v)", got, err)
	}
	if entries[0].Relevance <= entries[1].Relevance || entries[0].Relevance > 1 {
		t.Errorf("relevances %v and %v", entries[0].Relevance, entries[1].Relevance)
	}
	db.Inject = []string{"draft/*"}
	if entries, err := (Indexes{}).About(db, "exponential jitter"); err != nil || !slices.Equal(documentsOf(entries), []string{"draft/timeouts.md"}) {
		t.Errorf("about it, of the drafts: %q (%v)", documentsOf(entries), err)
	}
}

func TestRankRemedies(t *testing.T) {
	remedy := func(path, heading, name string, score float64) hook.Remedy {
		r := hook.Remedy{Passage: passage.Passage{ID: path + heading, Path: path}, Score: score, Name: name}
		if heading != "" {
			r.Passage.Headings = []string{heading}
		}
		return r
	}
	for _, test := range []struct {
		name     string
		distinct bool
		remedies []hook.Remedy
		want     string
	}{
		{"best first", false, []hook.Remedy{remedy("a", "x", "", .2), remedy("b", "y", "", .8), remedy("c", "z", "", .5)}, "by cz ax"},
		{"one of a document", true, []hook.Remedy{remedy("a", "x", "", .2), remedy("a", "y", "", .8), remedy("c", "z", "", .5)}, "ay cz"},
		{"several of a document", false, []hook.Remedy{remedy("a", "x", "", .2), remedy("a", "y", "", .8)}, "ay ax"},
		{"one of a heading", true, []hook.Remedy{remedy("v1", "x", "", .8), remedy("v2", "x", "", .7), remedy("c", "z", "", .5)}, "v1x cz"},
		{"without headings", true, []hook.Remedy{remedy("a", "", "", .8), remedy("b", "", "", .7)}, "a b"},
		{"another name first", false, []hook.Remedy{remedy("a", "x", "E1", .9), remedy("b", "y", "E1", .8), remedy("c", "z", "E2", .7)}, "ax cz by"},
		{"no name is not one", false, []hook.Remedy{remedy("a", "x", "", .9), remedy("b", "y", "", .8), remedy("c", "z", "E2", .7)}, "ax by cz"},
	} {
		var got []string
		for _, r := range rankRemedies(test.remedies, test.distinct) {
			got = append(got, r.Passage.ID)
		}
		want := strings.Fields(test.want)
		if !slices.Equal(got, want[:min(len(want), hook.MaxRemedies)]) {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}

func TestRemedy(t *testing.T) {
	passages := teamNotes()
	passages = append(passages,
		note("ports.md", "Address already in use", "If the server reports that the address is already in use, stop the other listener first.", passage.NoteMeta{}),
		note("disk.md", "No space", "If a write fails because no space is left on the device, prune the cache directory.", passage.NoteMeta{}))
	db := database(t, passages...)
	for failure, want := range map[string]string{
		"error: listen tcp :8080: bind: address already in use":                                              "ports.md",
		"error: cannot write the cache file: no space left on the device\nerror: build of the target failed": "disk.md",
	} {
		remedies, err := Indexes{}.Remedy(db, &notes.Call{Tool: "Bash", Folder: "/p", Command: "make", Failure: failure})
		if err != nil || len(remedies) == 0 || remedies[0].Passage.Path != want {
			t.Errorf("%q: %+v (%v), want %s", failure, remedies, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	commands := database(t, passage.Passage{ID: "1", Path: "man/kettle.1", Title: "kettle(1)", Headings: []string{"kettle(1)"}, Text: "kettle boils water"})
	dbs := []config.Database{{Name: "far", Remote: "https://docs.example"}, *commands, {Name: "gone", Path: t.TempDir()}}
	got := pageNames(dbs)
	if len(got) != 3 || len(got[0]) != 0 || !slices.Contains(got[1], "kettle") || len(got[2]) != 0 {
		t.Errorf("names of pages: %q", got)
	}
}

// A searcher whose server does not answer is not asked, and one without a network leaves the
// search to the rest of the program. A local database needs neither.
func TestRemoteDatabases(t *testing.T) {
	local, served := database(t, teamNotes()...), &config.Database{Name: "far", Remote: "https://docs.example", Version: "2.0"}
	var x Indexes
	if _, err := x.Search(served, event.Search{Query: "backoff"}); !errors.Is(err, hook.ErrNeedsMain) {
		t.Errorf("search without a network: %v", err)
	}
	if _, _, err := x.Page(served, event.Fetch{URL: "https://docs.example/a"}); !errors.Is(err, hook.ErrNeedsMain) {
		t.Errorf("page without a network: %v", err)
	}
	if version, err := x.Check(served); err != nil || version != "2.0" {
		t.Errorf("check: %q, %v", version, err)
	}
	missing := &config.Database{Name: "gone", Path: t.TempDir() + "/gone"}
	for _, test := range []struct {
		db             *config.Database
		present, opens bool
	}{{local, true, true}, {served, true, true}, {missing, false, false}} {
		if got := x.Present(test.db); got != test.present {
			t.Errorf("%s is present: %v", test.db.Name, got)
		}
		if err := x.Opens(test.db); (err == nil) != test.opens {
			t.Errorf("%s opens: %v", test.db.Name, err)
		}
	}
	a, err := x.Search(local, event.Search{Query: "exponential backoff jitter"})
	if err != nil || len(a.Passages) == 0 || a.Passages[0].Path != "retries.md" {
		t.Errorf("search: %+v, %v", a, err)
	}
}

package lexical

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// build indexes passages of the given documents.
func build(tb testing.TB, documents []uint32, fields []Fields) *Index {
	tb.Helper()
	return buildWith(tb, Options{}, documents, fields)
}

func buildWith(tb testing.TB, options Options, documents []uint32, fields []Fields) *Index {
	tb.Helper()
	b := NewBuilder(options)
	for i, f := range fields {
		b.Add(documents[i], f)
	}
	path := filepath.Join(tb.TempDir(), "lexical.idx")
	if err := b.Write(tb.Context(), confined.Of(path)); err != nil {
		tb.Fatal(err)
	}
	x, err := Open(confined.Of(path))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { x.Close() })
	if err := x.Verify(nil); err != nil {
		tb.Fatal(err)
	}
	return x
}

func TestSearch(t *testing.T) {
	x := build(t, []uint32{0, 0, 1, 1, 2}, []Fields{
		{Title: "os.path.join(path, *paths)", Page: "Path manipulations", Body: "Join one or more path components.", Address: "https://e.org/3/library/os.path.html#os.path.join"},
		{Title: "os.path.exists(path)", Page: "Path manipulations", Body: "Return True if the path exists; see also max_path_length.", Address: "https://e.org/3/library/os.path.html#os.path.exists"},
		{Title: "Pipelines", Page: "Continuous integration", Body: "Pipelines run jobs in stages. Retry a job with --retry or the button.", Address: "https://e.org/ci/pipelines.html"},
		{Title: "Caching", Path: []string{"Pipelines"}, Page: "Continuous integration", Body: "A cache keeps dependencies between jobs.", Address: "https://e.org/ci/pipelines.html#caching"},
		{Title: "C++", Page: "Languages", Body: "C++ and C# and .NET are languages.", Address: "https://e.org/languages.html"},
	})
	for _, tt := range []struct {
		name  string
		query Query
		want  []uint32
	}{
		{"word", Query{Text: "caches"}, []uint32{3}},
		{"question", Query{Text: "how do I cache the dependencies?"}, []uint32{3}},
		{"name", Query{Text: "os.path.exists"}, []uint32{1, 0}},
		{"last component", Query{Text: "exists()"}, []uint32{1}},
		{"snake case", Query{Text: "max_path_length"}, []uint32{1, 0}},
		{"phrase", Query{Text: `"jobs in stages"`}, []uint32{2}},
		{"phrase that is nowhere", Query{Text: `"stages in jobs"`}, []uint32{2, 3}},
		{"without", Query{Text: "jobs -stages"}, []uint32{3}},
		{"title", Query{Text: "title:pipelines"}, []uint32{2, 3}},
		{"path", Query{Text: "path path:library/os.path"}, []uint32{1, 0}},
		{"not path", Query{Text: "jobs -path:caching"}, []uint32{2}},
		{"option", Query{Text: "--retry"}, []uint32{2}},
		{"c++", Query{Text: "c++"}, []uint32{4}},
		{"names dropped", Query{Text: "languages cache", Names: []string{"languages"}}, []uint32{3}},
		{"nothing but names", Query{Text: "languages", Names: []string{"languages"}}, []uint32{4}},
		{"keywords", Query{Text: "zzz", Keywords: []string{"os.path.join"}}, []uint32{0, 1}},
		{"accept", Query{Text: "jobs", Accept: func(p uint32) bool { return p == 3 }}, []uint32{3}},
		{"unknown", Query{Text: "zebra"}, nil},
		{"empty", Query{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.query.Limit = 10
			hits, _, err := x.Search(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []uint32
			for _, h := range hits {
				got = append(got, h.Passage)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Operators that leave no hits are reported, unless the query has none without them either.
func TestSearchExcludesAll(t *testing.T) {
	x := build(t, []uint32{0, 0, 1}, []Fields{
		{Title: "Bands", Page: "Radio", Body: "Each band has a number.", Address: "radio/bands.html"},
		{Title: "Numbers", Page: "Radio", Body: "A number is that of one band.", Address: "radio/numbers.html"},
		{Title: "--mute and -tone", Page: "Options", Body: "Both need the audio system.", Address: "options.html"},
	})
	for _, tt := range []struct {
		text string
		hits int
		want string
	}{
		{"number", 2, ""},
		{"number -band", 0, "-band"},
		{`number "each band" -title:bands -"one band" -audio`, 0, `-title:bands -"one band" -audio`},
		{"number -title:bands", 1, ""},
		{"number -band path:nowhere", 0, ""},
		{"zebra -band", 0, ""},
		{"audio -tone", 1, ""},
		{"audio --mute", 1, ""},
	} {
		hits, s, err := x.Search(Query{Text: tt.text, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) != tt.hits || s.Excluding != tt.want {
			t.Errorf("%s: %d hits, excluding %q; want %d, %q", tt.text, len(hits), s.Excluding, tt.hits, tt.want)
		}
	}
}

func TestSearchPrefersDefinitionInSameCase(t *testing.T) {
	x := build(t, []uint32{0, 0, 0}, []Fields{
		{Title: "reprlib.aRepr", Page: "Short representations", Body: "The instance that repr uses. See reprlib, Repr, and reprlib.Repr."},
		{Title: "reprlib.repr(obj)", Page: "Short representations", Body: "The method of aRepr. It returns a short text."},
		{Title: "class reprlib.Repr()", Page: "Short representations", Body: "A formatter with limits for the size of each type, which its attributes set."},
	})
	for query, want := range map[string]uint32{"reprlib.Repr": 2, "reprlib.repr": 1} {
		hits, _, err := x.Search(Query{Text: query, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) == 0 || hits[0].Passage != want {
			t.Errorf("%s: got %+v, want passage %d first", query, hits, want)
		}
	}
}

func TestSearchListedNames(t *testing.T) {
	x := build(t, []uint32{0, 1, 2, 3}, []Fields{
		{Title: "Timing", Page: "Timing", Body: "Timing with track_io_timing, the time of input and output. Timing costs time."},
		{Title: "Meta-commands", Page: "psql", Body: "- `\\timing [ on | off ]`: Turns the display on of how long each statement takes, in milliseconds.\n- `\\watch`: Repeats a query."},
		{Title: "Settings", Page: "Settings", Body: "Settings and the current setting of each, which the view of current settings has."},
		{Title: "System functions", Page: "System functions", Body: "| Function |\n| --- |\n| `current_setting` ( `name` `text` ) → `text`; Returns a value. |\n"},
	})
	for query, want := range map[string]uint32{`\timing`: 1, `how do I use \timing+`: 1, "timing": 0, "current_setting": 3} {
		hits, _, err := x.Search(Query{Text: query, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) == 0 || hits[0].Passage != want {
			t.Errorf("%s: got %+v, want passage %d first", query, hits, want)
		}
	}
}

func TestExplain(t *testing.T) {
	x := build(t, []uint32{0, 0, 1, 0}, []Fields{
		{Title: "Other", Body: "nothing"},
		{Title: "os.remove", Path: []string{"Files"}, Page: "os", Body: "Remove the file. A file is removed at once.", Address: "os.html#os.remove"},
		{Title: "Far", Body: "away"},
		{Title: "Last", Body: "deleted file"},
	})
	got, err := x.Explain(Query{Text: "delete file", Keywords: []string{"os.remove"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	words, page := 0., 0.
	terms := make(map[string]Reason)
	for _, r := range got {
		words, page = words+r.Words, page+r.Page
		if (r.Words > 0) != (len(r.Fields) > 0 && !r.Symbol) || (r.Page > 0) == r.Symbol {
			t.Errorf("terms of the passage: %+v", r)
		}
		r.Words, r.Page = 0, 0
		terms[r.Term] = r
	}
	if math.Abs(words-1) > 1e-9 || math.Abs(page-1) > 1e-9 {
		t.Errorf("shares are %g and %g together", words, page)
	}
	want := map[string]Reason{
		"delet":     {Term: "delet"}, // in another passage of the page
		"file":      {Term: "file", Fields: []Occurrence{{"headings", 1}, {"body", 2}}},
		"remov":     {Term: "remov", Fields: []Occurrence{{"title", 1}, {"address", 1}, {"body", 2}}},
		"os":        {Term: "os", Fields: []Occurrence{{"title", 1}, {"page", 1}, {"address", 2}}},
		"@osremove": {Term: "@osremove", Symbol: true, Fields: []Occurrence{{"title", 1}}},
	}
	if diff := cmp.Diff(want, terms); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got, err = x.Explain(Query{Text: "delete"}, 1); err != nil || len(got) != 2 || got[0].Term != "remov" || !got[0].Synonym || got[0].Words != 1 {
		t.Errorf("a synonym: %v, %v", got, err)
	}
	if got, err = x.Explain(Query{Text: "nothing else"}, 2); err != nil || got != nil {
		t.Errorf("a passage without words of the query: %v, %v", got, err)
	}
	if _, err := x.Explain(Query{Text: "file"}, 4); err == nil {
		t.Error("Explain accepted a passage that does not exist")
	}
}

// A number in a name finds the name with leading zeros, but not if the index has it as written.
func TestSearchNumberWithZeros(t *testing.T) {
	x := build(t, []uint32{0, 1, 2, 3, 4, 5}, []Fields{
		{Title: "ADR-016: One queue", Page: "ADR-016: One queue", Body: "We use one queue. It replaces the 16 queues of this ADR's forerunner."},
		{Title: "ADR-017: Two queues", Page: "ADR-017: Two queues", Body: "We use two queues instead of the one of ADR 16."},
		{Title: "Names of databases", Page: "Names of databases", Body: "A name is that of a person.", Address: "docs/rfc/0016-names.md"},
		{Title: "Step 1", Page: "Install", Body: "Start with step 1."},
		{Title: "Step 01", Page: "Remove", Body: "Start with this step."},
		{Title: "Decisions", Page: "Decisions", Body: "The rule KB-0023 is about the 23 keys of KB pages."},
	})
	for text, want := range map[string]struct {
		passage uint32
		text    string
	}{
		"adr 16":           {0, "adr 016"},
		"what says ADR-16": {0, "what says ADR-016"},
		"adr 17":           {1, "adr 017"},
		"rfc 16 adr 17":    {1, "rfc 0016 adr 017"},
		"rfc 16":           {2, "rfc 0016"},
		"kb 23":            {5, "kb 0023"},
		"step 1":           {3, "step 1"},
		"step 01":          {4, "step 01"},
		"queue 16":         {0, "queue 16"},
		`"adr 16" queues`:  {1, `"adr 16" queues`},
	} {
		hits, s, err := x.Search(Query{Text: text, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) == 0 || hits[0].Passage != want.passage || s.Text != want.text {
			t.Errorf("%s: searched %q, got %+v; want %q, passage %d first", text, s.Text, hits, want.text, want.passage)
		}
	}
}

// A query that is an identifier names the database that defines it.
func TestIdentifierNames(t *testing.T) {
	x := build(t, []uint32{0, 1, 2, 3, 4}, []Fields{
		{Title: "pg_notify", Body: "Send a notification."},
		{Title: "http.client", Body: "The class of a connection."},
		{Title: "decode_url, encode_url", Body: "Both change a text."},
		{Title: "Options", Body: "- `--slow`\n  Takes its time.\n\n- `hold-time minutes`\n  Stops later."},
		{Title: "'number'", Body: "Shows the line."},
	})
	for text, want := range map[string]bool{
		"pg_notify": true, "what is pg_notify()?": true, "http.client": true,
		"http_client":          false, // another name
		"notification":         false, // no identifier
		"pg_notify connection": false,
		"pg_listen":            false,
		"encode_url":           true,
		"--slow":               true,
		"--fast":               false,
		"hold-time":            true,
		"'number'":             true,
		"number":               false, // a word
	} {
		if _, s, err := x.Search(Query{Text: text, Limit: 5}); err != nil || s.Named != want {
			t.Errorf("%s: named: %t, %v", text, s.Named, err)
		}
	}
}

func TestSignals(t *testing.T) {
	x := build(t, []uint32{0, 1, 2}, []Fields{
		{Title: "Branches", Body: "Create a branch and merge the branch. See merge_base."},
		{Title: "Commits", Body: "A commit is made on a branch."},
		{Title: "Remotes", Body: "Push a branch to a remote."},
	})
	signals := func(text string) Signals {
		t.Helper()
		_, s, err := x.Search(Query{Text: text, Limit: 5, Names: []string{"git"}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	known, unknown := signals("merge a branch"), signals("boil an egg")
	if known.Terms != 2 || known.Unknown != 0 || known.KnownShare != 1 || known.Coverage < .99 || known.RelativeScore <= 0 || known.Proximity <= 0 {
		t.Errorf("an answered query: %+v", known)
	}
	if unknown.Terms != 2 || unknown.Unknown != 2 || unknown.KnownShare != 0 || unknown.Coverage != 0 || unknown.RelativeScore != 0 {
		t.Errorf("a query of unknown words: %+v", unknown)
	}
	if half := signals("merge an egg"); !(half.KnownShare > 0 && half.KnownShare < 1 && half.Coverage < known.Coverage) {
		t.Errorf("a query of known and unknown words: %+v", half)
	}
	if s := signals("git merge"); !s.Named || known.Named {
		t.Errorf("the database's name: %+v, %+v", s, known)
	}
	if _, s, err := x.Search(Query{Text: "merge", Named: true, Limit: 1}); err != nil || !s.Named {
		t.Errorf("Query.Named: %+v, %v", s, err)
	}
	if s := signals("merge in django"); s.TechnologyRarity < .99 || known.TechnologyRarity != 0 {
		t.Errorf("another's name: %+v, %+v", s, known)
	}
	if s := signals("merge_base"); s.UnknownName {
		t.Errorf("a name that is known: %+v", s)
	}
	for _, text := range []string{"merge merge_tree", "branch re.sub"} {
		if s := signals(text); !s.UnknownName {
			t.Errorf("%s: unexpected unknown name: %+v", text, s)
		}
	}
	if s := signals(`"merge the branch"`); s.Relaxed {
		t.Errorf("an existing phrase: %+v", s)
	}
	if s := signals(`"commit remote"`); !s.Relaxed {
		t.Errorf("a missing phrase: %+v", s)
	}
	if s := signals("merge a branch with an egg"); s.LowestEvidence >= 0 || s.LowestEvidence >= s.MeanEvidence {
		t.Errorf("evidence: %+v", s)
	}
	only := slices.Index(FeatureNames[:], "other technology only")
	for text, want := range map[string]float64{"merge in django": 1, "merge in git and django": 0, "merge": 0} {
		f := signals(text).Features()
		if len(f) != len(FeatureNames) || f[only] != want {
			t.Errorf("features of %s are %v, want %g at %d", text, f, want, only)
		}
	}
}

// TestWeights checks how the terms of queries start in the folded text of passages.
func TestWeights(t *testing.T) {
	x := build(t, []uint32{0, 1, 2}, []Fields{
		{Title: "Dictionaries", Body: "A dictionary has keys. See --dry-run, and `->>` for a lookup. Remove or delete it."},
		{Title: "Lists", Body: "A list has no keys. Delete its items."},
		{Title: "Größen", Body: "Eine Größe."},
	})
	for _, tt := range []struct {
		query string
		want  []string // with weights from 1 down
	}{
		{"dictionary keys", []string{"dictionar", "key"}},
		{"--dry-run keys", []string{"--dry-run", "key"}},
		{"->>", []string{"->>"}},
		{"remove keys", []string{"remov", "delet"}}, // a synonym
		{"Größe", []string{"grosse"}},
	} {
		_, s, err := x.Search(Query{Text: tt.query, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		last := 1.
		for i, start := range tt.want {
			n := slices.IndexFunc(s.Weights, func(w TermWeight) bool { return w.Start == start })
			if n < 0 || s.Weights[n].Weight > last || i == 0 && s.Weights[n].Weight != 1 {
				t.Errorf("%s: weights %v, want %v", tt.query, s.Weights, tt.want)
				break
			}
			last = s.Weights[n].Weight
		}
	}
}

func TestFrequency(t *testing.T) {
	x := build(t, []uint32{0, 0, 0}, []Fields{{Body: "A branch."}, {Title: "Branches", Body: "Many branches of a tree."}, {Body: "No tree."}})
	for word, want := range map[string]int{"branch": 2, "Branches": 2, "trees": 2, "many": 1, "egg": 0, "the": 0, "": 0} {
		if got, err := x.Frequency(word); err != nil || got != want {
			t.Errorf("%q is in %d passages, %v, want %d", word, got, err, want)
		}
	}
}

// The passage that defines a term comes before one that has it more often.
func TestDefinedTerms(t *testing.T) {
	filler := strings.Repeat("The kettle boils water for tea and tells when it is done. ", 3)
	x := build(t, []uint32{0, 0}, []Fields{
		{Title: "Settings", Page: "kettle(5)", Body: "See MaxWater below. " + filler + "MaxWater and MaxWater again.", Address: "kettle.5:1"},
		{Title: "Settings", Page: "kettle(5)", Body: "- `LidLock`\n  Locks the lid. " + filler + "\n\n- `MaxWater`\n  Stops at the mark.", Address: "kettle.5:9"},
	})
	hits, _, err := x.Search(Query{Text: "MaxWater", Limit: 2})
	if err != nil || len(hits) == 0 || hits[0].Passage != 1 {
		t.Errorf("%v, %v; want passage 1 first", hits, err)
	}
}

// A passage that defines many names is not as many times about the words that all of them share.
func TestSharedWordOfIndexTerms(t *testing.T) {
	s := statistics{averages: averages{k1: 5}, thresholds: newThresholds(5, true),
		pageThresholds: newThresholds(pageK1, true)}
	s.fieldLength[fieldTerms] = 10
	for words := range uint32(51) {
		s.norms[fieldTerms] = append(s.norms[fieldTerms], s.lengthNorm(fieldTerms, words))
	}
	impact := func(n int) uint8 {
		p := passageInfo{bodyStart: 100}
		p.shortLengths[fieldTerms], p.wordCounts[fieldTerms] = 50, 50
		positions := make([]uint32, n) // delta-encoded: in a row
		positions[0] = 6               // after the gaps of the empty fields
		return s.impact(&p, positions, &pageFrequencies{})
	}
	if once, most, many := impact(1), impact(maxTermCount), impact(11); once >= most || most != many {
		t.Errorf("impact %d of a word once among the index terms, %d of %d, %d of eleven", once, most, maxTermCount, many)
	}
}

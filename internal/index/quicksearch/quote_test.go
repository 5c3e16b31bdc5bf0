package quicksearch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// manual is the passages of a made-up manual: a page on undoing with
// alternatives, a copy of one of its sections, and pages about other things.
func manual() []passage.Passage {
	section := func(page string, headings []string, text string) passage.Passage {
		return passage.Passage{URL: "https://docs.example.org/" + page, Title: headings[0], Headings: headings, Text: text}
	}
	var passages []passage.Passage
	for _, s := range [][2]string{
		{"Clone a vault", "Copies a vault with all snapshots to another place. Credentials stay where they are, and the copy asks for its own."},
		{"Undo a snapshot and keep the files", "```\nvault revert --keep\n```\n\nThe snapshot goes, the files stay as they are, and the next snapshot has them."},
		{"Undo a rename", "Gives the vault its former name again."},
		{"Undo snapshots permanently", "```\nvault revert --purge\n```\n\nTo undo the last snapshot permanently, purge it. The snapshot and the files it brought are gone."},
		{"Rename a vault", "Gives the vault another name. Snapshots are not touched by that, and clones keep theirs."},
	} {
		passages = append(passages, section("revert", []string{"vault-revert", "Examples", s[0]}, "### "+s[0]+"\n\n"+s[1]))
	}
	copied := passages[3]
	copied.URL, copied.Title = "https://docs.example.org/cheatsheet", "Cheat sheet"
	copied.Headings = []string{"Cheat sheet", "Purge"}
	passages = append(passages, copied,
		section("errors", []string{"Errors", "Locks"}, "The message `vault is held by another process` means that a snapshot is under way. Wait for it, or end that process."),
		section("errors2", []string{"Processes", "Other processes"}, "Another process of the vault reads snapshots while a process holds another vault. A process is no other process. Held by process."),
	)
	for i := range 60 {
		passages = append(passages, section(fmt.Sprintf("other%d", i), []string{fmt.Sprintf("Topic %d", i)},
			strings.Repeat(fmt.Sprintf("Subject%d is described here at some length with words of its own. ", i), 6)))
	}
	return passages
}

// sixty returns as many pages about one thing, with their numbers in the heading and in the
// text, a format.
func sixty(page, title, heading, text string) (passages []passage.Passage) {
	for i := range 60 {
		passages = append(passages, passage.Passage{URL: fmt.Sprintf("https://docs.example.org/%s%d", page, i), Title: title,
			Headings: []string{fmt.Sprintf("%s, part %d", heading, i)}, Text: fmt.Sprintf(text, i)})
	}
	return passages
}

func quoted(t *testing.T, x *quicksearch.Index, query string) (places []string) {
	t.Helper()
	a, err := x.Quote(quicksearch.Query{Text: query, Names: []string{"vault"}, Named: true, Limit: 6, MaxBytes: 10000})
	if err != nil {
		t.Fatal(err)
	}
	if !a.Confident || len(a.Hits) == 0 {
		t.Fatalf("%s: confidence %.2f, %d passages", query, a.Confidence, len(a.Hits))
	}
	for _, h := range a.Hits {
		places = append(places, h.Headings[len(h.Headings)-1])
	}
	return places
}

// The alternative to a section comes with it, and no text twice.
func TestQuoteAlternatives(t *testing.T) {
	got := quoted(t, open(t, manual()), "vault-revert undo snapshots permanently purge")
	if len(got) < 3 || got[0] != "Undo snapshots permanently" || !slices.Contains(got[1:3], "Undo a snapshot and keep the files") {
		t.Fatalf("sections %q", got)
	}
	if slices.Contains(got, "Purge") {
		t.Errorf("a copy of the best section is quoted: %q", got)
	}
	if slices.Contains(got[:2], "Rename a vault") || slices.Contains(got[:2], "Clone a vault") {
		t.Errorf("sections about other things follow the best one: %q", got)
	}
}

// The passage of the same section after the best one is quoted even if it has no word of
// the query.
func TestQuoteFollowing(t *testing.T) {
	page := func(name string, texts ...string) (list []passage.Passage) {
		for _, text := range texts {
			heading, _, _ := strings.Cut(text, " ")
			list = append(list, passage.Passage{URL: "https://docs.example.org/" + name, Title: name, Headings: []string{name, "Settings", heading}, Text: text})
		}
		return list
	}
	passages := slices.Concat(manual(), page("limits",
		"Overview: each archive has settings.",
		"Quota: vault-quota sets the quota of a vault in bytes. Without the quota, a vault grows.",
		"Numbers: one million by default. Zero means that there is none."))
	got := quoted(t, open(t, passages), "vault-quota sets quota bytes")
	if len(got) < 2 || got[0] != "Quota:" || !slices.Contains(got, "Numbers:") {
		t.Errorf("sections %q", got)
	}
}

// A passage with a term that the best one lacks is quoted before better ones without it.
func TestQuoteNewTerms(t *testing.T) {
	passages := manual()
	for i, text := range []string{
		"Merge archives of one year into a yearly archive.", "Archives on tape merge slowly, one file at a time.",
		"Before you merge archives, lock both of them.", "Merged archives keep their labels unless a label occurs twice.",
		"A plan lists which archives to merge next week.", "Small archives merge in memory; large ones need a disk.",
	} {
		heading := fmt.Sprintf("Merge archives, part %d", i)
		passages = append(passages, passage.Passage{URL: fmt.Sprintf("https://docs.example.org/merge%d", i), Title: "Merge archives", Headings: []string{heading}, Text: text})
	}
	passages = append(passages, passage.Passage{URL: "https://docs.example.org/headers", Title: "Headers of archives", Headings: []string{"Headers of archives"},
		Text: strings.Repeat("Each archive has a header that describes its length and its owner. ", 3) + "A checksum protects it."})
	if got := quoted(t, open(t, passages), "vault merge archives checksum"); got[1] != "Headers of archives" {
		t.Errorf("sections %q", got)
	}
}

// Terms that all matching passages lack are searched on their own. A passage that mentions
// one of them in passing is not quoted.
func TestQuoteMissingTerms(t *testing.T) {
	passages := append(manual(), sixty("merge", "Merge archives", "Merge yearly archives on tape", "To merge yearly archives on tape %d, load the tapes of the archives.")...)
	other := func(page, text string) {
		passages = append(passages, passage.Passage{URL: "https://docs.example.org/" + page, Title: page, Headings: []string{page}, Text: text})
	}
	other("Votes", strings.Repeat("Each member of the group has a ballot that it casts once. ", 12)+"A lost quorum needs a witness.")
	other("Colors", strings.Repeat("Each state has a color in the list. ", 12)+"The last one is turquoise.")
	x := open(t, passages)
	for query, want := range map[string]string{
		"vault merge yearly archives tape quorum witness": "Votes",
		"vault merge yearly archives tape turquoise":      "",
	} {
		got := slices.DeleteFunc(quoted(t, x, query), func(s string) bool { return strings.HasPrefix(s, "Merge yearly") })
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: besides the matching sections: %q, want %q", query, got, want)
		}
	}
}

// The passage to which a similar key of the thesaurus leads is among the first, even if it
// has no word of the query. The key is "split string rows".
func TestQuoteRelated(t *testing.T) {
	passages := append(manual(), sixty("split", "Split rows", "Split one row into many rows", "To split one row of snapshot %d into many rows, ask for it.")...)
	passages = append(passages, passage.Passage{URL: "https://docs.example.org/functions", Title: "Functions", Headings: []string{"Functions"},
		Text: strings.Repeat("A function has arguments. ", 20) + "Others are unnest and string_to_array."})
	x := open(t, passages)
	for query, want := range map[string]int{"vault split one row into many": 3, "vault ask for one row of many": -1} {
		if got := slices.Index(quoted(t, x, query), "Functions"); got != want {
			t.Errorf("%q quotes the functions at %d, want %d", query, got, want)
		}
	}
}

// The passage that has a pasted message comes first.
func TestQuoteMessage(t *testing.T) {
	x := open(t, manual())
	if got := quoted(t, x, `vault "vault is held by another process" snapshot`); got[0] != "Locks" {
		t.Errorf("sections %q", got)
	}
	if got := quoted(t, x, "fatal: vault is held by another process"); got[0] != "Locks" {
		t.Errorf("sections %q", got)
	}
}

// Quote stops at the room that there is, and finds nothing where Search does
// not.
func TestQuoteIsBounded(t *testing.T) {
	x := open(t, manual())
	a, err := x.Quote(quicksearch.Query{Text: "undo last snapshot permanently purge", Names: []string{"vault"}, Named: true, Limit: 6, MaxBytes: 1})
	if err != nil || len(a.Hits) == 0 || len(a.Hits) > 3 {
		t.Errorf("%d passages, %v; want the best and its alternatives", len(a.Hits), err)
	}
	if a, err = x.Quote(quicksearch.Query{Text: "zymotic", Limit: 6, MaxBytes: 1000}); err != nil || a.Confident || len(a.Hits) > 0 {
		t.Errorf("a word that no passage has: %+v, %v", a, err)
	}
}

// A query with several names of one page gets the sections that define them, although
// others on the page, also copies, match more of its words.
func TestQuoteNames(t *testing.T) {
	passages := manual()
	setting := func(heading, text string) {
		passages = append(passages, passage.Passage{URL: "https://docs.example.org/settings", Title: "Vault settings",
			Headings: []string{"Vault settings", heading}, Text: "### " + heading + "\n\n" + text})
	}
	for _, kind := range []string{"Local", "Remote", "Shared", "Frozen", "Hidden"} {
		setting(kind+" vaults", "The settings file of a vault inherits the settings of the vault above it, for example those of the settings file.")
	}
	setting("pollInterval", "Time between two looks at the folder.")
	setting("retryLimit", "Number of attempts.")
	setting("cacheFolder", "Where copies are kept.")
	got := quoted(t, open(t, passages), "vault settings file inherits pollInterval retryLimit cacheFolder example")
	for _, want := range []string{"pollInterval", "retryLimit", "cacheFolder"} {
		if !slices.Contains(got, want) {
			t.Errorf("the section %s is not quoted: %q", want, got)
		}
	}
}

package lexical

import (
	"strings"
	"testing"
)

func TestRelated(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	german, err := NewAnalyzer("german")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		database   string
		want       string // the start of the query
	}{
		{"a key with another word", "split one row into many rows", "postgresql", "string_to_table "},
		{"of another database", "safely force push over my branch", "cooking", ""},
		{"that the text names", "safely force push over my branch with git", "cooking", "--force-with-lease "},
		{"one word in common", "a branch of the bank", "git", ""},
		{"no word", "zymotic", "git", ""},
		{"empty", "", "git", ""},
	} {
		got := a.Related(tt.text, []string{tt.database})
		if (got != "") != (tt.want != "") || !strings.HasPrefix(got+" ", tt.want) {
			t.Errorf("%s: %q, want %q first", tt.name, got, tt.want)
		}
		if got := german.Related(tt.text, []string{tt.database}); got != "" {
			t.Errorf("%s: %q in German", tt.name, got)
		}
	}
}

func TestMostSimilar(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	entries, problems := parseThesaurus(a, source{"x.txt", `"reindeer in kayak": deck
combine ~ join
join kayaks: raft
reindeer sledge lantern: night
reindeer sledge: rope
reindeer: herd
`})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := openThesaurus(compileThesaurus(entries))
	for _, tt := range []struct{ query, want string }{
		{"reindeer sledge", "rope"}, // the other key has the rarer word lantern
		{"sledge of a reindeer, with a lantern", "night"},
		{"sledge and lantern", "night"},
		{"reindeer", ""},
		{"combine kayaks", "raft"},
		{"a reindeer in a kayak", "deck"},
		{"a kayak for a reindeer", ""},
		{"sledge zymotic quixotic lantern jabberwocky", ""},
	} {
		words := a.wordsOf(tt.query, true)
		m := newMatcher(a, c, wordTerms(words))
		m.text, m.content = tt.query, words
		if got := c.text(m.mostSimilar()); got != tt.want {
			t.Errorf("%q is the most similar to the key of %q, want %q", tt.query, got, tt.want)
		}
	}
}

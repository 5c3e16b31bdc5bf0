package quicksearch

import (
	"testing"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

func TestUnmet(t *testing.T) {
	hit := func(title string, headings ...string) Hit {
		return Hit{Passage: passage.Passage{Title: title, Headings: headings}}
	}
	other := hit("Sessions", "Sessions", "Cookies")
	for _, tt := range []struct {
		name    string
		demands lexical.Demands
		hits    []Hit
		want    string
	}{
		{"none", lexical.Demands{Missing: []string{"crank"}}, []Hit{other}, ""},
		{"version", lexical.Demands{Version: "3.0"}, []Hit{other}, "version 3.0"},
		{"release notes", lexical.Demands{Version: "3.0"}, []Hit{other, hit("Widget v3.0.1 release notes")}, ""},
		{"other release notes", lexical.Demands{Version: "3.0"}, []Hit{hit("Widget 13.0 release notes", "3.00")}, "version 3.0"},
		{"notes too far down", lexical.Demands{Version: "3.0"}, []Hit{other, other, other, hit("Changes in 3.0")}, "version 3.0"},
		{"comparison", lexical.Demands{Topic: lexical.Comparison}, []Hit{other}, string(lexical.Comparison)},
		{"heading of a comparison", lexical.Demands{Topic: lexical.Comparison}, []Hit{hit("FAQ", "Comparison with cranks")}, ""},
		{"a word with vs in it", lexical.Demands{Topic: lexical.Comparison}, []Hit{hit("vswitch")}, string(lexical.Comparison)},
		{"price", lexical.Demands{Topic: lexical.Price}, []Hit{hit("Billing", "Invoices")}, string(lexical.Price)},
		{"page of prices", lexical.Demands{Topic: lexical.Price}, []Hit{hit("Pricing & Sponsors")}, ""},
		{"software", lexical.Demands{Software: []string{"redis"}}, []Hit{other}, "redis"},
		{"page about the software", lexical.Demands{Software: []string{"redis"}}, []Hit{hit("Brokers", "Using Redis")}, ""},
		{"software of two words", lexical.Demands{Software: []string{"redux-toolkit"}}, []Hit{hit("Redux Toolkit")}, ""},
		{"one of two", lexical.Demands{Software: []string{"redis", "helm"}}, []Hit{hit("Using Redis")}, "helm"},
		{"no hits", lexical.Demands{Version: "3.0"}, nil, "version 3.0"},
	} {
		if got := unmet(&tt.demands, tt.hits); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A query with a word that no passage contains needs more confidence, except for the message of an
// error, which contains words of the user's own.
func TestAnswerMissingWord(t *testing.T) {
	s := lexical.Signals{Terms: 3, Named: true, MeanEvidence: 1, LowestEvidence: .5, KnownShare: 1, Coverage: 1, RelativeScore: .1, Proximity: .1}
	p, enough := Judge(nil, s)
	if !enough || p >= withMissing {
		t.Fatalf("confidence %g, want one from .5 to %g", p, withMissing)
	}
	s.Demands.Missing = []string{"zzqqxx"}
	if answer(nil, s, Query{Text: "widget zzqqxx fold paint"}, nil).Confident {
		t.Error("confident without the word")
	}
	if !answer(nil, s, Query{Text: "widget error: cannot fold the zzqqxx here"}, nil).Confident {
		t.Error("not confident for a message with a word of the user")
	}
	s.RelativeScore, s.Proximity = 1, 1
	if !answer(nil, s, Query{Text: "widget zzqqxx fold paint"}, nil).Confident {
		t.Error("not confident with all other words")
	}
}

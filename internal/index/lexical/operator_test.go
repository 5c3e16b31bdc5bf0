package lexical

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOperators(t *testing.T) {
	for _, tt := range []struct {
		text string
		code bool
		want string // operators, with their count if it is not 1
	}{
		{"`->>` and `@>`", true, "->> @>"},
		{"a ->> b, x ??= y", true, ""}, // used, not discussed
		{"`a ->> b`", true, ""},
		{"| `json` `->>` `text` |", true, "->> 3"},
		{"| `->>` | `->>` | `->>` |\n`->>`", true, "->> 6"},
		{"`::`\n\n`**`", true, ":: **"},
		{"`+` `->>->>`", true, "+"}, // the other is too long
		{"a % b, x ~ y (%)", true, ""},
		{"Sets - a & b (%) \"~\"", false, "% ~"},
		{"*", false, "*"},
		{"Nullish coalescing assignment (??=)", false, "??="},
		{"::", false, "::"},
		{"std::vector p->next -- a==b", false, "--"},
		{"", false, ""},
	} {
		terms, counts := operators(tt.text, tt.code)
		var got []string
		for i, term := range terms {
			got = append(got, strings.TrimPrefix(term, "@="))
			if counts[i] > 1 {
				got = append(got, string(rune('0'+counts[i])))
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.text, diff)
		}
	}
}

func TestSearchOperator(t *testing.T) {
	x := build(t, []uint32{0, 0, 1, 1, 2, 3, 4, 5, 6}, []Fields{
		{Title: "JSON operators", Page: "JSON", Body: "| `json` `->>` `text` | Gets a field as text. |\n| `json` `@>` `json` | Contains. |" + strings.Repeat("\n| `json` | Another row. |", 20)},
		{Title: "Indexing", Page: "JSON", Body: "An index serves the operators `@>` and others. " + strings.Repeat("More words. ", 30)},
		{Title: "Nullish assignment (??=)", Page: "Operators", Body: "Assigns if the left side is null."},
		{Title: "Examples", Page: "Operators", Body: "Here `??=` is used.\n\n```\na ??= b\nc ->> d\n```"},
		{Title: "Casts", Page: "Values", Body: "`::` converts a value. See std::vector."},
		{Title: "->", Page: "->", Body: "Member access."},
		{Title: "Long", Page: "Long", Path: []string{strings.Repeat("word ", 2*maxShortField), "<|>"}, Body: "`<|>`"},
		{Title: "Arithmetic", Page: "Numbers", Body: "`%` is the remainder."},
		{Title: "Bits", Page: "Bits", Body: "`&` is for bits."},
	})
	for _, tt := range []struct {
		query Query
		want  []uint32
	}{
		{Query{Text: "->>"}, []uint32{0}},
		{Query{Text: "@>"}, []uint32{0, 1}},
		{Query{Text: `"@>"`}, []uint32{0, 1}},
		{Query{Text: "`??=`"}, []uint32{2, 3}},
		{Query{Text: "::"}, []uint32{4}},
		{Query{Text: "->"}, []uint32{5}},
		{Query{Text: "widget ->>", Names: []string{"widget"}}, []uint32{0}},
		{Query{Text: "<|>"}, []uint32{6}},
		{Query{Text: "<=>"}, nil},
		{Query{Text: "#>>"}, nil},
		{Query{Text: "convert ->>"}, []uint32{4, 0}},
		{Query{Text: "left side ??= null"}, []uint32{2, 3}},
		{Query{Text: "index -> json"}, []uint32{1, 0}}, // an arrow
		{Query{Text: "what does -> mean for a member"}, []uint32{5, 0}},
		{Query{Text: "%"}, []uint32{7}},
		{Query{Text: "what is % for"}, []uint32{7}},
		{Query{Text: "row % widget", Names: []string{"widget"}}, []uint32{0, 7}},
		{Query{Text: "json & cast"}, []uint32{0, 1, 4}}, // and
		{Query{Text: "what does & do"}, []uint32{8}},
		{Query{Text: "`&` bits"}, []uint32{8}},
	} {
		tt.query.Limit = 10
		hits, signals, err := x.Search(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint32
		for _, h := range hits {
			got = append(got, h.Passage)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.query.Text, got, tt.want)
		}
		if len(got) > 0 && signals.MeanEvidence < 0 {
			t.Errorf("%s: the evidence of the operator is %g", tt.query.Text, signals.MeanEvidence)
		}
	}
}

func FuzzOperators(f *testing.F) {
	f.Add("| `->>` | (??=) ``::`` é`@>`")
	f.Fuzz(func(t *testing.T, text string) {
		for _, code := range []bool{false, true} {
			terms, counts := operators(text, code)
			for i, term := range terms {
				n := len(term) - len("@=")
				if n < minOperator || n > maxOperator || counts[i] < 1 || counts[i] > maxOperatorCount || !strings.Contains(text, term[2:]) {
					t.Errorf("%q %d times", term, counts[i])
				}
			}
		}
	})
}

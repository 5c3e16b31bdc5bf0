package passage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const manualItems = "## OPTIONS\n\nBoils water. Text about --degrees.\n\n" +
	"- `-d, --degrees=N`\n  How hot.\n\n" +
	"- `-D`\n  Debugs.\n\n" +
	"- `-v`\n  `--verbose`\n  Says more.\n\n" +
	"- **max steam**: Lets steam out.\n\n" +
	"- `hold-time minutes`\n  Keeps the water warm.\n\n" +
	"- --quiet / -q:\n\n  Mutes it.\n\n- -- dash:\n\n" +
	"```\n- `--lid`\n```\n\n" +
	"1. Fill it.\n"

const manualText = "The kettle reads its settings:\n\n" +
	"max-water <litres> [ { if | unless } <condition> ]\n\n  Stops at the mark.\n\n  Example:\n    max-water 2\n\n" +
	"set heat-gas(<n>)\nset heat-oil(<n>)\n  Heats with gas or oil.\n\n" +
	"lid\n  Closes.\n\n" +
	"CTRL-B\t\tBoils at once.\n"

func TestDefine(t *testing.T) {
	for _, tt := range []struct{ name, text, query, term, starts string }{
		{"long option", manualItems, "kettle --degrees 80 celsius", "-d, --degrees=N", "- `-d,"},
		{"case of a short one", manualItems, "kettle option -D meaning", "-D", "- `-D`"},
		{"second term", manualItems, "kettle --verbose output wanted", "--verbose", "- `-v`"},
		{"several words", manualItems, "what does max steam do in kettle", "max steam", "- **max"},
		{"one of several words", manualItems, "what does steam do in kettle", "", ""},
		{"without its argument", manualItems, "hold-time", "hold-time minutes", "- `hold"},
		{"option without markup", manualItems, "kettle -q", "--quiet / -q", "- --quiet"},
		{"not in code", manualItems, "kettle --lid open", "", ""},
		{"keyword", manualText, "kettle max-water limit setting", "max-water <litres> [ { if | unless } <condition> ]", "max-water <litres>"},
		{"second keyword", manualText, "kettle set heat-oil example", "set heat-oil(<n>)", "set heat-gas"},
		{"second column", manualText, "kettle CTRL-B key does what", "CTRL-B", "CTRL-B"},
		{"word of the language", manualText, "how to close the lid of a kettle", "", ""},
		{"almost alone", manualText, "kettle lid", "lid", "lid\n"},
		{"sections", "# Jobs\n\n## Retry limit\n\nText.\n\n## Cache keys\n\nText.\n", "ci cache keys example", "Cache keys", "## Cache"},
		{"the first headings", "# Jobs\n\n## Retry limit\n\nText.\n", "ci retry limit", "Retry limit", "# Jobs"},
		{"nothing asked", manualItems, "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, ok := Define(tt.text, tt.query)
			if ok != (tt.term != "") || d.Term != tt.term || !strings.HasPrefix(tt.text[d.Start:], tt.starts) {
				t.Errorf("%t: %q at %.20q, want %q at %q", ok, d.Term, tt.text[d.Start:], tt.term, tt.starts)
			}
		})
	}
}

func TestDefinedNames(t *testing.T) {
	want := []string{"-d", "--degrees", "-D", "-v", "--verbose", "max steam", "hold-time minutes", "hold-time", "--quiet", "-q"}
	if diff := cmp.Diff(want, slices.Collect(DefinedNames(manualItems))); diff != "" {
		t.Errorf("items (-want +got)\n%s", diff)
	}
	want = []string{"max-water", "set heat-gas", "set heat-oil", "CTRL-B"}
	if diff := cmp.Diff(want, slices.Collect(DefinedNames(manualText))); diff != "" {
		t.Errorf("text (-want +got)\n%s", diff)
	}
	for name := range DefinedNames(manualText) {
		if name != "max-water" {
			t.Errorf("%q after the end", name)
		}
		break
	}
}

// A passage at a definition has its term as the last heading, its line and its anchor.
func TestAt(t *testing.T) {
	p := Passage{Text: "lid\n  Closes.\n\nmax-water <n>\n  Stops.", Headings: []string{"Kettle", "Settings"}, StartLine: 10, EndLine: 14,
		URL: "https://e.org/k#lid", Anchors: []string{"lid", "opt-max-water", "max-water-2"}}
	d, _ := Define(p.Text, "kettle max-water")
	q := p.At(d)
	if diff := cmp.Diff([]string{"Kettle", "Settings", "max-water <n>"}, q.Headings); diff != "" {
		t.Errorf("headings (-want +got)\n%s", diff)
	}
	if q.StartLine != 13 || q.URL != "https://e.org/k#opt-max-water" || q.Anchors[0] != "opt-max-water" || len(q.Anchors) != 3 {
		t.Errorf("line %d, URL %s, anchors %q", q.StartLine, q.URL, q.Anchors)
	}
	if len(p.Headings) != 2 || p.StartLine != 10 || p.Anchors[0] != "lid" {
		t.Errorf("the passage changed: %+v", p)
	}
	// Of a converted text, the line of the definition is unknown.
	p.EndLine = 40
	if q := p.At(d); q.StartLine != 10 {
		t.Errorf("line %d", q.StartLine)
	}
	// The term of one of several sections replaces their joined headings.
	p.Headings = []string{"Kettle", "lid / max-water <n>"}
	if q := p.At(d); !slices.Equal(q.Headings, []string{"Kettle", "max-water <n>"}) {
		t.Errorf("headings %q", q.Headings)
	}
}

func FuzzDefine(f *testing.F) {
	f.Add(manualItems, "--degrees -D")
	f.Add(manualText, "max-water set heat-gas")
	f.Add("```\n- `a`", "a")
	f.Add("a\n\t\n \tb", "a")
	f.Fuzz(func(t *testing.T, text, query string) {
		d, ok := Define(text, query)
		if !ok {
			return
		}
		if d.Start < 0 || d.Start > len(text) || d.Start > 0 && text[d.Start-1] != '\n' || !strings.Contains(text, d.Term) {
			t.Errorf("%q at %d of %q", d.Term, d.Start, text)
		}
		p := Passage{Text: text}
		p.At(d)
	})
}

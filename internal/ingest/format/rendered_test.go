package format

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A text is read like the page that the format's own program makes of it: the same headings,
// paragraphs, terms, code and tables in the same order. .ci/rendered writes the pages.
func TestRendered(t *testing.T) {
	for name, differences := range map[string][]string{ // pairs: in the page, in the text
		"teapot.rst": {
			"| Status: | stable |", "The teapot service > Status\nstable",
			"| Since: | the second edition |", "The teapot service > Since\nthe second edition",
			"For experts: Preheat", "For experts\nPreheat",
			"strain : verb", "strain\n(verb)",
			"| -l, --litres=N | how much water |", "The teapot service > Install > Brewing > -l, --litres=N\nhow much water",
			"| --quiet | hum less, or not at all |", "The teapot service > Install > Brewing > --quiet\nhum less, or not at all",
			"| -x | explode |", "The teapot service > Install > Brewing > -x\nexplode",
			"--Its", "-- Its",
			"blocks\nkeep their lines\nand", "blocks keep their lines and",
			"[1] Measured", "1: Measured",
		},
		"teapot.adoc": {
			"# (1)", "# <1>",
			"Example 1. For", "For",
			"Table 1. Times", "Times",
			"A poet Songs", "A poet, Songs",
			"\nIs it", "\nThe teapot service > Install > Brewing > Is it",
			"| lid | closes it |", "The teapot service > Install > Cleaning > lid\ncloses it",
			"| spout | lets it out |", "The teapot service > Install > Cleaning > spout\nlets it out",
			"code: Short and stout\ncode:   here", "Short and stout\nhere",
		},
		"teapot.1": {
			"OPTIONS > --all\nboth", "--all both",
			"STEPS > 1.\n", "",
			"STEPS > 2.\n", "",
		},
		"teapot.8": {
			"teapotd --", "teapotd -",
			"SYNOPSIS\nteapotd\n[-dq]", "SYNOPSIS\nteapotd [-dq]",
			"$ one line", "code: $ one line",
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := outline(t, name+".html")
			for i := 0; i < len(differences); i += 2 {
				if !strings.Contains(want, differences[i]) {
					t.Errorf("the page does not have %q", differences[i])
				}
				want = strings.Replace(want, differences[i], differences[i+1], 1)
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(outline(t, name), "\n")); diff != "" {
				t.Errorf("(-rendered +read):\n%s", diff)
			}
		})
	}
}

var (
	itemMark     = regexp.MustCompile(`^(?:[->](?: +|$)|(?:\d+|[a-z])\. +)+`)
	termMark     = regexp.MustCompile("^- (?:\\*\\*|`)(.+?)(?:\\*\\*|`):?")
	inlineMark   = regexp.MustCompile("[`*\\\\]")
	emptyRow     = regexp.MustCompile(`^[| -]*$`)
	typographics = strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'", "…\u200b", "...", "—", "--", "\u2009", " ")
)

// outline reads a file in testdata/rendered and returns its headings with those above them,
// terms, code lines, table rows and paragraphs, one per line and without inline markup.
func outline(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/rendered", name))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := ParserFor(name)(data, name)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	code, open := false, false // open: the next line belongs to the same paragraph
	add := func(text string) {
		text = typographics.Replace(strings.Join(strings.Fields(inlineMark.ReplaceAllString(text, "")), " "))
		if open && text != "" {
			all[len(all)-1] += " " + text
		} else if text != "" {
			all = append(all, text)
		}
	}
	for _, s := range doc.Sections {
		open = false
		if len(s.Headings) > 0 && strings.HasPrefix(s.Headings[0], "teapot(") {
			s.Headings = s.Headings[1:] // which the pages of mandoc do not have
		}
		add(strings.Join(s.Headings, " > "))
		for _, line := range doc.Lines[s.First-1 : s.Last] {
			text := strings.TrimSpace(line)
			switch term := termMark.FindStringSubmatch(text); {
			case strings.HasPrefix(text, "```"):
				code, open = !code, false
			case code:
				if text != "" {
					all = append(all, "code: "+line)
				}
			case strings.HasPrefix(text, "#"), emptyRow.MatchString(text):
				open = false
			case term != nil:
				open = false
				add(strings.Join(append(s.Headings, term[1]), " > "))
				add(text[len(term[0]):])
				open = len(text) > len(term[0])
			default:
				mark := itemMark.FindString(text)
				open = open && mark == "" && text[0] != '|'
				add(text[len(mark):])
				open = len(text) > len(mark)
			}
		}
	}
	return strings.Join(all, "\n")
}

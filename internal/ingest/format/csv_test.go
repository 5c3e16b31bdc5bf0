package format

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	for in, want := range map[string]string{
		"a.csv|code,meaning\nE1,\"too hot, \n\"\"wait\"\"\"\nE2\n": "| code | meaning |\n| --- | --- |\n| E1 | too hot, \"wait\" |\n| E2 |  |",
		"a.csv|code;meaning\nE1;too hot, wait\n":                   "| code | meaning |\n| --- | --- |\n| E1 | too hot, wait |",
		"a.tsv|code\tmeaning, more\nE1\thot\n":                     "| code | meaning, more |\n| --- | --- |\n| E1 | hot |",
		"a.csv|only a line":                                        "data without text",
		"a.csv|x,y\n" + strings.Repeat("1,2\n", 10):                "data without text",
		"a.csv|x,y\n" + strings.Repeat("a,b\n", maxRows):           "data with more than 20000 rows",
		"a.csv|x,y\n" + strings.Repeat("a", maxData):               "data larger than 1 MiB",
	} {
		name, text, _ := strings.Cut(in, "|")
		doc, err := ParserFor(name)([]byte(text), name)
		got := strings.TrimSpace(strings.Join(doc.Lines, "\n"))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.40q: %s, want %s", in, got, want)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("a,b\n\"c\n\",d|\n"))
	f.Add([]byte("a;b\r\nc;\"d"))
	f.Fuzz(func(t *testing.T, in []byte) {
		doc, err := parseTable(in, "a.csv")
		if err == nil && len(doc.Sections) != 1 {
			t.Errorf("%d sections", len(doc.Sections))
		}
	})
}

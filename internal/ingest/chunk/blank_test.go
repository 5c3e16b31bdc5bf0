package chunk_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

// blanks are the white space of Unicode, to most of which parsers and formats give no
// meaning.
var blanks = []string{" ", "\t", "\v", "\f", "\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}

// A paragraph that is blank to a reader is blank to the splitter, whatever its parser took
// it for.
func TestBlankParagraphs(t *testing.T) {
	long := ingesttest.Words("w", 500)
	for _, blank := range blanks {
		line := strings.Repeat(blank, 3)
		huge := strings.Repeat(blank, chunk.MaxTextBytes)
		for name, text := range map[string]string{
			"at the end":             "# A\n\n" + long + "\n\n" + line + "\n",
			"behind a short section": "# A\n\nshort\n\n" + line + "\n",
			"in the middle":          "# A\n\n" + long + "\n\n" + line + "\n\n" + long + "\n",
			"at the beginning":       line + "\n\n# A\n\n" + long + "\n",
			"instead of a text":      "# A\n\n" + line + "\n\n## B\n\n" + long + "\n",
			"below the last heading": long + "\n\n# A\n\n" + line + "\n",
			"longer than a passage":  "# A\n\n" + huge + "\n\n" + long + "\n\n" + huge + "\n",
			"above a list":           "# A\n\n" + line + "\n\n- " + strings.ReplaceAll(long, "\n", "\n- ") + "\n\n" + line + "\n",
			"in code":                "# A\n\n```\n" + line + "\n" + strings.ReplaceAll(long, "\n", "\n"+line+"\n") + "\n" + line + "\n```\n",
		} {
			t.Run(fmt.Sprintf("%U %s", []rune(blank)[0], name), func(t *testing.T) {
				ingesttest.CheckPassages(t, parse(t, text), 0)
			})
		}
	}
	// With nothing else in it, a document has no passage.
	doc := document.Document{Lines: []string{"\u00a0", "", "\u2003"}, Sections: []document.Section{{First: 1, Last: 3, Blocks: []document.Block{{First: 1, Last: 1}, {First: 3, Last: 3}}}}}
	if passages, _ := chunk.Split(doc); len(passages) > 0 {
		t.Errorf("%d passages of a blank document", len(passages))
	}
}

// A line that begins with the mark of a removed line is not removed.
func TestDroppedLines(t *testing.T) {
	doc := parse(t, "# A\n\none\n"+document.DroppedLine+"two\n\n"+document.DroppedLine+"\n\nthree\n")
	passages, _ := chunk.Split(doc)
	if len(passages) != 1 || passages[0].Text != "# A\n\none\n"+document.DroppedLine+"two\n\n\nthree" {
		t.Errorf("%d passages", len(passages))
	}
}

// FuzzChunk splits documents of several formats in which lines of white space stand
// anywhere.
func FuzzChunk(f *testing.F) {
	long := ingesttest.Words("w", 500)
	for i, text := range []string{
		"# A\n\n" + long + "\n\n\u00a0\n",
		"# A\n\n- " + strings.ReplaceAll(long, "\n", "\n- ") + "\n\n> \u2003\n",
		"A\n=\n\n::\n\n  " + strings.ReplaceAll(long, "\n", "\n  ") + "\n\n\u2028\n\nB\n-\n",
		"<h1>A</h1><p>" + long + "</p><p>&nbsp;</p><table><tr><td>&emsp;<td>a</table><pre>\u2003\n" + long + "\n\f</pre>",
		"= A\n\n----\n" + long + "\n\u00a0\n----\n\n== B\n\n\u3000\n",
		"A\n\f\n" + long + "\n\u0085\n",
		"func a() {\n" + strings.ReplaceAll(long, "\n", "\n\t\u00a0\n") + "\n}\n",
		"| a | b |\n|---|---|\n" + strings.Repeat("| \u00a0 | \u2003 |\n", 200),
	} {
		f.Add([]byte(text), uint8(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, kind uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		checkSplit(t, text, names[int(kind)%len(names)])
		checkSplit(t, withBlanks(rng, text), names[int(kind)%len(names)])
	})
}

// names are names of files of all formats whose documents consist of lines.
var names = []string{"a.md", "a.mdx", "a.rst", "a.html", "a.adoc", "a.txt", "a.go", "a.1", "a.json", "a.ipynb"}

// withBlanks returns a text with lines of white space inserted, some of them longer than a
// passage.
func withBlanks(rng *rand.Rand, text []byte) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l)
		if rng.IntN(max(2, len(lines)/4)) > 0 {
			continue
		}
		count := 1 + rng.IntN(4)
		if rng.IntN(16) == 0 {
			count = chunk.MaxTextBytes
		}
		b.WriteString("\n" + strings.Repeat(blanks[rng.IntN(len(blanks))], count) + strings.Repeat("\n", 1+rng.IntN(2)))
	}
	return []byte(b.String())
}

// checkSplit parses a file and checks its passages.
func checkSplit(t *testing.T, text []byte, name string) {
	t.Helper()
	read := format.ParserFor(name)
	if read == nil || format.IsPDF(name) {
		return
	}
	doc, err := read(text, name)
	if err != nil || len(doc.Sections) == 0 {
		return
	}
	ingesttest.CheckPassages(t, doc, doc.Sections[0].First-1)
}

// Real trees hold no document that the splitter fails on, as they are and with white space
// inserted anywhere. DOCSEARCH_TREES names a folder of them.
func TestRealTrees(t *testing.T) {
	dir := os.Getenv("DOCSEARCH_TREES")
	if dir == "" {
		t.Skip("DOCSEARCH_TREES is not set")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	documents := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || format.ParserFor(d.Name()) == nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents++
		t.Run(path, func(t *testing.T) {
			checkSplit(t, text, path)
			for range 4 {
				checkSplit(t, withBlanks(rng, text), path)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d documents", documents)
}

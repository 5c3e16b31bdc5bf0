package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// databaseOf opens a database of the passages.
func databaseOf(t *testing.T, passages ...passage.Passage) *index.Database {
	t.Helper()
	dir := t.TempDir()
	var lines []byte
	for i := range passages {
		passages[i].ID = fmt.Sprint("p", i)
		lines = passages[i].AppendLine(lines)
	}
	if err := os.WriteFile(filepath.Join(dir, leann.PassagesName), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := buildWith(t, dir, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// A folder lists what is directly in it, and a folder with one folder in it is skipped.
func TestContents(t *testing.T) {
	var pages []passage.Passage
	for _, path := range []string{"", "start/", "ref/api/b.html", "ref/api/a.html", "ref/api/deep/c.html", "ref/index.html", "ref", "old/1/x.html", "old/1/y.html"} {
		pages = append(pages, passage.Passage{URL: "https://docs.example.com/en/" + path, Title: "Page " + path, Text: "Text."})
	}
	db := databaseOf(t, pages...)
	for _, test := range []struct {
		folder       string
		first, limit int
		want         string // folder: folders; pages of total
	}{
		{"", 0, 9, ": old/ 2 ref/ 4; Page , Page start/, Page ref of 5"},
		{"", 1, 2, ": ref/ 4; Page  of 5"},
		{"", 9, 9, ":;  of 5"},
		{"ref/", 0, 9, "ref/: api/ 3; Page ref/index.html of 2"},
		{"ref/api/", 0, 9, "ref/api/: deep/ 1; Page ref/api/b.html, Page ref/api/a.html of 3"},
		{"old/", 0, 9, "old/1/:; Page old/1/x.html, Page old/1/y.html of 2"},
		{"none/", 0, 9, "none/:;  of 0"},
		{"../", 0, 9, "../:;  of 0"},
	} {
		c, err := db.Contents(test.folder, test.first, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		got := c.Folder + ":"
		for _, f := range c.Folders {
			got += fmt.Sprintf(" %s %d", f.Name, f.Pages)
		}
		var titles []string
		for _, p := range c.Pages {
			titles = append(titles, p.Title)
		}
		if got += fmt.Sprintf("; %s of %d", strings.Join(titles, ", "), c.Total); got != test.want || c.Root != "https://docs.example.com/en/" {
			t.Errorf("%q from %d: got %q below %s, want %q", test.folder, test.first, got, c.Root, test.want)
		}
	}
}

// A database of one page has no folders.
func TestContentsOfOnePage(t *testing.T) {
	c, err := databaseOf(t, passage.Passage{Path: "a/b.md", Title: "B", Text: "Text."}).Contents("", 0, 9)
	if err != nil || len(c.Folders) != 0 || len(c.Pages) != 1 || c.Root != "a/" || c.Folder != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

// Names are spelled as the passage that defines them spells them. Anchors of sections and
// short forms are no names.
func TestNames(t *testing.T) {
	db := databaseOf(t,
		passage.Passage{URL: "https://docs.example.com/a#max_size", Title: "API", Headings: []string{"API", "max_size"}, Text: "The size."},
		passage.Passage{URL: "https://docs.example.com/a#getting-started", Title: "API", Headings: []string{"API", "Getting started"}, Text: "Start."},
		passage.Passage{URL: "https://docs.example.com/a#mod.join", Title: "API", Headings: []string{"API", "mod.join(path)"}, Text: "Joins."},
		passage.Passage{URL: "https://docs.example.com/a#opt", Title: "API", Headings: []string{"API", "Options"}, Text: "| Option | Use |\n| --- | --- |\n| `--max-age` | Seconds. |\n"},
		passage.Passage{URL: "https://docs.example.com/a#x", Title: "API", Headings: []string{"API", "2fa_login"}, Text: "Second."},
	)
	for _, test := range []struct {
		initial      byte
		first, limit int
		want         []index.Name
	}{
		{'m', 0, 9, []index.Name{{"--max-age", "p3", "API"}, {"max_size", "p0", "API"}, {"mod.join", "p2", "API"}}},
		{'m', 1, 1, []index.Name{{"max_size", "p0", "API"}}},
		{'m', 9, 9, nil},
		{'g', 0, 9, nil},
		{index.OtherInitial, 0, 9, []index.Name{{"2fa_login", "p4", "API"}}},
		{'z', 0, 9, []index.Name{{"2fa_login", "p4", "API"}}}, // the first initial
	} {
		n, err := db.Names(test.initial, test.first, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, n.Names); diff != "" {
			t.Errorf("%c from %d (-want +got):\n%s", test.initial, test.first, diff)
		}
		if !strings.HasPrefix(n.Initials, "#") || !strings.Contains(n.Initials, "m") || strings.Contains(n.Initials, "j") {
			t.Errorf("initials %q", n.Initials)
		}
	}
}

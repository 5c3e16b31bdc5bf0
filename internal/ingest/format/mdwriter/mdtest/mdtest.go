// Package mdtest tests parsers that produce Markdown.
package mdtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

var update = flag.Bool("update", false, "write what is read into testdata")

// Golden parses every file that matches the pattern and compares the
// description of the result with the file of the same name plus .golden.
func Golden(t *testing.T, pattern string, parse func(name string, data []byte) (mdwriter.Document, error)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files match %s: %v", len(files), pattern, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := parse(path, data)
			if err != nil {
				t.Fatal(err)
			}
			got, golden := Describe(doc), path+".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

// Describe formats a document completely, each line after its source line.
func Describe(d mdwriter.Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\n", d.Title)
	for _, s := range d.Sections {
		fmt.Fprintf(&b, "\n=== %d %s %s", s.From, strings.Repeat("#", s.Level), s.Heading)
		for _, a := range s.Anchors {
			fmt.Fprintf(&b, " {#%s +%d}", a.Name, a.After)
		}
		b.WriteByte('\n')
		for _, l := range s.Links {
			fmt.Fprintf(&b, "link: %s %q\n", l.Target, l.Text)
		}
		if len(s.Terms) > 0 {
			fmt.Fprintf(&b, "terms: %s\n", strings.Join(s.Terms, ", "))
		}
		for _, l := range s.Lines {
			b.WriteString(strings.TrimRight(fmt.Sprintf("%4d  %s", l.From, l.Text), " ") + "\n")
		}
	}
	return b.String()
}

// Check checks the invariants of the result for a file with size bytes and
// lines lines: source lines exist, lines have no newline, anchors are valid,
// and the document is not too large.
func Check(t *testing.T, d mdwriter.Document, size, lines int) {
	t.Helper()
	total := 0
	for i, s := range d.Sections {
		if s.Level < 0 || s.Level == 0 && i > 0 && s.Heading != "" || s.From < 0 || s.From > lines {
			t.Fatalf("section %d: level %d, line %d of %d", i, s.Level, s.From, lines)
		}
		for _, l := range s.Lines {
			if l.From < 0 || l.From > lines {
				t.Fatalf("%q comes from line %d of %d", l.Text, l.From, lines)
			}
			if strings.Contains(l.Text, "\n") {
				t.Fatalf("%q is not one line", l.Text)
			}
			total += len(l.Text) + 1
		}
		for _, a := range s.Anchors {
			if a.After < 0 || a.After > len(s.Lines) {
				t.Fatalf("anchor %s stands behind line %d of %d", a.Name, a.After, len(s.Lines))
			}
		}
	}
	const factor, atLeast = 250, 4096
	if total > atLeast+size*factor {
		t.Fatalf("%d bytes became %d", size, total)
	}
}

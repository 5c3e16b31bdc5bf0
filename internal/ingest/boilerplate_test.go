package ingest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

func TestBoilerplate(t *testing.T) {
	const notice, code = "Was this page of any help to you?", "install --with-everything --for-everybody --now please"
	dir := t.TempDir()
	page := func(i int) string {
		text := fmt.Sprintf("# Page %d\n\n%s\n\nIt says number %d.\n\n```sh\n%s\n```\n\nSee also:\n", i, notice, i, code)
		if i%4 != 3 {
			text += "\n## Feedback\n\nTell us what you think\nof   this page.\n"
		}
		if i == 3 {
			text += "\n## Rare\n\nOnly three of the pages have this.\n"
		}
		return text
	}
	files := map[string]string{"only.md": notice + "\n"}
	for i := range 20 {
		files[fmt.Sprintf("%02d.md", i)] = page(i)
		files[fmt.Sprintf("%02d.html", i+50)] = fmt.Sprintf(
			"<html><body><main><h1 id=top>Page %d</h1><p>%s</p><p>It says number %d.</p></main></body></html>", i+50, notice, i+50)
	}
	ingesttest.WriteFiles(t, dir, files)
	passages, skipped := prepare(t, dir)
	texts := map[string]string{}
	for _, p := range passages {
		texts[p.Path] += p.Text
	}
	if got, want := len(texts), 41; got != want {
		t.Errorf("%d documents, want %d", got, want)
	}
	body := "\n\nIt says number %d.\n\n```sh\n" + code + "\n```\n\nSee also:"
	for name, want := range map[string]string{
		"02.md":   fmt.Sprintf("# Page %d"+body, 2, 2),
		"03.md":   fmt.Sprintf("# Page %d"+body+"\n\n## Rare\n\nOnly three of the pages have this.", 3, 3),
		"51.html": "# Page 51\n\nIt says number 51.",
		"only.md": notice,
	} {
		if diff := cmp.Diff(want, texts[name]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	var notes []generation.Skipped
	for _, s := range skipped {
		notes = append(notes, generation.Skipped{Name: strings.TrimPrefix(s.Name, dir), Reason: s.Reason})
	}
	want := []generation.Skipped{
		{Name: "", Reason: "skipped 55 paragraphs that are identical in many documents"},
		{Name: `"Tell us what you think of this page."`, Reason: "identical in many documents"},
		{Name: `"Was this page of any help to you?"`, Reason: "identical in many documents"},
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("left out (-want +got)\n%s", diff)
	}
}

// Statements that are true of many subjects are no boilerplate.
func TestStatementsStay(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	stay := []string{
		"The error code. 0 means success, as always.",
		"**INTERNAL:** Use of this class is not supported at all.",
		"> **Note:** It is not safe for concurrent use.",
		"Examples of code that is wrong by this rule:",
		"- `--help`: show the help of this command",
		"In the middle, each is safe to call from all threads.",
		"Nobody but the administrator can run this one.",
		"> **Note**\n> Administrators see a page of help.",
		"Deprecated since 2.0. Use the other page.",
		"Heat it slowly before the first use.",
	}
	const gone, license = "Did this page help you? Tell us.", "Copyright by the authors, all rights reserved, 2024."
	for i := range 20 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("# Page %d\n\n%s\n\n%s\n\n%s\n\nIt is number %d.\n\n%s\n\nx\n\n%s\n\n%s\n\n%s\n\n## Returns\n\n%s\n\n## Who can run it\n\n%s\n\n## Feedback\n\n%s\n",
			i, stay[1], stay[2], gone, i, stay[3], stay[4], license, stay[5], stay[0], stay[6], gone)
		files[fmt.Sprintf("s%02d.md", i)] = fmt.Sprintf("# Tool %d\n\n%s\n\nIt is tool %d.\n", i, strings.Join(stay[7:], "\n\n"), i)
	}
	ingesttest.WriteFiles(t, dir, files)
	passages, _ := prepare(t, dir)
	text := ""
	for _, p := range passages {
		if p.Path == "03.md" || p.Path == "s03.md" {
			text += p.Text
		}
	}
	for _, s := range stay {
		if !strings.Contains(text, s) {
			t.Errorf("%q is missing", s)
		}
	}
	for _, s := range []string{gone, license} {
		if strings.Contains(text, s) {
			t.Errorf("%q is there", s)
		}
	}
}

// An update removes the boilerplate that a build would find, whether the documents came at
// once or one after another.
func TestBoilerplateInUpdate(t *testing.T) {
	const notice = "All of this is subject to change."
	dir := t.TempDir()
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write := func(from, to int) {
		for i := from; i < to; i++ {
			ingesttest.WriteFiles(t, dir, map[string]string{fmt.Sprintf("%03d.md", i): fmt.Sprintf("# Page %d\n\nNumber %d.\n\n%s\n", i, i, notice)})
		}
	}
	write(0, 6)
	before := generate(t, f, nil)
	if n := strings.Count(string(before.lines), notice); n != 6 {
		t.Fatalf("%d notices in a small database, want 6", n)
	}
	check := func(what string, notices int) {
		t.Helper()
		now, full := generate(t, f, &before.Generation), generate(t, f, nil)
		if diff := cmp.Diff(string(full.lines), string(now.lines)); diff != "" {
			t.Fatalf("%s: passages (-build +update)\n%s", what, diff)
		}
		if diff := cmp.Diff(full.Files, now.Files) + cmp.Diff(full.skipped, now.skipped); diff != "" {
			t.Errorf("%s: files (-build +update)\n%s", what, diff)
		}
		if n := strings.Count(string(now.lines), notice); n != notices {
			t.Errorf("%s: %d notices, want %d", what, n, notices)
		}
		before = now
	}
	write(6, 60)
	check("54 more", 0)
	write(60, 200) // more than the sample
	check("140 more", 0)
	if err := os.Remove(filepath.Join(dir, "000.md")); err != nil {
		t.Fatal(err)
	}
	check("one less", 0)
	if len(before.kept) == 0 {
		t.Error("nothing was taken over")
	}
	for i := 4; i < 200; i++ {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("%03d.md", i))); err != nil {
			t.Fatal(err)
		}
	}
	check("196 less", 3)
}

// A site and its folder have the same sample, and a few new pages hardly change
// it.
func TestSampleOf(t *testing.T) {
	var files, pages []source.Item
	for i := range 1000 {
		name := fmt.Sprintf("part-%d/page-%d.html", i%10, i)
		files = append(files, source.Item{Name: name})
		pages = append(pages, source.Item{Name: "http://127.0.0.1:8080/" + name})
	}
	names := func(items []source.Item) map[string]bool {
		all := map[string]bool{}
		for _, it := range sampleOf(items) {
			all[strings.TrimPrefix(it.Name, "http://127.0.0.1:8080/")] = true
		}
		return all
	}
	whole := names(files)
	if len(whole) != sampleSize || !maps.Equal(whole, names(pages)) {
		t.Errorf("%d files are sampled, and of the site others", len(whole))
	}
	common := 0
	for name := range names(pages[:980]) {
		if whole[name] {
			common++
		}
	}
	if common < sampleSize*9/10 {
		t.Errorf("without 20 of 1,000 pages, only %d of %d are the same", common, sampleSize)
	}
}

package hostile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/ingest/format/pdf/pdftest"
)

// bombLimit is the time limit of a build with a bomb. Most take a second, an endless PDF
// file 15 seconds of processor time, on a busy machine a multiple.
const bombLimit = 10 * time.Minute

// readerBombs returns small files that take much time or memory to read.
func readerBombs() map[string]string {
	const n = 100 << 10
	repeat := func(unit string, n int) string { return strings.Repeat(unit, n/len(unit)) }
	stairs := func(step, end string, n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.Repeat(step, i) + end + "\n")
		}
		return b.String()
	}
	cells := func(source string) string { // of a notebook
		return `{"cells": [{"cell_type": "code", "source": "` + source + `"}]}`
	}
	var definitions strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&definitions, "[a%d]: b\n", i)
	}
	return map[string]string{
		"definitions.md":      definitions.String(),
		"definitions-same.md": repeat("[a]: b\n", 2<<20),
		"definitions2.md":     repeat("[a]:\n\n- x\n", 4*n),
		"lists.md":            repeat("- ", n) + "x",
		"lists-stairs.md":     stairs("  ", "- x", 16<<20),
		"lists-and-lines.md":  repeat("1. ", n) + "\n" + strings.Repeat("\n", n),
		"quotes.md":           repeat("> ", n) + "x",
		"quotes-and-lists.md": repeat("> - ", n),
		"table.md":            repeat("a|", n) + "\n" + repeat("-|", n) + "\n" + repeat("1\n", n),
		"heading.md":          "# " + repeat("[", n) + repeat("*a _b ", n),
		"headings.md":         repeat("# a\n", 4*n) + "\ntext\n",
		"spaces.md":           "a" + strings.Repeat(" ", 16<<20) + "b",
		"aliases.md":          "---\na: &a [1,1]\n" + repeat("b: *a\n", n) + "---\n\ntext\n",
		"flow.md":             "---\na: {" + repeat("b,", n) + "}\n---\n\ntext\n",
		"lists.html":          repeat("<ol>a", 2<<20),
		"quotes.html":         repeat("<blockquote>a", 2<<20),
		"spans.html":          "<table>" + repeat("<tr><td colspan=60 rowspan=999>a", 2<<20),
		"hidden.html":         repeat("<div aria-hidden=true>\n", n) + repeat("a ", n),
		"definitions.html":    repeat("<dl><dt id=a>a<dd>b", 2<<20),
		"bold.html":           repeat("<b><i><u>", n) + repeat("<p>a", n),
		"lists.rst":           stairs("  ", "* x", 4<<20),
		"tables.rst":          repeat("+-+-+\n| | |\n", 2<<20),
		"substitutions.rst":   repeat(".. |a| replace:: |a||a|\n", n) + repeat("|a| ", n),
		"lists.adoc":          repeat("* ", n) + "\n" + strings.Repeat("\n", n),
		"attributes.adoc":     repeat(":a: {a}{a}\n", n) + repeat("{a}", n),
		"macros.1":            ".TH A 1\n.SH A\n.de A\n.A\n.A\n..\n" + repeat(".A\n", n),
		"strings.1":           ".TH A 1\n.SH A\n" + repeat(".ds a \\*a\\*a\n", n) + "\\*a\n",
		"marks.info":          "\x1f\nFile: a,  Node: b\n\n" + repeat("\b]\b[", 2<<20),
		"tags.mdx":            repeat("<A b=\"c\n", 2<<20),
		"fence.ipynb":         cells(strings.Repeat("`", 4<<20)),
		"deep.ipynb":          cells(repeat(`\n- `, n)) + strings.Repeat(" ", n),
		"nested.go":           "package a\n\nvar a = " + strings.Repeat("(", 4<<20),
		"book.epub":           zipped(map[string]int{"META-INF/container.xml": 200 << 20}),
		"zeros.md.gz":         gzipped(200 << 20),
		"deep.xhtml":          "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]><html>" + repeat("<a>&b;", 2<<20),
	}
}

// zipped returns a ZIP archive of files of zeros.
func zipped(files map[string]int) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, size := range files {
		w, err := z.Create(name)
		if err != nil {
			panic(err)
		}
		writeZeros(w, size)
	}
	z.Close()
	return b.String()
}

func gzipped(size int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	writeZeros(z, size)
	z.Close()
	return b.String()
}

func writeZeros(w interface{ Write([]byte) (int, error) }, size int) {
	block := make([]byte, 1<<20)
	for ; size > 0; size -= len(block) {
		w.Write(block[:min(size, len(block))])
	}
}

// requireKettle fails the test unless a search finds the document next to the
// bomb.
func (s *sandbox) requireKettle(database string) {
	s.Helper()
	if r := s.docsearch("search", "--json", "--path", database, "descale the kettle"); !strings.Contains(r.stdout, "vinegar") {
		s.Errorf("the document next to the bomb is not found: %s%s", r.stdout, r.stderr)
	}
}

const kettlePage = "# Kettle\n\nHow to descale the kettle with vinegar.\n"

// limitMemory returns environment variables that limit docsearch's memory, if
// the system supports it.
func (s *sandbox) limitMemory() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"GOMEMLIMIT=1GiB"}
}

// A source with a bomb is read in time, and everything except the bomb is
// indexed.
func TestBombs(t *testing.T) {
	for name, text := range readerBombs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.env = append(s.env, s.limitMemory()...)
			docs, database := filepath.Join(s.work, "docs"), filepath.Join(s.work, "db")
			s.write(filepath.Join(docs, name), text)
			s.write(filepath.Join(docs, "kettle.md"), kettlePage)
			r := s.run(bombLimit, "", "index", "build", docs, "--out", database, "--name", "docs")
			if r.code != 0 || r.late {
				t.Fatalf("exit code %d, late %t: %s", r.code, r.late, r.stderr)
			}
			s.requireKettle(database)
			s.shortPassages(database)
		})
	}
}

// shortPassages fails the test if a passage is too long. The limit is 16 KiB of
// text, doubled for the markup that makes part of a block valid, and doubled
// again for JSON escapes.
func (s *sandbox) shortPassages(database string) {
	s.Helper()
	for line := range strings.Lines(s.read(filepath.Join(database, "documents.leann.passages.jsonl"))) {
		text, _, _ := strings.Cut(line, `", "metadata": `)
		if len(text) > 64<<10 {
			s.Errorf("a passage has %d bytes: %.100s", len(text), text)
		}
	}
}

// pdfBombs returns PDF files that make a reader loop forever or use all memory.
func pdfBombs() map[string]string {
	file := func(trailer string, objects ...string) string { return string(pdftest.File(trailer, objects...)) }
	stream := func(content, more string) string {
		return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), more, content)
	}
	page := []string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>"}
	table := func(size string, entries ...byte) string {
		return fmt.Sprintf("%%PDF-1.5\n9 0 obj\n<< /Type /XRef /Size %s /W [1 4 1] /Index [0 %d] /Root 1 0 R /Length %d >>\nstream\n%s\nendstream\nendobj\nstartxref\n9\n%%%%EOF\n%s",
			size, len(entries)/6, len(entries), entries, "")
	}
	var zeros bytes.Buffer
	z := zlib.NewWriter(&zeros)
	writeZeros(z, 200<<20)
	z.Close()
	return map[string]string{
		"loop.pdf":      file("/Prev XREF", append(page, stream("", ""))...),
		"string.pdf":    file("", append(page, stream("BT <ab", ""))...),
		"recursion.pdf": table("10", 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0),
		"size.pdf":      table("99999999999", 0, 0, 0, 0, 0, 0),
		"zeros.pdf":     file("", append(page, stream(zeros.String(), "/Filter /FlateDecode"))...),
	}
}

// PDF bombs cost at most their time limit.
func TestPDFBombs(t *testing.T) {
	s := newSandbox(t)
	docs, database := filepath.Join(s.work, "docs"), filepath.Join(s.work, "db")
	for name, data := range pdfBombs() {
		s.write(filepath.Join(docs, name), data)
	}
	s.write(filepath.Join(docs, "kettle.md"), kettlePage)
	s.must(s.run(bombLimit, "", "index", "build", docs, "--out", database, "--name", "docs"))
	s.requireKettle(database)
	r := s.must(s.docsearch("index", "info", database))
	for name := range pdfBombs() {
		if !strings.Contains(r.stdout, "  "+name+": ") {
			t.Errorf("%s is not named: %s", name, r.stdout)
		}
	}
}

// An archive is indexed except for the bombs among its files.
func TestArchiveBombs(t *testing.T) {
	s := newSandbox(t)
	database := filepath.Join(s.work, "db")
	var nested bytes.Buffer
	w := tar.NewWriter(&nested)
	for name, content := range map[string]string{"docs/kettle.md": kettlePage, "docs/zeros.md.gz": gzipped(200 << 20), "docs/lists.md": strings.Repeat("- ", 50<<10)} {
		w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
		w.Write([]byte(content))
	}
	w.Close()
	s.write(filepath.Join(s.work, "nested.tar"), nested.String())
	s.must(s.run(bombLimit, "", "index", "build", filepath.Join(s.work, "nested.tar"), "--out", database, "--name", "docs"))
	s.requireKettle(database)
}

// A site whose page lists are bombs sends no more than the limit, and its pages
// are indexed.
func TestSiteBombs(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	for _, tt := range []struct {
		name string
		bomb func(w http.ResponseWriter, path string) bool
	}{
		{"sitemaps", func(w http.ResponseWriter, path string) bool {
			if path != "/sitemap.xml" && !strings.HasPrefix(path, "/s/") {
				return false
			}
			fmt.Fprintf(w, "<sitemapindex><sitemap><loc>/s%s1</loc></sitemap><sitemap><loc>/s%s2</loc></sitemap><!-- %s --></sitemapindex>", path[:2], path, long)
			return true
		}},
		{"compressed sitemaps", func(w http.ResponseWriter, path string) bool {
			if path != "/sitemap.xml" && !strings.HasPrefix(path, "/s/") {
				return false
			}
			z := gzip.NewWriter(w)
			fmt.Fprintf(z, "<sitemapindex><sitemap><loc>/s/%d</loc></sitemap>%s</sitemapindex>", len(path), strings.Repeat(long, 10))
			z.Close()
			return true
		}},
		{"entities", func(w http.ResponseWriter, path string) bool {
			if path != "/sitemap.xml" {
				return false
			}
			fmt.Fprint(w, "<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'>")
			for c := 'b'; c < 'z'; c++ {
				fmt.Fprintf(w, "<!ENTITY %c '%s'>", c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
			}
			fmt.Fprint(w, "]><urlset><url><loc>&y;</loc></url></urlset>")
			return true
		}},
		{"robots", func(w http.ResponseWriter, path string) bool {
			if path != "/robots.txt" {
				return false
			}
			fmt.Fprint(w, "User-agent: *\nDisallow: /docs/private\n")
			for range 100 {
				fmt.Fprint(w, "Disallow: /", strings.Repeat("*a", 500<<10), "\n")
			}
			return true
		}},
		{"llms.txt", func(w http.ResponseWriter, path string) bool {
			if filepath.Base(path) != "llms.txt" {
				return false
			}
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprintf(w, "[a](%s/a/llms.txt) [b](%s/b/llms.txt) %s", filepath.Dir(path), filepath.Dir(path), strings.Repeat("](", 1<<20))
			return true
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t)
			var sent atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w = &countingWriter{w, &sent}
				switch {
				case tt.bomb(w, r.URL.Path):
				case r.URL.Path == "/docs/":
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprint(w, `<title>Manual</title><h1>Manual</h1><p>The <a href="kettle.md">kettle</a> and what is <a href="private">private</a>.`)
				case r.URL.Path == "/docs/kettle.md":
					w.Header().Set("Content-Type", "text/markdown")
					fmt.Fprint(w, kettlePage)
				case r.URL.Path == "/docs/private" && tt.name == "robots":
					t.Error("robots.txt was not obeyed")
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			database := filepath.Join(s.work, "db")
			r := s.run(bombLimit, "", "index", "build", server.URL+"/docs/", "--out", database, "--name", "docs", "--max-bytes", "20MB")
			if r.late {
				t.Fatal("the build did not end")
			}
			// Socket buffers accept more than the client reads.
			if n := sent.Load(); n > 100<<20 {
				t.Errorf("%d MB were sent", n>>20)
			}
			if r.code == 0 {
				s.requireKettle(database)
			} else if !strings.Contains(r.stderr, "reached the limit of 20 MB") {
				t.Errorf("exit code %d: %s", r.code, r.stderr)
			}
		})
	}
}

// A countingWriter counts the bytes of response bodies.
type countingWriter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.sent.Add(int64(n))
	return n, err
}

// An interrupt ends a build while it reads an endless document.
func TestInterruptWithinDocument(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from outside there")
	}
	s := newSandbox(t)
	docs, database := filepath.Join(s.work, "docs"), filepath.Join(s.work, "db")
	for i := range 6 { // each takes 15 seconds
		s.write(filepath.Join(docs, fmt.Sprintf("%d.pdf", i)), pdfBombs()["string.pdf"])
	}
	cmd := exec.Command(*binary, "index", "build", docs, "--out", database, "--name", "docs")
	cmd.Dir, cmd.Env = s.work, s.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(bombLimit, func() { cmd.Process.Kill() })
	defer kill.Stop()
	for { // until it reads documents
		if names, _ := filepath.Glob(filepath.Join(database, "docsearch", "g*", "passages.0.jsonl")); len(names) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	// Much less than the documents take, with a margin for a busy machine.
	late := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	err := cmd.Wait()
	if err == nil || cmd.ProcessState.ExitCode() < 0 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}

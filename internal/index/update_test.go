package index

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
)

// A book is a source of generated pages that can be edited. It reports which lines are
// unchanged.
type book struct {
	pages   []*page
	words   int                         // minimum number of words in a section
	shards  int                         // number of passages files
	written map[*section]generation.Run // position of each line in the last generation
	fresh   int                         // number of its lines that are new
	rng     *rand.Rand
	zipf    *rand.Zipf
}

type page struct {
	name     string
	sections []*section
}

// A section is a passage with its line. It is immutable.
type section struct {
	passage.Passage
	line []byte
}

func newBook(pages, words int) *book {
	rng := rand.New(rand.NewPCG(uint64(pages), 1))
	b := &book{words: words, shards: 1, rng: rng, zipf: rand.NewZipf(rng, 1.1, 4, 5000)}
	for i := range pages {
		b.pages = append(b.pages, &page{name: fmt.Sprintf("guide/page%04d.html", i)})
	}
	for _, p := range b.pages {
		for range 1 + rng.IntN(8) {
			p.sections = append(p.sections, b.section(p.name))
		}
	}
	return b
}

func (b *book) text(words int) string {
	var s []byte
	for range words {
		s = strconv.AppendUint(append(s, " w"...), b.zipf.Uint64(), 10)
	}
	return string(s)
}

func (b *book) section(page string) *section {
	id := fmt.Sprintf("%08x", b.rng.Uint32())
	p := passage.Passage{
		ID: id, Text: b.text(b.words + b.rng.IntN(b.words)), Title: "The page " + page, Headings: []string{b.text(2), b.text(3)},
		Path: page, Anchors: []string{"s" + id[:1], id},
	}
	for range b.rng.IntN(4) {
		to := b.pages[b.rng.IntN(len(b.pages))].name
		if b.rng.IntN(2) == 0 {
			to += fmt.Sprintf("#s%x", b.rng.IntN(16))
		}
		p.SetLinks(append(p.Links(), passage.Link{To: to, Text: b.text(2)}))
	}
	return &section{p, p.AppendLine(nil)}
}

// edit changes the given number of pages. Some changes affect other pages.
func (b *book) edit(pages int) {
	for range pages {
		i := b.rng.IntN(len(b.pages))
		p := b.pages[i]
		at := b.rng.IntN(len(p.sections))
		switch b.rng.IntN(10) {
		case 0:
			b.pages = slices.Insert(b.pages, i, &page{p.name + "x", []*section{b.section(p.name + "x")}})
		case 1:
			if len(b.pages) > 1 {
				b.pages = slices.Delete(b.pages, i, i+1)
			}
		case 2:
			p.sections = slices.Insert(p.sections, at, b.section(p.name))
		case 3:
			if len(p.sections) > 1 {
				p.sections = slices.Delete(p.sections, at, at+1)
			}
		case 4:
			j := b.rng.IntN(len(b.pages))
			b.pages[i], b.pages[j] = b.pages[j], b.pages[i]
		case 5:
			s := p.sections[at].Passage
			s.Extra = maps.Clone(s.Extra)
			s.SetLinks([]passage.Link{{To: b.pages[0].name, Text: b.text(1)}})
			p.sections[at] = &section{s, s.AppendLine(nil)}
		default:
			b.reword(p, at)
		}
	}
}

// reword changes the text of a section.
func (b *book) reword(p *page, at int) {
	s := p.sections[at].Passage
	s.Text += b.text(3)
	p.sections[at] = &section{s, s.AppendLine(nil)}
}

func (b *book) Prepare(_ context.Context, dir confined.Path, before *generation.Generation, _ progress.Func) (generation.Prepared, error) {
	prepared := generation.Prepared{Source: generation.Source{Kind: "book"}}
	written := make(map[*section]generation.Run)
	b.fresh = 0
	size := 0
	for _, p := range b.pages {
		for _, s := range p.sections {
			size += len(s.line)
		}
	}
	for shard := range b.shards {
		file := make([]byte, 0, size)
		for _, p := range b.pages[shard*len(b.pages)/b.shards : (shard+1)*len(b.pages)/b.shards] {
			for _, s := range p.sections {
				now := generation.Run{Shard: shard, Offset: int64(len(file))}
				file = append(file, s.line...)
				written[s] = now
				was, ok := b.written[s]
				if before == nil || !ok {
					b.fresh++
					continue
				}
				last := len(prepared.Reused) - 1
				if last >= 0 && follows(prepared.Reused[last].Before, prepared.Reused[last].Length, was) && follows(prepared.Reused[last].Now, prepared.Reused[last].Length, now) {
					prepared.Reused[last].Length += int64(len(s.line))
				} else {
					prepared.Reused = append(prepared.Reused, generation.Reused{Before: was, Now: now, Length: int64(len(s.line))})
				}
			}
		}
		if err := os.WriteFile(dir.Join(passage.ShardName(shard)).String(), file, 0o644); err != nil {
			return prepared, err
		}
	}
	b.written = written
	return prepared, nil
}

func follows(r generation.Run, length int64, next generation.Run) bool {
	return r.Shard == next.Shard && r.Offset+length == next.Offset
}

func buildBook(tb testing.TB, dir string, src Source, opt BuildOptions) Info {
	tb.Helper()
	info, err := Build(tb.Context(), dir, src, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

func openBook(tb testing.TB, dir string) *Database {
	tb.Helper()
	d, err := Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { d.Close() })
	return d
}

// sums returns the checksums of a generation's files.
func sums(i Info, names ...string) map[string]string {
	m := make(map[string]string)
	for _, f := range i.Files {
		if len(names) == 0 || slices.Contains(names, f.Name) {
			m[f.Name] = f.CRC32
		}
	}
	return m
}

// An update writes the same table and lexical index as a full build. With the same
// embedder, it returns the same results.
func TestUpdateEqualsBuild(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		pages, edited, shards int
	}{
		{"with vectors", 90, 2, 1},
		{"one edit a time", 40, 1, 1},
		{"several edits", 40, 2, 1},
		{"several files", 40, 2, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(tt.pages, 20)
			b.shards = tt.shards
			dir := t.TempDir()
			first := buildBook(t, dir, b, BuildOptions{Update: true})
			changed := 0
			for range 4 {
				b.edit(tt.edited)
				have := buildBook(t, dir, b, BuildOptions{Update: true})
				want := buildBook(t, t.TempDir(), b.copy(), BuildOptions{})
				if changed += b.fresh; have.Training.Changed < changed || have.Training.Time != first.Training.Time {
					t.Fatalf("training %+v, %d changed since: not an update", have.Training, changed)
				}
				if have.Passages != want.Passages || have.Documents != want.Documents || have.TextBytes != want.TextBytes {
					t.Errorf("%d passages of %d documents, %d bytes; want %d of %d, %d", have.Passages, have.Documents, have.TextBytes, want.Passages, want.Documents, want.TextBytes)
				}
				names := []string{passage.TableName, lexicalName}
				if diff := cmp.Diff(sums(want, names...), sums(have, names...)); diff != "" {
					t.Fatalf("files (-built +updated):\n%s", diff)
				}
				d := openBook(t, dir)
				sameAnswers(t, b, d, withEmbedder(t, openBook(t, want.Dir), d))
			}
			if r, err := Verify(t.Context(), dir, nil); err != nil || len(r.Problems) > 0 {
				t.Errorf("verify: %v, %v", r.Problems, err)
			}
		})
	}
}

func (b *book) copy() *book { return &book{pages: b.pages, shards: b.shards} }

// withEmbedder returns database d with vectors computed by the embedder of other.
func withEmbedder(t *testing.T, d, other *Database) *Database {
	t.Helper()
	if other.embedder == nil {
		return d
	}
	passages, err := other.embedder.Vectors(d.table.Passages(), d.terms)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), vectorsName)
	if _, err := dense.Build(t.Context(), confined.Of(path), passages, dense.Options{Depth: denseCandidates}); err != nil {
		t.Fatal(err)
	}
	vectors, err := dense.Open(confined.Of(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vectors.Close() })
	gen := d.gen
	gen.Confidence = other.gen.Confidence
	return &Database{dir: d.dir, gen: gen, table: d.table, lexical: d.lexical, embedder: other.embedder, vectors: vectors}
}

func sameAnswers(t *testing.T, b *book, have, want *Database) {
	t.Helper()
	for range 30 {
		q := Query{Text: b.text(2 + b.rng.IntN(6)), TopK: 10}
		got, err := have.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		expected, err := want.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if want.vectors == nil {
			got.Confident, expected.Confident = false, false
		}
		if diff := cmp.Diff(expected, got, cmp.AllowUnexported(Hit{}, Result{}, lexical.Signals{})); diff != "" {
			t.Fatalf("%q (-built +updated):\n%s", q.Text, diff)
		}
	}
}

// An update falls back to a full build if it cannot reuse the previous generation.
func TestUpdateFallsBackToFullBuild(t *testing.T) {
	damage := func(name string) func(*testing.T, generation.Generation) {
		return func(t *testing.T, g generation.Generation) {
			data, err := os.ReadFile(g.Path(name))
			if err != nil {
				t.Fatal(err)
			}
			for at := 100; at < len(data); at += 1000 {
				data[at] ^= 4
			}
			if err := os.WriteFile(g.Path(name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(*testing.T, generation.Generation) {
		return func(t *testing.T, g generation.Generation) {
			if err := os.Remove(g.Path(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		before func(*testing.T, generation.Generation)
		source func(*book) Source
		edited int
		pages  int // small numbers have no embedder
		opt    BuildOptions
	}{
		{name: "another tool", opt: BuildOptions{Tool: "2"}},
		{name: "another language", opt: BuildOptions{Tool: "1", Language: "german"}},
		{name: "much has changed", edited: 20},
		{name: "a damaged table", before: damage(passage.TableName)},
		{name: "a damaged lexical index", before: damage(lexicalName)},
		{name: "a damaged embedder", pages: 90, before: damage(embedderName)},
		{name: "damaged vectors", pages: 90, before: damage(vectorsName)},
		{name: "damaged passages", before: damage(passage.ShardName(0)), edited: 5},
		{name: "no lexical index", before: remove(lexicalName)},
		{name: "no embedder", pages: 90, before: remove(embedderName)},
		{name: "no passages", before: remove(passage.ShardName(0))},
		{name: "reused lines that do not exist", source: func(b *book) Source {
			return falsifier{b, func(k []generation.Reused) { k[len(k)-1].Length += 1 << 20; k[len(k)-1].Before.Offset = 0 }}
		}},
		{name: "other lines", source: func(b *book) Source {
			return falsifier{b, func(k []generation.Reused) { k[0].Now.Offset += 7 }}
		}},
		{name: "a file that does not exist", source: func(b *book) Source {
			return falsifier{b, func(k []generation.Reused) { k[len(k)-1].Now.Shard = 9 }}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook(max(30, tt.pages), 20)
			dir := t.TempDir()
			buildBook(t, dir, b, BuildOptions{Tool: "1"})
			g, err := generation.Current(dir)
			if err != nil {
				t.Fatal(err)
			}
			if tt.before != nil {
				tt.before(t, g)
			}
			b.edit(max(2, tt.edited))
			opt := tt.opt
			if opt.Tool == "" {
				opt.Tool = "1"
			}
			opt.Update = true
			src := Source(b)
			if tt.source != nil {
				src = tt.source(b)
			}
			have := buildBook(t, dir, src, opt)
			opt.Update = false
			want := buildBook(t, t.TempDir(), b.copy(), opt)
			if diff := cmp.Diff(sums(want), sums(have)); diff != "" {
				t.Errorf("files (-built +updated):\n%s", diff)
			}
			if have.Training.Changed != 0 {
				t.Errorf("training %+v", have.Training)
			}
		})
	}
}

// The language of the documentation decides how it is indexed, also if an update changes it.
func TestDetectedLanguageStems(t *testing.T) {
	b := newBook(30, 20)
	dir := t.TempDir()
	if info := buildBook(t, dir, b, BuildOptions{Tool: "1"}); info.Language != "" {
		t.Fatalf("the generated words are in %q", info.Language)
	}
	p := b.pages[3]
	s := p.sections[0].Passage
	s.Text = strings.Repeat("das ist der Kessel und nicht die Kanne ", 40) + "Teller"
	p.sections[0] = &section{s, s.AppendLine(nil)}
	have := buildBook(t, dir, b, BuildOptions{Tool: "1", Update: true})
	if have.Language != "German" {
		t.Errorf("language %q after the update", have.Language)
	}
	want := buildBook(t, t.TempDir(), b.copy(), BuildOptions{Tool: "1"})
	if diff := cmp.Diff(sums(want), sums(have)); diff != "" {
		t.Errorf("files (-built +updated):\n%s", diff)
	}
	found, _, err := openBook(t, dir).lexical.Search(lexical.Query{Text: "Tellern", Limit: 1})
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v for an inflected word", found, err)
	}
	b.reword(b.pages[9], 0)
	have = buildBook(t, dir, b, BuildOptions{Tool: "1", Update: true})
	want = buildBook(t, t.TempDir(), b.copy(), BuildOptions{Tool: "1"})
	if diff := cmp.Diff(sums(want, lexicalName), sums(have, lexicalName)); diff != "" || have.Training.Changed != 1 {
		t.Errorf("%d passages updated, files (-built +updated):\n%s", have.Training.Changed, diff)
	}
}

// A languageSample is spread evenly, whatever the number of lines.
func TestLanguageSample(t *testing.T) {
	for n := 1; n < 5000; n += 7 {
		var s languageSample
		for i := range n {
			s.add(strconv.AppendInt(nil, int64(i), 10))
		}
		step := 1
		for n > step*(2*languageSampleSize-1) {
			step *= 2
		}
		for i, line := range s.lines {
			if string(line) != strconv.Itoa(i*step) {
				t.Fatalf("line %d of %d is %s, want a multiple of %d", i, n, line, step)
			}
		}
		if len(s.lines) != (n+step-1)/step {
			t.Fatalf("%d of %d lines", len(s.lines), n)
		}
	}
}

// A falsifier is a source that reports other reused lines.
type falsifier struct {
	Source
	falsify func([]generation.Reused)
}

func (f falsifier) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error) {
	p, err := f.Source.Prepare(ctx, dir, before, report)
	f.falsify(p.Reused)
	return p, err
}

// Many small updates eventually retrain the embedder and the threshold.
func TestUpdateRetrains(t *testing.T) {
	b := newBook(90, 20)
	dir := t.TempDir()
	first := buildBook(t, dir, b, BuildOptions{})
	for i := range 100 {
		b.edit(8)
		info := buildBook(t, dir, b, BuildOptions{Update: true})
		if info.Training.Time != first.Training.Time {
			if i == 0 || info.Training.Changed != 0 || info.Training.Passages != info.Passages {
				t.Errorf("update %d retrained: %+v", i, info.Training)
			}
			if diff := cmp.Diff(sums(buildBook(t, t.TempDir(), b.copy(), BuildOptions{})), sums(info)); diff != "" {
				t.Errorf("files (-built +updated):\n%s", diff)
			}
			return
		}
		if float64(info.Training.Changed) > maxChanged*float64(info.Training.Passages) {
			t.Fatalf("training %+v: not retrained", info.Training)
		}
	}
	t.Error("never retrained")
}

// An update embeds only new passages.
func TestUpdateOfProvided(t *testing.T) {
	b := newBook(60, 20)
	dir := t.TempDir()
	e := &counter{}
	buildBook(t, dir, b, BuildOptions{Embedder: e})
	d := openBook(t, dir)
	if d.provided == nil {
		t.Fatal("no provided vectors")
	}
	changed := 0
	for range 3 {
		e.texts = 0
		b.edit(1)
		info := buildBook(t, dir, b, BuildOptions{Embedder: e, Update: true})
		if e.texts > info.Training.Changed-changed {
			t.Errorf("%d texts were embedded, %d passages are new or removed", e.texts, info.Training.Changed-changed)
		}
		changed = info.Training.Changed
		other := t.TempDir()
		buildBook(t, other, b.copy(), BuildOptions{Embedder: e})
		have, want := openBook(t, dir), openBook(t, other)
		for range 20 {
			q, err := e.Embed(t.Context(), embed.Query, []string{b.text(5)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := have.provided.Search(q[0], 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			expected, err := want.provided.Search(q[0], 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Fatalf("(-built +updated):\n%s", diff)
			}
		}
	}
	// Without the embedder, the update drops its vectors.
	b.edit(1)
	if info := buildBook(t, dir, b, BuildOptions{Update: true}); info.Provided != nil {
		t.Error("vectors without an embedder")
	}
}

// A counter is an embedder that hashes words to vectors and counts the embedded texts.
type counter struct{ texts int }

func (c *counter) ID() string      { return "letters" }
func (c *counter) Dimensions() int { return 64 }

func (c *counter) Embed(_ context.Context, _ embed.Kind, texts []string) ([][]float32, error) {
	c.texts += len(texts)
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 64)
		for _, word := range strings.Fields(text) {
			h := fnv.New32a()
			h.Write([]byte(word))
			vectors[i][h.Sum32()%64]++
		}
	}
	return vectors, nil
}

func TestLongestAscending(t *testing.T) {
	for _, tt := range []struct{ runs, want [][2]uint32 }{
		{nil, nil},
		{[][2]uint32{{0, 5}, {5, 9}}, [][2]uint32{{0, 5}, {5, 9}}},
		// Two short runs were swapped around a long one.
		{[][2]uint32{{0, 10}, {40, 42}, {12, 40}, {10, 12}, {42, 50}}, [][2]uint32{{0, 10}, {12, 40}, {42, 50}}},
		// A run moved from the end to the start.
		{[][2]uint32{{90, 95}, {0, 10}, {10, 20}, {20, 90}, {95, 97}}, [][2]uint32{{0, 10}, {10, 20}, {20, 90}, {95, 97}}},
		// Copied runs count once.
		{[][2]uint32{{0, 10}, {5, 12}, {0, 10}, {10, 11}}, [][2]uint32{{0, 10}, {10, 11}}},
	} {
		var runs []passageRun
		for _, r := range tt.runs {
			runs = append(runs, passageRun{first: r[0], end: r[1], length: int64(r[1] - r[0])})
		}
		var got [][2]uint32
		for _, r := range longestAscending(runs) {
			got = append(got, [2]uint32{r.first, r.end})
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.runs, diff)
		}
	}
}

// FuzzUpdate applies random edits to a small book.
func FuzzUpdate(f *testing.F) {
	f.Add(uint64(1), uint8(3))
	f.Add(uint64(77), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, edits uint8) {
		b := newBook(12, 20)
		dir := t.TempDir()
		buildBook(t, dir, b, BuildOptions{})
		b.rng.IntN(2)
		b.rng = rand.New(rand.NewPCG(seed, 5))
		b.edit(int(edits % 8))
		b.shards = 1 + int(seed%3)
		have := buildBook(t, dir, b, BuildOptions{Update: true})
		want := buildBook(t, t.TempDir(), b.copy(), BuildOptions{})
		names := []string{passage.TableName, lexicalName}
		if diff := cmp.Diff(sums(want, names...), sums(have, names...)); diff != "" {
			t.Errorf("files (-built +updated):\n%s", diff)
		}
	})
}

// BenchmarkUpdate compares the cost of editing 100 of 10,000 pages with that of a full
// build. A twentieth of the full build is acceptable.
func BenchmarkUpdate(b *testing.B) {
	book := newBook(10_000, 120)
	dir := b.TempDir()
	var full, update time.Duration
	for b.Loop() {
		start := time.Now()
		info := buildBook(b, dir, book, BuildOptions{})
		full += time.Since(start)
		b.SetBytes(info.TextBytes)
		const updates = 3
		for range updates {
			for range 100 {
				p := book.pages[book.rng.IntN(len(book.pages))]
				book.reword(p, book.rng.IntN(len(p.sections)))
			}
			runtime.GC()
			start := time.Now()
			if info := buildBook(b, dir, book, BuildOptions{Update: true}); info.Training.Changed == 0 {
				b.Fatal("not an update")
			}
			update += time.Since(start) / updates
		}
	}
	n := time.Duration(b.N)
	b.ReportMetric(float64((full / n).Milliseconds()), "full-ms")
	b.ReportMetric(float64((update / n).Milliseconds()), "update-ms")
	b.ReportMetric(float64(update)/float64(full), "update/full")
}

func TestNamesIn(t *testing.T) {
	for _, tt := range []struct {
		folder string
		want   []string
	}{
		{"git", []string{"git"}},
		{"Python3.11-docs", []string{"python", "docs"}},
		{"docs.djangoproject.com", []string{"docs", "djangoproject", "com"}},
		{"42", nil},
	} {
		if got := namesIn(filepath.Join("databases", tt.folder)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.folder, got, tt.want)
		}
	}
}

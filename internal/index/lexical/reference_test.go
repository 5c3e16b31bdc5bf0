package lexical

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// A corpus generates passages whose word frequencies follow Zipf's law, as those of
// natural language do.
type corpus struct {
	rng  *rand.Rand
	zipf *rand.Zipf
}

func newCorpus(seed uint64) corpus {
	rng := rand.New(rand.NewPCG(seed, 7))
	return corpus{rng, rand.NewZipf(rng, 1.1, 4, 20_000)}
}

func (c corpus) words(n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "wo%d ", c.zipf.Uint64())
	}
	return b.String()
}

func (c corpus) fields(words int) Fields {
	return Fields{
		Title:       c.words(1 + c.rng.IntN(4)),
		Page:        c.words(2),
		Body:        c.words(1 + c.rng.IntN(2*words)),
		Address:     fmt.Sprintf("https://e.org/d%d/p%d.html", c.rng.IntN(9), c.rng.IntN(999)),
		InLinks:     c.rng.IntN(3),
		PageInLinks: c.rng.IntN(30),
	}
}

// passages generates n passages, on average perDocument per document.
func (c corpus) passages(n, perDocument, words int) (documents []uint32, fields []Fields) {
	document := uint32(0)
	for i := range n {
		if i > 0 && c.rng.IntN(perDocument) == 0 {
			document++
		}
		documents = append(documents, document)
		fields = append(fields, c.fields(words))
	}
	return documents, fields
}

// bestSegmentsReference is bestSegments without pruning.
func bestSegmentsReference(t *testing.T, x *Index, terms []scoredTerm, want int, f *filter) []uint32 {
	t.Helper()
	sums := make(map[uint32]uint32)
	for i := range terms {
		c := newCursor(terms[i].postingList)
		for b := range c.blockCount {
			if err := c.load(b); err != nil {
				t.Fatal(err)
			}
			for j := range c.n {
				if x.single {
					sums[c.segments[j]] += terms[i].passageWeight * uint32(c.best[j])
				} else {
					sums[c.segments[j]] += terms[i].passageWeight*dequantize(c.best[j]&15, false) + terms[i].pageWeight*dequantize(c.best[j]>>4, false)
				}
			}
		}
	}
	var segments []uint32
	f.rewind()
	for u := range uint32(x.segmentCount) {
		if _, ok := sums[u]; !ok {
			continue
		}
		if ok, err := f.mayAccept(u); err != nil {
			t.Fatal(err)
		} else if ok {
			segments = append(segments, u)
		}
	}
	slices.SortFunc(segments, func(a, b uint32) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	segments = segments[:min(want, len(segments))]
	slices.Sort(segments)
	return segments
}

func TestPrunedSearchEqualsExhaustiveSearch(t *testing.T) {
	for _, tt := range []struct{ passages, perDocument int }{{300, 1}, {9000, 1}, {9000, 3}, {4000, 40}, {3000, 100_000}} {
		t.Run(fmt.Sprintf("%d by %d", tt.passages, tt.perDocument), func(t *testing.T) {
			c := newCorpus(uint64(tt.passages + tt.perDocument))
			documents, fields := c.passages(tt.passages, tt.perDocument, 20)
			x := build(t, documents, fields)
			for i := range 60 {
				q := Query{Text: c.words(1 + c.rng.IntN(12))}
				switch i % 10 {
				case 7:
					q.Accept = func(p uint32) bool { return p%7 == 0 }
				case 8:
					q.Text = fmt.Sprintf("%s \"wo%d w%d\"", q.Text, c.rng.IntN(5), c.rng.IntN(5))
				case 9:
					q.Text = fmt.Sprintf("%s title:wo%d -wo%d", q.Text, c.rng.IntN(9), c.rng.IntN(99))
				}
				p := x.analyzer.plan(&q, func(string) bool { return false })
				terms, _, err := x.openTerms(&p)
				if err != nil {
					t.Fatal(err)
				}
				matchers, _, err := x.openConstraints(p.constraints)
				if err != nil {
					t.Fatal(err)
				}
				f := &filter{index: x, accept: q.Accept, matchers: matchers}
				for _, want := range []int{1, 10, 100} {
					got, _, err := x.bestSegments(terms, want, f)
					if err != nil {
						t.Fatal(err)
					}
					if expected := bestSegmentsReference(t, x, terms, want, f); !slices.Equal(got, expected) {
						t.Fatalf("%d best segments of %q:\n%v, want\n%v", want, q.Text, got, expected)
					}
				}
			}
		})
	}
}

// Hits are exactly the passages that satisfy the constraints.
func TestHitsSatisfyConstraints(t *testing.T) {
	c := newCorpus(11)
	documents, fields := c.passages(2000, 4, 10)
	x := build(t, documents, fields)
	for i := range 30 {
		first, second := fmt.Sprintf("wo%d", c.rng.IntN(6)), fmt.Sprintf("wo%d", c.rng.IntN(6))
		has := func(f *Fields, phrase string) bool {
			for _, s := range []string{f.Title, f.Page, f.Body} {
				if strings.Contains(" "+s, " "+phrase+" ") {
					return true
				}
			}
			return false
		}
		var query string
		var want func(f *Fields) bool
		switch i % 3 {
		case 0:
			query = `"` + first + " " + second + `"`
			want = func(f *Fields) bool { return has(f, first+" "+second) }
		case 1:
			query = first + " -" + second + "x -" + second
			want = func(f *Fields) bool { return has(f, first) && !has(f, second) }
		case 2:
			query = "title:" + first
			want = func(f *Fields) bool { return strings.Contains(" "+f.Title+" "+f.Page, " "+first+" ") }
		}
		if i%3 == 1 && first == second {
			continue
		}
		var expected, got []uint32
		for n := range fields {
			if want(&fields[n]) {
				expected = append(expected, uint32(n))
			}
		}
		hits, s, err := x.Search(Query{Text: query, Limit: len(fields)})
		if err != nil {
			t.Fatal(err)
		}
		if s.Relaxed {
			if len(expected) > 0 {
				t.Fatalf("%s was relaxed, but %d passages have it", query, len(expected))
			}
			continue
		}
		perDocument := make(map[uint32]int)
		for _, h := range hits {
			got = append(got, h.Passage)
			perDocument[h.Document]++
		}
		slices.Sort(got)
		for _, n := range got {
			if !slices.Contains(expected, n) {
				t.Fatalf("%s found passage %d: %+v", query, n, fields[n])
			}
		}
		for _, n := range expected {
			if !slices.Contains(got, n) && perDocument[documents[n]] < x.PerDocument() {
				t.Fatalf("%s did not find passage %d: %+v", query, n, fields[n])
			}
		}
	}
}

// Passages may be added in any order of documents.
func TestPassagesInAnyOrder(t *testing.T) {
	c := newCorpus(13)
	documents, fields := c.passages(1500, 5, 20)
	plain := build(t, documents, fields)

	// The same passages in random order, with documents renumbered.
	order := c.rng.Perm(len(fields))
	numbers := make(map[uint32]uint32)
	var shuffledDocuments []uint32
	var shuffled []Fields
	for _, n := range order {
		d, ok := numbers[documents[n]]
		if !ok {
			d = uint32(len(numbers))
			numbers[documents[n]] = d
		}
		shuffledDocuments = append(shuffledDocuments, d)
		shuffled = append(shuffled, fields[n])
	}
	mixed := build(t, shuffledDocuments, shuffled)
	for range 20 {
		q := Query{Text: c.words(3), Limit: 50}
		a, _, err := plain.Search(q)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := mixed.Search(q)
		if err != nil {
			t.Fatal(err)
		}
		scores := make(map[string]float64)
		for _, h := range a {
			scores[fields[h.Passage].Body] = h.Score
		}
		if len(a) != len(b) {
			t.Fatalf("%d hits in order, %d in disorder", len(a), len(b))
		}
		// Further down, ties decide which candidates are ranked.
		for i, h := range b[:min(5, len(b))] {
			// Ties are in the order of passage numbers, which differ.
			if a[i].Score != h.Score {
				t.Fatalf("hit %d of %q scores %g in order, %g in disorder", i, q.Text, a[i].Score, h.Score)
			}
			if s, ok := scores[shuffled[h.Passage].Body]; ok && s != h.Score {
				t.Fatalf("a passage scores %g in order, %g in disorder", s, h.Score)
			}
		}
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	c := newCorpus(17)
	documents, fields := c.passages(12_000, 6, 120) // several batches
	file := func(procs int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		b := NewBuilder(Options{})
		for i, f := range fields {
			b.Add(documents[i], f)
		}
		if len(b.batches) < 2 {
			t.Fatal("only one batch")
		}
		path := filepath.Join(t.TempDir(), "lexical.idx")
		if err := b.Write(t.Context(), confined.Of(path)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	want := file(1)
	for _, procs := range []int{2, 7} {
		if got := file(procs); !bytes.Equal(got, want) {
			t.Errorf("%d processors and one built different files", procs)
		}
	}
}

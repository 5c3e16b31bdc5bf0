package lexical

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// An edited passage belongs to a page, and is new or reused from an older index.
type edited struct {
	page   int
	fields Fields
	old    int // number in the older index, or -1
}

// write builds an index of the passages and reuses those of old, if it is not nil.
func write(tb testing.TB, passages []edited, old *Index) *Index {
	tb.Helper()
	b := NewBuilder(Options{})
	if old != nil {
		if err := b.Reuse(old); err != nil {
			tb.Fatal(err)
		}
	}
	documents := make(map[int]uint32)
	for _, p := range passages {
		d, ok := documents[p.page]
		if !ok {
			d = uint32(len(documents))
			documents[p.page] = d
		}
		if old != nil && p.old >= 0 {
			b.Keep(d, uint32(p.old))
		} else {
			b.Add(d, p.fields)
		}
	}
	path := filepath.Join(tb.TempDir(), "lexical.idx")
	if err := b.Write(tb.Context(), confined.Of(path)); err != nil {
		tb.Fatal(err)
	}
	x, err := Open(confined.Of(path))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { x.Close() })
	return x
}

// edit changes about one in rarely passages: it removes, adds or replaces them.
func (c corpus) edit(passages []edited, rarely, words int) []edited {
	var list []edited
	for i, p := range passages {
		p.old = i
		if c.rng.IntN(rarely) > 0 {
			list = append(list, p)
			continue
		}
		fresh := edited{p.page, c.fields(words), -1}
		switch c.rng.IntN(4) {
		case 0:
		case 1:
			list = append(list, fresh, p)
		case 2:
			fresh.page = 1_000_000 + i
			list = append(list, fresh, p)
		case 3:
			list = append(list, fresh)
		}
	}
	return list
}

func (c corpus) book(n, perDocument, words int) []edited {
	documents, fields := c.passages(n, perDocument, words)
	var passages []edited
	for i := range fields {
		passages = append(passages, edited{int(documents[i]), fields[i], -1})
	}
	return passages
}

// sameFile checks that two indexes are byte-identical.
func sameFile(tb testing.TB, have, want *Index) {
	tb.Helper()
	a, err := os.ReadFile(have.file.Path())
	if err != nil {
		tb.Fatal(err)
	}
	b, err := os.ReadFile(want.file.Path())
	if err != nil {
		tb.Fatal(err)
	}
	if bytes.Equal(a, b) {
		return
	}
	for _, name := range sectionNames {
		a, aErr := have.file.Section(name)
		b, bErr := want.file.Section(name)
		if aErr != nil || bErr != nil {
			tb.Fatal(aErr, bErr)
		}
		x, _ := a.All()
		y, _ := b.All()
		if !bytes.Equal(x, y) {
			tb.Errorf("section %s: %d bytes differ from the %d of a full build", name, len(x), len(y))
		}
	}
	tb.Fatal("the files differ")
}

// An update yields the same index as a full build.
func TestKeepEqualsAdd(t *testing.T) {
	shuffle := func(c corpus, list []edited) []edited {
		c.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	}
	move := func(c corpus, list []edited) []edited {
		from := c.rng.IntN(len(list))
		return append(slices.Clone(list[from:]), list[:from]...)
	}
	// reword replaces words of some passages and so keeps all lengths.
	reword := func(c corpus, list []edited) []edited {
		for i := range list {
			if p := &list[i]; c.rng.IntN(60) == 0 {
				p.fields.Body, p.old = c.words(len(strings.Fields(p.fields.Body))), -1
			}
		}
		return list
	}
	// retouch adds a word to some passages, removes one from others, and moves words in
	// others: most postings of a page stay the same, the rest shift.
	retouch := func(c corpus, list []edited) []edited {
		for i := range list {
			p := &list[i]
			words := strings.Fields(p.fields.Body)
			switch c.rng.IntN(200) {
			case 0:
				words = append(words, c.words(1))
			case 1:
				words = words[min(1, len(words)):]
			case 2:
				c.rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			default:
				continue
			}
			p.fields.Body, p.old = strings.Join(words, " "), -1
		}
		return list
	}
	// up moves a passage three places up and replaces its body by one of the same length.
	up := func(c corpus, list []edited, i int) {
		if p := list[i]; list[i-3].page == p.page {
			p.fields.Body, p.old = c.words(len(strings.Fields(p.fields.Body))), -1
			copy(list[i-2:], list[i-3:i])
			list[i-3] = p
		}
	}
	shift := func(c corpus, list []edited) []edited {
		for i := 3; i < len(list); i++ {
			if c.rng.IntN(60) == 0 {
				up(c, list, i)
			}
		}
		return list
	}
	// cross does so at the ends of segments, or in the other direction, so that passages
	// move into the next or previous segment.
	cross := func(c corpus, list []edited) []edited {
		for i := maxSegmentPassages + c.rng.IntN(3); i < len(list); i += maxSegmentPassages {
			if c.rng.IntN(2) == 0 {
				up(c, list, i)
				continue
			}
			slices.Reverse(list[i-3 : i+1])
			up(c, list, i)
			slices.Reverse(list[i-3 : i+1])
		}
		return list
	}
	// add inserts a word into some pages, as a passage of its own.
	add := func(c corpus, list []edited) []edited {
		for i := 1; i < len(list); i++ {
			if c.rng.IntN(100) == 0 && list[i-1].page == list[i].page {
				list = slices.Insert(list, i, edited{list[i].page, Fields{Body: c.words(1)}, -1})
			}
		}
		return list
	}
	for _, tt := range []struct {
		name                  string
		passages, perDocument int
		rarely                int
		before, after         func(corpus, []edited) []edited
		procs                 int
	}{
		{name: "pages", passages: 3000, perDocument: 5, rarely: 50},
		{name: "pages, few edits", passages: 3000, perDocument: 5, rarely: 500},
		{name: "pages, other words", passages: 3000, perDocument: 5, rarely: 1 << 40, after: reword},
		{name: "pages, retouched", passages: 4000, perDocument: 3, rarely: 1 << 40, after: retouch},
		{name: "pages in pieces, retouched", passages: 4000, perDocument: 3, rarely: 1 << 40, before: shuffle, after: retouch},
		{name: "pages, passages shifted", passages: 3000, perDocument: 9, rarely: 1 << 40, after: shift},
		{name: "one document, passages shifted", passages: 3000, perDocument: 1 << 40, rarely: 1 << 40, after: cross},
		{name: "pages, words added", passages: 3000, perDocument: 20, rarely: 1 << 40, after: add},
		{name: "many pages", passages: 9000, perDocument: 2, rarely: 1000},
		{name: "single passages", passages: 2000, perDocument: 1, rarely: 50},
		{name: "long documents", passages: 2000, perDocument: 700, rarely: 50},
		{name: "most is new", passages: 600, perDocument: 4, rarely: 2},
		{name: "all is new", passages: 100, perDocument: 4, rarely: 1},
		{name: "nothing is new", passages: 900, perDocument: 4, rarely: 1 << 40},
		{name: "moved", passages: 900, perDocument: 4, rarely: 40, after: move},
		{name: "documents in pieces", passages: 900, perDocument: 4, rarely: 40, before: shuffle},
		{name: "into pieces", passages: 900, perDocument: 4, rarely: 40, after: shuffle},
		{name: "one processor", passages: 900, perDocument: 4, rarely: 40, procs: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.procs > 0 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(tt.procs))
			}
			c := newCorpus(uint64(tt.passages + tt.perDocument + tt.rarely))
			list := c.book(tt.passages, tt.perDocument, 20)
			if tt.before != nil {
				list = tt.before(c, list)
			}
			// Several generations, each built from the previous one.
			x := write(t, list, nil)
			for range 3 {
				list = c.edit(list, tt.rarely, 20)
				if tt.after != nil {
					list = tt.after(c, list)
				}
				next := write(t, list, x)
				sameFile(t, next, write(t, list, nil))
				x = next
			}
			if err := x.Verify(nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// Priors depend on other passages: on their links, depth and newest version. The
// prior of a reused passage changes when those do.
func TestKeepRecomputesPriors(t *testing.T) {
	old := []edited{
		{0, Fields{Title: "A (??=)", Body: "one text `->>` and\n| `@>` |", Address: "https://e.org/3.11/a.html", PageInLinks: 9}, -1},
		{1, Fields{Title: "getName", Body: "two getName whatsnew", Address: "https://e.org/whatsnew/b.html#x", Anchors: []string{"os.path"}, Keys: []string{"path:.go"}, InLinks: 4}, -1},
		{2, Fields{Title: "->", Path: []string{"->", "-> ->"}, Body: "`??=`", Address: "https://e.org/a/b/c/d/c.html", Terms: "index term", Links: "called so\nor so"}, -1},
	}
	x := write(t, old, nil)
	for i := range old {
		old[i].old = i
	}
	fresh := func(f Fields) edited { return edited{9, f, -1} }
	for name, now := range map[string][]edited{
		"a newer version":  {old[0], old[1], old[2], fresh(Fields{Body: "one", Address: "https://e.org/3.12/a.html"})},
		"the only version": {old[0]},
		"more links":       {fresh(Fields{Body: "text", InLinks: 90, PageInLinks: 900}), old[2], old[0]},
		"longer ones":      {old[1], fresh(Fields{Title: "a title of many words", Body: "longer", Links: "many a link"})},
		"none":             {},
	} {
		t.Run(name, func(t *testing.T) { sameFile(t, write(t, now, x), write(t, now, nil)) })
	}
}

// Blocks of the older index are copied only if they fit between the other postings and if
// the list's flags stay the same.
func TestKeepBlocks(t *testing.T) {
	const pages = 3*blockSize + 10
	page := func(i int, first, second string) []edited {
		return []edited{{i, Fields{Title: "one", Body: first}, -1}, {i, Fields{Title: "one", Body: second}, -1}}
	}
	var old []edited
	for i := range pages {
		switch i {
		case pages - 1:
			old = append(old, page(i, "common common", "common word")...)
		default:
			old = append(old, page(i, "common word", "other word")...)
		}
	}
	x := write(t, old, nil)
	for i := range old {
		old[i].old = i
	}
	for name, now := range map[string][]edited{
		"nothing several times":    append(slices.Clone(old[:2*pages-2]), page(pages-1, "common word", "other word")...),
		"one page less":            old[:2*pages-2],
		"one block is left":        old[:2*blockSize],
		"one page more at the end": append(slices.Clone(old), page(pages, "common word", "other word")...),
		"one page more in front":   append(page(pages, "common word", "other word"), old...),
		"another first page":       append(page(pages, "common word", "other word"), old[2:]...),
		"a block more in front":    append(slices.Clone(old[2*blockSize:4*blockSize]), old...),
		"a block less in front":    old[2*blockSize:],
		"a page between blocks":    append(append(slices.Clone(old[:2*blockSize]), page(pages, "common word", "other word")...), old[2*blockSize:]...),
		"another last of a block":  append(append(slices.Clone(old[:2*blockSize-2]), page(pages, "uncommon word", "common word")...), old[2*blockSize:]...),
		"other pages swapped":      append(append(slices.Clone(old[:2*blockSize-2]), page(pages, "word", "word")...), append(page(pages+1, "common word", "word"), old[2*blockSize:]...)...),
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(map[int]bool)
			for i := range now {
				if seen[now[i].old] && now[i].old >= 0 {
					now[i] = edited{now[i].page + 2*pages, now[i].fields, -1}
				}
				seen[now[i].old] = true
			}
			sameFile(t, write(t, now, x), write(t, now, nil))
		})
	}
}

func TestReuseRefuses(t *testing.T) {
	x := build(t, []uint32{0, 1}, []Fields{{Body: "one"}, {Body: "two"}})
	if err := NewBuilder(Options{Language: "german"}).Reuse(x); err == nil {
		t.Error("an English index for a German one")
	}
	b := NewBuilder(Options{})
	if err := b.Reuse(x); err != nil {
		t.Fatal(err)
	}
	b.Keep(0, 2)
	if err := b.Write(t.Context(), confined.Of(filepath.Join(t.TempDir(), "lexical.idx"))); err == nil {
		t.Error("Keep accepted a passage that does not exist")
	}
}

// FuzzKeep edits a small corpus as the input specifies.
func FuzzKeep(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, uint8(3))
	f.Add([]byte{9, 9, 9, 1, 0, 3, 30, 2, 1}, uint8(1))
	f.Fuzz(func(t *testing.T, edits []byte, perDocument uint8) {
		c := newCorpus(uint64(perDocument))
		list := c.book(40, 1+int(perDocument), 8)
		x := write(t, list, nil)
		for i := range list {
			list[i].old = i
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for _, e := range edits {
			i := int(e>>2) % (len(list) + 1)
			switch e & 3 {
			case 0:
				list = slices.Insert(list, i, edited{rng.IntN(30), c.fields(8), -1})
			case 1:
				if i < len(list) {
					list = slices.Delete(list, i, i+1)
				}
			case 2:
				if i < len(list) {
					list[i].fields, list[i].old = c.fields(8), -1
				}
			case 3:
				if i < len(list) {
					p := list[i]
					list = slices.Insert(slices.Delete(list, i, i+1), rng.IntN(len(list)), p)
				}
			}
		}
		sameFile(t, write(t, list, x), write(t, list, nil))
	})
}

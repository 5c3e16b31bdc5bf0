package lexical

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
)

// randomList returns random postings in some of limit segments.
func randomList(rng *rand.Rand, segments, limit int, single bool) postingBuffer {
	var g postingBuffer
	chosen := rng.Perm(limit)[:segments]
	slices.Sort(chosen)
	for _, segment := range chosen {
		top := maxLevel(single)
		page, local, passages := uint8(1+rng.IntN(top)), 0, 1
		if !single && rng.IntN(3) == 0 {
			passages += rng.IntN(20)
		}
		for range passages {
			if !single {
				local += rng.IntN(3)
			}
			if local >= maxSegmentPassages {
				break
			}
			p := posting{segment: uint32(segment), local: uint8(local), impact: uint8(1 + rng.IntN(top)), pageImpact: page, from: uint32(len(g.positions))}
			for p.count == 0 || rng.IntN(3) == 0 {
				g.positions = append(g.positions, uint32(rng.IntN(200)))
				p.count++
			}
			g.list = append(g.list, p)
			local++
		}
	}
	return g
}

// section returns b as a section of a file.
func section(tb testing.TB, b []byte) container.Section {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "file")
	w, err := container.Create(confined.Of(path), "TEST", 1)
	if err != nil {
		tb.Fatal(err)
	}
	w.Section("section")
	w.Write(b)
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	f, err := container.Open(confined.Of(path), "TEST", 1)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	s, err := f.Section("section")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestPostingsComeBack(t *testing.T) {
	const limit = 3000
	rng := rand.New(rand.NewPCG(5, 6))
	for _, single := range []bool{false, true} {
		for _, segments := range []int{1, 2, maxShortList, maxShortList + 1, blockSize - 1, blockSize, blockSize + 1, 1000, limit} {
			t.Run(strconv.FormatBool(single)+"/"+strconv.Itoa(segments), func(t *testing.T) {
				want := randomList(rng, segments, limit, single)
				w := listWriter{single: single}
				before := randomList(rng, 700, limit, single)
				w.encode(nil, before.list, before.positions) // reused buffers must not affect the next list
				encoded := w.encode(nil, want.list, want.positions)
				l, err := openPostingList(section(t, encoded), 0, int64(len(encoded)), limit, single)
				if err != nil {
					t.Fatal(err)
				}
				if l.segmentCount != segments || l.passageCount != len(want.list) {
					t.Fatalf("%d segments and %d passages, want %d and %d", l.segmentCount, l.passageCount, segments, len(want.list))
				}
				got := readList(t, newCursor(l))
				for i := range want.list {
					if single {
						want.list[i].pageImpact = 0
					}
					if got.list[i] != want.list[i] {
						t.Fatalf("posting %d: got %+v, want %+v", i, got.list[i], want.list[i])
					}
				}
				if !slices.Equal(got.positions, want.positions) {
					t.Fatal("wrong positions")
				}
				testSeek(t, newCursor(l), want.list, rng)
			})
		}
	}
}

// readList reads a whole posting list.
func readList(t *testing.T, c *cursor) postingBuffer {
	t.Helper()
	var g postingBuffer
	for b := range c.blockCount {
		if err := c.load(b); err != nil {
			t.Fatal(err)
		}
		for i := range c.n {
			locals, impacts, err := c.passagesOf(i)
			if err != nil {
				t.Fatal(err)
			}
			for j := range locals {
				p := posting{segment: c.segments[i], local: uint8(locals[j]), impact: impacts[j], from: uint32(len(g.positions))}
				if !c.single {
					p.pageImpact = c.best[i] >> 4
				}
				if g.positions, err = c.positionsOf(g.positions, i, j); err != nil {
					t.Fatal(err)
				}
				own := g.positions[p.from:]
				for k := len(own) - 1; k > 0; k-- {
					own[k] -= own[k-1] + 1
				}
				p.count = uint32(len(g.positions)) - p.from
				g.list = append(g.list, p)
			}
		}
	}
	return g
}

// testSeek seeks forward in random steps.
func testSeek(t *testing.T, c *cursor, list []posting, rng *rand.Rand) {
	t.Helper()
	for target := uint32(0); target < c.indexSegments; target += uint32(rng.IntN(60)) {
		ok, err := c.seek(target)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(p posting) bool { return p.segment >= target })
		if ok != (i >= 0) {
			t.Fatalf("seek(%d) is %v", target, ok)
		}
		if !ok {
			return
		}
		if c.segments[c.at] != list[i].segment {
			t.Fatalf("seek(%d) came to %d, want %d", target, c.segments[c.at], list[i].segment)
		}
	}
}

func TestDictionary(t *testing.T) {
	terms := []string{"=a.b", "@a", "a", "ab", "abc"}
	for i := range 500 {
		terms = append(terms, "common"+strconv.Itoa(i*7), "x"+strconv.Itoa(i))
	}
	for i := range 30 {
		terms = append(terms, strings.Repeat("l", 10+i)+strings.Repeat("m", 1+i%20))
	}
	slices.Sort(terms)
	var w dictionaryWriter
	for i, term := range terms {
		w.add(term, i%300)
	}
	d, err := newDictionary(section(t, w.keys), section(t, w.terms))
	if err != nil {
		t.Fatal(err)
	}
	offset := int64(0)
	for i, term := range terms {
		at, length, found, err := d.find(term)
		if err != nil || !found || at != offset || length != int64(i%300) {
			t.Fatalf("%q is at %d, %d long, %v, %v; want %d, %d", term, at, length, found, err, offset, i%300)
		}
		offset += int64(i % 300)
		if _, _, found, err := d.find(term + "!"); found || err != nil {
			t.Fatalf("%q! is there: %v, %v", term, found, err)
		}
	}
	for _, term := range []string{"", "!", "zzz", "common", "commonality"} {
		if _, _, found, err := d.find(term); found || err != nil {
			t.Errorf("%q is there: %v, %v", term, found, err)
		}
	}
}

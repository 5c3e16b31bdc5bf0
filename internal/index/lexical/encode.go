package lexical

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/index/container"
)

const (
	// A span is encoded as one task. It has this many terms, or dictionary blocks of an
	// older index: enough to amortize the hand-over.
	spanTerms  = 256
	spanBlocks = spanTerms / blockTerms
)

// postings writes the posting lists of all terms in term order.
func (b *Builder) postings(ctx context.Context, out *container.Writer, l *layout, words *dictionaryWriter) error {
	return b.newEncoder(l).each(ctx, func(r *encodedLists) error {
		term, list := 0, 0
		for _, end := range r.ends {
			words.add(string(r.terms[term:end.term]), end.list-list)
			term, list = end.term, end.list
		}
		if uint64(len(words.terms)) > math.MaxUint32 {
			return fmt.Errorf("%d terms are too many for one index", words.termCount)
		}
		_, err := out.Write(r.bytes)
		return err
	})
}

// An encoder encodes the posting lists of all terms from the new batches and from the
// reused passages of an older index.
type encoder struct {
	layout  *layout
	batches []*batchIndex
	terms   []string
	pieces  *termPieces
	reused  *reusedIndex
	words   *dictionary // of the older index; empty without one
	// newOrdinals maps ordinals of the older index to new ones, or to removed.
	newOrdinals []uint32
	segmentChanges
	// shuffled: the new passages are not stored in the order in which they were added.
	// unsorted: the reused ones are not in their old order.
	shuffled, unsorted bool
}

func (b *Builder) newEncoder(l *layout) *encoder {
	e := &encoder{layout: l, batches: b.batches, terms: b.ids.terms, pieces: b.pieces(), words: &dictionary{},
		shuffled: l.ordinals != nil}
	if b.reused != nil {
		e.reused, e.words = b.reused, &b.reused.index.dictionary
		var ascending bool
		e.newOrdinals, ascending = b.reused.newOrdinals(l)
		e.unsorted = !ascending
		e.segmentChanges = b.reused.unchangedSegments(l, e.newOrdinals, e.unsorted)
	}
	return e
}

// termPieces locates the postings of each term in the batches.
type termPieces struct {
	starts []uint32    // start of each term's pieces in list, and the end
	list   []termPiece // in batch order
	order  []uint32    // term numbers in term order
}

type termPiece struct{ batch, index uint32 }

func (b *Builder) pieces() *termPieces {
	p := &termPieces{starts: make([]uint32, len(b.ids.terms)+1)}
	for _, s := range b.batches {
		for _, t := range s.terms {
			p.starts[t+1]++
		}
	}
	for i := range b.ids.terms {
		p.starts[i+1] += p.starts[i]
	}
	p.list = make([]termPiece, p.starts[len(b.ids.terms)])
	next := slices.Clone(p.starts)
	for i, s := range b.batches {
		for j, t := range s.terms {
			p.list[next[t]] = termPiece{uint32(i), uint32(j)}
			next[t]++
		}
	}
	p.order = make([]uint32, len(b.ids.terms))
	for i := range p.order {
		p.order[i] = uint32(i)
	}
	slices.SortFunc(p.order, func(x, y uint32) int { return strings.Compare(b.ids.terms[x], b.ids.terms[y]) })
	return p
}

// encodedLists has the posting lists of consecutive terms.
type encodedLists struct {
	terms, bytes []byte // concatenated
	ends         []listEnd
}

// A listEnd is the end of a term in encodedLists.terms and of its posting list in bytes.
type listEnd struct{ term, list int }

func (r *encodedLists) reset() { r.terms, r.bytes, r.ends = r.terms[:0], r.bytes[:0], r.ends[:0] }

func (r *encodedLists) add(term, encoded []byte) {
	r.addEnd(term, append(r.bytes, encoded...))
}

// addEnd adds a term whose posting list was appended to bytes.
func (r *encodedLists) addEnd(term, bytes []byte) {
	r.terms, r.bytes = append(r.terms, term...), bytes
	r.ends = append(r.ends, listEnd{len(r.terms), len(r.bytes)})
}

// A span is a range of consecutive terms: those of the older index's dictionary blocks
// from block to blockEnd, and those of the batches at term to termEnd in pieces.order.
type span struct{ block, blockEnd, term, termEnd int }

func (e *encoder) spans() ([]span, error) {
	var spans []span
	all := len(e.pieces.order)
	if e.words.blocks == 0 {
		for from := 0; from < all; from += spanTerms {
			spans = append(spans, span{term: from, termEnd: min(from+spanTerms, all)})
		}
		return spans, nil
	}
	from := 0
	for block := 0; block < e.words.blocks; block += spanBlocks {
		s := span{block: block, blockEnd: min(block+spanBlocks, e.words.blocks), term: from, termEnd: all}
		if s.blockEnd < e.words.blocks {
			r, err := e.words.block(s.blockEnd)
			if err != nil || !r.next() {
				return nil, r.failed(err)
			}
			next := string(r.term)
			s.termEnd = from + sort.Search(all-from,
				func(i int) bool { return e.terms[e.pieces.order[from+i]] >= next })
		}
		spans = append(spans, s)
		from = s.termEnd
	}
	return spans, nil
}

// each calls take with the posting lists of all terms, in term order. It encodes them with
// one goroutine per processor.
func (e *encoder) each(ctx context.Context, take func(*encodedLists) error) error {
	spans, err := e.spans()
	if err != nil {
		return err
	}
	type outcome struct {
		r   *encodedLists
		err error
	}

	n := min(runtime.GOMAXPROCS(0), len(spans))
	idle := make(chan *spanEncoder, n)
	for range n {
		w := &spanEncoder{encoder: e, list: listWriter{single: e.layout.single}}
		w.list.reused = &w.old.decodedBlock
		idle <- w
	}

	// The goroutines run ahead of take by up to 4n spans. Taken buffers are reused.
	waiting := make(chan chan outcome, 4*n)
	taken := sync.Pool{New: func() any { return new(encodedLists) }}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(waiting)
		for _, s := range spans {
			out := make(chan outcome, 1)
			select {
			case waiting <- out:
			case <-ctx.Done():
				return
			}
			w := <-idle
			go func() {
				r := taken.Get().(*encodedLists)
				err := w.encode(s, r)
				idle <- w
				out <- outcome{r, err}
			}()
		}
	}()

	for out := range waiting {
		got := <-out
		if err == nil {
			err = got.err
		}
		if err == nil {
			err = take(got.r)
			got.r.reset()
			taken.Put(got.r)
		}
		if err != nil {
			cancel() // running tasks must end before the index may be closed
		}
	}

	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// A spanEncoder is the state of one encoding goroutine.
type spanEncoder struct {
	*encoder
	all    postingBuffer // the postings of the current term
	fresh  postingBuffer // those from the batches, if reused postings are merged with them
	list   listWriter
	old    blockDecoder
	symbol bool // the current term is a symbol
	next   int  // index in fresh of the next posting to merge
}

// encode appends the posting lists of the span's terms to r.
func (w *spanEncoder) encode(s span, r *encodedLists) error {
	at := s.term
	for words, err := range w.words.readTerms(s.block, s.blockEnd) {
		if err != nil {
			return err
		}
		for at < s.termEnd && w.terms[w.pieces.order[at]] < string(words.term) {
			w.encodeFresh(r, w.pieces.order[at])
			at++
		}
		w.fresh.reset()
		if at < s.termEnd && w.terms[w.pieces.order[at]] == string(words.term) {
			w.gather(&w.fresh, w.pieces.order[at])
			at++
		}
		if err := w.encodeReused(r, words.term, words.offset, words.length); err != nil {
			return err
		}
	}
	for ; at < s.termEnd; at++ {
		w.encodeFresh(r, w.pieces.order[at])
	}
	return nil
}

// encodeFresh encodes a term that only the batches contain.
func (w *spanEncoder) encodeFresh(r *encodedLists, term uint32) {
	name := []byte(w.terms[term])
	w.symbol = isSymbol(name)
	w.all.reset()
	w.gather(&w.all, term)
	w.finish(r, name)
}

// gather collects a term's postings from the batches.
func (w *spanEncoder) gather(g *postingBuffer, term uint32) {
	for _, p := range w.pieces.list[w.pieces.starts[term]:w.pieces.starts[term+1]] {
		s, from := w.batches[p.batch], uint32(0)
		if p.index > 0 {
			from = s.ends[p.index-1]
		}
		g.decodeBatch(s.data[from:s.ends[p.index]], uint32(s.firstPassage), w.layout)
	}
	if w.shuffled {
		g.sort()
	}
}

// finish encodes the collected postings of a term, if there are any.
func (w *spanEncoder) finish(r *encodedLists, term []byte) {
	if len(w.all.list) == 0 {
		return
	}
	if w.unsorted {
		w.all.sort()
	}
	w.all.setImpacts(w.layout, w.symbol)
	r.addEnd(term, w.list.encode(r.bytes, w.all.list, w.all.positions))
}

// isSymbol reports whether a term is a symbol's or a key's. Its impacts are the highest.
func isSymbol(term []byte) bool {
	return len(term) > 1 && term[0] == symbolMark && term[1] != askedMark
}

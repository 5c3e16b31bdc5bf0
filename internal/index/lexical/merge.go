package lexical

import (
	"fmt"
	"math"
	"slices"
)

// removed is the new number or ordinal of a passage that is not reused.
const removed = math.MaxUint32

// A reusedIndex is an older index whose passages a builder reuses. It provides their
// postings. Impacts and priors depend on the other passages, too, and are recomputed from
// the section inputs.
type reusedIndex struct {
	index         *Index
	passages      []passageInfo // properties of the index's passages, by ordinal
	ordinals      []uint32      // ordinal of each passage number; nil: the same
	segmentStarts []uint32      // first ordinal of each of the index's segments, and the end
	newNumbers    []uint32      // passage number in the builder of each ordinal, or removed
}

// Reuse makes the builder reuse passages of an older index, which must stay open until
// Write returns. The output of Write is byte-identical to that of a full build. Reuse
// fails if x has another language or is corrupt.
func (b *Builder) Reuse(x *Index) error {
	if b.err != nil {
		return b.err
	}
	if have, want := x.analyzer.language, b.analyzer.language; have != want {
		return fmt.Errorf("%s is in %s, not in %s", x.file.Path(), have, want)
	}
	k := &reusedIndex{index: x, newNumbers: slices.Repeat([]uint32{removed}, x.passageCount),
		segmentStarts: make([]uint32, x.segmentCount+1)}
	if x.order.Len() > 0 {
		k.ordinals = make([]uint32, x.passageCount)
		for i := range k.ordinals {
			n, err := x.passageNumber(uint32(i))
			if err != nil {
				return err
			}
			k.ordinals[n] = uint32(i)
		}
	}
	for u := range x.segmentCount {
		from, to, _, err := x.segment(uint32(u))
		if err != nil {
			return err
		}
		if from != k.segmentStarts[u] {
			return x.segments.Corrupt(int64(u)*segmentEntry, "segments are not contiguous")
		}
		k.segmentStarts[u+1] = to
	}
	if int(k.segmentStarts[x.segmentCount]) != x.passageCount {
		return x.segments.Corrupt(0, "passages without segment")
	}
	var err error
	k.passages, err = x.inputs()
	b.reused = k
	return err
}

// Keep adds the next passage with the number of its document, as Add does. It must be
// identical to passage n of the index given to Reuse.
func (b *Builder) Keep(document, n uint32) {
	if b.err != nil {
		return
	}
	if int(n) >= b.reused.index.passageCount {
		b.err = fmt.Errorf("%s has no passage %d to keep", b.reused.index.file.Path(), n)
		return
	}
	if len(b.batch) > 0 {
		b.dispatch()
	}
	if b.reused.ordinals != nil {
		n = b.reused.ordinals[n]
	}
	b.reused.newNumbers[n] = uint32(len(b.documents))
	b.documents = append(b.documents, document)
	b.batchStart++
}

// fillInfo sets the properties of the reused passages, by their numbers in the builder.
func (k *reusedIndex) fillInfo(infos []passageInfo) {
	for i, n := range k.newNumbers {
		if n != removed {
			infos[n] = k.passages[i]
		}
	}
}

// newOrdinals maps ordinals of the older index to those of the new one, and reports
// whether the order of the reused passages is unchanged.
func (k *reusedIndex) newOrdinals(l *layout) (to []uint32, ascending bool) {
	to, ascending = k.newNumbers, true
	next := uint32(0)
	for i, n := range to {
		if n == removed {
			continue
		}
		if l.ordinals != nil {
			n = l.ordinals[n]
			to[i] = n
		}
		ascending = ascending && n >= next
		next = n
	}
	return to, ascending
}

// segmentChanges describes which segments of the older index are unchanged, fully or in
// part. A posting of an unmoved passage keeps its impact, unless another passage of the
// segment gained or lost the term.
type segmentChanges struct {
	// newSegments has the new number of each segment, or removed. changedFlag is added if
	// some of its passages are removed or others are new.
	newSegments []uint32
	unmoved     []bool // whether each passage, by ordinal, keeps its local number in its segment
}

// changedFlag is greater than any segment number.
const changedFlag = 1 << 31

func (k *reusedIndex) unchangedSegments(l *layout, to []uint32, unsorted bool) segmentChanges {
	a := segmentChanges{slices.Repeat([]uint32{removed}, k.index.segmentCount), make([]bool, len(k.passages))}
	segment := make([]uint32, len(k.passages))
	for u := range a.newSegments {
		for i := k.segmentStarts[u]; i < k.segmentStarts[u+1]; i++ {
			segment[i] = uint32(u)
		}
	}
	// An index of single passages stores no page impacts.
	if unsorted || l.single || k.index.single || len(l.documents) >= changedFlag {
		return a
	}
	before, pages := averagesOf(k.passages, segment, len(a.newSegments))
	if before != l.stats.averages {
		return a
	}
	before.pageLengthNorms(pages)
	all := make([]uint32, len(l.documents)) // reused passages of each new segment
	for _, ordinal := range to {
		if ordinal != removed {
			all[l.segmentOf[ordinal]]++
		}
	}
	for u := range a.newSegments {
		from, end := k.segmentStarts[u], k.segmentStarts[u+1]
		now, reused := uint32(removed), uint32(0)
		for i := from; i < end; i++ {
			if to[i] == removed {
				continue
			}
			if now == removed {
				now = l.segmentOf[to[i]]
			}
			if l.segmentOf[to[i]] == now {
				reused++
				a.unmoved[i] = to[i]-l.segmentStarts[now] == i-from
			}
		}
		// No passage may come from another segment.
		if now != removed && reused == all[now] && l.stats.pageNorms[now] == pages[u] {
			a.newSegments[u] = now
			if reused < end-from || reused < l.segmentStarts[now+1]-l.segmentStarts[now] {
				a.newSegments[u] |= changedFlag
			}
		}
	}
	return a
}

// encodeReused encodes a term of the older index together with its postings in fresh.
func (w *spanEncoder) encodeReused(r *encodedLists, term []byte, offset, length int64) error {
	x := w.reused.index
	w.symbol = isSymbol(term)
	l, err := x.openList(offset, length)
	if err != nil {
		return err
	}
	if !w.unsorted && !w.layout.single && !x.single {
		if done, err := w.merge(r, term, l); err != nil || done {
			return err
		}
	}
	if err := w.gatherReused(l); err != nil {
		return err
	}
	w.finish(r, term)
	return nil
}

// merge merges a posting list with the fresh postings, block by block. It returns false if
// the list is too short for that or its flags change; the caller must then collect and
// encode all its postings.
func (w *spanEncoder) merge(r *encodedLists, term []byte, l postingList) (bool, error) {
	w.next = 0
	w.all.reset()
	w.list.begin(l.flags)
	w.old.open(l)
	c := &w.old.cursor
	for b := range l.blockCount {
		if err := c.load(b); err != nil {
			return false, err
		}
		same, err := w.mapSegments()
		switch {
		case err != nil:
			return false, err
		case same && l.skips == nil && len(w.fresh.list) == 0 && w.old.newSegments[0] == c.segments[0]:
			encoded, err := l.section.Bytes(l.start, l.end-l.start)
			r.add(term, encoded)
			return true, err
		case l.segmentCount <= maxShortList:
			return false, nil
		case same && l.skips != nil && c.n == blockSize:
			if done, err := w.copyBlock(); err != nil {
				return false, err
			} else if done {
				continue
			}
		}
		if err := w.mergeBlock(); err != nil {
			return false, err
		}
	}
	w.mergeFresh(&posting{segment: removed})
	w.mergeSegment()
	encoded := w.list.finish(r.bytes)
	if encoded == nil {
		return false, nil
	}
	r.addEnd(term, encoded)
	return true, nil
}

// mapSegments sets old.newSegments for the loaded block: the new numbers of unchanged
// segments, removed for others. It reports whether all are unchanged and shifted by the
// same distance.
func (w *spanEncoder) mapSegments() (same bool, err error) {
	c, fresh := &w.old.cursor, w.fresh.list[w.next:]
	shift := w.newSegments[c.segments[0]]&^changedFlag - c.segments[0]
	same = true
	for i, segment := range c.segments[:c.n] {
		now := w.newSegments[segment]
		if now&changedFlag != 0 && now != removed {
			now &^= changedFlag
			for len(fresh) > 0 && fresh[0].segment < now {
				fresh = fresh[1:]
			}
			locals, _, err := c.passagesOf(i)
			if err != nil {
				return false, err
			}
			if len(fresh) > 0 && fresh[0].segment == now || !w.allUnmoved(segment, locals) {
				now = removed
			}
		}
		w.old.newSegments[i] = now
		same = same && now-segment == shift // false if now is removed
	}
	return same, nil
}

// allUnmoved reports whether these passages of a segment are unmoved.
func (w *spanEncoder) allUnmoved(segment uint32, locals []uint32) bool {
	for _, local := range locals {
		if at := w.reused.segmentStarts[segment] + local; at >= w.reused.segmentStarts[segment+1] || !w.unmoved[at] {
			return false
		}
	}
	return true
}

// copyBlock copies the encoded block if it starts at a block boundary of the new list and
// no fresh posting falls into it. The delta of its first segment must not change: in the
// first block the segment's number, in others the distance to the previous segment.
func (w *spanEncoder) copyBlock() (bool, error) {
	o, c := &w.old, &w.old.cursor
	shift, before := o.newSegments[0]-c.segments[0], uint32(math.MaxUint32)
	switch {
	case c.block > 0:
		before = c.lastSegment(c.block-1) + shift
	case shift != 0:
		return false, nil
	}
	w.mergeFresh(&posting{segment: o.newSegments[0]})
	w.mergeSegment()
	if w.next < len(w.fresh.list) && w.fresh.list[w.next].segment < o.newSegments[c.n-1] ||
		len(w.list.block.segments) > 0 || w.list.block.previous != before {
		return false, nil
	}
	entry, block, positions, err := o.rawBlock()
	if err == nil {
		w.list.addEncoded(entry, block, positions, shift)
	}
	return true, err
}

// mergeBlock merges the mapped block with the fresh postings. It recomputes the impacts of
// changed segments.
func (w *spanEncoder) mergeBlock() error {
	o, c := &w.old, &w.old.cursor
	if err := o.load(); err != nil {
		return err
	}
	for i := 0; i < c.n; {
		if o.newSegments[i] != removed {
			w.mergeFresh(&posting{segment: o.newSegments[i]})
			w.mergeSegment()
			until := uint32(removed)
			if w.next < len(w.fresh.list) {
				until = w.fresh.list[w.next].segment
			}
			from := i
			for i < c.n && o.newSegments[i] < until {
				i++
			}
			w.list.addUnchanged(o, from, i)
			continue
		}
		list, err := w.postingsOf(i)
		if err != nil {
			return err
		}
		for _, p := range list {
			w.mergeFresh(&p)
			w.mergePosting(p, o.positions.numbers)
		}
		i++
	}
	return nil
}

// mergeFresh merges the fresh postings that precede a posting.
func (w *spanEncoder) mergeFresh(p *posting) {
	f := &w.fresh
	for ; w.next < len(f.list) && f.list[w.next].before(p); w.next++ {
		w.mergePosting(f.list[w.next], f.positions)
	}
}

// mergePosting adds a posting to the current segment.
func (w *spanEncoder) mergePosting(p posting, positions []uint32) {
	g := &w.all
	if len(g.list) > 0 && g.list[0].segment != p.segment {
		w.mergeSegment()
	}
	g.add(p, positions)
}

// mergeSegment encodes the current segment, if it has postings.
func (w *spanEncoder) mergeSegment() {
	if g := &w.all; len(g.list) > 0 {
		g.setImpacts(w.layout, w.symbol)
		w.list.addSegment(g.list, g.positions)
		g.reset()
	}
}

// gatherReused collects the reused postings of a term, merged with the fresh ones.
func (w *spanEncoder) gatherReused(l postingList) error {
	o, g, f := &w.old, &w.all, &w.fresh
	g.reset()
	o.open(l)
	next := 0 // index in f.list
	fresh := func(p *posting) {
		for ; next < len(f.list) && f.list[next].before(p); next++ {
			g.add(f.list[next], f.positions)
		}
	}
	for b := range l.blockCount {
		if err := o.cursor.load(b); err != nil {
			return err
		}
		if err := o.load(); err != nil {
			return err
		}
		for i := range o.cursor.n {
			list, err := w.postingsOf(i)
			if err != nil {
				return err
			}
			for _, p := range list {
				if !w.unsorted {
					fresh(&p)
				}
				g.add(p, o.positions.numbers)
			}
		}
	}
	fresh(&posting{segment: removed})
	return nil
}

// postingsOf returns the postings of the i-th segment of the decoded block, without those
// of removed passages. Calls must be in ascending order.
func (w *spanEncoder) postingsOf(i int) ([]posting, error) {
	o, c := &w.old, &w.old.cursor
	start, end := w.reused.segmentStarts[c.segments[i]], w.reused.segmentStarts[c.segments[i]+1]
	o.postings = o.postings[:0]
	old := start
	for j := c.starts[i]; j < c.starts[i+1]; j++ {
		if o.locals.numbers[j] >= end-old {
			return nil, c.corrupt("passage outside its segment")
		}
		old += o.locals.numbers[j]
		p := posting{from: uint32(o.nextPosition), count: o.frequencies.numbers[j] + 1}
		o.nextPosition += int(p.count)
		if ordinal := w.newOrdinals[old]; ordinal != removed {
			p.segment = w.layout.segmentOf[ordinal]
			p.local = uint8(ordinal - w.layout.segmentStarts[p.segment])
			o.postings = append(o.postings, p)
		}
		old++
	}
	return o.postings, nil
}

// before reports whether p precedes q in a posting list.
func (p *posting) before(q *posting) bool {
	return p.segment < q.segment || p.segment == q.segment && p.local < q.local
}

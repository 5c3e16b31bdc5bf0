package lexical

import (
	"fmt"
	"math"
)

// gone stands for the new place of a passage that was not kept.
const gone = math.MaxUint32

// kept are the passages that a builder takes over from an older index. Their
// postings lie there with all their positions; what their impacts and priors
// were reckoned from lies in the section inputs, since both depend on the
// other passages, and are reckoned anew.
type kept struct {
	x     *Index
	infos []passageInfo // of x's passages, as they lie
	place []uint32      // where each lies, by its number in x; nil: at that number
	start []uint32      // first passage of each of x's units, and the end
	now   []uint32      // as they lie in x, the number of each in the builder, or gone
}

// Reuse makes the builder take passages over from an older index, which must
// stay open until Write has returned. What Write writes is the same to the
// byte as if each passage had been added. The error says why x is of no use:
// it has another language, or is damaged.
func (b *Builder) Reuse(x *Index) error {
	if b.err != nil {
		return b.err
	}
	if have, want := x.analyzer.language, b.analyzer.language; have != want {
		return fmt.Errorf("%s is in %s, not in %s", x.file.Path(), have, want)
	}
	k := &kept{x: x, now: make([]uint32, x.n), start: make([]uint32, x.unitCount+1)}
	for i := range k.now {
		k.now[i] = gone
	}
	if x.orders.Len() > 0 {
		k.place = make([]uint32, x.n)
		for i := range k.place {
			n, err := x.number(uint32(i))
			if err != nil {
				return err
			}
			k.place[n] = uint32(i)
		}
	}
	for u := range x.unitCount {
		from, to, _, err := x.unit(uint32(u))
		if err != nil {
			return err
		}
		if from != k.start[u] {
			return x.units.Corrupt(int64(u)*unitEntry, "a unit does not begin where the one before ends")
		}
		k.start[u+1] = to
	}
	if int(k.start[x.unitCount]) != x.n {
		return x.units.Corrupt(0, "passages belong to no unit")
	}
	var err error
	k.infos, err = x.inputs()
	b.kept = k
	return err
}

// Keep takes the next passage and the number of its document, as Add does, if
// it is passage n of the index given to Reuse, with the same fields.
func (b *Builder) Keep(document, n uint32) {
	if b.err != nil {
		return
	}
	if int(n) >= b.kept.x.n {
		b.err = fmt.Errorf("%s has no passage %d to keep", b.kept.x.file.Path(), n)
		return
	}
	if len(b.batch) > 0 {
		b.dispatch()
	}
	if b.kept.place != nil {
		n = b.kept.place[n]
	}
	b.kept.now[n] = uint32(len(b.documents))
	b.documents = append(b.documents, document)
	b.first++
}

// inform fills in what is known of the passages that were kept, by their
// numbers in the builder.
func (k *kept) inform(infos []passageInfo) {
	for i, n := range k.now {
		if n != gone {
			infos[n] = k.infos[i]
		}
	}
}

// places are where the passages of the older index lie in the new one, and
// whether those that do lie in the same order.
func (k *kept) places(l *layout) (to []uint32, ascending bool) {
	to, ascending = k.now, true
	next := uint32(0)
	for i, n := range to {
		if n == gone {
			continue
		}
		if l.place != nil {
			n = l.place[n]
			to[i] = n
		}
		ascending = ascending && n >= next
		next = n
	}
	return to, ascending
}

// alike says which units of the older index are as they were, all of them or
// in part: of the postings in passages that stay, not even the impacts change,
// if no other passages of the unit have the term.
type alike struct {
	// units are the numbers now, or gone; partly is added to those of which not
	// all passages stay, or others have come.
	units []uint32
	stays []bool // of each passage, as it lies, whether it does, at its place in the unit
}

// partly is a bit that no unit's number has.
const partly = 1 << 31

func (k *kept) alike(l *layout, to []uint32, unsorted bool) alike {
	a := alike{make([]uint32, k.x.unitCount), make([]bool, len(k.infos))}
	unit := make([]uint32, len(k.infos))
	for u := range a.units {
		a.units[u] = gone
		for i := k.start[u]; i < k.start[u+1]; i++ {
			unit[i] = uint32(u)
		}
	}
	// In an index of single passages, the pages' impacts are nowhere.
	if unsorted || l.single || k.x.single || len(l.owners) >= partly {
		return a
	}
	before, pages := averagesOf(k.infos, unit, len(a.units))
	if before != l.stats.averages {
		return a
	}
	before.dampPages(pages)
	all := make([]uint32, len(l.owners)) // passages of each unit now that were kept
	for _, lies := range to {
		if lies != gone {
			all[l.unit[lies]]++
		}
	}
	for u := range a.units {
		from, end := k.start[u], k.start[u+1]
		now, kept := uint32(gone), uint32(0)
		for i := from; i < end; i++ {
			if to[i] == gone {
				continue
			}
			if now == gone {
				now = l.unit[to[i]]
			}
			if l.unit[to[i]] == now {
				kept++
				a.stays[i] = to[i]-l.starts[now] == i-from
			}
		}
		// None may have come from another unit.
		if now != gone && kept == all[now] && l.stats.pages[now] == pages[u] {
			a.units[u] = now
			if kept < end-from || kept < l.starts[now+1]-l.starts[now] {
				a.units[u] |= partly
			}
		}
	}
	return a
}

// encodeKept encodes a term that the older index has, and of which the segments
// may have what is in fresh.
func (w *spanEncoder) encodeKept(r *regions, term []byte, offset, length int64) error {
	x := w.kept.x
	w.symbol = isSymbol(term)
	l, err := openList(x.postings, offset, length, uint32(x.unitCount), x.single)
	if err != nil {
		return err
	}
	if !w.unsorted && !w.layout.single && !x.single {
		if done, err := w.merge(r, term, l); err != nil || done {
			return err
		}
	}
	if err := w.gatherKept(l); err != nil {
		return err
	}
	w.finish(r, term)
	return nil
}

// merge encodes a list with what is fresh, block by block. It returns false for
// what is too short for that, or turns out to have other flags: then all of it
// must be gathered before it is encoded.
func (w *spanEncoder) merge(r *regions, term []byte, l list) (bool, error) {
	w.next = 0
	w.all.reset()
	w.list.begin(l.flags)
	w.old.open(l)
	c := &w.old.cursor
	for b := range l.count {
		if err := c.load(b); err != nil {
			return false, err
		}
		same, err := w.survey()
		switch {
		case err != nil:
			return false, err
		case same && l.table == nil && len(w.fresh.list) == 0 && w.old.now[0] == c.unit[0]:
			region, err := l.s.Bytes(l.start, l.end-l.start)
			r.add(term, region)
			return true, err
		case l.units <= fewUnits:
			return false, nil
		case same && l.table != nil && c.n == blockUnits:
			if done, err := w.mergeWhole(); err != nil {
				return false, err
			} else if done {
				continue
			}
		}
		if err := w.mergeBlock(); err != nil {
			return false, err
		}
	}
	w.mergeFresh(&posting{unit: gone})
	w.mergeUnit()
	region := w.list.end(r.bytes)
	if region == nil {
		return false, nil
	}
	r.end(term, region)
	return true, nil
}

// survey finds out which units of the block that was loaded are as they were:
// old.now is their numbers now, or gone. It says whether all of them are,
// shifted alike.
func (w *spanEncoder) survey() (same bool, err error) {
	c, fresh := &w.old.cursor, w.fresh.list[w.next:]
	shift := w.units[c.unit[0]]&^partly - c.unit[0]
	same = true
	for i, unit := range c.unit[:c.n] {
		now := w.units[unit]
		if now&partly != 0 && now != gone {
			now &^= partly
			for len(fresh) > 0 && fresh[0].unit < now {
				fresh = fresh[1:]
			}
			locals, _, err := c.passagesOf(i)
			if err != nil {
				return false, err
			}
			if len(fresh) > 0 && fresh[0].unit == now || !w.stay(unit, locals) {
				now = gone
			}
		}
		w.old.now[i] = now
		same = same && now-unit == shift // never where it is gone
	}
	return same, nil
}

// stay reports whether these passages of a unit do.
func (w *spanEncoder) stay(unit uint32, locals []uint32) bool {
	for _, local := range locals {
		if at := w.kept.start[unit] + local; at >= w.kept.start[unit+1] || !w.stays[at] {
			return false
		}
	}
	return true
}

// mergeWhole adds a block as it stands, if it comes where a block ends and
// nothing fresh comes in between. Of the first block of a list, the first unit
// is as it is; of others, its distance from the one before.
func (w *spanEncoder) mergeWhole() (bool, error) {
	o, c := &w.old, &w.old.cursor
	shift, before := o.now[0]-c.unit[0], uint32(math.MaxUint32)
	switch {
	case c.block > 0:
		before = c.last(c.block-1) + shift
	case shift != 0:
		return false, nil
	}
	w.mergeFresh(&posting{unit: o.now[0]})
	w.mergeUnit()
	if w.next < len(w.fresh.list) && w.fresh.list[w.next].unit < o.now[c.n-1] ||
		len(w.list.block.units) > 0 || w.list.block.previous != before {
		return false, nil
	}
	entry, block, positions, err := o.whole()
	if err == nil {
		w.list.ready(entry, block, positions, shift)
	}
	return true, err
}

// mergeBlock adds the block that was surveyed, and between its units what is
// fresh. What was edited is scored anew.
func (w *spanEncoder) mergeBlock() error {
	o, c := &w.old, &w.old.cursor
	if err := o.load(); err != nil {
		return err
	}
	for i := 0; i < c.n; {
		if o.now[i] != gone {
			w.mergeFresh(&posting{unit: o.now[i]})
			w.mergeUnit()
			until := uint32(gone)
			if w.next < len(w.fresh.list) {
				until = w.fresh.list[w.next].unit
			}
			from := i
			for i < c.n && o.now[i] < until {
				i++
			}
			w.list.run(o, from, i)
			continue
		}
		list, err := w.postingsOf(i)
		if err != nil {
			return err
		}
		for _, p := range list {
			w.mergeFresh(&p)
			w.mergePosting(p, o.places.numbers)
		}
		i++
	}
	return nil
}

// mergeFresh adds what is fresh and comes before a posting.
func (w *spanEncoder) mergeFresh(p *posting) {
	f := &w.fresh
	for ; w.next < len(f.list) && f.list[w.next].before(p); w.next++ {
		w.mergePosting(f.list[w.next], f.positions)
	}
}

// mergePosting adds a posting to those of its unit.
func (w *spanEncoder) mergePosting(p posting, positions []uint32) {
	g := &w.all
	if len(g.list) > 0 && g.list[0].unit != p.unit {
		w.mergeUnit()
	}
	g.add(p, positions)
}

// mergeUnit ends the unit of which postings were added, if there is one.
func (w *spanEncoder) mergeUnit() {
	if g := &w.all; len(g.list) > 0 {
		g.score(w.layout, w.symbol)
		w.list.unit(g.list, g.positions)
		g.reset()
	}
}

// gatherKept gathers the postings of a term that the older index has, and
// between them, where they belong, those that are fresh.
func (w *spanEncoder) gatherKept(l list) error {
	o, g, f := &w.old, &w.all, &w.fresh
	g.reset()
	o.open(l)
	next := 0 // of what is fresh
	fresh := func(p *posting) {
		for ; next < len(f.list) && f.list[next].before(p); next++ {
			g.add(f.list[next], f.positions)
		}
	}
	for b := range l.count {
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
				g.add(p, o.places.numbers)
			}
		}
	}
	fresh(&posting{unit: gone})
	return nil
}

// postingsOf are those of the i-th unit of the block that was read, which come
// next, without those of passages that are gone.
func (w *spanEncoder) postingsOf(i int) ([]posting, error) {
	o, c := &w.old, &w.old.cursor
	start, end := w.kept.start[c.unit[i]], w.kept.start[c.unit[i]+1]
	o.list = o.list[:0]
	old := start
	for j := c.starts[i]; j < c.starts[i+1]; j++ {
		if o.locals.numbers[j] >= end-old {
			return nil, c.corrupt("a passage is not in its unit")
		}
		old += o.locals.numbers[j]
		p := posting{from: uint32(o.at), count: o.lengths.numbers[j] + 1}
		o.at += int(p.count)
		if lies := w.to[old]; lies != gone {
			p.unit = w.layout.unit[lies]
			p.local = uint8(lies - w.layout.starts[p.unit])
			o.list = append(o.list, p)
		}
		old++
	}
	return o.list, nil
}

// before orders postings of one term.
func (p *posting) before(q *posting) bool {
	return p.unit < q.unit || p.unit == q.unit && p.local < q.local
}

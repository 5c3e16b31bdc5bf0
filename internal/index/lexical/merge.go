package lexical

import (
	"encoding/binary"
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
	units []uint32 // the number now, or gone
	whole []bool   // of each unit, whether all of its passages stay, and no others are there
	stays []bool   // of each passage, as it lies, whether it does, at its place in the unit
}

func (k *kept) alike(l *layout, to []uint32, unsorted bool) alike {
	a := alike{make([]uint32, k.x.unitCount), make([]bool, k.x.unitCount), make([]bool, len(k.infos))}
	unit := make([]uint32, len(k.infos))
	for u := range a.units {
		a.units[u] = gone
		for i := k.start[u]; i < k.start[u+1]; i++ {
			unit[i] = uint32(u)
		}
	}
	// In an index of single passages, the pages' impacts are nowhere.
	if unsorted || l.single || k.x.single {
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
			a.whole[u] = kept == end-from && kept == l.starts[now+1]-l.starts[now]
		}
	}
	return a
}

// encodeKept encodes a term that the older index has, and of which the segments
// may have what is in fresh. Lists and blocks all of whose passages stay are
// taken as they are.
func (w *spanEncoder) encodeKept(r *regions, term []byte, offset, length int64) error {
	x := w.kept.x
	l, err := openList(x.postings, offset, length, uint32(x.unitCount), x.single)
	if err != nil {
		return err
	}
	if same, err := w.sameList(l); err != nil {
		return err
	} else if same {
		region, err := x.postings.Bytes(offset, length)
		if err == nil {
			r.add(term, region)
		}
		return err
	}
	if err := w.gatherKept(l, true); err != nil {
		return err
	}
	if w.finish(r, term, w.ready, l.flags) {
		return nil
	}
	if err := w.gatherKept(l, false); err != nil {
		return err
	}
	w.finish(r, term, nil, 0)
	return nil
}

// sameList reports whether nothing of a list has changed.
func (w *spanEncoder) sameList(l list) (bool, error) {
	if len(w.fresh.list) > 0 {
		return false, nil
	}
	c := &w.old.cursor
	w.old.open(l)
	for b := range l.count {
		if err := c.load(b); err != nil {
			return false, err
		}
		if same, err := w.sameBlock(0); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameBlock reports whether the block that was loaded has only passages that
// stay, in units that are shifted alike.
func (w *spanEncoder) sameBlock(shift uint32) (bool, error) {
	c := &w.old.cursor
	for i, unit := range c.unit[:c.n] {
		if now := w.units[unit]; now == gone || now-unit != shift {
			return false, nil
		}
		if w.whole[unit] {
			continue
		}
		locals, _, err := c.passagesOf(i)
		if err != nil || !w.stay(unit, locals) {
			return false, err
		}
	}
	return true, nil
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

// gatherKept gathers the postings of a term that the older index has, and
// between them, where they belong, those that are fresh; but for the blocks
// that can be taken as they are, if so wanted.
func (w *spanEncoder) gatherKept(l list, takeReady bool) error {
	o, g, f := &w.old, &w.all, &w.fresh
	g.reset()
	w.ready = w.ready[:0]
	o.open(l)
	c := &o.cursor
	next := 0          // of what is fresh
	units := 0         // that were gathered
	last := ^uint32(0) // the unit that came last
	add := func(p posting) {
		if p.unit != last {
			units++
			last = p.unit
		}
		g.list = append(g.list, p)
	}
	// fresh adds what comes before a posting.
	fresh := func(p posting) {
		for ; next < len(f.list) && f.list[next].before(&p); next++ {
			q := f.list[next]
			positions := f.positions[q.from : q.from+q.count]
			q.from = uint32(len(g.positions))
			g.positions = append(g.positions, positions...)
			add(q)
		}
	}
	for b := range l.count {
		err := c.load(b)
		if err != nil {
			return err
		}
		// Of the first block of a list, the first unit is as it is; of others,
		// its distance from the one before.
		shift := w.units[c.unit[0]] - c.unit[0]
		same := takeReady && l.table != nil && c.n == blockUnits && (b > 0 || shift == 0)
		if same {
			if same, err = w.sameBlock(shift); err != nil {
				return err
			}
		}
		if same {
			fresh(posting{unit: c.unit[0] + shift})
			before := ^uint32(0)
			if b > 0 {
				before = c.last(b-1) + shift
			}
			if last == before && units%blockUnits == 0 && (next == len(f.list) || f.list[next].unit > c.last(b)+shift) {
				block, err := o.ready(len(g.list), shift)
				if err != nil {
					return err
				}
				w.ready, last = append(w.ready, block), block.last()
				continue
			}
		}
		if err := o.load(); err != nil {
			return err
		}
		at := uint32(len(g.positions))
		g.positions = append(g.positions, o.positions...) // also those of what is gone
		for i, unit := range c.unit[:c.n] {
			start, end := w.kept.start[unit], w.kept.start[unit+1]
			now := w.units[unit]
			if now != gone && !w.whole[unit] {
				fresh(posting{unit: now})
				if !w.stay(unit, o.locals[c.starts[i]:c.starts[i+1]]) || next < len(f.list) && f.list[next].unit == now {
					now = gone
				}
			}
			for j := c.starts[i]; j < c.starts[i+1]; j++ {
				p := posting{unit: now, from: at, count: o.lengths[j] + 1, local: uint8(o.locals[j])}
				at += p.count
				if start+o.locals[j] >= end {
					return c.corrupt("a passage is not in its unit")
				}
				if now != gone {
					p.impact, p.page = o.impact(i, j), c.best[i]>>4
				} else {
					lies := w.to[start+o.locals[j]]
					if lies == gone {
						continue
					}
					p.unit = w.layout.unit[lies]
					p.local = uint8(lies - w.layout.starts[p.unit])
				}
				if next < len(f.list) && !w.unsorted {
					fresh(p)
				}
				add(p)
			}
		}
	}
	fresh(posting{unit: gone})
	return nil
}

// before orders postings of one term.
func (p *posting) before(q *posting) bool {
	return p.unit < q.unit || p.unit == q.unit && p.local < q.local
}

// A bulk reads blocks of a list as a whole, which the cursor has loaded.
type bulk struct {
	cursor cursor
	// Of each passage of the block: its number within its unit, and how many
	// positions it has, less one.
	locals, lengths []uint32
	// positions of all of them, each less the one before, less 1, and the first
	// of each passage as it is.
	positions []uint32
	impacts   [4 * fewUnits]byte // room for those of a short list, which nobody asks for
}

func (o *bulk) open(l list) {
	c := &o.cursor
	c.list, c.block, c.at = l, -1, 0
	c.impacts = o.impacts[:0] // what is there may lie in the last list, in the file
}

func (o *bulk) load() error {
	c := &o.cursor
	if c.units <= fewUnits {
		return o.loadFew()
	}
	if err := c.expand(); err != nil {
		return err
	}
	o.locals, o.lengths = resize(o.locals, c.inBlock), resize(o.lengths, c.inBlock)
	if c.nextLocal > 0 { // some were read to see whether they stay
		c.locals, _ = openPatched(c.rest, c.inBlock)
		c.nextLocal = 0
	}
	if c.single {
		clear(o.locals)
	} else if !c.locals.read(o.locals, 0) {
		return c.corrupt("the passages are cut")
	}
	for i := range c.n {
		if !sumLocals(o.locals[c.starts[i]:c.starts[i+1]]) {
			return c.corrupt("a unit has more passages than it may")
		}
	}
	if err := c.openPositions(); err != nil {
		return err
	}
	if c.flags&severalPositions == 0 {
		clear(o.lengths)
	} else if !c.lengths.read(o.lengths, 0) {
		return c.corrupt("the numbers of positions are cut")
	}
	total := uint64(c.inBlock)
	for _, length := range o.lengths {
		total += uint64(length)
	}
	if total != uint64(c.total) || total > maxPositions {
		return c.corrupt("a block does not have the positions that it says")
	}
	if o.positions = resize(o.positions, c.total); !c.all.read(o.positions, 0) {
		return c.corrupt("the positions are cut")
	}
	return nil
}

// ready is the block as it stands, after so many postings.
func (o *bulk) ready(at int, shift uint32) (ready, error) {
	c := &o.cursor
	r := ready{at: at, shift: shift, entry: c.table[c.block*tableEntry:][:tableEntry]}
	from, to := c.positionsAt+int64(binary.LittleEndian.Uint32(r.entry[8:])), c.end
	if c.block < c.count-1 {
		to = c.positionsAt + int64(binary.LittleEndian.Uint32(c.table[(c.block+1)*tableEntry+8:]))
	}
	var err error
	if r.positions, err = c.s.Bytes(from, to-from); err != nil {
		return r, err
	}
	r.blocks, err = c.s.Bytes(c.where, c.blocks+int64(binary.LittleEndian.Uint32(r.entry[4:]))-c.where)
	return r, err
}

// impact is that of passage j of the block, of its i-th unit, in an index whose
// units may have several.
func (o *bulk) impact(i int, j uint32) byte {
	c := &o.cursor
	switch {
	case c.units <= fewUnits:
		return c.impacts[j]
	case c.starts[i+1] == c.starts[i]+1:
		return c.best[i] & 15
	}
	n := c.given[i] + j - c.starts[i]
	return c.impacts[n/2] >> (n % 2 * 4) & 15
}

// loadFew reads what the cursor has not of a short list.
func (o *bulk) loadFew() error {
	c := &o.cursor
	o.locals, o.lengths, o.positions = append(o.locals[:0], c.read...), append(o.lengths[:0], c.few...), o.positions[:0]
	r := reader{data: c.places}
	for _, length := range o.lengths {
		for i := uint32(0); i <= length && !r.failed; i++ {
			o.positions = append(o.positions, r.number())
		}
	}
	if r.failed {
		return c.corrupt("the positions are cut")
	}
	return nil
}

// The columns of inputs: first the fields, then these.
const (
	columnInLinks = fieldCount + iota
	columnPageLinks
	columnKind
	columnVersion
	columnCount
)

// inputsChunk is how many passages share a column of inputs.
const inputsChunk = 512

// inputColumn puts what a column of inputs has of the passages, but for their
// versions, into v.
func inputColumn(v []uint32, infos []passageInfo, column int) {
	for i := range infos {
		p := &infos[i]
		switch column {
		default:
			v[i] = p.length(column) - p.words[column]
		case columnInLinks:
			v[i] = p.inLinks
		case columnPageLinks:
			v[i] = p.pageLinks
		case columnKind:
			v[i] = uint32(p.depth) << 1
			if p.aside {
				v[i]++
			}
		}
	}
}

// A namedVersion is that of an address, and the family that it is compared in.
type namedVersion struct {
	family uint64
	version
}

// appendInputs appends the section inputs.
func appendInputs(b []byte, infos []passageInfo) []byte {
	numbers := make(map[namedVersion]uint32)
	var versions []namedVersion
	v := make([]uint32, inputsChunk)
	for ; len(infos) > 0; infos = infos[min(inputsChunk, len(infos)):] {
		chunk := infos[:min(inputsChunk, len(infos))]
		for column := range columnCount {
			v := v[:len(chunk)]
			if column == columnVersion {
				for i := range chunk {
					named := namedVersion{chunk[i].family, chunk[i].version}
					if named.version == 0 {
						v[i] = 0
						continue
					}
					n, ok := numbers[named]
					if !ok {
						versions = append(versions, named)
						n = uint32(len(versions))
						numbers[named] = n
					}
					v[i] = n
				}
			} else {
				inputColumn(v, chunk, column)
			}
			before := uint32(0)
			for i, x := range v {
				v[i] = zigzag(x - before)
				if column >= columnInLinks {
					before = x
				}
			}
			b = appendPatched(b, v)
		}
	}
	for _, named := range versions {
		b = binary.LittleEndian.AppendUint64(b, named.family)
		b = binary.LittleEndian.AppendUint64(b, uint64(named.version))
	}
	return b
}

// inputs reads what impacts and priors were reckoned from, passage by passage,
// as they lie.
func (x *Index) inputs() ([]passageInfo, error) {
	s, err := x.file.Section("inputs")
	if err != nil {
		return nil, err
	}
	data, err := s.All()
	if err != nil {
		return nil, err
	}
	records, err := x.passages.All()
	if err != nil {
		return nil, err
	}
	infos := make([]passageInfo, x.n)
	for i := range infos {
		r := records[i*passageSize:]
		copy(infos[i].short[:], r)
		infos[i].body = binary.LittleEndian.Uint32(r[8:])
	}
	named := make([]uint32, x.n)
	v := make([]uint32, inputsChunk)
	for from := 0; from < x.n; from += inputsChunk {
		chunk := infos[from:min(from+inputsChunk, x.n)]
		for column := range columnCount {
			v := v[:len(chunk)]
			var ok bool
			if data, ok = readPatched(v, data); !ok {
				return nil, s.Corrupt(0, "the columns are cut")
			}
			before := uint32(0)
			for i, d := range v {
				value := before + unzigzag(d)
				if column >= columnInLinks {
					before = value
				}
				p := &chunk[i]
				switch column {
				default:
					p.words[column] = p.length(column) - value
				case columnInLinks:
					p.inLinks = value
				case columnPageLinks:
					p.pageLinks = value
				case columnKind:
					p.aside, p.depth = value&1 != 0, uint8(value>>1)
				case columnVersion:
					named[from+i] = value
				}
			}
		}
	}
	if len(data)%16 != 0 {
		return nil, s.Corrupt(s.Len(), "the versions are cut")
	}
	for i, n := range named {
		if n == 0 {
			continue
		}
		if uint64(n) > uint64(len(data)/16) {
			return nil, s.Corrupt(s.Len(), fmt.Sprintf("version %d of %d", n, len(data)/16))
		}
		r := data[16*(n-1):]
		infos[i].family, infos[i].version = binary.LittleEndian.Uint64(r), version(binary.LittleEndian.Uint64(r[8:]))
	}
	return infos, nil
}

// zigzag makes small numbers of those that are a little more or less than 0.
func zigzag(x uint32) uint32   { return x<<1 ^ uint32(int32(x)>>31) }
func unzigzag(x uint32) uint32 { return x>>1 ^ -(x & 1) }

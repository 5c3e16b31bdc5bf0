package dense

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/docsearch/docsearch/internal/confined"
)

// Fresh stands for a passage that an older index does not have.
const Fresh = math.MaxUint32

// ErrIncompatible is returned by Update where the older index has nothing to go by.
var ErrIncompatible = errors.New("the older index has no vectors that others could be added to")

// Update writes an index to a new file, as Build does, and takes over
// what old has: the vector of passage i is that of passage from[i] of old, or,
// where from[i] is Fresh, the next of fresh. What is fresh goes into the blocks
// that are nearest; which blocks there are, and how many of them a search
// reads, stays as it is in old, and fits the worse the more is fresh. The
// score of a passage that was taken over stays the same to the bit. Errors:
// ErrIncompatible, *disk.CorruptError of old.
func Update(ctx context.Context, file confined.Path, old *Index, from []uint32, fresh Vectors) error {
	if old.lists == 0 {
		return ErrIncompatible
	}
	if d := fresh.Dimensions(); fresh.Len() > 0 && d != old.dimensions {
		return fmt.Errorf("%w: they have %d dimensions, and it %d", ErrIncompatible, d, old.dimensions)
	}
	u := &update{old: old, newNumbers: make([]uint32, old.passageCount), primary: make([][]member, old.lists), copies: make([][]member, old.lists)}
	for i := range u.newNumbers {
		u.newNumbers[i] = noRow
	}
	for i, passage := range from {
		switch {
		case passage == Fresh:
			u.fresh = append(u.fresh, uint32(i))
		case int64(passage) < int64(len(u.newNumbers)):
			u.newNumbers[passage] = uint32(i)
		default:
			return old.passageRows.Corrupt(old.passageRows.Len(), fmt.Sprintf("there is no passage %d", passage))
		}
	}
	if err := u.assignOld(); err != nil {
		return err
	}
	if err := u.assignFresh(ctx, fresh); err != nil {
		return err
	}
	b := &builder{v: fresh}
	if err := u.layOut(b, len(from)); err != nil {
		return err
	}
	if b.x.rows == 0 {
		return ErrIncompatible
	}
	if old.mode == modePrefilter {
		middles, err := old.prefilter.centroids.Bytes(0, old.prefilter.centroids.Len())
		if err != nil {
			return err
		}
		if b.x.prefilter, err = newPrefilter(ctx, &b.rows, old.dimensions, b.x.listStarts, middles); err != nil {
			return err
		}
	}
	return b.write(file)
}

// An update says which rows go where.
type update struct {
	old             *Index
	newNumbers      []uint32 // by passage of old, its number now, or noRow
	fresh           []uint32 // number of each fresh passage
	rows            rows     // the fresh ones
	primary, copies [][]member
}

// A member of a block is a row of the older index, or, counted from there, a
// fresh one.
type member struct{ passage, row uint32 }

// assignOld sorts the older index's rows into its blocks.
func (u *update) assignOld() error {
	x := u.old
	for b := range x.lists {
		for _, part := range []struct {
			from, to int
			list     *[]member
		}{
			{int(x.listStarts[b]), int(x.listStarts[b+1]), &u.primary[b]},
			{x.rows + int(x.copyStarts[b]), x.rows + int(x.copyStarts[b+1]), &u.copies[b]},
		} {
			for row := part.from; row < part.to; row++ {
				p, err := x.passageOf(row)
				if err != nil {
					return err
				}
				if u.newNumbers[p] != noRow {
					*part.list = append(*part.list, member{u.newNumbers[p], uint32(row)})
				}
			}
		}
	}
	return nil
}

// assignFresh sorts what is fresh into the blocks.
func (u *update) assignFresh(ctx context.Context, fresh Vectors) error {
	if len(u.fresh) == 0 {
		return nil
	}
	x := u.old
	b := &builder{v: fresh, truth: &groundTruth{}, bits: x.residualBits()}
	if err := b.quantize(ctx); err != nil {
		return err
	}
	u.rows = b.rows
	graph, err := x.graph.Bytes(0, x.graph.Len())
	if err != nil {
		return err
	}
	c := &kmeans{r: &u.rows, centroids: newMatrix(x.lists, x.dimensions)}
	if err := decodeGraph(graph, x.lists, x.dimensions, func(block int, centroid []byte) {
		for i := range c.centroids.row(block) {
			c.centroids.row(block)[i] = float32At(centroid[4*i:])
		}
	}); err != nil {
		return x.graph.Corrupt(0, err.Error())
	}
	c.encodeCentroids()
	scores := make([]float32, x.lists)
	for i, n := range u.rows.passages {
		homes := [maxListsPerRow]uint32{c.nearest(i, scores), noRow, noRow, noRow}
		if x.mode == modeIVF {
			c.addBoundaryLists(&homes, scores)
		}
		m := member{u.fresh[n], uint32(x.stored + i)}
		u.primary[homes[0]] = append(u.primary[homes[0]], m)
		for _, home := range homes[1:] {
			if home != noRow {
				u.copies[home] = append(u.copies[home], m)
			}
		}
	}
	return nil
}

// layOut gives b the rows of all blocks, of n passages.
func (u *update) layOut(b *builder, n int) error {
	x, r := u.old, &b.rows
	r.width, r.bits = paddedWidth(x.dimensions), x.residualBits()
	b.x.head = x.head
	b.x.passageCount = n
	own, all := countMembers(u.primary), countMembers(u.primary)+countMembers(u.copies)
	r.passages, r.scales = make([]uint32, 0, all), make([]float32, 0, all)
	r.codes, r.residuals = make([]byte, 0, all*r.width), make([]byte, 0, own*r.bits.width(r.width))
	for _, part := range []struct {
		blocks [][]member
		starts *[]uint32
		own    bool
	}{{u.primary, &b.x.listStarts, true}, {u.copies, &b.x.copyStarts, false}} {
		first := len(r.passages)
		*part.starts = append(*part.starts, 0)
		for _, members := range part.blocks {
			slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.passage, b.passage) })
			for len(members) > 0 {
				n, err := u.copyRows(r, members, part.own)
				if err != nil {
					return err
				}
				members = members[n:]
			}
			*part.starts = append(*part.starts, uint32(len(r.passages)-first))
		}
		if part.own {
			b.x.rows = len(r.passages)
		}
	}
	b.x.stored = len(r.passages)
	var err error
	if b.graph, err = x.graph.Bytes(0, x.graph.Len()); err != nil {
		return err
	}
	b.attachSections()
	return nil
}

func countMembers(lists [][]member) (n int) {
	for _, members := range lists {
		n += len(members)
	}
	return n
}

// copyRows appends the rows of the first members that lie end to end, the fine
// numbers only of those that are no copies, and returns how many there were.
func (u *update) copyRows(r *rows, members []member, own bool) (int, error) {
	x, first := u.old, members[0].row
	n := 1
	for n < len(members) && members[n].row == first+uint32(n) && (int(members[n].row) < x.stored) == (int(first) < x.stored) {
		n++
	}
	for _, m := range members[:n] {
		r.passages = append(r.passages, m.passage)
	}
	w, f := r.width, r.bits.width(r.width)
	if i := int(first) - x.stored; i >= 0 {
		r.scales = append(r.scales, u.rows.scales[i:i+n]...)
		r.codes = append(r.codes, u.rows.codes[i*w:(i+n)*w]...)
		if own {
			r.residuals = append(r.residuals, u.rows.residuals[i*f:(i+n)*f]...)
		}
		return n, nil
	}
	scales, err := x.scales.Bytes(4*int64(first), 4*int64(n))
	if err != nil {
		return 0, err
	}
	for i := range n {
		r.scales = append(r.scales, float32At(scales[4*i:]))
	}
	codes, err := x.codes.Bytes(int64(first)*int64(w), int64(n)*int64(w))
	if err != nil {
		return 0, err
	}
	r.codes = append(r.codes, codes...)
	if own {
		fine, err := x.residuals.Bytes(int64(first)*int64(f), int64(n)*int64(f))
		if err != nil {
			return 0, err
		}
		r.residuals = append(r.residuals, fine...)
	}
	return n, nil
}

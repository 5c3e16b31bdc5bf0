package dense

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// Fresh marks a passage that is not in the old index.
const Fresh = math.MaxUint32

// ErrIncompatible is returned by Update if the old index cannot be extended.
var ErrIncompatible = errors.New("the older index has no vectors that others could be added to")

// Update writes an index to a new file, as Build does, but reuses rows of old.
// Passage i has the vector of passage from[i] of old or, if from[i] is Fresh,
// the next vector of fresh. Fresh vectors are assigned to the nearest lists.
// Centroids and search parameters stay those of old, so recall declines as
// more vectors are fresh. The scores of reused passages do not change by a
// bit. Errors: ErrIncompatible, *container.CorruptError of old.
func Update(ctx context.Context, file confined.Path, old *Index, from []uint32, fresh Vectors) error {
	if old.lists == 0 {
		return ErrIncompatible
	}
	if d := fresh.Dimensions(); fresh.Len() > 0 && d != old.dimensions {
		return fmt.Errorf("%w: they have %d dimensions, and it %d", ErrIncompatible, d, old.dimensions)
	}
	u := &update{old: old, newNumbers: slices.Repeat([]uint32{noRow}, old.passageCount),
		primary: make([][]member, old.lists), copies: make([][]member, old.lists)}
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
		centroids, err := old.prefilter.centroids.All()
		if err != nil {
			return err
		}
		if b.x.prefilter, err = newPrefilter(ctx, &b.rows, old.dimensions, b.x.listStarts, centroids); err != nil {
			return err
		}
	}
	return b.write(file)
}

// An update assigns old and fresh rows to the lists of the new index.
type update struct {
	old             *Index
	newNumbers      []uint32   // new number of each passage of old, or noRow if removed
	fresh           []uint32   // new number of each fresh passage
	freshRows       Index      // its sections have the rows of the fresh passages
	primary, copies [][]member // of each list; copies are boundary rows of other lists
}

// A member of a list is a row of the old index or a fresh one. Fresh rows are
// numbered after the old index's stored rows.
type member struct{ passage, row uint32 }

// assignOld keeps the rows of the old index in their lists.
func (u *update) assignOld() error {
	x := u.old
	for list := range x.lists {
		for _, part := range []struct {
			from, to int
			members  *[]member
		}{
			{int(x.listStarts[list]), int(x.listStarts[list+1]), &u.primary[list]},
			{x.rows + int(x.copyStarts[list]), x.rows + int(x.copyStarts[list+1]), &u.copies[list]},
		} {
			for row := part.from; row < part.to; row++ {
				p, err := x.passageOf(row)
				if err != nil {
					return err
				}
				if u.newNumbers[p] != noRow {
					*part.members = append(*part.members, member{u.newNumbers[p], uint32(row)})
				}
			}
		}
	}
	return nil
}

// assignFresh assigns the fresh vectors to the nearest lists.
func (u *update) assignFresh(ctx context.Context, fresh Vectors) error {
	if len(u.fresh) == 0 {
		return nil
	}
	x := u.old
	b := &builder{v: fresh, truth: &groundTruth{}, bits: x.residualBits()}
	if err := b.quantize(ctx); err != nil {
		return err
	}
	r := &b.rows
	u.freshRows.scales, u.freshRows.codes, u.freshRows.residuals = inMemory(encoded(r.scales)), inMemory(r.codes),
		inMemory(r.residuals)
	graph, err := x.graph.All()
	if err != nil {
		return err
	}
	c := &kmeans{r: r, centroids: newMatrix(x.lists, x.dimensions)}
	if err := decodeGraph(graph, x.lists, x.dimensions, &c.centroids); err != nil {
		return x.graph.Corrupt(0, err.Error())
	}
	c.encodeCentroids()
	scores := make([]float32, x.lists)
	for i, n := range r.passages {
		rowLists := [maxListsPerRow]uint32{c.nearest(i, scores), noRow, noRow, noRow}
		if x.mode == modeIVF {
			c.addBoundaryLists(&rowLists, scores)
		}
		m := member{u.fresh[n], uint32(x.stored + i)}
		u.primary[rowLists[0]] = append(u.primary[rowLists[0]], m)
		for _, list := range rowLists[1:] {
			if list != noRow {
				u.copies[list] = append(u.copies[list], m)
			}
		}
	}
	return nil
}

// layOut collects the rows of all lists, of n passages, in b.
func (u *update) layOut(b *builder, n int) error {
	x, r := u.old, &b.rows
	r.width, r.bits = paddedWidth(x.dimensions), x.residualBits()
	b.x.head = x.head
	b.x.passageCount = n
	primary, all := countMembers(u.primary), countMembers(u.primary)+countMembers(u.copies)
	r.passages, r.scales = make([]uint32, 0, all), make([]float32, 0, all)
	r.codes, r.residuals = make([]byte, 0, all*r.width), make([]byte, 0, primary*r.bits.width(r.width))
	for _, part := range []struct {
		lists   [][]member
		starts  *[]uint32
		primary bool
	}{{u.primary, &b.x.listStarts, true}, {u.copies, &b.x.copyStarts, false}} {
		first := len(r.passages)
		*part.starts = append(*part.starts, 0)
		for _, members := range part.lists {
			slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.passage, b.passage) })
			for len(members) > 0 {
				n, err := u.copyRows(r, members, part.primary)
				if err != nil {
					return err
				}
				members = members[n:]
			}
			*part.starts = append(*part.starts, uint32(len(r.passages)-first))
		}
		if part.primary {
			b.x.rows = len(r.passages)
		}
	}
	b.x.stored = len(r.passages)
	b.x.graph = x.graph
	b.attachSections()
	return nil
}

func countMembers(lists [][]member) (n int) {
	for _, members := range lists {
		n += len(members)
	}
	return n
}

// copyRows appends the first members whose rows are consecutive and returns
// their number. It appends residuals only of primary rows.
func (u *update) copyRows(r *rows, members []member, primary bool) (int, error) {
	x, first := u.old, members[0].row
	n := 1
	for n < len(members) && members[n].row == first+uint32(n) && (int(members[n].row) < x.stored) == (int(first) < x.stored) {
		n++
	}
	for _, m := range members[:n] {
		r.passages = append(r.passages, m.passage)
	}
	from := int64(first)
	if int(first) >= x.stored {
		x, from = &u.freshRows, from-int64(x.stored)
	}
	w, f, count := int64(r.width), int64(r.bits.width(r.width)), int64(n)
	scales, err := x.scales.Bytes(4*from, 4*count)
	if err != nil {
		return 0, err
	}
	for i := range n {
		r.scales = append(r.scales, float32At(scales[4*i:]))
	}
	codes, err := x.codes.Bytes(from*w, count*w)
	if err != nil {
		return 0, err
	}
	r.codes = append(r.codes, codes...)
	if primary {
		residuals, err := x.residuals.Bytes(from*f, count*f)
		if err != nil {
			return 0, err
		}
		r.residuals = append(r.residuals, residuals...)
	}
	return n, nil
}

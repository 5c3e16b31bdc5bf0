package lexical

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// Write writes the index to a new file. Afterwards, only Content may be called.
func (b *Builder) Write(ctx context.Context, file confined.Path) error {
	if b.err != nil {
		return b.err
	}
	b.Analyze()
	if err := ctx.Err(); err != nil {
		return err
	}
	layout, err := b.layout()
	if err != nil {
		return err
	}
	out, err := container.Create(file, indexKind, Version)
	if err != nil {
		return err
	}
	if err := b.write(ctx, out, layout); err != nil {
		out.Abort()
		return err
	}
	b.workers, b.ids.numbers = nil, nil
	for _, s := range b.batches {
		s.terms, s.ends, s.data = nil, nil, nil
	}
	if !b.keepContent {
		b.batches, b.ids.terms = nil, nil
	}
	return out.Close()
}

// A layout is the storage order of the passages: grouped by document, independent of the
// order in which they were added. The ordinal of a passage is its index in this order; its
// number is that of its addition.
type layout struct {
	passages      []passageInfo
	segmentOf     []uint32         // segment of each ordinal
	segmentStarts []uint32         // firstPassage ordinal of each segment, and the end
	documents     []uint32         // document of each segment
	numbers       []uint32         // passage number of each ordinal; nil: the same
	ordinals      []uint32         // ordinal of each passage number; nil: the same
	single        bool             // every segment is a single passage
	members       []passage.Member // by document, or nil
	stats         statistics
}

func (b *Builder) layout() (*layout, error) {
	l := &layout{passages: make([]passageInfo, len(b.documents)), single: true, members: b.members}
	for _, s := range b.batches {
		copy(l.passages[s.firstPassage:], s.passages)
		s.passages = nil
	}
	if b.reused != nil {
		b.reused.fillInfo(l.passages)
	}
	documents := uint32(0)
	for i, d := range b.documents {
		if d > documents {
			return nil, fmt.Errorf("passage %d belongs to document %d, but no passage to document %d", i, d, documents)
		}
		if d == documents {
			documents++
		}
	}
	if !slices.IsSorted(b.documents) {
		l.numbers = make([]uint32, len(b.documents))
		for i := range l.numbers {
			l.numbers[i] = uint32(i)
		}
		slices.SortStableFunc(l.numbers, func(x, y uint32) int { return cmp.Compare(b.documents[x], b.documents[y]) })
		l.ordinals = make([]uint32, len(l.numbers))
		info := make([]passageInfo, len(l.numbers))
		for i, n := range l.numbers {
			l.ordinals[n] = uint32(i)
			info[i] = l.passages[n]
		}
		l.passages = info
	}
	for i := range l.passages {
		d := b.documents[i]
		if l.numbers != nil {
			d = b.documents[l.numbers[i]]
		}
		n := len(l.documents)
		if n == 0 || l.documents[n-1] != d || i-int(l.segmentStarts[n-1]) == maxSegmentPassages {
			l.segmentStarts, l.documents = append(l.segmentStarts, uint32(i)), append(l.documents, d)
			n++
		}
		l.segmentOf = append(l.segmentOf, uint32(n-1))
		p := &l.passages[i]
		p.bodyStart = 0
		for field := range fieldBody {
			p.bodyStart += uint32(p.shortLengths[field]) + 1
		}
		l.single = l.single && int(l.segmentStarts[n-1]) == i
	}
	l.segmentStarts = append(l.segmentStarts, uint32(len(l.passages)))
	l.stats = l.measureStatistics()
	return l, nil
}

func (b *Builder) write(ctx context.Context, out *container.Writer, l *layout) error {
	documents := uint32(0)
	for _, d := range l.documents {
		documents = max(documents, d+1)
	}
	out.Section("passages")
	priors := l.priors()
	record := make([]byte, passageSize)
	for i := range l.passages {
		p := &l.passages[i]
		copy(record, p.shortLengths[:])
		binary.LittleEndian.PutUint32(record[8:], p.bodyLength)
		binary.LittleEndian.PutUint32(record[12:], math.Float32bits(priors[i]))
		out.Write(record)
	}
	out.Section("order")
	for _, n := range l.numbers {
		out.Write(binary.LittleEndian.AppendUint32(record[:0], n))
	}
	out.Section("units")
	for i, d := range l.documents {
		out.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(record[:0], l.segmentStarts[i]), d))
	}
	out.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(record[:0], uint32(len(l.passages))), documents))

	out.Add("inputs", appendInputs(nil, l.passages))
	if members := appendMembers(nil, l.members); len(members) > 0 {
		out.Add("families", members)
	}

	out.Section("postings")
	var words dictionaryWriter
	if err := b.postings(ctx, out, l, &words); err != nil {
		return err
	}
	words.write(out)

	// The number of terms is known only now, because reused terms may have lost all
	// postings.
	x := Index{analyzer: b.analyzer, passageCount: len(l.passages), segmentCount: len(l.documents), documentCount: int(documents), termCount: words.termCount, single: l.single}
	out.Add("meta", x.appendMeta(nil))
	return nil
}

// A postingBuffer collects the postings of one term.
type postingBuffer struct {
	list      []posting
	positions []uint32
}

func (g *postingBuffer) reset() { g.list, g.positions = g.list[:0], g.positions[:0] }

// add adds a posting whose positions are a slice of positions.
func (g *postingBuffer) add(p posting, positions []uint32) {
	positions = positions[p.from : p.from+p.count]
	p.from = uint32(len(g.positions))
	g.list, g.positions = append(g.list, p), append(g.positions, positions...)
}

// decodeBatch adds the postings of a batch whose first passage is given.
func (g *postingBuffer) decodeBatch(data []byte, first uint32, l *layout) {
	passage := first
	read := func() uint32 {
		v, n := binary.Uvarint(data)
		data = data[n:]
		return uint32(v)
	}
	for len(data) > 0 {
		passage += read()
		p := posting{count: read(), from: uint32(len(g.positions))}
		for i := range p.count {
			distance := read()
			if i > 0 {
				distance--
			}
			g.positions = append(g.positions, distance)
		}
		ordinal := passage
		if l.ordinals != nil {
			ordinal = l.ordinals[passage]
		}
		p.segment = l.segmentOf[ordinal]
		p.local = uint8(ordinal - l.segmentStarts[p.segment])
		g.list = append(g.list, p)
	}
}

// sort sorts the postings by ordinal.
func (g *postingBuffer) sort() {
	slices.SortFunc(g.list, func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.local, b.local))
	})
}

// setImpacts computes the impacts. The postings of a symbol all have the maximum.
func (g *postingBuffer) setImpacts(l *layout, symbol bool) {
	for i := 0; i < len(g.list); {
		segment := g.list[i].segment
		infos := l.passages[l.segmentStarts[segment]:l.segmentStarts[segment+1]]
		end := i
		var page pageFrequencies
		for ; end < len(g.list) && g.list[end].segment == segment; end++ {
			p := &g.list[end]
			p.impact = l.stats.impact(&infos[p.local], g.positions[p.from:p.from+p.count], &page)
		}
		impact := l.stats.pageImpact(&page, segment)
		for ; i < end; i++ {
			g.list[i].pageImpact = impact
			if symbol {
				g.list[i].impact = uint8(maxLevel(l.single))
			}
		}
	}
}

package lexical

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/container"
)

// Options say how a database's text is analysed.
type Options struct {
	Language string // see NewAnalyzer; empty: english
	// Content keeps the content terms of the passages for Content to return,
	// if there are no more passages than that.
	Content int
}

// Fields are what is indexed of one passage.
type Fields struct {
	Title       string   // the passage's own heading
	Named       bool     // TitleShare is no heading, but a name for want of one
	Path        []string // the headings above it, from the document's first level down
	Page        string   // the document's title
	Body        string
	Address     string   // URL or file path
	Anchors     []string // further ids within the passage, such as the names it defines
	Links       string   // texts of the links that point here
	Terms       string   // what the documentation's own index calls it
	InLinks     int      // links to this passage
	PageInLinks int      // links to its document
	Keys        []string // what it is found by although its text does not contain it
	Aside       bool     // its document says what was, or the same in other words, rather than what is
}

// The fields, in the order in which their words follow one another in the
// sequence of a passage's places.
const (
	fieldTitle = iota
	fieldPath
	fieldPage
	fieldAddress
	fieldLinks
	fieldTerms
	fieldBody
	fieldCount
)

const (
	// maxShortField is how many places the fields but the body have at most.
	maxShortField = 255
	// batchBytes is how much text a worker takes at a time: enough that what
	// is kept per batch does not count, little enough that all are busy.
	batchBytes = 1 << 19
	// maxCached is how many spellings a worker remembers the term of.
	maxCached = 1 << 19
)

// A Builder gathers passages and writes the index of them. Add and Write are
// for one goroutine; the work is done by as many as there are processors, and
// the bytes written do not depend on them.
type Builder struct {
	options  Options
	err      error
	analyzer *Analyzer

	documents []uint32
	batch     []Fields
	bytes     int
	first     int // passage that batch begins with
	content   bool

	workers chan *worker // those without work
	pending sync.WaitGroup
	batches []*batchIndex
	ids     interner
	reused  *reusedIndex // see Reuse; nil: every passage is new
}

// NewBuilder returns a builder. That a language is not known is reported by
// Write.
func NewBuilder(options Options) *Builder {
	b := &Builder{options: options, content: options.Content > 0}
	b.ids.numbers = make(map[string]uint32)
	if b.analyzer, b.err = NewAnalyzer(options.Language); b.err != nil {
		return b
	}
	n := runtime.GOMAXPROCS(0)
	b.workers = make(chan *worker, n)
	for range n {
		b.workers <- newWorker(b.analyzer, &b.ids)
	}
	return b
}

// Add takes the next passage and the number of its document. Documents are
// numbered in the order of their first passages.
func (b *Builder) Add(document uint32, f Fields) {
	if b.err != nil {
		return
	}
	b.documents = append(b.documents, document)
	b.batch = append(b.batch, f)
	if b.bytes += len(f.Body) + 256; b.bytes >= batchBytes {
		b.dispatch()
	}
}

// dispatch gives the batch to a worker, waiting for one if all are busy.
func (b *Builder) dispatch() {
	batch, s := b.batch, &batchIndex{first: b.first}
	b.batches = append(b.batches, s)
	b.first += len(batch)
	b.content = b.content && b.first <= b.options.Content
	content := b.content
	b.batch, b.bytes = nil, 0
	w := <-b.workers
	b.pending.Go(func() {
		w.analyze(batch, s, content)
		b.workers <- w
	})
}

// An interner gives terms numbers. Which number a term gets depends on the
// workers' luck; nothing that is written does.
type interner struct {
	mu      sync.Mutex
	numbers map[string]uint32
	terms   []string
}

func (t *interner) number(term string) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.numbers[term]
	if !ok {
		n = uint32(len(t.terms))
		term = strings.Clone(term)
		t.numbers[term] = n
		t.terms = append(t.terms, term)
	}
	return n
}

// A segment is the postings of one batch: for each of its terms, the passages with the term's places in them, as varints:
// passage less the one before, number of places, each place less the one
// before.
type batchIndex struct {
	first    int
	passages []passageInfo
	terms    []uint32
	ends     []uint32 // where each term's postings end in data
	data     []byte
	content  []uint32 // if it is kept, of each passage the terms of its headings and its body, in order
	bounds   []contentEnds
}

// contentEnds are where a passage's content terms end: those of its headings,
// and all. head is unknown for a passage that does not have them all.
type contentEnds struct{ head, all uint32 }

const unknown = math.MaxUint32

// A passageInfo is what scoring needs to know of a passage beside its words.
// What is not in the file's passages is in its inputs (see kept), all of it.
type passageInfo struct {
	shortLengths       [fieldBody]uint8 // lengths of the fields but the body
	bodyLength         uint32
	bodyStart          uint32             // the place where it begins, which the lengths tell
	wordCounts         [fieldCount]uint32 // the lengths without stop words: what damping goes by
	aside              bool               // see isAside
	depth              uint8
	family             uint64 // see versionOf
	version            version
	inLinks, pageLinks uint32
}

// A worker turns batches into segments.
type worker struct {
	analyzer *Analyzer
	ids      *interner
	// termNumbers are the numbers of terms by their spelling, one more than the
	// term's own, 0 for what has no term.
	termNumbers [3]map[string]uint32 // wordCounts, exact, grams
	found       []occurrence
	// What invert works with.
	slots     []uint32
	sorted    []occurrence
	positions []uint32
	// content are the content terms of the passage at work, by field.
	content [fieldCount][]uint32
}

type occurrence struct{ term, passage, position uint32 }

func newWorker(a *Analyzer, ids *interner) *worker {
	w := &worker{analyzer: a, ids: ids}
	for i := range w.termNumbers {
		w.termNumbers[i] = make(map[string]uint32)
	}
	return w
}

func (w *worker) analyze(batch []Fields, s *batchIndex, content bool) {
	w.found = w.found[:0]
	s.passages = make([]passageInfo, len(batch))
	for i := range batch {
		whole := w.passage(uint32(i), &batch[i], &s.passages[i])
		if content {
			s.keepContent(w, batch[i].Named, whole)
		}
	}
	w.invert(s)
}

// keepContent keeps the content terms of the passage that w is at.
func (s *batchIndex) keepContent(w *worker, named, whole bool) {
	if !whole {
		s.bounds = append(s.bounds, contentEnds{unknown, uint32(len(s.content))})
		return
	}
	s.content = append(append(s.content, w.content[fieldPage]...), w.content[fieldPath]...)
	if !named {
		s.content = append(s.content, w.content[fieldTitle]...)
	}
	head := uint32(len(s.content))
	s.content = append(s.content, w.content[fieldBody]...)
	s.bounds = append(s.bounds, contentEnds{head, uint32(len(s.content))})
}

// passage finds the terms of a passage, and says whether all of them: fields
// but the body end after maxShortField places.
func (w *worker) passage(n uint32, f *Fields, info *passageInfo) (whole bool) {
	position := 0
	whole = true
	for field := range fieldCount {
		start, limit := position, position+maxShortField
		content := w.content[field][:0]
		emit := func(t token, text string) {
			if t.position >= limit || t.kind == compound {
				whole = whole && t.position < limit
				return
			}
			if term := w.termNumber(t.kind, text[t.start:t.end]); term > 0 {
				w.found = append(w.found, occurrence{term - 1, n, uint32(t.position)})
				if t.kind != exact {
					content = append(content, term-1)
				}
			}
		}
		each := func(text string) {
			from := position
			position = scan(text, position, func(t token) { emit(t, text) })
			if from < limit {
				w.addOperators(n, text, field == fieldBody, from, min(position, limit))
			}
		}
		if field == fieldBody {
			limit = math.MaxInt32
		}
		f.texts(field, each)
		switch field {
		case fieldTitle:
			w.addNames(n, f, uint32(start))
		case fieldBody:
			info.bodyLength = uint32(position - start)
		}
		w.content[field], info.wordCounts[field] = content, uint32(len(content))
		if field != fieldBody {
			info.shortLengths[field] = uint8(min(position-start, maxShortField))
			position = start + int(info.shortLengths[field]) + 1 // the gap keeps phrases within a field
		}
	}
	info.aside, info.depth = f.Aside || isAside(f.Address), depthOf(f.Address)
	info.family, info.version = versionOf(f.Address)
	info.inLinks, info.pageLinks = uint32(max(0, f.InLinks)), uint32(max(0, f.PageInLinks))
	return whole
}

// texts calls each with the texts of a field.
func (f *Fields) texts(field int, each func(string)) {
	switch field {
	case fieldTitle:
		each(f.Title)
	case fieldPath:
		for _, heading := range f.Path {
			each(heading)
		}
	case fieldPage:
		each(f.Page)
	case fieldAddress:
		each(trimAddress(f.Address))
	case fieldLinks:
		each(f.Links)
	case fieldTerms:
		each(f.Terms)
	case fieldBody:
		each(f.Body)
	}
}

// addNames adds the symbols and the keys of the passage.
func (w *worker) addNames(n uint32, f *Fields, position uint32) {
	for _, s := range symbols(f) {
		if term := s.term(); term != "" {
			w.found = append(w.found, occurrence{w.ids.number(term), n, position})
		}
	}
	for _, key := range f.Keys {
		if term := keyTerm(key); term != "" {
			w.found = append(w.found, occurrence{w.ids.number(term), n, position})
		}
	}
}

// addOperators adds the operators that a text in a field speaks of. As they take no
// place, they get the first ones of the text's: only how many count.
func (w *worker) addOperators(n uint32, text string, body bool, from, to int) {
	terms, counts := operators(text, body)
	for i, term := range terms {
		number := w.ids.number(term)
		for position := from; position < min(from+counts[i], max(to, from+1)); position++ {
			w.found = append(w.found, occurrence{number, n, uint32(position)})
		}
	}
}

// termNumber is one more than the number of a token's term, or 0.
func (w *worker) termNumber(k kind, text string) uint32 {
	known := w.termNumbers[0]
	switch k {
	case exact:
		known = w.termNumbers[1]
	case gram:
		known = w.termNumbers[2]
	}
	n, ok := known[text]
	if !ok {
		if term := w.analyzer.term(k, text); term != "" {
			n = w.ids.number(term) + 1
		}
		if len(known) >= maxCached {
			clear(known)
		}
		known[strings.Clone(text)] = n
	}
	return n
}

// invert groups what was found by term and encodes it. Terms come in the order
// in which the batch has them, each with its passages ascending.
func (w *worker) invert(s *batchIndex) {
	// slots are where a term's occurrences go: first how many there are.
	var ends []uint32
	for _, o := range w.found {
		for int(o.term) >= len(w.slots) {
			w.slots = append(w.slots, 0)
		}
		if w.slots[o.term] == 0 {
			s.terms = append(s.terms, o.term)
			ends = append(ends, 0)
			w.slots[o.term] = uint32(len(ends))
		}
		ends[w.slots[o.term]-1]++
	}
	at := uint32(0)
	for i, n := range ends {
		ends[i] = at
		at += n
	}
	w.sorted = resize(w.sorted, len(w.found))
	for _, o := range w.found {
		end := &ends[w.slots[o.term]-1]
		w.sorted[*end] = o
		*end++
	}
	start := uint32(0)
	for i, end := range ends {
		w.slots[s.terms[i]] = 0
		s.data = w.encode(s.data, w.sorted[start:end])
		s.ends = append(s.ends, uint32(len(s.data)))
		start = end
	}
	s.data, s.terms, s.ends = slices.Clip(s.data), slices.Clip(s.terms), slices.Clip(s.ends)
	s.content = slices.Clip(s.content)
}

// encode appends one term's occurrences.
func (w *worker) encode(b []byte, found []occurrence) []byte {
	passage := uint32(0)
	for len(found) > 0 {
		first := found[0].passage
		w.positions = w.positions[:0]
		for len(found) > 0 && found[0].passage == first {
			w.positions = append(w.positions, found[0].position)
			found = found[1:]
		}
		slices.Sort(w.positions)
		w.positions = slices.Compact(w.positions)
		b = binary.AppendUvarint(b, uint64(first-passage))
		b = binary.AppendUvarint(b, uint64(len(w.positions)))
		position := uint32(0)
		for _, p := range w.positions {
			b = binary.AppendUvarint(b, uint64(p-position))
			position = p
		}
		passage = first
	}
	return b
}

// Analyze waits until the passages that were added are analysed. No others may
// come afterwards.
func (b *Builder) Analyze() {
	if len(b.batch) > 0 {
		b.dispatch()
	}
	b.pending.Wait()
}

// Write writes the index to a new file. The builder is spent afterwards, but for
// Content.
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
	if !b.content {
		b.batches, b.ids.terms = nil, nil
	}
	return out.Close()
}

// Content returns the content terms of passage i as Analyzer.Terms has them,
// those of its page's title and of its headings and those of its body, or
// false if they are not known. Analyze or Write must have returned.
func (b *Builder) Content(i int) (head, body []string, known bool) {
	at := sort.Search(len(b.batches), func(k int) bool { return b.batches[k].first > i }) - 1
	if at < 0 || i-b.batches[at].first >= len(b.batches[at].bounds) {
		return nil, nil, false
	}
	s := b.batches[at]
	i -= s.first
	from := uint32(0)
	if i > 0 {
		from = s.bounds[i-1].all
	}
	ends := s.bounds[i]
	if ends.head == unknown {
		return nil, nil, false
	}
	terms := make([]string, ends.all-from)
	for k, n := range s.content[from:ends.all] {
		terms[k] = b.ids.terms[n]
	}
	return terms[:ends.head-from], terms[ends.head-from:], true
}

// A layout is where the passages go: they lie by document, and are counted so
// within the file, whatever order they came in.
type layout struct {
	info          []passageInfo
	segmentOf     []uint32 // of each passage, as they lie
	segmentStarts []uint32 // first passage of each unit, and the end
	documents     []uint32 // the document of each unit
	numbers       []uint32 // the passage's own number, as they lie; nil: they came so
	ordinals      []uint32 // where each passage lies, by its own number; nil likewise
	single        bool     // every unit has one passage
	stats         statistics
}

func (b *Builder) layout() (*layout, error) {
	l := &layout{info: make([]passageInfo, len(b.documents)), single: true}
	for _, s := range b.batches {
		copy(l.info[s.first:], s.passages)
		s.passages = nil
	}
	if b.reused != nil {
		b.reused.fillInfo(l.info)
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
			info[i] = l.info[n]
		}
		l.info = info
	}
	for i := range l.info {
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
		p := &l.info[i]
		p.bodyStart = 0
		for field := range fieldBody {
			p.bodyStart += uint32(p.shortLengths[field]) + 1
		}
		l.single = l.single && int(l.segmentStarts[n-1]) == i
	}
	l.segmentStarts = append(l.segmentStarts, uint32(len(l.info)))
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
	for i := range l.info {
		p := &l.info[i]
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
	out.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(record[:0], uint32(len(l.info))), documents))

	out.Section("inputs")
	out.Write(appendInputs(nil, l.info))

	out.Section("postings")
	var words dictionaryWriter
	if err := b.postings(ctx, out, l, &words); err != nil {
		return err
	}
	words.write(out)

	// Which terms are left of an index that was taken over shows only now.
	out.Section("meta")
	meta := make([]byte, 0, metaSize)
	for _, v := range []uint32{uint32(len(l.info)), uint32(len(l.documents)), documents, uint32(words.n), metaFlags(l)} {
		meta = binary.LittleEndian.AppendUint32(meta, v)
	}
	meta = append(meta, make([]byte, metaSize-len(meta))...)
	copy(meta[20:], b.analyzer.language)
	out.Write(meta)
	return nil
}

// A gatherer holds the postings of a term.
type postingBuffer struct {
	list      []posting
	positions []uint32
}

func (g *postingBuffer) reset() { g.list, g.positions = g.list[:0], g.positions[:0] }

// add adds a posting that has its positions among others.
func (g *postingBuffer) add(p posting, positions []uint32) {
	positions = positions[p.from : p.from+p.count]
	p.from = uint32(len(g.positions))
	g.list, g.positions = append(g.list, p), append(g.positions, positions...)
}

// decodeBatch adds what a segment, which begins with the given passage, has.
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

// sort sorts the postings as they lie.
func (g *postingBuffer) sort() {
	slices.SortFunc(g.list, func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.local, b.local))
	})
}

// setImpacts fills in the impacts.
func (g *postingBuffer) setImpacts(l *layout, symbol bool) {
	for i := 0; i < len(g.list); {
		segment := g.list[i].segment
		infos := l.info[l.segmentStarts[segment]:l.segmentStarts[segment+1]]
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

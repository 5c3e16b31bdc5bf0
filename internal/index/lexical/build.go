package lexical

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Options configure the analysis of a database's text.
type Options struct {
	Language string // see NewAnalyzer; empty: english
	// Content makes the builder keep the passages' content terms for Builder.Content,
	// unless there are more passages than this.
	Content int
	// Names are the database's names: some entries of the thesaurus are only for databases
	// with certain names.
	Names []string
}

// Fields are the indexed fields of one passage.
type Fields struct {
	Title         string   // the passage's own heading
	Named         bool     // Title is a generated name, not a heading
	Path          []string // the headings above it, from the document's first level down
	Page          string   // the document's title
	Body          string
	Address       string   // URL or file path
	Anchors       []string // further ids in the passage, such as those of definitions
	Links         string   // anchor texts of links to this passage
	Terms         string   // terms for the passage in the documentation's own index
	InLinks       int      // links to this passage
	PageInLinks   int      // links to its document
	Keys          []string // keys that find the passage although its text does not contain them
	SecondaryPage bool     // its document is secondary: history, plans, or a rewording of other pages
}

// The fields in the order of their words in the passage's position sequence.
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
	// maxShortField is the maximum number of positions in a field other than the body.
	maxShortField = 255
	// batchBytes is the amount of text per worker task: large enough to amortize the cost
	// per batch, small enough to keep all workers busy.
	batchBytes = 1 << 19
	// maxCached is the maximum number of spellings whose terms a worker caches.
	maxCached = 1 << 19
)

// A Builder collects passages and writes their index. Add and Write must be called from
// one goroutine. The builder uses one worker per processor; its output does not depend on
// their number or scheduling.
type Builder struct {
	options  Options
	err      error
	analyzer *Analyzer

	documents   []uint32
	batch       []Fields
	batchSize   int
	batchStart  int // number of the first passage in batch
	keepContent bool

	workers chan *worker // idle workers
	pending sync.WaitGroup
	batches []*batchIndex
	ids     interner
	reused  *reusedIndex     // see Reuse; nil: every passage is new
	members []passage.Member // by document; nil: none has a family
}

// NewBuilder returns a builder. Write reports an unknown language.
func NewBuilder(options Options) *Builder {
	b := &Builder{options: options, keepContent: options.Content > 0}
	b.ids.numbers = make(map[string]uint32)
	if b.analyzer, b.err = NewAnalyzer(options.Language); b.err != nil {
		return b
	}
	n := runtime.GOMAXPROCS(0)
	b.workers = make(chan *worker, n)
	for range n {
		b.workers <- newWorker(asker{b.analyzer, options.Names}, &b.ids)
	}
	return b
}

// Add adds the next passage with the number of its document. Documents are numbered in the
// order of their first passages.
func (b *Builder) Add(document uint32, f Fields) {
	if b.err != nil {
		return
	}
	b.documents = append(b.documents, document)
	b.batch = append(b.batch, f)
	if b.batchSize += len(f.Body) + 256; b.batchSize >= batchBytes {
		b.dispatch()
	}
}

// dispatch passes the batch to a worker and blocks while all workers are busy.
func (b *Builder) dispatch() {
	batch, s := b.batch, &batchIndex{firstPassage: b.batchStart}
	b.batches = append(b.batches, s)
	b.batchStart += len(batch)
	b.keepContent = b.keepContent && b.batchStart <= b.options.Content
	content := b.keepContent
	b.batch, b.batchSize = nil, 0
	w := <-b.workers
	b.pending.Go(func() {
		w.analyze(batch, s, content)
		b.workers <- w
	})
}

// An interner assigns numbers to terms. The numbers depend on scheduling; the index file
// does not.
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

// A batchIndex has the postings of one batch. For each term, data has one entry per
// passage, as varints: delta-encoded passage number, number of positions, delta-encoded
// positions.
type batchIndex struct {
	firstPassage  int
	passages      []passageInfo
	terms         []uint32
	ends          []uint32 // end of each term's postings in data
	data          []byte
	content       []uint32 // keepContent terms of each passage, headings before body; only if kept
	contentBounds []contentEnds
}

// contentEnds are the ends of a passage's content terms in batchIndex.content: of its
// headings, and of all. head is unknown if the passage's terms are incomplete.
type contentEnds struct{ head, all uint32 }

const unknown = math.MaxUint32

// A passageInfo has the properties of a passage that scoring uses besides its terms. Those
// missing from the section passages are in the section inputs (see reusedIndex).
type passageInfo struct {
	shortLengths       [fieldBody]uint8 // lengths in positions of all fields but the body
	bodyLength         uint32
	bodyStart          uint32             // position of the first body word, derived from the lengths
	wordCounts         [fieldCount]uint32 // lengths without stop words, for length normalization
	aside              bool               // see IsSecondaryPage
	manual             bool               // see isManualPage
	depth              uint8
	family             uint64 // see versionOf
	version            version
	inLinks, pageLinks uint32
}

// A worker turns batches into batch indexes.
type worker struct {
	analyzer *Analyzer
	asker    asker
	ids      *interner
	// termNumbers caches term numbers by spelling, plus one; 0 means that the spelling has
	// no term.
	termNumbers [3]map[string]uint32 // words, exact names, bigrams
	occurrences []occurrence
	// Scratch space of invert.
	slots     []uint32
	sorted    []occurrence
	positions []uint32
	// keepContent has the content terms of the current passage by field.
	content [fieldCount][]uint32
}

type occurrence struct{ term, passage, position uint32 }

func newWorker(a asker, ids *interner) *worker {
	w := &worker{analyzer: a.analyzer, asker: a, ids: ids}
	for i := range w.termNumbers {
		w.termNumbers[i] = make(map[string]uint32)
	}
	return w
}

func (w *worker) analyze(batch []Fields, s *batchIndex, content bool) {
	w.occurrences = w.occurrences[:0]
	s.passages = make([]passageInfo, len(batch))
	for i := range batch {
		whole := w.passage(uint32(i), &batch[i], &s.passages[i])
		if content {
			s.keepContent(w, batch[i].Named, whole)
		}
	}
	w.invert(s)
}

// keepContent stores the content terms of the worker's current passage.
func (s *batchIndex) keepContent(w *worker, named, whole bool) {
	if !whole {
		s.contentBounds = append(s.contentBounds, contentEnds{unknown, uint32(len(s.content))})
		return
	}
	s.content = append(append(s.content, w.content[fieldPage]...), w.content[fieldPath]...)
	if !named {
		s.content = append(s.content, w.content[fieldTitle]...)
	}
	head := uint32(len(s.content))
	s.content = append(s.content, w.content[fieldBody]...)
	s.contentBounds = append(s.contentBounds, contentEnds{head, uint32(len(s.content))})
}

// passage collects the terms of a passage. It returns false if it truncated a field: those
// other than the body end after maxShortField positions.
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
				w.occurrences = append(w.occurrences, occurrence{term - 1, n, uint32(t.position)})
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
	info.aside, info.depth = f.SecondaryPage || IsSecondaryPage(f.Address), depthOf(f.Address)
	info.manual = isManualPage(f.Page)
	info.family, info.version = versionOf(f.Address)
	info.inLinks, info.pageLinks = uint32(max(0, f.InLinks)), uint32(max(0, f.PageInLinks))
	return whole
}

// texts calls each with each text of a field.
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

// addNames adds the symbols and keys of the passage, and the words by which people ask for
// it. These depend on its subject: the names that it lists are often many.
func (w *worker) addNames(n uint32, f *Fields, position uint32) {
	names := symbols(f)
	listed := names
	for name := range listedNames(f.Body) {
		listed = append(listed, symbol{name, wholeName})
	}
	for name := range passage.DefinedNames(f.Body) {
		if isName(strings.ReplaceAll(name, " ", "_")) {
			listed = append(listed, symbol{name, wholeName})
		}
	}
	if version := releaseOf(f.Page); version != "" {
		listed = append(listed, releaseSymbol(version))
	}
	for _, s := range listed {
		if term := s.term(); term != "" {
			w.occurrences = append(w.occurrences, occurrence{w.ids.number(term), n, position})
		}
	}
	for _, key := range f.Keys {
		if term := keyTerm(key); term != "" {
			w.occurrences = append(w.occurrences, occurrence{w.ids.number(term), n, position})
		}
	}
	for _, stem := range w.asker.words(f, names) {
		if term := askedTerm(stem); term != "" {
			w.occurrences = append(w.occurrences, occurrence{w.ids.number(term), n, position})
		}
	}
}

// addOperators adds the operators that a text discusses. Operators occupy no positions;
// they are assigned the first ones of the text, because only their number matters.
func (w *worker) addOperators(n uint32, text string, body bool, from, to int) {
	terms, counts := operators(text, body)
	for i, term := range terms {
		number := w.ids.number(term)
		for position := from; position < min(from+counts[i], max(to, from+1)); position++ {
			w.occurrences = append(w.occurrences, occurrence{number, n, uint32(position)})
		}
	}
}

// termNumber returns the number of a token's term plus one, or 0 without a term.
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

// invert groups the occurrences by term and encodes them. Terms are in order of first
// occurrence, passages ascending.
func (w *worker) invert(s *batchIndex) {
	// The slot of a term is the index of its bucket in ends plus one. Count first.
	var ends []uint32
	for _, o := range w.occurrences {
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
	w.sorted = resize(w.sorted, len(w.occurrences))
	for _, o := range w.occurrences {
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

// Analyze waits until all added passages are analyzed. Do not call Add afterwards.
func (b *Builder) Analyze() {
	if len(b.batch) > 0 {
		b.dispatch()
	}
	b.pending.Wait()
}

// Content returns the content terms (see Analyzer.Terms) of passage i: those of its page
// title and headings, and those of its body. known is false if they were not kept. Call
// Analyze or Write first.
func (b *Builder) Content(i int) (head, body []string, known bool) {
	at := sort.Search(len(b.batches), func(k int) bool { return b.batches[k].firstPassage > i }) - 1
	if at < 0 || i-b.batches[at].firstPassage >= len(b.batches[at].contentBounds) {
		return nil, nil, false
	}
	s := b.batches[at]
	i -= s.firstPassage
	from := uint32(0)
	if i > 0 {
		from = s.contentBounds[i-1].all
	}
	ends := s.contentBounds[i]
	if ends.head == unknown {
		return nil, nil, false
	}
	terms := make([]string, ends.all-from)
	for k, n := range s.content[from:ends.all] {
		terms[k] = b.ids.terms[n]
	}
	return terms[:ends.head-from], terms[ends.head-from:], true
}

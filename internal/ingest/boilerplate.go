package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// Paragraphs that occur in many documents describe none of them: notices,
// invitations to comment, lists of other pages. They are removed, if they are at the
// edges of a document and have words of such text, or consist of links or legal text, and
// are no statement about the document's subject: see isStatement. Each build and
// update finds them in a sample of the documents. The digests of the sample's
// paragraphs are kept, so that an update parses only the changed documents of the
// sample. If it finds other boilerplate than the previous generation has, it reads
// all documents again.
const (
	sampleSize = 100 // documents
	// A paragraph is boilerplate if at least minDocuments documents and a share
	// of minShare of the sample have it.
	minShare     = 0.3
	minDocuments = 8
	// Shorter paragraphs are labels, which the following text needs.
	minWords       = 5
	maxBoilerplate = 100
	maxBeginning   = 60 // bytes of a paragraph's beginning
	// maxSampled is how many bytes of the sample are kept in parsed form for
	// reuse. The size is that of the source bytes.
	maxSampled = 16 << 20
)

// boilerplate holds the paragraphs to remove: their beginnings by digest.
type boilerplate map[string]string

// A paragraphSample holds the paragraphs of each document in the sample, by name.
type paragraphSample map[string]paragraphs

// paragraphs are the distinct paragraphs of a document.
type paragraphs struct {
	Parsed  bool
	Digests string // in order, digestSize bytes each
}

const digestSize = 8

// append encodes the sample as in FilesName.
func (s paragraphSample) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	last := ""
	for _, name := range slices.Sorted(maps.Keys(s)) {
		b = appendName(b, name, last)
		last = name
		if p := s[name]; p.Parsed {
			b = appendText(append(b, 1), p.Digests)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

// readSample decodes the output of append.
func readSample(in *fields) paragraphSample {
	s, last := paragraphSample{}, ""
	for range in.count() {
		last = in.name(last)
		p := paragraphs{Parsed: in.number() > 0}
		if p.Parsed {
			p.Digests = in.text()
		}
		if len(p.Digests)%digestSize != 0 {
			in.fail("a digest is incomplete")
		}
		s[last] = p
	}
	return s
}

// A sample is a parsed document of the sample.
type sample struct {
	hash       string // of the source bytes
	size       int
	beginnings map[string]string // of its paragraphs, by digest
	document.Document
}

// findBoilerplate finds the paragraphs that many of the items share. If they are other
// ones than in the previous generation, none of its documents is reused. If ctx is
// canceled, it does not wait for running parsers.
func (c *collector) findBoilerplate(ctx context.Context, items []source.Item) error {
	c.sample, c.sampled, c.boilerplate = paragraphSample{}, map[string]*sample{}, boilerplate{}
	beginnings := map[string]string{}
	if len(items) >= minDocuments {
		c.readSample(ctx, items, beginnings)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	common := c.sample.common()
	switch {
	case c.before == nil:
	case len(common) != len(c.before.Boilerplate),
		slices.ContainsFunc(common, func(d string) bool { _, had := c.before.Boilerplate[d]; return !had }):
		c.before = nil
		return c.findBoilerplate(ctx, items)
	default:
		c.boilerplate = c.before.Boilerplate
		return nil
	}
	for _, d := range common {
		c.boilerplate[d] = beginnings[d]
	}
	return nil
}

// readSample finds the paragraphs of the sample, keeps its parsed documents and collects
// the beginnings of their paragraphs.
func (c *collector) readSample(ctx context.Context, items []source.Item, beginnings map[string]string) {
	type result struct {
		name string
		paragraphs
		*sample // nil if the document was not parsed now
	}
	size := 0
	for r := range inParallel(ctx, sampleOf(items), func(it source.Item) result {
		r := result{name: it.Name}
		r.paragraphs, r.sample = c.sampleItem(ctx, &it)
		return r
	}) {
		c.sample[r.name] = r.paragraphs
		if r.sample == nil {
			continue
		}
		maps.Copy(beginnings, r.beginnings)
		if size += r.sample.size; size <= maxSampled {
			c.sampled[r.name] = r.sample
		}
	}
}

// sampleItem returns the paragraphs of an item, and its document unless the paragraphs are
// those of the previous generation.
func (c *collector) sampleItem(ctx context.Context, it *source.Item) (paragraphs, *sample) {
	had, sampled := c.last.paragraphsOf(it.Name)
	if c.kept[it.Name] || sampled && c.known(it) != nil {
		return had, nil
	}
	data, err := c.Load(it)
	if err != nil {
		return had, nil
	}
	hash := source.Hash(data)
	if sampled && c.matches(c.before.find(it.Name), it, hash) {
		return had, nil
	}
	s := &sample{hash: hash, size: len(data), beginnings: map[string]string{}}
	err = withoutFault(func() (err error) {
		if s.Document, err = c.document(ctx, data, it); err != nil {
			return err
		}
		for _, p := range paragraphsOf(&s.Document) {
			s.beginnings[p.digest] = p.text
		}
		return nil
	})
	if err != nil {
		return paragraphs{}, nil // reported when the document is read
	}
	return paragraphs{true, strings.Join(slices.Sorted(maps.Keys(s.beginnings)), "")}, s
}

// paragraphsOf returns the paragraphs of a document, if it was in the sample.
func (e *previous) paragraphsOf(name string) (p paragraphs, sampled bool) {
	if e == nil {
		return paragraphs{}, false
	}
	p, sampled = e.Sample[name]
	return p, sampled
}

// common returns the digests of the paragraphs that many documents of the sample share.
func (s paragraphSample) common() []string {
	parsed, count := 0, map[string]int{}
	for _, p := range s {
		if p.Parsed {
			parsed++
		}
		for d := p.Digests; d != ""; d = d[digestSize:] {
			count[d[:digestSize]]++
		}
	}
	least := max(minDocuments, int(minShare*float64(parsed)))
	found := slices.DeleteFunc(slices.Collect(maps.Keys(count)), func(d string) bool { return count[d] < least })
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	return found[:min(len(found), maxBoilerplate)]
}

// sampleOf chooses the items with the smallest name hashes. Collections that
// share most documents, such as a site and a local copy or two successive
// builds, therefore share most of the sample.
func sampleOf(items []source.Item) []source.Item {
	if len(items) <= sampleSize {
		return items
	}
	type keyed struct {
		key uint64
		at  int
	}
	keys := make([]keyed, len(items))
	for i, it := range items {
		name := it.Name
		if _, rest, ok := strings.Cut(name, "://"); ok {
			_, name, _ = strings.Cut(rest, "/")
		}
		folder, name := path.Split(name)
		h := fnv.New64a()
		io.WriteString(h, path.Base(folder)+"/"+name)
		keys[i] = keyed{h.Sum64() * 0x9e3779b97f4a7c15, i} // mix: FNV maps similar names to similar hashes
	}
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	sample := make([]source.Item, sampleSize)
	for i := range sample {
		sample[i] = items[keys[i].at]
	}
	return sample
}

// A paragraph is a run of nonblank lines outside of code.
type paragraph struct {
	first, last int
	digest      string // digestSize bytes
	text        string // its beginning
}

// paragraphsOf returns the paragraphs that are long enough to be boilerplate, and in a place
// for it.
func paragraphsOf(doc *document.Document) []paragraph {
	var all []paragraph // short ones too
	var sections []int  // of each
	count := map[int]int{}
	code := codeLines(doc)
	for i := range doc.Sections {
		s := &doc.Sections[i]
		if len(s.Blocks) == 0 {
			continue
		}
		first := 0
		for line := s.Blocks[0].First; line <= s.Last+1; line++ {
			if line <= s.Last && !code[line-1] && !document.IsBlank(doc.Lines[line-1]) {
				first = cmp.Or(first, line)
				continue
			}
			if first > 0 {
				all, sections = append(all, paragraph{first: first, last: line - 1}), append(sections, i)
				count[i]++
			}
			first = 0
		}
	}
	var found []paragraph
	const edge = 3 // paragraphs
	for i, p := range all {
		text := strings.Join(strings.Fields(strings.Join(doc.Lines[p.first-1:p.last], " ")), " ")
		if document.CountWords(text) < minWords {
			continue
		}
		isEdge := (i < edge || i >= len(all)-edge) && (pageWords().MatchString(text) || noticeWords().MatchString(text))
		if !isEdge && !isNavigation(text) && !isLegal(text) ||
			isStatement(text, doc.Sections[sections[i]].Headings, count[sections[i]] == 1 && i < len(all)-1) {
			continue
		}
		p.digest, p.text = source.Hash([]byte(text))[:digestSize], document.Truncate(text, maxBeginning)
		found = append(found, p)
	}
	return found
}

// isLegal reports whether a paragraph has words of legal text. Few paragraphs have even a part
// of one, which is faster to find.
func isLegal(text string) bool {
	lower := strings.ToLower(text)
	has := func(part string) bool { return strings.Contains(lower, part) }
	return slices.ContainsFunc([]string{"copyright", "©", "licen", "trademark", "all rights", "warrant", "cookie"}, has) &&
		legalWords().MatchString(text)
}

// isNavigation reports whether a paragraph consists mostly of links.
func isNavigation(text string) bool {
	if !strings.Contains(text, "](") && !strings.Contains(text, "<http") {
		return false
	}
	linked := 0
	for _, m := range linkText().FindAllString(text, -1) {
		linked += len(m)
	}
	return 2*linked > len(text)
}

// isStatement reports whether a paragraph says something about the subject of its document,
// even if many documents say the same: an admonition, an item of a definition list, an
// introduction to what follows, a return value. isAlone is whether it is the only one
// below its heading, and not the last one of its document, which many pages end with.
func isStatement(text string, headings []string, isAlone bool) bool {
	if strings.HasSuffix(text, ":") || admonitionText().MatchString(text) || definitionItem().MatchString(text) ||
		factText().MatchString(text) {
		return true
	}
	if len(headings) < 2 {
		return false
	}
	heading := headings[len(headings)-1]
	return referenceHeading().MatchString(heading) ||
		isAlone && !pageWords().MatchString(heading+" "+text) && !legalWords().MatchString(text) && !isNavigation(text)
}

var (
	linkText       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^\]]*\]\([^)]*\)|<https?:[^>]*>`) })
	admonitionText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[>\s]*(?:\*\*|__|\*)?(?i:notes?|warning|caution|important|tip|danger|attention|internal|deprecated|experimental|beta|security)\b(?:[^.!?]{0,40}:|\*\*|\])`)
	})
	// factText matches the beginning of what is true of the subject.
	factText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[>\s]*[*_]{0,2}(?i:returns?|raises|throws|deprecated|requires?|required|since|default|thread[- ]safe|(?:available|added|introduced|removed|changed|new) (?:since|in|from|with)|this (?:option|function|method|class|command|parameter|setting|flag|field|call|type|module|property|event|endpoint|operation|instruction))\b`)
	})
	definitionItem = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^(?:[-*+] |\\d+[.)] )?(?:\\*\\*)?(?:`|--?[a-z])|^\\|")
	})
	referenceHeading = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:returns?|return (?:values?|type|codes?)|parameters?|params|arguments?|(?:[\w ]+ )?options?|flags?|errors?|exit (?:status|codes?)|exceptions?|raises|throws|defaults?|(?:data )?types?|values?|results?|syntax|usage|synopsis|description|permissions?|requirements|availability|compatibility|remarks|thread safety|signature|outputs?|inputs?|attributes?|properties|fields?|methods?|diagnostics|status|examples?)$`)
	})
	// pageWords occur in text about pages and their projects.
	pageWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:pages?|docs?|documentation|feedback|help|contribut\w*|support|communit\w*|contact|edit|questions?|issues?|bugs?|mailing|navigation|contents|translat\w*|sponsors?|newsletter|website|project|github)\b`)
	})
	// noticeWords occur in notices on pages.
	noticeWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:manual|guide|articles?|tutorials?|site|forums?|discord|slack|discussions?|subscribe|sign (?:up|in)|subject to change|part of|see also|powered by|generated|last (?:updated|modified)|updated|(?:read|learn) more|click|mistakes?|typos?|report|feel free|thank(?:s| you)|search|latest|releases?|download|cookies)\b`)
	})
	legalWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bcopyright\b|©|\blicen[cs]ed? |\btrademarks?\b|\ball rights reserved\b|\bwarrant(?:y|ies)\b|\bcookies? policy\b`)
	})
)

// codeLines reports for each line whether it belongs to a code block.
func codeLines(doc *document.Document) []bool {
	lines := make([]bool, len(doc.Lines))
	var mark func(blocks []document.Block)
	mark = func(blocks []document.Block) {
		for _, b := range blocks {
			for i := b.First; b.Kind == document.Code && i <= b.Last; i++ {
				lines[i-1] = true
			}
			mark(b.Parts)
		}
	}
	var fence document.Fence
	for i := range doc.Sections {
		s := &doc.Sections[i]
		mark(s.Blocks)
		for n := s.First; n <= s.Last; n++ {
			line := strings.TrimLeft(doc.Lines[n-1], "> \t")
			lines[n-1] = fence.Next(line) || lines[n-1]
		}
	}
	return lines
}

// removeFrom removes boilerplate from the document and returns the number of
// removed paragraphs. A section that becomes empty goes with its heading. If
// the whole document would become empty, nothing is removed.
func (many boilerplate) removeFrom(doc *document.Document) int {
	if len(many) == 0 {
		return 0
	}
	n := 0
	lines := slices.Clone(doc.Lines)
	for _, p := range paragraphsOf(doc) {
		if _, found := many[p.digest]; !found {
			continue
		}
		n++
		if p.last < len(lines) && document.IsBlank(lines[p.last]) {
			p.last++ // remove one of the two adjacent blank lines too
		}
		for i := p.first; i <= p.last; i++ {
			lines[i-1] = document.DroppedLine
		}
	}
	if n == 0 {
		return 0
	}
	if !replaceLines(doc, lines) {
		return 0
	}
	return n
}

// replaceLines replaces the lines of a document by lines, in which some are DroppedLine, and removes
// the sections that become empty, with their headings. If all would become empty, it changes nothing
// and returns false.
func replaceLines(doc *document.Document, lines []string) bool {
	empty := func(first, last int) bool {
		return !slices.ContainsFunc(lines[first-1:last], func(l string) bool { return !document.IsBlank(l) })
	}
	sections := slices.DeleteFunc(slices.Clone(doc.Sections), func(s document.Section) bool {
		return len(s.Blocks) > 0 && empty(s.Blocks[0].First, s.Last)
	})
	if !slices.ContainsFunc(sections, func(s document.Section) bool { return len(s.Blocks) > 0 }) {
		return false
	}
	for _, s := range doc.Sections {
		if len(s.Blocks) > 0 && empty(s.Blocks[0].First, s.Last) {
			for n := s.First; n < s.Blocks[0].First; n++ {
				lines[n-1] = document.DroppedLine
			}
		}
	}
	doc.Lines, doc.Sections = lines, sections
	return true
}

// notes reports the removed paragraphs.
func (many boilerplate) notes(where string, n int) []generation.Skipped {
	if n == 0 {
		return nil
	}
	notes := []generation.Skipped{{Name: where,
		Reason: fmt.Sprintf("skipped %d paragraphs that are identical in many documents", n)}}
	for _, d := range slices.SortedFunc(maps.Keys(many),
		func(a, b string) int { return cmp.Or(strings.Compare(many[a], many[b]), strings.Compare(a, b)) }) {
		notes = append(notes, generation.Skipped{Name: fmt.Sprintf("%q", many[d]),
			Reason: "identical in many documents"})
	}
	return notes
}

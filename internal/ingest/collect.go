package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/secret"
	"github.com/docsearch/docsearch/internal/ingest/siteaddress"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/progress"
)

// A collector makes passages from the documents of a source. It reuses the
// passages of a document from the previous generation if nothing that they
// depend on has changed: the document's bytes, the terms of the source's own
// index, the item's context, and the collector's context, which applies to all
// documents.
type collector struct {
	source.Reader
	keeper
	keepSecrets bool // do not remove secrets from documents
	isPackage   bool // the documents are those of an installed package

	context     string
	site        *siteaddress.Site        // nil: the documents have no addresses, or are their addresses
	sourceTerms map[string][]string      // terms by target, from the source itself (docsets)
	terms       map[string][]string      // terms by target, from all origins
	pageTerms   packedTerms              // terms of the term index pages
	boilerplate boilerplate              // paragraphs to remove
	sample      paragraphSample          // in which they were found
	sampled     map[string]*sample       // documents parsed to find boilerplate
	last        *previous                // the current generation; nil: none
	before      *previous                // last if its documents can be reused, else nil
	kept        map[string]bool          // documents of last that the source does not show
	surveys     map[string]source.Survey // of the items
	partOf      map[string]string        // documents that include the items which are no documents
	changes     Changes
}

// Changes counts the documents that differ from the previous generation. Documents that it
// keeps count as the same.
type Changes struct {
	New, Changed, Removed, Same int

	Unreadable int // kept, because they cannot be read
	Lost       int // kept, because the source seems to have lost most of its documents
}

// collect writes the passages of the items into dir, the folder of a new
// generation. Next to them it writes the records of the documents and the list
// of skipped ones: those in skipped and those that the collector skips.
func collect(ctx context.Context, dir confined.Path, before *generation.Generation, origin generation.Source, c *collector, items []source.Item, skipped []generation.Skipped, report progress.Func) (generation.Prepared, error) {
	if before != nil {
		c.current = before
	}
	c.last = openPrevious(c.current, origin)
	if c.last != nil {
		defer c.last.close()
		items, skipped = c.keep(origin, items, skipped)
	}
	var e *previous // whose documents can be reused
	if before != nil && c.last != nil && c.last.listed {
		e = c.last
	}
	if err := c.findTerms(ctx, items, e); err != nil {
		return generation.Prepared{}, err
	}
	if len(c.terms) > 0 {
		c.context = source.Digest(c.context, "terms") // see addTerms
	}
	if e != nil && e.Context != c.context {
		e = nil
	}
	c.before = e
	c.addTermContexts(items)
	if err := c.survey(ctx, items); err != nil {
		return generation.Prepared{}, err
	}
	if err := c.findBoilerplate(ctx, items); err != nil {
		return generation.Prepared{}, err
	}
	out, err := dir.Join(passage.ShardName(0)).Create(0o644)
	if err != nil {
		return generation.Prepared{}, err
	}
	w := &writer{
		out: out, writeback: container.WriteBehind{File: out}, buffer: bufio.NewWriterSize(out, 256<<10), before: e,
		records: make([]record, 0, len(items)), skipped: skipped, changes: &c.changes,
	}
	if err = c.write(ctx, w, items, report); err == nil {
		w.skipped = append(w.skipped, c.boilerplate.notes(origin.Location, w.dropped)...)
		if e != nil {
			c.changes.Removed = len(e.records) - c.changes.Changed - c.changes.Same
		}
		if c.before != nil && w.unchanged(before) {
			return generation.Prepared{Source: before.Source, Skipped: before.Skipped, Perm: commonPerm(items), Unchanged: true}, out.Close()
		}
		if err = w.flush(); err == nil && w.offset == 0 {
			err = &generation.NoPassagesError{Skipped: w.skipped}
		}
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return generation.Prepared{}, err
	}
	st, err := dir.Join(passage.ShardName(0)).Lstat()
	if err != nil {
		return generation.Prepared{}, err
	}
	origin.Files = []generation.SourceFile{{Path: leann.PassagesName, Size: st.Size(), ModTime: st.ModTime()}}
	w.skipped = bySeverity(w.skipped)
	err = errors.Join(
		writeSkipped(dir.Join(SkippedName), w.skipped),
		writeRecords(dir.Join(FilesName), header{c.context, c.boilerplate, c.sample, c.pageTerms}, w.records))
	return generation.Prepared{
		Source: origin, Skipped: generation.Summary(w.skipped), Publish: true, Perm: commonPerm(items),
		Reused: w.reused, KeepsLost: true,
	}, err
}

// commonPerm returns the access rights that all items have.
func commonPerm(items []source.Item) fs.FileMode {
	rights := generation.AllPerm
	for i := range items {
		if r := items[i].Perm; r != 0 {
			rights &= r
		}
	}
	return rights
}

// bySeverity orders skipped items: large documents without text first, then unreadable
// ones, suspected secrets, the rest, and last the expressions of templates, of which many
// documents have some. A summary shows only the first ones.
func bySeverity(skipped []generation.Skipped) []generation.Skipped {
	rank := func(s generation.Skipped) int {
		switch {
		case strings.HasPrefix(s.Reason, noText):
			return 0
		case strings.HasPrefix(s.Reason, generation.Unreadable):
			return 1
		case strings.HasPrefix(s.Reason, secret.Reason):
			return 2
		case strings.HasPrefix(s.Reason, markdown.TemplateMark):
			return 4
		}
		return 3
	}
	return slices.SortedStableFunc(slices.Values(skipped), func(a, b generation.Skipped) int { return rank(a) - rank(b) })
}

func (c *collector) write(ctx context.Context, w *writer, items []source.Item, report progress.Func) error {
	e := progress.Event{Stage: "reading documents", Total: int64(len(items))}
	for result := range c.readAll(ctx, items) {
		if err := w.add(result); err != nil {
			return err
		}
		e.Done++
		e.Passages += int64(result.Passages)
		report.Show(e)
	}
	return ctx.Err()
}

// A result holds the passages of one document.
type result struct {
	record
	address   string               // see passage.Address
	redirects []string             // see passage.Redirects
	lines     []byte               // lines of the passages file
	reused    bool                 // unchanged: the lines are in the previous generation
	kept      []generation.Skipped // why the passages are those of the previous generation
	err       error                // fails the build
}

func (r *result) skip(name, format string, args ...any) {
	const longest = 300 // errors of libraries may quote a part of the document
	r.Skipped = append(r.Skipped, generation.Skipped{Name: name, Reason: document.Truncate(fmt.Sprintf(format, args...), longest)})
}

// readAll reads the items in parallel and yields their results in order.
func (c *collector) readAll(ctx context.Context, items []source.Item) iter.Seq[result] {
	return func(yield func(result) bool) {
		known := make([]*record, len(items))
		var unread []source.Item
		for i := range items {
			if c.kept[items[i].Name] {
				known[i] = c.last.find(items[i].Name)
			} else if known[i] = c.known(&items[i]); known[i] == nil {
				unread = append(unread, items[i])
			}
		}
		next, stop := iter.Pull(inParallel(ctx, unread, func(it source.Item) result { return c.read(ctx, &it) }))
		defer stop()
		for i, was := range known {
			var r result
			ok := true
			switch {
			case was == nil:
				r, ok = next()
			case c.kept[was.Name]:
				r = c.keptResult(was)
			default:
				r = reuse(was, &items[i])
			}
			if !ok || !yield(r) {
				return
			}
		}
	}
}

// inParallel calls f for the items in parallel and yields the results in order. If ctx
// is canceled, it returns without waiting for running calls, which may take seconds.
func inParallel[T any](ctx context.Context, items []source.Item, f func(source.Item) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		// Read ahead, so that a slow document does not stall the others.
		ahead := 16 * runtime.GOMAXPROCS(0)
		workers := make(chan struct{}, runtime.GOMAXPROCS(0))
		pending := make([]chan T, 0, ahead)
		for len(items)+len(pending) > 0 {
			for len(items) > 0 && len(pending) < ahead {
				it, done := items[0], make(chan T, 1)
				items, pending = items[1:], append(pending, done)
				go func() {
					workers <- struct{}{}
					defer func() { <-workers }()
					if ctx.Err() == nil {
						done <- f(it)
					}
				}()
			}
			select {
			case r := <-pending[0]:
				pending = append(pending[:0], pending[1:]...)
				if !yield(r) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// known returns the item's record in the previous generation if the item is
// known to be unchanged without reading it.
func (c *collector) known(it *source.Item) *record {
	if was := c.unchanged(it); was != nil && was.Context == it.Context {
		return was
	}
	return nil
}

// unchanged returns the item's record in the previous generation if the item and the files
// that it includes are known to have the same bytes.
func (c *collector) unchanged(it *source.Item) *record {
	was := c.before.find(it.Name)
	if was == nil || was.Hash == "" {
		return nil
	}
	if it.Hash != was.Hash && !c.before.untouched(was, it.Size, it.ModTime) || !c.includesSame(was) {
		return nil
	}
	return was
}

// includesSame reports whether the files that a document includes are
// unchanged.
func (c *collector) includesSame(was *record) bool {
	return c.IncludesDigest(was.Includes) == was.Included
}

// reuse returns a result with the passages of the previous generation.
func reuse(was *record, it *source.Item) result {
	r := result{record: *was, reused: true}
	r.Size, r.ModTime = it.Size, it.ModTime
	return r
}

// matches reports whether an item with this hash has the same passages as its record. was
// may be nil.
func (c *collector) matches(was *record, it *source.Item, hash string) bool {
	return was != nil && was.Hash == hash && was.Context == it.Context && c.includesSame(was)
}

// A document of largeDocument bytes without text is probably one that docsearch or its
// generator got wrong, or a page that a script fills.
const (
	largeDocument = 20_000
	noText        = "no text in "
)

// read makes the passages of one document. Errors and faults become skipped entries. A
// document that cannot be read keeps its passages of the previous generation.
func (c *collector) read(ctx context.Context, it *source.Item) result {
	data, err := c.Load(it)
	if err == nil {
		it.Hash = cmp.Or(it.Hash, source.Hash(data))
		if was := c.before.find(it.Name); c.matches(was, it, it.Hash) {
			return reuse(was, it)
		}
	} else if was := c.last.find(it.Name); was != nil && was.Passages > 0 && isUnreadable(err.Error()) {
		r := c.keptResult(was)
		r.kept = []generation.Skipped{{Name: it.Name, Reason: err.Error() + "; kept the previous version"}}
		return r
	}
	empty := record{Name: it.Name, Size: it.Size, ModTime: it.ModTime, Hash: it.Hash, Context: it.Context,
		Survey: c.surveys[it.Name]}
	r := result{record: empty}
	if err == nil {
		err = withoutFault(func() error { return c.makePassages(ctx, data, it, &r) })
	}
	if err != nil {
		r = result{record: empty}
		r.skip(it.Name, "%v", err)
	}
	for i := range r.Skipped {
		switch s := &r.Skipped[i]; s.Reason {
		case "empty", "no content", "no text":
			if it.Size >= largeDocument {
				s.Reason = noText + humanize.Size(it.Size)
			}
		}
	}
	return r
}

// makePassages parses a document and makes its passages.
func (c *collector) makePassages(ctx context.Context, data []byte, it *source.Item, r *result) error {
	var doc document.Document
	if read, ok := c.sampled[it.Name]; ok && read.hash == it.Hash {
		doc = read.Document
	} else {
		var err error
		if doc, err = c.document(ctx, data, it); err != nil {
			return err
		}
	}
	r.Includes, r.Included = doc.Includes, doc.IncludesDigest
	r.Dropped = c.boilerplate.removeFrom(&doc)
	removeContents(&doc)
	r.address, r.redirects = c.site.Address(it.Name, data)
	c.addPassages(r, doc)
	r.Length = int64(len(r.lines))
	return nil
}

// withoutFault calls f and turns a fault of the program into an error with its place, so
// that one document cannot end a build.
func withoutFault(f func() error) (err error) {
	defer func() {
		fault := recover()
		if fault == nil {
			return
		}
		var pcs [32]uintptr
		frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
		frame, more := frames.Next()
		for more && strings.HasPrefix(frame.Function, "runtime.") {
			frame, more = frames.Next()
		}
		err = fmt.Errorf("docsearch failed: %v (%s:%d); please report this", fault, path.Base(frame.File), frame.Line)
	}()
	return f()
}

// document parses an item, limits its sections, and removes its secrets.
func (c *collector) document(ctx context.Context, data []byte, it *source.Item) (document.Document, error) {
	if page := c.partOf[it.Name]; page != "" {
		return document.Document{}, fmt.Errorf("part of %s", page)
	}
	doc, err := c.Parse(ctx, data, it)
	doc.LimitSections(document.MaxSections)
	if err == nil && !c.keepSecrets {
		secret.Remove(&doc)
	}
	return doc, err
}

// addPassages splits the document and appends the lines of its passages.
func (c *collector) addPassages(r *result, doc document.Document) {
	doc.Title = document.Shorten(cmp.Or(doc.Title, titleFromName(r.Name)))
	passages, notes := chunk.Split(doc)
	for _, n := range notes {
		r.skip(r.Name+n.Place, "%s", n.Text)
	}
	if len(passages) == 0 {
		r.skip(r.Name, "empty")
	}
	kind, flags := documentKind(r.Name, &doc), documentFlags(&doc)
	if kind == "" && c.isPackage && installed.IsAboutPackage(r.Name) {
		kind = passage.Readme
	}
	seen := map[string]int{}
	if len(passages) > 0 {
		passages[0].SetEdition(document.Shorten(doc.Edition))
		passages[0].SetRedirects(r.redirects)
	}
	for i := range passages {
		p := &passages[i]
		p.SetKind(kind)
		p.SetFlags(flags)
		p.Title = doc.Title
		p.SetNoteMeta(doc.NoteMeta)
		if isURL(r.Name) {
			p.URL = r.Name
		} else {
			p.Path = r.Name
			p.SetAddress(r.address)
		}
		p.ID = passageID(p, seen)
		c.addTerms(p, i == 0)
		if p.URL != "" && len(p.Anchors) > 0 {
			p.URL += "#" + (&url.URL{Fragment: p.Anchors[0]}).EscapedFragment()
		}
		before := len(r.lines)
		r.lines = p.AppendLine(r.lines)
		if n := len(r.lines) - before; n > passage.MaxLine {
			r.lines = r.lines[:before]
			r.skip(p.Locator(), "a passage has %d bytes, the limit is %d", n, passage.MaxLine)
			continue
		}
		r.Passages++
	}
}

// isURL reports whether a document name is a URL.
func isURL(name string) bool {
	return strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://")
}

// passageID derives the passage's ID from the document name, the headings and
// the text, so that changes elsewhere do not affect it. seen counts the
// passages of the document for which these are equal.
func passageID(p *passage.Passage, seen map[string]int) string {
	parts := append([]string{p.Document()}, p.Headings...)
	parts = append(parts, p.Text)
	key := strings.Join(parts, "\x00")
	if n := seen[key]; n > 0 {
		parts = append(parts, strconv.Itoa(n))
	}
	seen[key]++
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// A writer writes passages and collects the records of documents.
type writer struct {
	out         *os.File
	writeback   container.WriteBehind // writes out back early
	buffer      *bufio.Writer         // buffers out
	offset      int64
	before      *previous
	changes     *Changes
	records     []record
	skipped     []generation.Skipped
	dropped     int // paragraphs
	reused      []generation.Reused
	pendingCopy bool // the last run of reused lines is not copied yet
}

// add writes the passages of one document. Errors concern the passages files of
// this and the previous generation.
func (w *writer) add(r result) error {
	offset := w.offset
	if err := cmp.Or(r.err, w.write(&r)); err != nil {
		return err
	}
	r.Offset = offset
	w.records = append(w.records, r.record)
	w.skipped = append(append(w.skipped, r.Skipped...), r.kept...)
	w.changes.Unreadable += len(r.kept)
	w.dropped += r.Dropped
	return nil
}

// write writes the lines of a document. For a changed document, it reuses the
// common leading and trailing lines.
func (w *writer) write(r *result) error {
	if r.reused {
		w.changes.Same++
		return w.reuse(r.Offset, r.Length)
	}
	was := w.before.find(r.Name)
	if was == nil {
		w.changes.New++
		return w.writeNew(r.lines)
	}
	old, err := w.before.linesOf(was)
	if err != nil {
		return err
	}
	if was.same(&r.record) && bytes.Equal(old, r.lines) {
		w.changes.Same++
	} else {
		w.changes.Changed++
	}
	head, tail := sharedLines(old, r.lines)
	if err := w.reuse(was.Offset, int64(head)); err != nil {
		return err
	}
	if err := w.writeNew(r.lines[head : len(r.lines)-tail]); err != nil {
		return err
	}
	return w.reuse(was.Offset+was.Length-int64(tail), int64(tail))
}

// sharedLines returns the sizes in bytes of the common leading lines and the
// common trailing lines of two texts.
func sharedLines(a, b []byte) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	head = bytes.LastIndexByte(a[:head], '\n') + 1
	a, b = a[head:], b[head:]
	for tail < min(len(a), len(b)) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	begins := func(text []byte) bool { return tail == len(text) || text[len(text)-1-tail] == '\n' }
	if !begins(a) || !begins(b) {
		tail -= bytes.IndexByte(a[len(a)-tail:], '\n') + 1
	}
	return head, tail
}

// writeNew writes new lines.
func (w *writer) writeNew(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if w.pendingCopy {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.offset += int64(len(lines))
	_, err := w.buffer.Write(lines)
	return err
}

// reuse records a run of lines at an offset of the previous generation. It
// delays the copy until the end of the run is known.
func (w *writer) reuse(before, length int64) error {
	if length == 0 {
		return nil
	}
	now := w.offset
	w.offset += length
	if w.pendingCopy {
		if last := &w.reused[len(w.reused)-1]; last.Before.Offset+last.Length == before {
			last.Length += length
			return nil
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.reused = append(w.reused, generation.Reused{Before: generation.Run{Offset: before}, Now: generation.Run{Offset: now}, Length: length})
	w.pendingCopy = true
	return nil
}

// flush writes pending data. Where it can, the system copies reused lines from
// file to file.
func (w *writer) flush() error {
	if err := w.buffer.Flush(); err != nil || !w.pendingCopy {
		return err
	}
	w.pendingCopy = false
	run := w.reused[len(w.reused)-1]
	if _, err := w.before.lines.Seek(run.Before.Offset, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.CopyN(w.out, w.before.lines, run.Length); err != nil {
		return fmt.Errorf("cannot copy the passages of %s: %w", w.before.lines.Name(), err)
	}
	w.writeback.Written(run.Now.Offset + run.Length)
	return nil
}

// unchanged reports whether the result equals the previous generation.
func (w *writer) unchanged(g *generation.Generation) bool {
	if w.before == nil || len(w.records) != len(w.before.records) {
		return false
	}
	if w.changes.Same < len(w.records) || !slices.EqualFunc(w.records, w.before.records, func(a, b record) bool { return a.Name == b.Name }) {
		return false
	}
	was, err := ReadSkipped(*g)
	return err == nil && slices.Equal(was, w.skipped)
}

// titleFromName derives a title from the name of a file or page.
func titleFromName(name string) string {
	if isURL(name) {
		name, _, _ = strings.Cut(name, "?")
		name = strings.TrimRight(name, "/")
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.Join(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
}

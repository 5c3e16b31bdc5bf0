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

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/secret"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/progress"
)

// A collector makes passages of the documents of a source. What it made of a
// document before stands as long as all stands that they depend on: the
// document's bytes, what the source's own index calls the places in it, the
// item's context, and what holds for all documents: the collector's own
// context.
type collector struct {
	source.Reader
	keepSecrets bool // in texts

	context  string
	named    map[string][]string // what places are called, beside what indexes of terms say
	terms    map[string][]string // what places are called
	packed   packedTerms         // what indexes of terms say
	repeated repeated            // paragraphs that are left out
	sampled  map[string]sample   // documents that were read to find them
	before   *earlier
	changes  Changes
}

// Changes are how many documents of a source are other than they were in the
// generation before.
type Changes struct{ New, Changed, Removed, Same int }

// collect writes the passages of the items into dir, the folder of a new
// generation, and beside them what was read and what has no passages: that is
// what is in skipped and what turns out to be left out of the items.
func collect(ctx context.Context, dir confined.Path, before *generation.Generation, origin generation.Source, c *collector, items []source.Item, skipped []generation.Skipped, report progress.Func) (generation.Prepared, error) {
	e := openEarlier(before, origin)
	if e != nil {
		defer e.close()
	}
	if err := c.findTerms(ctx, items, e); err != nil {
		return generation.Prepared{}, err
	}
	if len(c.terms) > 0 {
		c.context = source.Digest(c.context, "terms") // see addTerms
	}
	if e != nil && e.Context == c.context {
		c.before, c.repeated = e, e.Repeated
	}
	c.addTermContexts(items)
	if c.before == nil {
		if err := c.findRepeated(ctx, items); err != nil {
			return generation.Prepared{}, err
		}
	}
	out, err := dir.Join(passage.ShardName(0)).Create(0o644)
	if err != nil {
		return generation.Prepared{}, err
	}
	w := &writer{
		out: out, behind: container.WriteBehind{File: out}, fresh: bufio.NewWriterSize(out, 256<<10), before: c.before,
		records: make([]record, 0, len(items)), skipped: skipped, changes: &c.changes,
	}
	if err = c.write(ctx, w, items, report); err == nil {
		w.skipped = append(w.skipped, c.repeated.notes(origin.Location, w.dropped)...)
		if c.before != nil {
			c.changes.Removed = len(c.before.records) - c.changes.Changed - c.changes.Same
		}
		if w.unchanged(before) {
			return generation.Prepared{Source: before.Source, Skipped: before.Skipped, Perm: rightsOf(items), Unchanged: true}, out.Close()
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
	err = errors.Join(
		writeSkipped(dir.Join(SkippedName), w.skipped),
		writeRecords(dir.Join(FilesName), header{c.context, c.repeated, c.packed}, w.records))
	return generation.Prepared{Source: origin, Skipped: generation.Summary(gravestFirst(w.skipped)), Publish: true, Perm: rightsOf(items), Reused: w.kept}, err
}

// rightsOf are those that all of the items have.
func rightsOf(items []source.Item) fs.FileMode {
	rights := generation.AllPerm
	for i := range items {
		if r := items[i].Rights; r != 0 {
			rights &= r
		}
	}
	return rights
}

// gravestFirst is what was skipped in another order: what could not be read, then
// what looks like a secret, then the rest. A summary has room for the first only.
func gravestFirst(skipped []generation.Skipped) []generation.Skipped {
	var ranks [3][]generation.Skipped
	for _, s := range skipped {
		rank := 2
		switch {
		case strings.HasPrefix(s.Reason, generation.Unreadable):
			rank = 0
		case strings.HasPrefix(s.Reason, secret.Reason):
			rank = 1
		}
		ranks[rank] = append(ranks[rank], s)
	}
	return slices.Concat(ranks[:]...)
}

func (c *collector) write(ctx context.Context, w *writer, items []source.Item, report progress.Func) error {
	e := progress.Event{Stage: "reading documents", Total: int64(len(items))}
	for result := range c.all(ctx, items) {
		if err := w.add(result); err != nil {
			return err
		}
		e.Done++
		e.Passages += int64(result.Passages)
		report.Show(e)
	}
	return ctx.Err()
}

// A result is what was made of one document.
type result struct {
	record
	lines []byte // of the passages file
	kept  bool   // they are those of the generation before, and not in lines
}

func (r *result) skip(name, format string, args ...any) {
	r.Skipped = append(r.Skipped, generation.Skipped{Name: name, Reason: limited(fmt.Sprintf(format, args...))})
}

// limited is a reason that is no longer than any of ours: those of libraries may
// have a part of the document in them.
func limited(why string) string {
	const longest = 300
	if len(why) <= longest {
		return why
	}
	return strings.ToValidUTF8(why[:longest], "") + "..."
}

// all reads the items, several at once, and yields what was made of them in
// their order. It ends early when ctx does, and then does not wait for those that
// are being read: that may take seconds, and nobody wants what comes of it.
func (c *collector) all(ctx context.Context, items []source.Item) iter.Seq[result] {
	return func(yield func(result) bool) {
		known := make([]*record, len(items))
		var unread []int
		for i := range items {
			if known[i] = c.known(&items[i]); known[i] == nil {
				unread = append(unread, i)
			}
		}
		// One that is long in the reading must not stop the others: some may
		// wait, read, for their turn.
		ahead := 16 * runtime.GOMAXPROCS(0)
		workers := make(chan struct{}, runtime.GOMAXPROCS(0))
		pending := make([]chan result, 0, ahead)
		for i := range items {
			for len(unread) > 0 && len(pending) < ahead && ctx.Err() == nil {
				done := make(chan result, 1)
				pending = append(pending, done)
				it := items[unread[0]]
				unread = unread[1:]
				go func() {
					workers <- struct{}{}
					defer func() { <-workers }()
					if ctx.Err() == nil {
						done <- c.read(ctx, &it)
					}
				}()
			}
			var r result
			switch {
			case known[i] != nil:
				r = keep(known[i], &items[i])
			case len(pending) == 0:
				return
			default:
				select {
				case r = <-pending[0]:
				case <-ctx.Done():
					return
				}
				pending = append(pending[:0], pending[1:]...)
			}
			if !yield(r) {
				return
			}
		}
	}
}

// known is the record of the item in the generation before, if it need not be
// read to tell that it has not changed.
func (c *collector) known(it *source.Item) *record {
	was := c.before.find(it.Name)
	if was == nil || was.Hash == "" || was.Context != it.Context {
		return nil
	}
	if it.Hash != was.Hash && !c.before.untouched(was, it.Size, it.ModTime) || !c.includesSame(was) {
		return nil
	}
	return was
}

// includesSame reports whether the files that a document includes are as they
// were.
func (c *collector) includesSame(was *record) bool {
	return c.IncludesDigest(was.Name, was.Includes) == was.Included
}

// keep is the result that takes over what was made of the item before.
func keep(was *record, it *source.Item) result {
	r := result{record: *was, kept: true}
	r.Size, r.ModTime = it.Size, it.ModTime
	return r
}

// read makes passages of one document. What is wrong with it is skipped.
func (c *collector) read(ctx context.Context, it *source.Item) result {
	data, err := c.Load(it)
	if err == nil {
		it.Hash = cmp.Or(it.Hash, source.Hash(data))
		if was := c.before.find(it.Name); was != nil && was.Hash == it.Hash && was.Context == it.Context && c.includesSame(was) {
			return keep(was, it)
		}
	}
	r := result{record: record{Name: it.Name, Size: it.Size, ModTime: it.ModTime, Hash: it.Hash, Context: it.Context}}
	var doc document.Document
	if read, ok := c.sampled[it.Name]; ok && err == nil && read.hash == it.Hash {
		doc = read.Document
	} else if err == nil {
		doc, err = c.document(ctx, data, it)
	}
	if err != nil {
		r.skip(it.Name, "%v", err)
		return r
	}
	r.Includes, r.Included = doc.Includes, doc.IncludesDigest
	r.Dropped = c.repeated.drop(&doc)
	c.addPassages(&r, doc)
	r.Length = int64(len(r.lines))
	return r
}

// document makes a document of an item's bytes, without its secrets.
func (c *collector) document(ctx context.Context, data []byte, it *source.Item) (document.Document, error) {
	doc, err := c.Parse(ctx, data, it)
	if err == nil && !c.keepSecrets {
		secret.Remove(&doc)
	}
	return doc, err
}

// addPassages cuts the document into passages and adds their lines.
func (c *collector) addPassages(r *result, doc document.Document) {
	if doc.Title == "" {
		doc.Title = titleFromName(r.Name)
	}
	doc.Title = document.Shorten(doc.Title)
	passages, notes := chunk.Split(doc)
	for _, n := range notes {
		r.skip(r.Name+n.Place, "%s", n.Text)
	}
	kind, flags := kindOf(r.Name, &doc), flagsOf(&doc)
	seen := map[string]int{}
	if len(passages) > 0 {
		passages[0].SetEdition(document.Shorten(doc.Edition))
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
		}
		p.ID = identify(p, seen)
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

// isURL reports whether a document's name is the URL of a page.
func isURL(name string) bool {
	return strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://")
}

// identify makes the passage's id: of the document, the headings and the text,
// so that it stays the same as long as they do, whatever else changes around
// it. seen counts the document's passages that are alike in all of these.
func identify(p *passage.Passage, seen map[string]int) string {
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

// A writer writes passages and gathers what is known of the documents.
type writer struct {
	out     *os.File
	behind  container.WriteBehind // of out
	fresh   *bufio.Writer         // of out
	offset  int64
	before  *earlier
	changes *Changes
	records []record
	skipped []generation.Skipped
	dropped int // paragraphs
	kept    []generation.Reused
	owing   bool // the lines of the last run that was kept are not written yet
}

// add writes what was made of one document. An error is of the passages files,
// this generation's or the one's before.
func (w *writer) add(r result) error {
	offset := w.offset
	if err := w.write(&r); err != nil {
		return err
	}
	r.Offset = offset
	w.records = append(w.records, r.record)
	w.skipped = append(w.skipped, r.Skipped...)
	w.dropped += r.Dropped
	return nil
}

// write writes the lines of a document. Of one that has changed, those before
// and after what has may be the same.
func (w *writer) write(r *result) error {
	if r.kept {
		w.changes.Same++
		return w.keep(r.Offset, r.Length)
	}
	was := w.before.find(r.Name)
	if was == nil {
		w.changes.New++
		return w.put(r.lines)
	}
	if was.same(&r.record) {
		w.changes.Same++
	} else {
		w.changes.Changed++
	}
	old := make([]byte, was.Length)
	if _, err := w.before.lines.ReadAt(old, was.Offset); err != nil {
		return fmt.Errorf("cannot read the passages of %s: %w", w.before.lines.Name(), err)
	}
	head, tail := sharedLines(old, r.lines)
	if err := w.keep(was.Offset, int64(head)); err != nil {
		return err
	}
	if err := w.put(r.lines[head : len(r.lines)-tail]); err != nil {
		return err
	}
	return w.keep(was.Offset+was.Length-int64(tail), int64(tail))
}

// sharedLines is how many bytes the lines have that two texts begin with, and
// those that both end with.
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

// put writes lines that are new.
func (w *writer) put(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if w.owing {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.offset += int64(len(lines))
	_, err := w.fresh.Write(lines)
	return err
}

// keep writes lines that stand at an offset of the generation before, as soon as
// it is known which others are to be copied with them.
func (w *writer) keep(before, length int64) error {
	if length == 0 {
		return nil
	}
	now := w.offset
	w.offset += length
	if w.owing {
		if last := &w.kept[len(w.kept)-1]; last.Before.Offset+last.Length == before {
			last.Length += length
			return nil
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.kept = append(w.kept, generation.Reused{Before: generation.Run{Offset: before}, Now: generation.Run{Offset: now}, Length: length})
	w.owing = true
	return nil
}

// flush writes what is not written yet. The system copies lines that were kept
// from file to file on its own, where it can.
func (w *writer) flush() error {
	if err := w.fresh.Flush(); err != nil || !w.owing {
		return err
	}
	w.owing = false
	run := w.kept[len(w.kept)-1]
	if _, err := w.before.lines.Seek(run.Before.Offset, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.CopyN(w.out, w.before.lines, run.Length); err != nil {
		return fmt.Errorf("cannot copy the passages of %s: %w", w.before.lines.Name(), err)
	}
	w.behind.Written(run.Now.Offset + run.Length)
	return nil
}

// unchanged reports whether all that was written is what the generation before
// has.
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

// titleFromName is what to call a document that has no title: the name of its
// file or page.
func titleFromName(name string) string {
	if isURL(name) {
		name, _, _ = strings.Cut(name, "?")
		name = strings.TrimRight(name, "/")
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.Join(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
}

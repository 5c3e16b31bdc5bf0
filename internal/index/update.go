package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/mmap"
)

const (
	// maxChanged is the share of the passages that may have changed since the
	// embedder was trained on them and the threshold of confidence was chosen,
	// before both are learnt anew.
	maxChanged = 0.1
	// scanBytes is how much of a passages file is read at a time.
	scanBytes = 1 << 20
)

// An update derives a generation from the one before and the lines that are
// new. Its table and its lexical index are, to the byte, what a build from
// nothing writes of the same passages. The vectors are those that the
// embedder of the generation before makes; which blocks they lie in, the
// recall that was measured, and the threshold of confidence, are that
// generation's, too. So what a search finds differs from what it would find
// after a build from nothing in this alone: that build would have trained the
// embedder on other passages, up to a tenth of them.
type update struct {
	b   *generation.Build
	m   *generation.Manifest
	opt BuildOptions

	old     Database // the generation before
	entries *passage.Entries
	shards  []shard
	list    []entry // the passages, in their order
	fresh   []freshPassage
	gone    int // passages of the generation before that were not kept
	links   linkGraph
}

// A shard is a passages file of the generation in the making, which nobody else
// knows of yet.
type shard struct{ *mmap.Mapping }

// An entry is a passage of the generation in the making.
type entry struct {
	shard  int
	offset int64
	old    uint32 // number in the generation before, or dense.Fresh
	fresh  int    // else its place in fresh
	// again says that its line stands, and not all that is indexed with it:
	// the links to it have changed.
	again bool
}

// A freshPassage is one that the generation before does not have.
type freshPassage struct {
	passage.Passage
	line []byte
}

// errAnew is wrapped by the errors that say why an update cannot go by the
// generation before.
var errAnew = errors.New("all is derived anew")

// tryUpdate derives the generation of b from the one before, and says whether it
// could: what it cannot go by, because it is another version's, is damaged or
// has changed too much, is no error.
func tryUpdate(ctx context.Context, b *generation.Build, m *generation.Manifest, before generation.Generation, kept []generation.Reused, opt BuildOptions) (done bool, err error) {
	draft := *m
	u := &update{b: b, m: &draft, opt: opt}
	err = u.run(ctx, before, kept)
	if err = errors.Join(err, u.close()); err == nil {
		*m = draft
		return true, nil
	}
	var corrupt *container.CorruptError
	var version *container.VersionError
	if ctx.Err() != nil || !errors.As(err, &corrupt) && !errors.As(err, &version) &&
		!errors.Is(err, errAnew) && !errors.Is(err, dense.ErrIncompatible) && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for _, name := range []string{passage.TableName, lexicalName, embedderName, vectorsName, providedName} {
		if err := b.File(name).Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

func (u *update) run(ctx context.Context, before generation.Generation, kept []generation.Reused) error {
	if before.Tool != u.opt.Tool {
		return fmt.Errorf("%w: %s was built by version %q", errAnew, before.Dir, before.Tool)
	}
	if err := u.old.open(before); err != nil {
		return err
	}
	u.opt.Report.Report("comparing passages", 0, 0)
	lex := lexical.NewBuilder(lexical.Options{Language: u.opt.Language, Content: math.MaxInt})
	g, all := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := lex.Reuse(u.old.lexical); err != nil {
			return fmt.Errorf("%w: %w", errAnew, err)
		}
		return nil
	})
	g.Go(func() error { return u.compare(all, kept) })
	if err := g.Wait(); err != nil {
		return err
	}
	u.m.Skipped = generation.Summary(u.m.Skipped)
	table, err := u.fill(lex)
	if err != nil {
		return err
	}
	taught := u.taught()
	u.opt.Report.Report("writing the lexical index", 0, 0)
	g, all = errgroup.WithContext(ctx)
	g.Go(func() error { return lex.Write(all, u.b.File(lexicalName)) })
	g.Go(func() error { return table.Write(u.b.File(passage.TableName)) })
	if taught {
		g.Go(func() error { return u.addVectors(all, lex.Content) })
	}
	if err := g.Wait(); err != nil || taught {
		return err
	}
	return learn(ctx, u.b, u.m, u.opt, lex.Content)
}

// compare finds out what is new, and what is to be known of it and of what was
// kept.
func (u *update) compare(ctx context.Context, kept []generation.Reused) (err error) {
	if u.entries, err = u.old.table.Entries(); err != nil {
		return err
	}
	if have, want := u.old.lexical.Passages(), u.entries.Len(); have != want {
		return fmt.Errorf("%w: the lexical index has %d passages, the table %d", errAnew, have, want)
	}
	if err := u.openShards(); err != nil {
		return err
	}
	if err := u.place(kept); err != nil {
		return err
	}
	return u.readLinks(ctx)
}

func (u *update) close() error {
	var errs []error
	for _, s := range u.shards {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, u.old.Close())...)
}

func (u *update) openShards() error {
	names, err := shards(u.b)
	if err != nil {
		return err
	}
	for _, name := range names {
		m, err := mmap.OpenIn(u.b.File(name))
		if err != nil {
			return err
		}
		u.shards = append(u.shards, shard{m})
	}
	return nil
}

// A run is passages in a row, of the generation before, and where their lines
// lie now.
type run struct {
	first, end uint32
	now        generation.Run
	length     int64
}

// place lists the passages: those that were kept, and between them those that
// are new.
func (u *update) place(kept []generation.Reused) error {
	runs := ascending(u.runs(kept))
	u.list = make([]entry, 0, u.entries.Len()+u.entries.Len()/16)
	for i, s := range u.shards {
		at := int64(0)
		for len(runs) > 0 && runs[0].now.Shard == i {
			r := runs[0]
			runs = runs[1:]
			if r.now.Offset < at || r.now.Offset+r.length > int64(len(s.Data)) {
				return fmt.Errorf("%w: the lines that were kept lie on one another", errAnew)
			}
			if err := u.readFresh(i, at, r.now.Offset); err != nil {
				return err
			}
			at = r.now.Offset
			for n := r.first; n < r.end; n++ {
				u.list = append(u.list, entry{shard: i, offset: at, old: n})
				at += int64(u.entries.At(n).Length) + 1
			}
			at = r.now.Offset + r.length
		}
		if err := u.readFresh(i, at, int64(len(s.Data))); err != nil {
			return err
		}
	}
	if len(runs) > 0 {
		return fmt.Errorf("%w: lines were kept in passages file %d, which is not there", errAnew, runs[0].now.Shard)
	}
	if len(u.list) == 0 {
		return ErrNoPassages
	}
	u.gone = u.entries.Len() - (len(u.list) - len(u.fresh))
	return nil
}

// runs finds the passages that the source says were kept. A run of lines that
// the table does not have in full, because some were no passages, is left out,
// and read anew.
func (u *update) runs(kept []generation.Reused) []run {
	at := func(n int) generation.Run {
		e := u.entries.At(uint32(n))
		return generation.Run{Shard: e.Shard, Offset: e.Offset}
	}
	compare := func(a, b generation.Run) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Offset, b.Offset))
	}
	var runs []run
	for _, k := range kept {
		low, high := 0, u.entries.Len()
		for low < high {
			if mid := (low + high) / 2; compare(at(mid), k.Before) < 0 {
				low = mid + 1
			} else {
				high = mid
			}
		}
		n, offset, end := low, k.Before.Offset, k.Before.Offset+k.Length
		for n < u.entries.Len() && offset < end && at(n) == (generation.Run{Shard: k.Before.Shard, Offset: offset}) {
			offset += int64(u.entries.At(uint32(n)).Length) + 1
			n++
		}
		if offset == end && n > low {
			runs = append(runs, run{uint32(low), uint32(n), k.Now, k.Length})
		}
	}
	return runs
}

// ascending returns those of the runs that come in their old order, so chosen
// that they are the longest together. What was moved otherwise is new where it
// stands now.
func ascending(runs []run) []run {
	ends := make([]uint32, len(runs))
	for i, r := range runs {
		ends[i] = r.end
	}
	slices.Sort(ends)
	// A chain is of runs in their order, and is known by its last one. Longest
	// is a Fenwick tree: of the chains that end before a place, the longest.
	chains := make([]struct {
		length int64
		before int
	}, len(runs))
	longest := make([]int, len(ends)+1) // chain, counted from 1
	length := func(chain int) int64 {
		if chain == 0 {
			return 0
		}
		return chains[chain-1].length
	}
	best := 0
	for i, r := range runs {
		c := &chains[i]
		at, _ := slices.BinarySearch(ends, r.first+1)
		for ; at > 0; at &= at - 1 {
			if length(longest[at]) > length(c.before) {
				c.before = longest[at]
			}
		}
		c.length = length(c.before) + r.length
		place, _ := slices.BinarySearch(ends, r.end)
		for at := place + 1; at < len(longest); at += at & -at {
			if c.length > length(longest[at]) {
				longest[at] = i + 1
			}
		}
		if c.length > length(best) {
			best = i + 1
		}
	}
	var kept []run
	for ; best > 0; best = chains[best-1].before {
		kept = append(kept, runs[best-1])
	}
	slices.Reverse(kept)
	return kept
}

// readFresh reads the lines from one offset to another of a passages file.
func (u *update) readFresh(shard int, from, to int64) error {
	if from == to {
		return nil
	}
	data := u.shards[shard].Data
	if to < int64(len(data)) && data[to-1] != '\n' {
		return fmt.Errorf("%w: what was kept does not begin with a line", errAnew)
	}
	skipped, err := leann.Scan(bytes.NewReader(data[from:to]), func(offset int64, line []byte) error {
		offset += from
		p, err := passage.Decode(line)
		if err != nil {
			return fmt.Errorf("%w: %w", errAnew, err)
		}
		u.list = append(u.list, entry{shard: shard, offset: offset, old: dense.Fresh, fresh: len(u.fresh)})
		u.fresh = append(u.fresh, freshPassage{p, data[offset : offset+int64(len(line))]})
		return nil
	})
	if err == nil && len(skipped) > 0 {
		err = fmt.Errorf("%w: %s is no passage", errAnew, skipped[0].Name) // to be named by its number in the file
	}
	return err
}

// readLinks finds out which passages that were kept have other links to them
// than before, and gathers the links to these and to what is new.
func (u *update) readLinks(ctx context.Context) error {
	changed, err := u.changedLinks()
	if err != nil {
		return err
	}
	// The words of the links to a document are indexed with its first passage,
	// and that may be another now.
	led := make([]bool, u.old.table.Documents())
	first := make([]bool, u.entries.Len())
	for n := range first {
		d := u.entries.Document(uint32(n))
		first[n], led[d] = !led[d], true
	}
	wanted, seen := maps.Clone(changed), make(map[string]bool)
	for i := range u.list {
		e := &u.list[i]
		key := u.key(e)
		if e.old == dense.Fresh {
			wanted[key] = true
		} else if e.again = key != "" && (changed[key] || first[e.old] == seen[key]); e.again {
			wanted[key] = true
		}
		seen[key] = true
	}
	return u.gatherLinks(ctx, wanted)
}

// key is that of the document of a passage.
func (u *update) key(e *entry) string {
	if e.old == dense.Fresh {
		return u.fresh[e.fresh].Document()
	}
	return u.entries.Key(u.entries.Document(e.old))
}

// A statement is what a document says of another place.
type statement struct {
	from string
	passage.Link
}

// changedLinks are the documents that others lead to otherwise than before:
// between two passages that were kept, what is new there may say something
// else than what is gone. It also counts the text of both.
func (u *update) changedLinks() (map[string]bool, error) {
	changed := make(map[string]bool)
	u.m.TextBytes = u.old.gen.TextBytes
	var gone, fresh []statement
	next := uint32(0) // the passage of the generation before that is not accounted for
	compare := func(until uint32) error {
		for ; next < until; next++ {
			p, err := u.old.table.Passage(next)
			if err != nil {
				return err
			}
			u.m.TextBytes -= int64(len(p.Text))
			gone = state(gone, u.entries.Key(u.entries.Document(next)), p.Links())
		}
		a, b := gone, fresh
		for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
			a, b = a[1:], b[1:]
		}
		for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
			a, b = a[:len(a)-1], b[:len(b)-1]
		}
		for _, s := range slices.Concat(a, b) {
			key, _, _ := strings.Cut(s.To, "#")
			changed[key] = true
		}
		gone, fresh = gone[:0], fresh[:0]
		return nil
	}
	for i := range u.list {
		e := &u.list[i]
		if e.old == dense.Fresh {
			p := &u.fresh[e.fresh]
			u.m.TextBytes += int64(len(p.Text))
			fresh = state(fresh, p.Document(), p.Links())
			continue
		}
		if err := compare(e.old); err != nil {
			return nil, err
		}
		next = e.old + 1
	}
	return changed, compare(uint32(u.entries.Len()))
}

func state(list []statement, from string, links []passage.Link) []statement {
	for _, link := range links {
		list = append(list, statement{from, link})
	}
	return list
}

// gatherLinks gathers the links to the documents that are wanted. On the way
// it makes sure that the lines which were kept are those that the generation
// before has.
func (u *update) gatherLinks(ctx context.Context, wanted map[string]bool) error {
	links := make([][]passage.Link, len(u.list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	chunks := u.chunks()
	for i := range chunks {
		p := &chunks[i]
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			p.sum = container.Checksum(p.data)
			return u.scan(u.list[p.from:p.end], links[p.from:p.end], func(key []byte) bool { return wanted[string(key)] })
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	u.sumUp(chunks)
	for i := range u.list {
		if len(links[i]) > 0 {
			u.links.add(u.key(&u.list[i]), links[i])
		}
	}
	return nil
}

// A chunk is passages that are read together. The data of all chunks of a shard
// are that shard.
type chunk struct {
	shard, from, end int // of the list
	data             []byte
	sum              uint32
}

func (u *update) chunks() []chunk {
	var chunks []chunk
	for i, s := range u.shards {
		at, from := int64(0), 0
		if n := len(chunks); n > 0 {
			from = chunks[n-1].end
		}
		for at < int64(len(s.Data)) {
			p := chunk{shard: i, from: from, end: from}
			for p.end < len(u.list) && u.list[p.end].shard == i && u.list[p.end].offset < at+scanBytes {
				p.end++
			}
			until := int64(len(s.Data))
			if p.end < len(u.list) && u.list[p.end].shard == i {
				until = u.list[p.end].offset
			}
			p.data = s.Data[at:until]
			chunks = append(chunks, p)
			at, from = until, p.end
		}
	}
	return chunks
}

// sumUp spares the files the reading that would be needed to sum them up.
func (u *update) sumUp(chunks []chunk) {
	sums := make([]uint32, len(u.shards))
	for _, p := range chunks {
		sums[p.shard] = container.JoinChecksums(sums[p.shard], p.sum, int64(len(p.data)))
	}
	for i, s := range u.shards {
		u.b.SetChecksum(passage.ShardName(i), int64(len(s.Data)), sums[i])
	}
}

// scan reads the links of a chunk, of lines that were kept only those to
// documents that are wanted.
func (u *update) scan(list []entry, links [][]passage.Link, wanted func(key []byte) bool) error {
	for i, e := range list {
		if e.old == dense.Fresh {
			if line := u.fresh[e.fresh].line; bytes.Contains(line, []byte(`"links"`)) {
				_, links[i] = passage.DecodeLinks(line)
			}
			continue
		}
		data, was := u.shards[e.shard].Data[e.offset:], u.entries.At(e.old)
		line := data[:was.Length]
		if data[was.Length] != '\n' || container.Checksum(line) != was.Sum {
			return fmt.Errorf("%w: passage %d is not what it was", errAnew, e.old)
		}
		if passage.MayLink(line, wanted) {
			_, links[i] = passage.DecodeLinks(line)
		}
	}
	return nil
}

// fill gives all passages to the builders of the lexical index and the table.
func (u *update) fill(lex *lexical.Builder) (*passage.TableWriter, error) {
	var table passage.TableWriter
	table.Grow(len(u.list))
	for i := range u.list {
		e := &u.list[i]
		switch {
		case e.old == dense.Fresh:
			p := &u.fresh[e.fresh]
			lex.Add(table.Add(&p.Passage, e.shard, e.offset, p.line), fields(&p.Passage, &u.links))
		case e.again:
			p, err := passage.Decode(u.shards[e.shard].Data[e.offset:][:u.entries.At(e.old).Length])
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errAnew, err)
			}
			lex.Add(table.Keep(u.entries, e.old, e.shard, e.offset), fields(&p, &u.links))
		default:
			lex.Keep(table.Keep(u.entries, e.old, e.shard, e.offset), e.old)
			u.links.pass(u.key(e))
		}
	}
	lex.Analyze()
	u.m.Passages, u.m.Documents = table.Passages(), table.Documents()
	return &table, nil
}

// taught says whether what the generation before has learnt still holds, and
// notes it.
func (u *update) taught() bool {
	was := &u.old.gen.Manifest
	if was.Training == nil || was.Confidence == nil || (was.Embedder != nil) != (len(u.list) >= embed.MinPassages) ||
		was.Embedder != nil && was.Embedder.Name != embed.BuiltinName ||
		u.opt.Embedder != nil && (u.opt.Stored != nil || was.Provided == nil || was.Provided.Name != u.opt.Embedder.ID()) {
		return false
	}
	learnt := *was.Training
	learnt.Changed += max(len(u.fresh), u.gone)
	if float64(learnt.Changed) > maxChanged*float64(learnt.Passages) {
		return false
	}
	u.m.Training, u.m.Confidence, u.m.Embedder, u.m.Recall = &learnt, was.Confidence, was.Embedder, was.Recall
	if u.opt.Embedder != nil {
		u.m.Provided = was.Provided
	}
	return true
}

// addVectors makes vectors of what is new, and puts them among those that were
// kept.
func (u *update) addVectors(ctx context.Context, content contentFunc) error {
	from := make([]uint32, len(u.list))
	number := make([]int, len(u.fresh)) // of each fresh passage
	for i, e := range u.list {
		from[i] = e.old
		if e.old == dense.Fresh {
			number[e.fresh] = i
		}
	}
	if u.m.Embedder != nil {
		vectors, err := u.old.embedder.Vectors(len(u.fresh), func(i int) ([]string, error) {
			if list, known := content.terms(number[i]); known {
				return list, nil
			}
			return u.old.lexical.Analyzer().Terms(embedded(&u.fresh[i].Passage)), nil
		})
		if err != nil {
			return err
		}
		if err := u.takeEmbedder(ctx); err != nil {
			return err
		}
		if err := dense.Update(ctx, u.b.File(vectorsName), u.old.vectors, from, vectors); err != nil {
			return err
		}
	}
	if u.m.Provided == nil {
		return nil
	}
	vectors, err := embed.Collect(ctx, u.opt.Embedder, len(u.fresh), func(i int) (string, error) {
		return describe(&u.fresh[i].Passage), nil
	}, u.opt.Report)
	if err != nil {
		return err
	}
	return dense.Update(ctx, u.b.File(providedName), u.old.provided, from, vectors)
}

// takeEmbedder gives the embedder of the generation before to this one.
func (u *update) takeEmbedder(ctx context.Context) error {
	from, to := u.old.gen.File(embedderName), u.b.File(embedderName)
	if from.Link(to) == nil {
		return nil
	}
	in, err := from.Open()
	if err != nil {
		return err
	}
	return copyFile(ctx, in, to)
}

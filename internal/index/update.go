package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/mmap"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// maxChanged is the share of the passages that may change before the embedder and
	// the confidence threshold are retrained.
	maxChanged = 0.1
	// chunkBytes is the approximate size of a chunk.
	chunkBytes = 1 << 20
)

// An update derives a generation from the previous one and the new lines. Its table and
// lexical index are byte for byte identical to those of a full build. It reuses the
// embedder, the IVF lists, the measured recall and the confidence threshold of the
// previous generation. Search results therefore differ from those after a full build
// only because the embedder was trained on slightly different passages: up to a tenth
// of them.
type update struct {
	b   *generation.Build
	m   *generation.Manifest
	opt BuildOptions

	old     Database // the previous generation
	entries *passage.Entries
	shards  []*mmap.Mapping // the passages files of the new generation, which no other process uses yet
	list    []entry         // all passages of the new generation, in order
	fresh   []freshPassage
	removed int // number of removed passages
	links   linkGraph
}

// An entry is a passage of the new generation.
type entry struct {
	shard  int
	offset int64
	old    uint32 // number in the previous generation, or dense.Fresh
	fresh  int    // index in update.fresh if old is dense.Fresh
	// reindex reports that the line is unchanged, but its inbound links have changed.
	reindex bool
}

// A freshPassage is a passage that the previous generation does not contain.
type freshPassage struct {
	passage.Passage
	line []byte
}

// errFullBuild is wrapped by errors that make an update fall back to a full build.
var errFullBuild = errors.New("full build required")

// tryUpdate derives the generation of b from the previous one and reports whether it
// succeeded. If the previous generation is unusable (other version, damage, too many
// changes), it returns false and no error.
func tryUpdate(ctx context.Context, b *generation.Build, m *generation.Manifest, before generation.Generation, reused []generation.Reused, opt BuildOptions) (done bool, err error) {
	draft := *m
	u := &update{b: b, m: &draft, opt: opt}
	err = u.run(ctx, before, reused)
	if err = errors.Join(err, u.close()); err == nil {
		*m = draft
		return true, nil
	}
	var corrupt *container.CorruptError
	var version *container.VersionError
	if ctx.Err() != nil || !errors.As(err, &corrupt) && !errors.As(err, &version) &&
		!errors.Is(err, errFullBuild) && !errors.Is(err, dense.ErrIncompatible) && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for _, name := range derivedFiles {
		if err := b.File(name).Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

func (u *update) run(ctx context.Context, before generation.Generation, reused []generation.Reused) error {
	if before.Tool != u.opt.Tool {
		return fmt.Errorf("%w: %s was built by version %q", errFullBuild, before.Dir, before.Tool)
	}
	if err := u.old.open(before); err != nil {
		return err
	}
	u.opt.Report.Report("comparing passages", 0, 0)
	analyzer := lexical.AnalyzerFor(u.opt.Language, before.Language)
	lex := lexical.NewBuilder(lexical.Options{Language: analyzer, Content: math.MaxInt, Names: u.opt.names})
	g, all := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := lex.Reuse(u.old.lexical); err != nil {
			return fmt.Errorf("%w: %w", errFullBuild, err)
		}
		return nil
	})
	g.Go(func() error { return u.compare(all, reused) })
	if err := g.Wait(); err != nil {
		return err
	}
	u.m.Skipped = generation.Summary(u.m.Skipped)
	if u.m.Language = u.language(); lexical.AnalyzerFor(u.opt.Language, u.m.Language) != analyzer {
		return fmt.Errorf("%w: the documentation is in %q, no longer in %q", errFullBuild, u.m.Language, before.Language)
	}
	table, err := u.fill(lex)
	if err != nil {
		return err
	}
	reuse := u.reuseTraining()
	u.opt.Report.Report("writing the lexical index", 0, 0)
	g, all = errgroup.WithContext(ctx)
	g.Go(func() error { return lex.Write(all, u.b.File(lexicalName)) })
	g.Go(func() error { return table.Write(u.b.File(passage.TableName)) })
	if reuse {
		g.Go(func() error { return u.addVectors(all, lex.Content) })
	}
	if err := g.Wait(); err != nil || reuse {
		return err
	}
	return train(ctx, u.b, u.m, u.opt, lex.Content)
}

// compare finds the new passages and the links of new and reused passages.
func (u *update) compare(ctx context.Context, reused []generation.Reused) (err error) {
	if u.entries, err = u.old.table.Entries(); err != nil {
		return err
	}
	if have, want := u.old.lexical.Passages(), u.entries.Len(); have != want {
		return fmt.Errorf("%w: the lexical index has %d passages, the table %d", errFullBuild, have, want)
	}
	if err := u.openShards(); err != nil {
		return err
	}
	if err := u.listPassages(reused); err != nil {
		return err
	}
	return u.readLinks(ctx)
}

// language returns the language of the new generation.
func (u *update) language() string {
	var sample languageSample
	for i := range u.list {
		if e := &u.list[i]; e.old == dense.Fresh {
			sample.add(u.fresh[e.fresh].line)
		} else {
			sample.add(u.shards[e.shard].Data[e.offset:][:u.entries.At(e.old).Length])
		}
	}
	return sample.language()
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
		u.shards = append(u.shards, m)
	}
	return nil
}

// A passageRun is a range of consecutive passages of the previous generation, with the
// new position of their lines.
type passageRun struct {
	first, end uint32
	now        generation.Run
	length     int64
}

// listPassages lists the reused and the new passages, in order.
func (u *update) listPassages(reused []generation.Reused) error {
	runs := longestAscending(u.runs(reused))
	u.list = make([]entry, 0, u.entries.Len()+u.entries.Len()/16)
	for i, s := range u.shards {
		at := int64(0)
		for len(runs) > 0 && runs[0].now.Shard == i {
			r := runs[0]
			runs = runs[1:]
			if r.now.Offset < at || r.now.Offset+r.length > int64(len(s.Data)) {
				return fmt.Errorf("%w: reused lines overlap", errFullBuild)
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
		return fmt.Errorf("%w: reused lines are in passages file %d, which does not exist", errFullBuild, runs[0].now.Shard)
	}
	if len(u.list) == 0 {
		return ErrNoPassages
	}
	u.removed = u.entries.Len() - (len(u.list) - len(u.fresh))
	return nil
}

// runs converts reused lines to ranges of passages. A range of lines that includes
// invalid passages is dropped and read again.
func (u *update) runs(reused []generation.Reused) []passageRun {
	at := func(n int) generation.Run {
		e := u.entries.At(uint32(n))
		return generation.Run{Shard: e.Shard, Offset: e.Offset}
	}
	compare := func(a, b generation.Run) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Offset, b.Offset))
	}
	var runs []passageRun
	for _, k := range reused {
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
			runs = append(runs, passageRun{uint32(low), uint32(n), k.Now, k.Length})
		}
	}
	return runs
}

// longestAscending returns the subsequence of runs in ascending order with the greatest
// total length. Other moved runs are read as new passages.
func longestAscending(runs []passageRun) []passageRun {
	ends := make([]uint32, len(runs))
	for i, r := range runs {
		ends[i] = r.end
	}
	slices.Sort(ends)
	// A chain is an ascending subsequence, identified by its last run. Longest is a
	// Fenwick tree that returns the longest chain that ends before a position.
	chains := make([]struct {
		length int64
		before int
	}, len(runs))
	longest := make([]int, len(ends)+1) // chain number, starting at 1
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
	var chosen []passageRun
	for ; best > 0; best = chains[best-1].before {
		chosen = append(chosen, runs[best-1])
	}
	slices.Reverse(chosen)
	return chosen
}

// readFresh reads the lines between two offsets of a passages file as new passages.
func (u *update) readFresh(shard int, from, to int64) error {
	if from == to {
		return nil
	}
	data := u.shards[shard].Data
	if to < int64(len(data)) && data[to-1] != '\n' {
		return fmt.Errorf("%w: reused lines do not begin at a line start", errFullBuild)
	}
	skipped, err := leann.Scan(bytes.NewReader(data[from:to]), func(offset int64, line []byte) error {
		offset += from
		p, err := passage.Decode(line)
		if err != nil {
			return fmt.Errorf("%w: %w", errFullBuild, err)
		}
		u.list = append(u.list, entry{shard: shard, offset: offset, old: dense.Fresh, fresh: len(u.fresh)})
		u.fresh = append(u.fresh, freshPassage{p, data[offset : offset+int64(len(line))]})
		return nil
	})
	if err == nil && len(skipped) > 0 {
		err = fmt.Errorf("%w: %s is not a passage", errFullBuild, skipped[0].Name) // a full build reports its line number in the file
	}
	return err
}

// fill adds all passages to the builders of the lexical index and the table.
func (u *update) fill(lex *lexical.Builder) (*passage.TableWriter, error) {
	var table passage.TableWriter
	table.Grow(len(u.list))
	for i := range u.list {
		e := &u.list[i]
		switch {
		case e.old == dense.Fresh:
			p := &u.fresh[e.fresh]
			lex.Add(table.Add(&p.Passage, e.shard, e.offset, p.line), fields(&p.Passage, &u.links))
		case e.reindex:
			p, err := passage.Decode(u.shards[e.shard].Data[e.offset:][:u.entries.At(e.old).Length])
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errFullBuild, err)
			}
			lex.Add(table.Keep(u.entries, e.old, e.shard, e.offset), fields(&p, &u.links))
		default:
			lex.Keep(table.Keep(u.entries, e.old, e.shard, e.offset), e.old)
			u.links.markTextUsed(u.key(e))
		}
	}
	lex.Analyze()
	lex.SetMembers(table.Members())
	u.m.Passages, u.m.Documents = table.Passages(), table.Documents()
	return &table, nil
}

// reuseTraining reports whether the embedder and the confidence threshold of the
// previous generation remain valid. If so, it copies them to the manifest.
func (u *update) reuseTraining() bool {
	was := &u.old.gen.Manifest
	if was.Training == nil || was.Confidence == nil || (was.Embedder != nil) != (len(u.list) >= embed.MinPassages) ||
		was.Embedder != nil && was.Embedder.Name != embed.BuiltinName ||
		u.opt.Embedder != nil && (u.opt.Stored != nil || was.Provided == nil || was.Provided.Name != u.opt.Embedder.ID()) {
		return false
	}
	state := *was.Training
	state.Changed += max(len(u.fresh), u.removed)
	if float64(state.Changed) > maxChanged*float64(state.Passages) {
		return false
	}
	u.m.Training, u.m.Confidence, u.m.Embedder, u.m.Recall = &state, was.Confidence, was.Embedder, was.Recall
	if u.opt.Embedder != nil {
		u.m.Provided = was.Provided
	}
	return true
}

// addVectors embeds the new passages and merges their vectors with the reused ones.
func (u *update) addVectors(ctx context.Context, content termsFunc) error {
	from := make([]uint32, len(u.list))
	number := make([]int, len(u.fresh)) // passage number of each fresh passage
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
			return u.old.lexical.Analyzer().Terms(trainingText(&u.fresh[i].Passage)), nil
		})
		if err != nil {
			return err
		}
		if err := linkOrCopy(ctx, u.old.gen.File(embedderName), u.b.File(embedderName)); err != nil {
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
		return embedderInput(&u.fresh[i].Passage), nil
	}, u.opt.Report)
	if err != nil {
		return err
	}
	return dense.Update(ctx, u.b.File(providedName), u.old.provided, from, vectors)
}

// linkOrCopy links or copies a file of the previous generation, which never changes.
func linkOrCopy(ctx context.Context, from, to confined.Path) error {
	if from.Link(to) == nil {
		return nil
	}
	in, err := from.Open()
	if err != nil {
		return err
	}
	return copyFile(ctx, in, to)
}

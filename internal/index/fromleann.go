package index

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/mmap"
	"github.com/docsearch/docsearch/internal/progress"
)

// FromLEANN is the source that a LEANN index or a bare passages file is. The
// generation gets a copy of the passages: LEANN writes over its own file when
// it builds anew, and a link would let the index lose its passages with it.
func FromLEANN(found *leann.Index) Source { return leannSource{found} }

type leannSource struct{ *leann.Index }

func (s leannSource) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error) {
	src := generation.Source{Kind: s.Kind, Location: s.Location}
	if len(s.Shards) > passage.MaxShards {
		return generation.Prepared{}, fmt.Errorf("%s has %d passages files, the limit is %d", s.Location, len(s.Shards), passage.MaxShards)
	}
	rights := generation.AllRights
	for _, shard := range s.Shards {
		st, err := os.Stat(shard)
		if err != nil {
			return generation.Prepared{}, err
		}
		rights &= generation.Rights(st)
		name := shard
		if rel, err := filepath.Rel(s.Dir, shard); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		src.Files = append(src.Files, generation.SourceFile{Path: name, Size: st.Size(), ModTime: st.ModTime()})
	}
	if before != nil && before.Source.Same(src) {
		return generation.Prepared{Source: before.Source, Skipped: before.Skipped, Rights: rights, Unchanged: true}, nil
	}
	for i, shard := range s.Shards {
		report.Report("copying passages", int64(i), int64(len(s.Shards)))
		in, err := os.Open(shard)
		if err != nil {
			return generation.Prepared{}, err
		}
		if err := copyFile(ctx, in, dir.Join(passage.ShardName(i))); err != nil {
			return generation.Prepared{}, err
		}
	}
	prepared := generation.Prepared{Source: src, Rights: rights}
	if before != nil {
		report.Report("comparing passages", 0, 0)
		prepared.Reused = sameLines(ctx, dir, len(s.Shards), *before)
	}
	return prepared, nil
}

// sameLines finds those lines of the passages files in dir that are passages of
// the generation before, too. What keeps it from that is no error: there are
// none then.
func sameLines(ctx context.Context, dir confined.Path, shards int, before generation.Generation) []generation.Reused {
	c := comparison{bySum: make(map[uint32]uint32)}
	defer c.close()
	if err := c.open(before); err != nil {
		return nil
	}
	for i := range shards {
		m, err := mmap.OpenIn(dir.Join(passage.ShardName(i)))
		if err != nil {
			return nil
		}
		c.find(ctx, i, m.Data)
		m.Close()
	}
	return c.kept
}

// A comparison looks for lines among those of a generation.
type comparison struct {
	table   *passage.Table
	entries *passage.Entries
	files   []*mmap.Mapping
	bySum   map[uint32]uint32 // passage by its checksum, one of those that share it
	next    uint32            // the passage after the last that was found
	kept    []generation.Reused
}

func (c *comparison) open(g generation.Generation) (err error) {
	if c.table, err = passage.OpenTable(g); err != nil {
		return err
	}
	if c.entries, err = c.table.Entries(); err != nil {
		return err
	}
	for n := range uint32(c.entries.Len()) {
		e := c.entries.At(n)
		for e.Shard >= len(c.files) {
			m, err := mmap.OpenIn(g.File(passage.ShardName(len(c.files))))
			if err != nil {
				return err
			}
			c.files = append(c.files, m)
		}
		c.bySum[e.Sum] = n
	}
	return nil
}

func (c *comparison) close() {
	if c.table != nil {
		c.table.Close()
	}
	for _, m := range c.files {
		m.Close()
	}
}

// find looks for the lines of a passages file.
func (c *comparison) find(ctx context.Context, shard int, data []byte) {
	for at := 0; ctx.Err() == nil; {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return // what does not end was not written to its end
		}
		if n, found := c.passage(data[at : at+end]); found {
			c.keep(n, generation.Run{Shard: shard, Offset: int64(at)})
			c.next = n + 1
		}
		at += end + 1
	}
}

// passage is the number of a passage with that line: the one that is next in
// turn, or another.
func (c *comparison) passage(line []byte) (n uint32, found bool) {
	if c.is(c.next, line) {
		return c.next, true
	}
	n, found = c.bySum[container.Checksum(line)]
	return n, found && c.is(n, line)
}

// is reports whether passage n has that line.
func (c *comparison) is(n uint32, line []byte) bool {
	if n >= uint32(c.entries.Len()) {
		return false
	}
	e := c.entries.At(n)
	data := c.files[e.Shard].Data
	return e.Length == len(line) && e.Offset+int64(e.Length) < int64(len(data)) &&
		data[e.Offset+int64(e.Length)] == '\n' && bytes.Equal(data[e.Offset:e.Offset+int64(e.Length)], line)
}

// keep notes that a passage's line stands there now.
func (c *comparison) keep(n uint32, now generation.Run) {
	e := c.entries.At(n)
	before, length := generation.Run{Shard: e.Shard, Offset: e.Offset}, int64(e.Length)+1
	if i := len(c.kept) - 1; i >= 0 {
		last := &c.kept[i]
		if after(last.Before, last.Length) == before && after(last.Now, last.Length) == now {
			last.Length += length
			return
		}
	}
	c.kept = append(c.kept, generation.Reused{Before: before, Now: now, Length: length})
}

// after is where the lines begin that stand after a run of that length.
func after(r generation.Run, length int64) generation.Run {
	r.Offset += length
	return r
}

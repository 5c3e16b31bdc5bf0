package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/mmap"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
)

// FromLEANN returns the source of a LEANN index or a passages file without an index.
// The generation gets a copy of the passages. A link would not be safe, because LEANN
// rebuilds its index by overwriting the file, and removes passages only from the .idx file.
func FromLEANN(found *leann.Index) Source { return leannSource{found} }

type leannSource struct{ *leann.Index }

func (s leannSource) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation,
	report progress.Func) (generation.Prepared, error) {
	src := generation.Source{Kind: s.Kind, Location: s.Location}
	if len(s.Shards) > passage.MaxShards {
		return generation.Prepared{},
			fmt.Errorf("%s has %d passages files, the limit is %d", s.Location, len(s.Shards), passage.MaxShards)
	}
	perm := generation.AllPerm
	for _, file := range slices.Concat(s.Shards, s.Offsets) {
		if file == "" {
			continue
		}
		st, err := os.Stat(file)
		if err != nil {
			return generation.Prepared{}, err
		}
		perm &= generation.Perm(st)
		name := file
		if rel, err := filepath.Rel(s.Dir, file); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		src.Files = append(src.Files, generation.SourceFile{Path: name, Size: st.Size(), ModTime: st.ModTime()})
	}
	if before != nil && before.Source.Same(src) {
		return generation.Prepared{Source: before.Source, Skipped: before.Skipped, Perm: perm, Unchanged: true}, nil
	}
	prepared := generation.Prepared{Source: src, Perm: perm}
	for i, shard := range s.Shards {
		report.Report("copying passages", int64(i), int64(len(s.Shards)))
		removed, err := s.copyShard(ctx, i, dir.Join(passage.ShardName(i)))
		if err != nil {
			return generation.Prepared{}, err
		}
		if removed > 0 {
			prepared.Skipped = append(prepared.Skipped, generation.Skipped{
				Name: filepath.Base(shard),
				Reason: fmt.Sprintf("passages removed by LEANN, which %s does not list: %d",
					filepath.Base(s.Offsets[i]), removed),
			})
		}
	}
	if before != nil {
		report.Report("comparing passages", 0, 0)
		prepared.Reused = reusedLines(ctx, dir, len(s.Shards), *before)
	}
	return prepared, nil
}

// copyShard copies a shard to a new file, without the passages that LEANN has removed,
// and returns the number of these.
func (s leannSource) copyShard(ctx context.Context, shard int, to confined.Path) (removed int, err error) {
	out, err := to.Create(0o644)
	if err != nil {
		return 0, err
	}
	removed, err = s.CopyShard(ctx, shard, out)
	return removed, errors.Join(err, out.Close())
}

// reusedLines finds the lines of the passages files in dir that are also passages of
// the generation before. On errors it returns none, which makes the update a full
// build.
func reusedLines(ctx context.Context, dir confined.Path, shards int, before generation.Generation) []generation.Reused {
	c := lineMatcher{byChecksum: make(map[uint32]uint32)}
	defer c.close()
	if err := c.open(before); err != nil {
		return nil
	}
	for i := range shards {
		m, err := mmap.OpenIn(dir.Join(passage.ShardName(i)))
		if err != nil {
			return nil
		}
		c.matchFile(ctx, i, m.Data)
		m.Close()
	}
	return c.reused
}

// A lineMatcher looks up lines among the passages of a generation.
type lineMatcher struct {
	table      *passage.Table
	entries    *passage.Entries
	files      []*mmap.Mapping
	byChecksum map[uint32]uint32 // a passage with each checksum
	next       uint32            // passage after the last match
	reused     []generation.Reused
}

func (c *lineMatcher) open(g generation.Generation) (err error) {
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
		c.byChecksum[e.Checksum] = n
	}
	return nil
}

func (c *lineMatcher) close() {
	if c.table != nil {
		c.table.Close()
	}
	for _, m := range c.files {
		m.Close()
	}
}

// matchFile looks up the lines of a passages file.
func (c *lineMatcher) matchFile(ctx context.Context, shard int, data []byte) {
	for at := 0; ctx.Err() == nil; {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return // an incomplete last line
		}
		if n, found := c.lookup(data[at : at+end]); found {
			c.addReused(n, generation.Run{Shard: shard, Offset: int64(at)})
			c.next = n + 1
		}
		at += end + 1
	}
}

// lookup returns the number of a passage with this line, preferably the one after the
// last match.
func (c *lineMatcher) lookup(line []byte) (n uint32, found bool) {
	if c.hasLine(c.next, line) {
		return c.next, true
	}
	n, found = c.byChecksum[container.Checksum(line)]
	return n, found && c.hasLine(n, line)
}

// hasLine reports whether passage n has this line.
func (c *lineMatcher) hasLine(n uint32, line []byte) bool {
	if n >= uint32(c.entries.Len()) {
		return false
	}
	e := c.entries.At(n)
	data := c.files[e.Shard].Data
	return e.Length == len(line) && e.Offset+int64(e.Length) < int64(len(data)) &&
		data[e.Offset+int64(e.Length)] == '\n' && bytes.Equal(data[e.Offset:e.Offset+int64(e.Length)], line)
}

// addReused records the new position of a passage's line.
func (c *lineMatcher) addReused(n uint32, now generation.Run) {
	e := c.entries.At(n)
	before, length := generation.Run{Shard: e.Shard, Offset: e.Offset}, int64(e.Length)+1
	if i := len(c.reused) - 1; i >= 0 {
		last := &c.reused[i]
		if advance(last.Before, last.Length) == before && advance(last.Now, last.Length) == now {
			last.Length += length
			return
		}
	}
	c.reused = append(c.reused, generation.Reused{Before: before, Now: now, Length: length})
}

// advance returns the position length bytes after r.
func advance(r generation.Run, length int64) generation.Run {
	r.Offset += length
	return r
}

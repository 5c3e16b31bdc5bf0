package index

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// readLinks marks the reused passages whose inbound links have changed, and collects
// the links to these and to the new passages.
func (u *update) readLinks(ctx context.Context) error {
	changed, err := u.changedLinks()
	if err != nil {
		return err
	}
	// The anchor texts of links to a document are indexed with its first passage,
	// which may have changed.
	seenDocument := make([]bool, u.old.table.Documents())
	first := make([]bool, u.entries.Len())
	for n := range first {
		d := u.entries.Document(uint32(n))
		first[n], seenDocument[d] = !seenDocument[d], true
	}
	wanted, seen := maps.Clone(changed), make(map[string]bool)
	for i := range u.list {
		e := &u.list[i]
		key := u.key(e)
		if e.old == dense.Fresh {
			wanted[key] = true
		} else if e.reindex = key != "" && (changed[key] || first[e.old] == seen[key]); e.reindex {
			wanted[key] = true
		}
		seen[key] = true
	}
	return u.collectLinks(ctx, wanted)
}

// key returns the key of a passage's document.
func (u *update) key(e *entry) string {
	if e.old == dense.Fresh {
		return u.fresh[e.fresh].Document()
	}
	return u.entries.Key(u.entries.Document(e.old))
}

// An outLink is a link from a document.
type outLink struct {
	from string
	passage.Link
}

// changedLinks returns the keys of the documents whose inbound links have changed.
// Between each two reused passages, it compares the links of the new passages with
// those of the removed ones. It also updates the total text size.
func (u *update) changedLinks() (map[string]bool, error) {
	changed := make(map[string]bool)
	u.m.TextBytes = u.old.gen.TextBytes
	var removed, fresh []outLink
	next := uint32(0) // first passage of the previous generation not yet compared
	compare := func(until uint32) error {
		for ; next < until; next++ {
			p, err := u.old.table.Passage(next)
			if err != nil {
				return err
			}
			u.m.TextBytes -= int64(len(p.Text))
			removed = appendOutLinks(removed, u.entries.Key(u.entries.Document(next)), p.Links())
		}
		a, b := removed, fresh
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
		removed, fresh = removed[:0], fresh[:0]
		return nil
	}
	for i := range u.list {
		e := &u.list[i]
		if e.old == dense.Fresh {
			p := &u.fresh[e.fresh]
			u.m.TextBytes += int64(len(p.Text))
			fresh = appendOutLinks(fresh, p.Document(), p.Links())
			continue
		}
		if err := compare(e.old); err != nil {
			return nil, err
		}
		next = e.old + 1
	}
	return changed, compare(uint32(u.entries.Len()))
}

func appendOutLinks(list []outLink, from string, links []passage.Link) []outLink {
	for _, link := range links {
		list = append(list, outLink{from, link})
	}
	return list
}

// collectLinks collects the links to the wanted documents. It also verifies that the
// reused lines match the previous generation.
func (u *update) collectLinks(ctx context.Context, wanted map[string]bool) error {
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
			return u.scanLinks(u.list[p.from:p.end], links[p.from:p.end],
				func(key []byte) bool { return wanted[string(key)] })
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	u.setChecksums(chunks)
	for i := range u.list {
		if len(links[i]) > 0 {
			u.links.add(u.key(&u.list[i]), links[i])
		}
	}
	return nil
}

// A chunk is a range of passages that are read together. The chunks of a shard cover it
// completely.
type chunk struct {
	shard, from, end int // range of update.list
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
			for p.end < len(u.list) && u.list[p.end].shard == i && u.list[p.end].offset < at+chunkBytes {
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

// setChecksums computes the checksums of the shards from those of the chunks, so that
// Commit need not read the files again.
func (u *update) setChecksums(chunks []chunk) {
	sums := make([]uint32, len(u.shards))
	for _, p := range chunks {
		sums[p.shard] = container.JoinChecksums(sums[p.shard], p.sum, int64(len(p.data)))
	}
	for i, s := range u.shards {
		u.b.SetChecksum(passage.ShardName(i), int64(len(s.Data)), sums[i])
	}
}

// scanLinks reads the links of a chunk. For reused lines, it reads only lines with
// links to wanted documents.
func (u *update) scanLinks(list []entry, links [][]passage.Link, wanted func(key []byte) bool) error {
	for i, e := range list {
		if e.old == dense.Fresh {
			if line := u.fresh[e.fresh].line; bytes.Contains(line, []byte(`"links"`)) {
				_, links[i] = passage.DecodeLinks(line)
			}
			continue
		}
		data, was := u.shards[e.shard].Data[e.offset:], u.entries.At(e.old)
		line := data[:was.Length]
		if data[was.Length] != '\n' || container.Checksum(line) != was.Checksum {
			return fmt.Errorf("%w: passage %d has changed", errFullBuild, e.old)
		}
		if passage.MayLink(line, wanted) {
			_, links[i] = passage.DecodeLinks(line)
		}
	}
	return nil
}

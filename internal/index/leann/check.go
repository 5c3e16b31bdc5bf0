package leann

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
)

// Check compares the index's .idx files with its passages and returns a note for
// each problem that affects LEANN.
func (x *Index) Check(ctx context.Context) ([]string, error) {
	var notes []string
	for i, shard := range x.Shards {
		if x.Offsets[i] == "" {
			if x.Kind == KindIndex {
				notes = append(notes,
					fmt.Sprintf("%s has no .idx file, so LEANN cannot open the index", filepath.Base(shard)))
			}
			continue
		}
		name := filepath.Base(x.Offsets[i])
		offsets, err := readOffsets(x.Offsets[i])
		if err != nil {
			notes = append(notes, fmt.Sprintf("cannot read %s: %v", name, err))
			continue
		}
		c, err := compareOffsets(ctx, shard, offsets)
		if err != nil {
			return notes, err
		}
		switch {
		case c.wrong > 0 || c.omitted > 0 && offsets.ByID == nil:
			notes = append(notes, fmt.Sprintf("%s lists %d of %d passages, %d of them at a wrong position", name,
				c.listed, c.passages, c.wrong))
		case c.omitted > 0:
			notes = append(notes, fmt.Sprintf("%s omits %d of %d passages, so LEANN and docsearch skip them", name,
				c.omitted, c.passages))
		}
	}
	return notes, nil
}

// An offsetsComparison is the result of comparing an .idx file with its shard.
type offsetsComparison struct {
	passages int            // in the shard
	listed   int            // in the .idx file
	wrong    int            // listed at an offset without this passage
	omitted  int            // passages whose IDs are not listed
	unlisted map[int64]bool // offsets that are not listed: of omitted passages, and of those that a later one replaces
}

// compareOffsets compares a shard with its .idx file. If passages share an ID, LEANN
// keeps the last.
func compareOffsets(ctx context.Context, shard string, o Offsets) (c offsetsComparison, err error) {
	c = offsetsComparison{listed: max(len(o.ByID), len(o.InOrder)), unlisted: map[int64]bool{}}
	f, err := os.Open(shard)
	if err != nil {
		return c, err
	}
	defer f.Close()
	matched := 0
	_, err = Scan(f, func(offset int64, line []byte) error {
		id, err := passage.DecodeID(line)
		if err != nil || o.ByID == nil {
			p, err := passage.Decode(line)
			if err != nil {
				return ctx.Err()
			}
			if id = p.ID; id == "" {
				id = strconv.Itoa(c.passages)
			}
		}
		at, listed := o.ByID[id]
		if o.ByID == nil {
			if listed = c.passages < len(o.InOrder); listed {
				at = o.InOrder[c.passages]
			}
		}
		switch {
		case listed && at == offset:
			matched++
		case !listed:
			c.omitted++
			fallthrough
		default:
			c.unlisted[offset] = true
		}
		c.passages++
		return ctx.Err()
	})
	c.wrong = c.listed - matched
	return c, err
}

// unlisted returns the offsets of the passages of a shard that its .idx file does not
// list. It returns none if that file is missing or does not match the shard, or if it
// has no IDs: only LEANN's own program removes passages.
func (x *Index) unlisted(ctx context.Context, shard int) (map[int64]bool, error) {
	if x.Offsets[shard] == "" {
		return nil, nil
	}
	offsets, err := readOffsets(x.Offsets[shard])
	if err != nil || offsets.ByID == nil {
		return nil, nil // Check reports it
	}
	c, err := compareOffsets(ctx, x.Shards[shard], offsets)
	if err != nil || c.wrong > 0 {
		return nil, err
	}
	return c.unlisted, nil
}

// CopyShard copies a shard to w, without the passages that its .idx file does not list,
// and returns the number of these.
func (x *Index) CopyShard(ctx context.Context, shard int, w io.Writer) (skipped int, err error) {
	unlisted, err := x.unlisted(ctx, shard)
	if err != nil {
		return 0, err
	}
	f, err := os.Open(x.Shards[shard])
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if len(unlisted) == 0 {
		_, err = io.Copy(w, progress.Interruptible(ctx, f))
		return 0, err
	}
	r := bufio.NewReaderSize(progress.Interruptible(ctx, f), 256<<10)
	offset := int64(0)
	if mark, err := r.Peek(len(byteOrderMark)); err == nil && bytes.Equal(mark, byteOrderMark) {
		offset = int64(len(mark))
		r.Discard(len(mark))
	}
	for _, line := range slices.Sorted(maps.Keys(unlisted)) {
		if _, err := io.CopyN(w, r, line-offset); err != nil {
			return 0, err
		}
		for offset = line; ; {
			part, err := r.ReadSlice('\n')
			offset += int64(len(part))
			if err == nil || err == io.EOF {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return 0, err
			}
		}
	}
	_, err = io.Copy(w, r)
	return len(unlisted), err
}

package leann

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Check compares the index's .idx files with its passages and returns a note for
// each problem that affects LEANN. docsearch's searches do not use these files.
func (x *Index) Check(ctx context.Context) ([]string, error) {
	var notes []string
	for i, shard := range x.Shards {
		if x.Offsets[i] == "" {
			if x.Kind == KindIndex {
				notes = append(notes, fmt.Sprintf("%s has no .idx file, so LEANN cannot open the index", filepath.Base(shard)))
			}
			continue
		}
		name := filepath.Base(x.Offsets[i])
		offsets, err := readOffsets(x.Offsets[i])
		if err != nil {
			notes = append(notes, fmt.Sprintf("cannot read %s: %v", name, err))
			continue
		}
		wrong, passages, err := compareOffsets(ctx, shard, offsets)
		if err != nil {
			return notes, err
		}
		if listed := max(len(offsets.ByID), len(offsets.InOrder)); wrong > 0 || listed > passages {
			notes = append(notes, fmt.Sprintf("%s lists %d of %d passages, %d of them at a wrong position", name, listed, passages, wrong))
		}
	}
	return notes, nil
}

// compareOffsets counts the passages of a shard whose offset is missing or wrong.
// If passages share an id, LEANN keeps the last, so the offset of any is correct.
func compareOffsets(ctx context.Context, shard string, o Offsets) (wrong, passages int, err error) {
	f, err := os.Open(shard)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	const found = -1 // replaces a correct offset
	missing := map[string]bool{}
	_, err = Scan(f, func(offset int64, line []byte) error {
		p, err := passage.Decode(line)
		if err != nil {
			return ctx.Err()
		}
		if o.ByID == nil {
			if passages >= len(o.InOrder) || o.InOrder[passages] != offset {
				wrong++
			}
			passages++
			return ctx.Err()
		}
		if p.ID == "" {
			p.ID = strconv.Itoa(passages)
		}
		switch at, ok := o.ByID[p.ID]; {
		case ok && at == offset:
			delete(missing, p.ID)
			o.ByID[p.ID] = found
		case !ok || at != found:
			missing[p.ID] = true
		}
		passages++
		return ctx.Err()
	})
	return wrong + len(missing), passages, err
}

package library

import (
	"context"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/usererror"
)

// Watch calls update for databases when the files of their source folders change, until ctx
// is done. Copies of the builder find the folders. It polls size and modification time of
// every file, which works on every file system and needs no handle per folder.
func Watch(ctx context.Context, b Builder, chosen []Ref, update func(Ref)) error {
	var all []*watched
	for _, d := range chosen {
		info, err := index.Inspect(d.Path)
		if err != nil {
			return WithRepair(d.Path, err)
		}
		builder := b
		p, err := builder.PlanUpdate(d, info, false)
		if err != nil {
			return err
		}
		folder, ok := p.Source.(*ingest.Folder)
		if !ok {
			return usererror.Invalidf("cannot use --watch: %s was built from a source of type %s, not from a folder",
				d.Name, info.Source.Kind)
		}
		all = append(all, &watched{Ref: d, folder: folder})
	}
	// Polling may take at most a twentieth of the time.
	const minInterval, share = time.Second, 20
	for {
		start := time.Now()
		for _, w := range all {
			if w.hasChanged(ctx) {
				update(w.Ref)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(minInterval, share*time.Since(start))):
		}
	}
}

// A watched database is updated when its folder changes.
type watched struct {
	Ref
	folder *ingest.Folder
	debouncer
}

// hasChanged reports whether the folder has changed since the last read. One that cannot be
// read may be about to be replaced.
func (w *watched) hasChanged(ctx context.Context) bool {
	stamp, err := w.folder.Stamp(ctx)
	return err == nil && w.ready(stamp, time.Now())
}

// A debouncer decides when to read a changing folder.
type debouncer struct {
	lastSeen     string    // stamp at the last poll
	lastRead     string    // stamp at the last read
	changedSince time.Time // first poll that saw a change since the last read; zero: none
}

// maxDelay limits how long continuous changes postpone a read.
const maxDelay = 5 * time.Second

// ready reports whether to read the folder with that stamp now. The stamp must
// differ from the last read, and either equal that of the last poll, which
// means that writing has stopped, or have differed for maxDelay.
func (c *debouncer) ready(stamp string, now time.Time) bool {
	quiet := stamp == c.lastSeen || c.lastRead == ""
	c.lastSeen = stamp
	if stamp == c.lastRead {
		c.changedSince = time.Time{}
		return false
	}
	if c.changedSince.IsZero() {
		c.changedSince = now
	}
	if !quiet && now.Sub(c.changedSince) < maxDelay {
		return false
	}
	c.lastRead, c.changedSince = stamp, time.Time{}
	return true
}

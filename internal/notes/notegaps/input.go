package notegaps

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/notes/notebook"
	"github.com/docsearch/docsearch/internal/progress"
)

// maxCalls limits the calls that are compared with notes.
const maxCalls = 2000

// NewInput returns the input for the notes of a notebook, or for one of them.
func NewInput(c *config.Config, b *notebook.Notebook, calls []replay.Call, note string) *Input {
	in := &Input{Folder: b.Folder, Floor: c.Inject.Floor, Calls: calls, Note: note}
	for _, db := range c.Databases {
		switch {
		case db.Name == b.Name:
			in.Database = db
		case len(db.Inject) > 0:
			in.Others = append(in.Others, db)
		}
	}
	if info, err := index.Inspect(in.Database.Path); err == nil {
		in.Language = lexical.AnalyzerFor(library.OptionsOf(&info.Manifest, info.Dir).Language, info.Language)
	}
	return in
}

// Sessions returns the number of sessions with calls.
func (in *Input) Sessions() int {
	sessions := map[string]bool{}
	for i := range in.Calls {
		sessions[in.Calls[i].Session] = true
	}
	return len(sessions)
}

// PastCalls returns the calls in transcripts since a time that can get notes, at most
// maxCalls. A resumed session repeats the calls of the previous one; they are returned
// once. It warns about transcripts that cannot be read.
func PastCalls(
	ctx context.Context, files []string, since time.Time, tools []string, warn func(format string, args ...any),
) []replay.Call {
	var calls []replay.Call
	seen := map[string]bool{}
	for _, file := range files {
		if ctx.Err() != nil || len(calls) >= maxCalls {
			break
		}
		in, err := os.Open(file)
		if err != nil {
			warn("%v", err)
			continue
		}
		found, damage, err := replay.Calls(progress.Interruptible(ctx, in), func(e *replay.Event) bool {
			key := e.ID + " " + e.At.String()
			if !slices.Contains(tools, e.Tool) || !e.At.IsZero() && e.At.Before(since) || seen[key] {
				return false
			}
			seen[key] = e.ID != ""
			return true
		})
		in.Close()
		if damage.Lines > 0 {
			warn("%s: cannot read %s; first: %s", file, humanize.Count(damage.Lines, "line"), damage.First)
		}
		if err != nil && ctx.Err() == nil {
			warn("%s: %v", file, err)
		}
		calls = append(calls, found[:min(len(found), maxCalls-len(calls))]...)
	}
	return calls
}

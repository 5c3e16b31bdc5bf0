package library

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/progress"
)

// A Builder plans and builds databases. Options have the names of their flags.
type Builder struct {
	Name, Out   string
	Kind        string // source type; "": detected
	Wait        time.Duration
	URL, KeyEnv string // of the embedder
	Options     Options
	Set         func(option string) bool // whether the user chose the option
	Reuse       bool                     // reuse unchanged documents
	IsUpdate    bool                     // for update, which fails if it may not read the source
	KeepLost    bool                     // keep documents that the source seems to have lost
	Lock        bool                     // record packs in the lock file

	Console   Dialog
	Tool      string                   // version of docsearch, which the manifest records
	Display   func() *progress.Display // of a build
	Elsewhere func(name string) error  // returns the error for a database that another machine holds; nil: there is none
}

// A Dialog shows messages to the user.
type Dialog interface {
	// Warn shows a warning.
	Warn(format string, args ...any)
	// Report shows an error that does not end the work, with its hint.
	Report(err error)
	// Say shows a line that is no result.
	Say(format string, args ...any)
}

// An Asker asks the user.
type Asker interface {
	Confirm(ctx context.Context, question string, proposed bool) (bool, error)
}

// IsUpToDate reports whether the database of a plan is valid, was built with the same
// options, and is not older than its source. If only the source has changed,
// the next build reuses the unchanged documents. The database comes as the pack, unless
// that is nil.
func (b *Builder) IsUpToDate(p *Plan, pack *ChosenPack) (index.Info, bool) {
	info, state, _ := Inspect(p.Dir)
	if errors.Is(p.warning, ErrUnverifiedSource) {
		return info, state == StateOK // another user's database stays as it is
	}
	options, err := json.Marshal(p.Options)
	same := err == nil && sameJSON(options, info.Options) && (isOwn(info) || !makesPassages(info.Source.Kind))
	b.Reuse = same && info.Tool == b.Tool
	if pack != nil {
		b.Reuse = true
		same = same && pack.isInstalled(info)
	}
	return info, same && state == StateOK
}

// sameJSON reports whether two texts are the same JSON except for whitespace.
func sameJSON(a, b []byte) bool {
	var compact [2]bytes.Buffer
	return json.Compact(&compact[0], a) == nil && json.Compact(&compact[1], b) == nil &&
		bytes.Equal(compact[0].Bytes(), compact[1].Bytes())
}

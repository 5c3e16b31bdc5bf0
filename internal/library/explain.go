package library

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/embed/provider"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/gitrepo"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/usererror"
)

// ExplainBuild adds a hint to an error of the build of a plan.
func ExplainBuild(p Plan, err error) error {
	switch {
	case errors.Is(err, generation.ErrBusy):
		return usererror.WithHint(err, "pass --wait 10m to wait for it")
	case errors.Is(err, confined.ErrLink):
		return usererror.WithHint(err, "remove the link and run the same command again")
	case errors.Is(err, context.Canceled):
		return usererror.WithHint(errors.New("interrupted"), "%s", p.explainInterrupt())
	case errors.Is(err, gitrepo.ErrRedirect):
		return usererror.WithHint(err, "open the URL in a browser, then build from the URL that it redirects to")
	case errors.Is(err, index.ErrNoPassages):
		return usererror.WithHint(fmt.Errorf("%s: %w", p.Label, err), "use a source with documentation, source code, or LEANN passages")
	}
	if usererror.IsUnreachable(err) || errors.Is(err, gitrepo.ErrUnreachable) {
		err = p.explainUnreachable(err)
	}
	return p.explainEmbedder(explainSite(err))
}

// explainUnreachable adds a hint to an error of a source for which there is no connection.
func (p Plan) explainUnreachable(err error) error {
	if generation.HasManifest(p.Dir) {
		return usererror.WithHint(err, "searches use the current index; with a connection, run the same command again")
	}
	return usererror.WithHint(err, "without a connection, pass a folder or an archive on this machine, or run "+
		"docsearch pack add FILE; docsearch index build --installed lists installed documentation")
}

// explainInterrupt describes what remains after an interrupted build.
func (p Plan) explainInterrupt() string {
	state := p.Label + " is unchanged"
	if !generation.HasManifest(p.Dir) {
		state = "nothing was built"
	}
	if p.Site() == nil {
		return state
	}
	m, err := site.Open(filepath.Join(p.Dir, ingest.MirrorName))
	if err != nil || len(m.Pages()) == 0 {
		return state
	}
	return fmt.Sprintf("%s; %s in %s: the same command resumes", state, humanize.Count(len(m.Pages()), "downloaded page"), p.Dir)
}

// explainEmbedder adds a hint to an error caused by an embedder.
func (p Plan) explainEmbedder(err error) error {
	var stored *index.StoredError
	var failed *provider.Error
	switch {
	case errors.As(err, &stored):
		return usererror.WithHint(err, "pass --embedder %s:%s to embed the passages again", p.Embedder.Provider, p.Embedder.Model)
	case errors.As(err, &failed):
		return usererror.WithHint(err, "run the same command again to resume, or pass --embedder builtin to build without this model")
	}
	return err
}

// explainSite adds a hint to an error of a site download.
func explainSite(err error) error {
	var moved *site.MovedError
	var address *site.AddressError
	var limit *site.LimitError
	var login *site.LoginError
	switch {
	case errors.As(err, &login):
		return usererror.WithHint(err, "if you can log in there, pass --cookie or --header")
	case errors.As(err, &limit):
		return usererror.WithHint(err, "pass --max-bytes SIZE to set another limit")
	case errors.As(err, &moved):
		return usererror.WithHint(err, "run docsearch index build %s", humanize.Argument(moved.To))
	case errors.As(err, &address):
		return usererror.WithHint(err, "pass --private to allow it")
	case errors.Is(err, site.ErrOther):
		return usererror.WithHint(err, "pass --name to use another name, or remove the database with docsearch index remove")
	}
	return err
}

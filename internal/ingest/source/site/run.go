package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/progress"
)

const (
	// minListed is the minimum number of pages in a list. Shorter lists are
	// overviews, such as sitemaps of each version's first page.
	minListed = 10
	// maxHops limits the redirects from one page to another.
	maxHops = 10
	// maxLists limits the sitemaps or llms.txt files of a site.
	maxLists = 1000
	// maxUnwanted limits the skipped links in a report.
	maxUnwanted = 10_000
	// maxSilent is the number of consecutive pages without an answer after
	// which a site counts as down.
	maxSilent = 20
	// batch is the number of pages that are downloaded before their links are
	// followed. Links are processed in the order of pages, not of arrival, so
	// that the same site always yields the same pages.
	batch = 128
)

// A run is one Fetch.
type run struct {
	opt     Options
	scope   *scope
	journal *journal
	client  *client
	robots  robots

	robotsRead bool
	robotsErr  error

	follow      bool            // follow links
	seen        map[string]bool // URLs that were or will be requested; constant during a batch
	admitted    int             // pages that count for the page limit
	unwanted    int             // links that are not pages
	leftOut     map[string]bool // links to other pages of the site
	absent      absence
	queries     map[string][]string // queried links, by their plain URL
	absentPlain map[string]bool     // plain URLs that the site does not have
	redirected  map[string]bool     // pages that were found only as the target of a redirect, at first
	partial     bool                // a limit left out pages

	listsComplete bool                // all page lists were read completely
	listed        map[string]response // responses that were requested to find pages
	done          atomic.Int64
	unanswered    atomic.Int64 // consecutive pages without an answer
	unrequested   atomic.Int64 // pages not requested

	mu     sync.Mutex
	report Report
	keep   map[string]bool   // pages to keep although the download failed
	gone   map[string]bool   // mirrored pages that the site reports as gone
	texts  map[string]uint64 // text digests of new pages, see textDigest
	moved  *MovedError
}

func newRun(opt Options, sc *scope) *run {
	r := &run{
		opt: opt, scope: sc, client: newClient(opt, sc),
		seen: map[string]bool{}, leftOut: map[string]bool{}, redirected: map[string]bool{}, queries: map[string][]string{}, absentPlain: map[string]bool{}, keep: map[string]bool{}, gone: map[string]bool{}, texts: map[string]uint64{}, listed: map[string]response{}, listsComplete: true,
	}
	r.client.limit.Store(opt.MaxBytes)
	return r
}

func (r *run) fetch(ctx context.Context) error {
	if err := r.readRobots(ctx); err != nil {
		return err
	}
	pages, err := r.find(ctx)
	if err != nil {
		return err
	}
	if r.follow || !r.listsComplete {
		// Include known pages: links to them may have disappeared, or the list
		// that contains them may have failed.
		pages = append(pages, r.journal.pages()...)
	}
	if err := r.pages(ctx, pages); err != nil {
		return err
	}
	if r.report.Fetched+r.report.Unchanged+r.report.Resumed == 0 {
		return r.noPagesError()
	}
	if r.isDown() {
		r.limit("the site stopped responding: %d pages were not requested; the next run resumes", r.unrequested.Load())
		return nil
	}
	if r.unrequested.Load() > 0 {
		r.partial = true
		r.limit("reached the limit of %s: %d pages were not downloaded", size(r.opt.MaxBytes), r.unrequested.Load())
	}
	r.reportScope()
	r.probe(ctx)
	if err := errors.Join(r.dropAbsent(), r.dropMasks()); err != nil {
		return err
	}
	if r.opt.KeepLost {
		r.keepLost()
	}
	r.report.Removed, err = r.journal.finishRun(r.report.Discovery, r.opt.now(), r.keep, r.partial)
	r.report.Complete = err == nil
	return err
}

// noPagesError returns the error of a run without pages: the reason for the first
// one.
func (r *run) noPagesError() error {
	if r.moved != nil && isLogin(r.moved.To) {
		return &LoginError{fmt.Errorf("cannot download any page of %s: redirects to the login page %s", r.scope, r.moved.To)}
	}
	if r.moved != nil {
		return r.moved
	}
	if r.client.limitReached() {
		return r.limitError()
	}
	first := r.scope.start.String()
	all := slices.Concat(r.report.Failed, r.report.Skipped)
	i := max(0, slices.IndexFunc(all, func(o Outcome) bool { return o.URL == first }))
	if len(all) == 0 {
		return fmt.Errorf("%s has no pages", r.scope)
	}
	others := ""
	if len(all) > 1 {
		skipped := make([]generation.Skipped, len(all))
		for i, o := range all {
			skipped[i] = generation.Skipped{Name: o.URL, Reason: o.Reason}
		}
		others = "; in total: " + generation.Reasons(skipped)
	}
	err := fmt.Errorf("cannot download any page of %s: %s: %s%s", r.scope, all[i].URL, all[i].Reason, others)
	if why := all[i].Reason; why == status(http.StatusUnauthorized) || why == status(http.StatusForbidden) || why == whyLogin {
		return &LoginError{err}
	}
	return err
}

// finish completes the report.
func (r *run) finish() Report {
	r.report.Found = r.admitted
	r.report.Bytes = r.client.received.Load()
	m := r.journal.m
	r.report.Pages = len(m.Pages())
	if r.report.Complete {
		for u, other := range m.duplicates() {
			r.report.Skipped = append(r.report.Skipped, Outcome{u, "the same page as " + other})
		}
	}
	byURL := func(a, b Outcome) int { return cmp.Or(cmp.Compare(a.URL, b.URL), cmp.Compare(a.Reason, b.Reason)) }
	slices.SortFunc(r.report.Failed, byURL)
	slices.SortFunc(r.report.Skipped, byURL)
	return r.report
}

func (r *run) fail(u, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Failed = append(r.report.Failed, Outcome{u, reason})
}

func (r *run) skip(u, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Skipped = append(r.report.Skipped, Outcome{u, reason})
}

func (r *run) limit(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(r.report.Limits, s) {
		r.report.Limits = append(r.report.Limits, s)
	}
}

func (r *run) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

// isDown reports whether the site has stopped answering.
func (r *run) isDown() bool { return r.unanswered.Load() >= maxSilent }

// keepBytes subtracts a page that is already in the mirror from the byte limit.
func (r *run) keepBytes(n int64) { r.client.limit.Add(-n) }

// limitError returns the error of a run that reached its byte limit before the first
// page.
func (r *run) limitError() error {
	return &LimitError{r.scope.String(), r.opt.MaxBytes}
}

// readRobots reads the site's robots.txt. If it exists but cannot be read,
// everything is disallowed. If it is too long, only its beginning counts. A run reads it
// once.
func (r *run) readRobots(ctx context.Context) error {
	if !r.robotsRead {
		r.robotsRead, r.robotsErr = true, r.requestRobots(ctx)
	}
	return r.robotsErr
}

func (r *run) requestRobots(ctx context.Context) error {
	u := r.scope.origin + "/robots.txt"
	res, err := r.file(ctx, request{url: u, limit: maxRobots, partial: true})
	var f *failure
	switch {
	case errors.Is(err, errSpent):
		return r.limitError()
	case errors.As(err, &f) && !f.unwanted && (!r.opt.IgnoreRobots || f.unreachable):
		return fmt.Errorf("%s: %w", u, err)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || res.status != http.StatusOK:
		return nil
	}
	if end := bytes.LastIndexByte(res.body, '\n'); len(res.body) >= maxRobots {
		res.body = res.body[:end+1] // drop a truncated rule, which could match more or less
	}
	r.robots = parseRobots(res.body, r.opt.UserAgent)
	if r.opt.IgnoreRobots {
		r.robots.rules, r.robots.delay = nil, 0
	}
	r.client.pace.delay = max(r.client.pace.delay, r.robots.delay)
	return nil
}

// file requests a file of the site that is not a page. It follows redirects
// within the site.
func (r *run) file(ctx context.Context, req request) (response, error) {
	for range maxHops {
		res, err := r.client.get(ctx, req)
		if err != nil || res.location == "" {
			return res, err
		}
		base, err := url.Parse(req.url)
		if err != nil {
			return res, nil
		}
		to, _ := r.scope.resolve(base, res.location)
		if to == nil || origin(to) != r.scope.origin {
			return res, nil // treated as missing
		}
		req.url = to.String()
	}
	return response{status: http.StatusNotFound}, nil
}

// An item is a page to request.
type item struct {
	url  string
	hops int // redirects so far
}

// found holds the links of a page.
type found struct {
	redirect string
	links    []string
	skipped  []Outcome // links that are not pages
	outside  []string  // links to other pages of the site
	queries  []queried
	missing  bool // the site does not have the page
}

// pages downloads pages and, if links are followed, their links in
// breadth-first order.
func (r *run) pages(ctx context.Context, first []string) error {
	level := r.admit(nil, first)
	for len(level) > 0 {
		var next []item
		for these := range slices.Chunk(level, batch) {
			results := make([]found, len(these))
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(r.opt.Concurrency)
			for i, it := range these {
				group.Go(func() (err error) {
					results[i], err = r.page(ctx, it)
					r.reportProgress(r.done.Add(1))
					return err
				})
			}
			if err := group.Wait(); err != nil {
				return err
			}
			for i, f := range results {
				if f.redirect != "" && !r.seen[f.redirect] {
					// The target replaces the redirecting page.
					r.seen[f.redirect], r.redirected[f.redirect] = true, true
					r.done.Add(-1)
					next = append(next, item{f.redirect, these[i].hops + 1})
				}
				r.reportUnwanted(f.skipped)
				r.leaveOut(f.outside)
				next = r.admit(next, f.links)
				next = r.admit(next, r.followQueries(f.queries))
				if f.missing {
					next = r.admit(next, r.plainFailed(these[i].url))
				}
			}
		}
		level = next
	}
	return ctx.Err()
}

// reportProgress reports the number of finished and found pages.
func (r *run) reportProgress(done int64) {
	r.mu.Lock()
	failed := len(r.report.Failed)
	r.mu.Unlock()
	r.opt.Progress.Show(progress.Event{
		Stage: "downloading pages", Done: done, Total: int64(r.admitted), Failed: int64(failed), Bytes: r.client.received.Load(),
	})
}

// admit appends the new URLs, up to the page limit.
func (r *run) admit(items []item, urls []string) []item {
	for _, u := range urls {
		if r.seen[u] {
			continue
		}
		if r.admitted >= r.opt.MaxPages {
			r.partial = true
			r.limit("reached the limit of %d pages; the site has more", r.opt.MaxPages)
			break
		}
		r.seen[u] = true
		r.admitted++
		items = append(items, item{url: u})
	}
	return items
}

// page downloads a page. An error ends the run.
func (r *run) page(ctx context.Context, it item) (found, error) {
	if r.isDown() || r.client.limitReached() {
		r.unrequested.Add(1)
		r.keepMirrored(it.url)
		return found{}, nil
	}
	rec, current := r.journal.known(it.url)
	contents := r.journal.contents(rec)
	switch {
	case !current:
	case contents != nil:
		r.count(&r.report.Resumed)
		r.keepBytes(rec.Size)
		r.noteText(rec, contents)
		return r.links(rec, contents), nil
	case rec.To != "":
		r.count(&r.report.Redirects)
		return found{redirect: rec.To}, nil
	case rec.Skip != "":
		r.skip(it.url, rec.Skip)
		return found{}, nil
	}
	u, err := url.Parse(it.url)
	if err != nil {
		r.fail(it.url, err.Error())
		return found{}, nil
	}
	if r.opt.Refuse != nil {
		if why := r.opt.Refuse(r.scope.below(u)); why != "" {
			r.skip(it.url, why)
			return found{}, nil
		}
	}
	if !r.robots.allows(u) {
		r.skip(it.url, "disallowed by robots.txt")
		return found{}, nil
	}
	res, err := r.request(ctx, u, rec, contents != nil)
	if ctx.Err() != nil {
		return found{}, ctx.Err()
	}
	if errors.Is(err, errSpent) {
		r.unrequested.Add(1)
		r.keepMirrored(it.url)
		return found{}, nil
	}
	if err != nil {
		return found{}, r.failed(it.url, err)
	}
	r.unanswered.Store(0)
	switch {
	case res.status == http.StatusOK:
		return r.store(u, rec, res)
	case res.status == http.StatusNotModified:
		r.count(&r.report.Unchanged)
		r.keepBytes(rec.Size)
		if why := noDocument(contents, rec.Type); why != "" {
			return found{}, r.refusePage(it.url, why, record{})
		}
		rec.ETag, rec.Modified = cmp.Or(res.etag, rec.ETag), cmp.Or(res.modified, rec.Modified)
		return r.links(rec, contents), r.journal.append(rec)
	case res.location != "":
		return r.redirect(it, u, res.location)
	case (res.status == http.StatusNotFound || res.status == http.StatusGone) && rec.Hash != "":
		r.markGone(it.url)
		return found{}, nil // removed at the end of the run
	}
	r.fail(it.url, status(res.status))
	if res.status != http.StatusNotFound && res.status != http.StatusGone {
		r.keepMirrored(it.url)
	}
	return found{missing: true}, nil
}

// request requests a page, conditionally if the mirror has it.
func (r *run) request(ctx context.Context, u *url.URL, rec record, have bool) (response, error) {
	if res, ok := r.listed[u.String()]; ok {
		return res, nil
	}
	req := request{url: u.String(), limit: r.opt.MaxPage, refuse: func(contentType string) string { return r.notText(u, contentType) }}
	if have {
		req.etag, req.modified = rec.ETag, rec.Modified
	}
	return r.client.get(ctx, req)
}

// failed handles a page that failed or is refused.
func (r *run) failed(u string, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if f.unwanted {
		r.unanswered.Store(0)
		r.skip(u, f.reason)
		return r.journal.append(record{URL: u, Skip: f.reason})
	}
	if f.unreachable {
		r.unanswered.Add(1)
	} else {
		r.unanswered.Store(0)
	}
	r.fail(u, f.reason)
	r.keepMirrored(u)
	return nil
}

// keepMirrored keeps the mirrored state of a page.
func (r *run) keepMirrored(u string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep[u] = true
}

func (r *run) redirect(it item, u *url.URL, location string) (found, error) {
	to, within := r.scope.resolve(u, location)
	switch {
	case to == nil:
		r.skip(it.url, "redirects to an invalid URL")
		return found{}, nil
	case !within:
		if it.url == r.scope.start.String() {
			r.moved = &MovedError{it.url, to.String()}
		}
		r.markGone(it.url)
		r.skip(it.url, "redirects to "+to.String()+", which is outside "+r.scope.String())
		return found{}, nil
	case to.String() == it.url || it.hops >= maxHops:
		r.fail(it.url, "too many redirects")
		return found{}, nil
	}
	r.count(&r.report.Redirects)
	return found{redirect: to.String()}, r.journal.append(record{URL: it.url, To: to.String()})
}

// store stores a page in the mirror.
func (r *run) store(u *url.URL, old record, res response) (found, error) {
	if res.contentType == "" {
		res.contentType = http.DetectContentType(res.body)
		if why := r.notText(u, res.contentType); why != "" {
			return found{}, r.failed(u.String(), &failure{reason: why, unwanted: true})
		}
	}
	if isVague(res.contentType) {
		switch strings.ToLower(path.Ext(u.Path)) {
		case ".html", ".htm", ".xhtml":
			res.contentType = "text/html"
		}
	}
	if why := noDocument(res.body, res.contentType); why != "" {
		return found{}, r.refusePage(u.String(), why, old)
	}
	now := r.opt.now().UTC().Truncate(time.Second)
	rec := record{URL: u.String(), Type: res.contentType, ETag: res.etag, Modified: res.modified, Fetched: &now}
	var s scan
	if isHTML(res.contentType) {
		s = scanPage(r.scope, rec.URL, res.body, rec.Type)
		rec.Canonical = s.canonical
	}
	if old.Hash != "" && old.Hash == hashOf(res.body) {
		r.count(&r.report.Unchanged)
		rec.Fetched = old.Fetched
	} else {
		r.count(&r.report.Fetched)
	}
	links := r.newLinks(s)
	if err := r.journal.store(rec, res.body); err != nil {
		return found{}, err
	}
	r.noteText(rec, res.body)
	return links, nil
}

// links returns the links of a mirrored page.
func (r *run) links(rec record, contents []byte) found {
	if !r.follow || !isHTML(rec.Type) {
		return found{}
	}
	return r.newLinks(scanPage(r.scope, rec.URL, contents, rec.Type))
}

// newLinks returns the new links, up to the limit.
func (r *run) newLinks(s scan) found {
	if !r.follow {
		return found{}
	}
	f := found{outside: s.outside}
	for _, link := range s.links {
		if r.seen[link] {
			continue
		}
		u, err := url.Parse(link)
		if err != nil {
			continue
		}
		if u.RawQuery != "" {
			if u = plainURL(u); u.String() != link {
				if len(f.queries) < maxQueries {
					f.queries = append(f.queries, queried{u.String(), link})
				}
				if link = u.String(); r.seen[link] {
					continue
				}
			}
		}
		if why := unwantedLink(u); why != "" {
			if len(f.skipped) <= maxUnwanted {
				f.skipped = append(f.skipped, Outcome{link, why})
			}
			continue
		}
		f.links = append(f.links, link)
		if len(f.links) > r.opt.MaxPages-r.admitted {
			break // one more than the limit shows that it was reached
		}
	}
	return f
}

func isHTML(contentType string) bool {
	return strings.Contains(strings.ToLower(contentType), "html")
}

// notText returns the reason to skip a content type, or "". If the content type is vague,
// the extension decides.
func (r *run) notText(u *url.URL, contentType string) string {
	media := mediaType(contentType)
	switch media {
	case "", "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown":
		return ""
	}
	if isVague(contentType) && r.opt.Supports != nil && r.opt.Supports(u.Path) {
		return ""
	}
	return dropLong(media) + " is not a text format"
}

// isVague reports whether files of many formats have the content type: servers that do
// not know a format call it data, text, or that of the format below it.
func isVague(contentType string) bool {
	switch media := mediaType(contentType); media {
	case "application/octet-stream", "binary/octet-stream", "application/x-octet-stream", "application/json",
		"application/x-ipynb+json", "application/unknown", "application/x-unknown", "unknown/unknown",
		"application/download", "application/x-download", "application/force-download", "application/markdown",
		"application/x-markdown":
		return true
	default:
		return strings.HasPrefix(media, "text/") && media != "text/html"
	}
}

// mediaType returns a content type without parameters.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	return strings.TrimSpace(media)
}

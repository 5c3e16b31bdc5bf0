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
	// few is how many pages a list must name to be taken for one. Shorter ones
	// are overviews, such as the sitemaps that name each version's first page.
	few = 10
	// maxHops is how many redirects lead from a page to another.
	maxHops = 10
	// maxLists is how many sitemaps, or llms.txt files, of a site are read.
	maxLists = 1000
	// maxUnwanted is how many links to what is no page a report names.
	maxUnwanted = 10_000
	// givesUp is how many pages in a row a site leaves unanswered before it
	// counts as down.
	givesUp = 20
	// batch is how many pages are fetched before their links are looked at.
	// Links are taken in the order of the pages, whichever came first, so that
	// the same site gives the same pages.
	batch = 128
)

// A run is one Fetch.
type run struct {
	opt     Options
	scope   *scope
	journal *journal
	client  *client
	robots  robots

	follow   bool            // links
	seen     map[string]bool // URLs that are or were to be asked for; not changed during a batch
	admitted int             // those that count for the page limit
	unwanted int             // links to what is no page

	whole  bool                // what lists pages was read in full
	listed map[string]response // pages that were fetched to find pages
	done   atomic.Int64
	silent atomic.Int64 // pages in a row without an answer
	left   atomic.Int64 // pages not asked for

	mu     sync.Mutex
	report Report
	keep   map[string]bool   // pages that stay though they could not be had
	gone   map[string]bool   // pages of the mirror that the site says it has no more
	texts  map[string]uint64 // what new pages say, see textDigest
	moved  *MovedError
}

func newRun(opt Options, sc *scope, j *journal) *run {
	r := &run{
		opt: opt, scope: sc, journal: j, client: newClient(opt, sc),
		seen: map[string]bool{}, keep: map[string]bool{}, gone: map[string]bool{}, texts: map[string]uint64{}, listed: map[string]response{}, whole: true,
	}
	r.client.limit.Store(opt.MaxBytes)
	return r
}

func (r *run) fetch(ctx context.Context) error {
	defer r.client.close()
	if err := r.readRobots(ctx); err != nil {
		return err
	}
	pages, err := r.find(ctx)
	if err != nil {
		return err
	}
	if r.follow || !r.whole {
		// What is known is looked at, too: its links may be gone, or the list
		// that names it may be what could not be had.
		pages = append(pages, r.journal.pages()...)
	}
	if err := r.pages(ctx, pages); err != nil {
		return err
	}
	if r.report.Fetched+r.report.Unchanged+r.report.Resumed == 0 {
		return r.nothing()
	}
	if r.down() {
		r.limit("the site stopped responding: %d pages were not requested; the next run resumes", r.left.Load())
		return nil
	}
	if r.left.Load() > 0 {
		r.limit("reached the limit of %s: %d pages were not downloaded", size(r.opt.MaxBytes), r.left.Load())
	}
	if r.opt.KeepLost {
		r.keepLost()
	}
	r.report.Removed, err = r.journal.settle(r.report.Discovery, r.opt.now(), r.keep)
	r.report.Complete = err == nil
	return err
}

// nothing is the error of a run that got no page: the first one's reason.
func (r *run) nothing() error {
	if r.moved != nil {
		return r.moved
	}
	if r.client.full() {
		return r.spent()
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
	return fmt.Errorf("cannot download any page of %s: %s: %s%s", r.scope, all[i].URL, all[i].Reason, others)
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

// down reports whether the site has stopped answering.
func (r *run) down() bool { return r.silent.Load() >= givesUp }

// keepBytes takes a page that the mirror has already out of the limit of bytes.
func (r *run) keepBytes(n int64) { r.client.limit.Add(-n) }

// spent is the error of a run that reached its limit of bytes before it had a
// page.
func (r *run) spent() error {
	return &LimitError{r.scope.String(), r.opt.MaxBytes}
}

// readRobots reads the site's robots.txt. A site whose robots.txt is there but
// cannot be read allows nothing; of one that is too long the beginning counts.
func (r *run) readRobots(ctx context.Context) error {
	u := r.scope.origin + "/robots.txt"
	res, err := r.file(ctx, request{url: u, limit: maxRobots, partial: true})
	var f *failure
	switch {
	case errors.Is(err, errSpent):
		return r.spent()
	case errors.As(err, &f) && !f.unwanted && (!r.opt.IgnoreRobots || f.unreachable):
		return fmt.Errorf("%s: %w", u, err)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil || res.status != http.StatusOK:
		return nil
	}
	if end := bytes.LastIndexByte(res.body, '\n'); len(res.body) >= maxRobots {
		res.body = res.body[:end+1] // a rule that is cut off would forbid more, or allow more
	}
	r.robots = parseRobots(res.body, r.opt.UserAgent)
	if r.opt.IgnoreRobots {
		r.robots.rules, r.robots.delay = nil, 0
	}
	r.client.pace.delay = max(r.client.pace.delay, r.robots.delay)
	return nil
}

// file asks for a file of the site that is no page, and follows redirects as
// long as they do not leave the site.
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
			return res, nil // like a file that is not there
		}
		req.url = to.String()
	}
	return response{status: http.StatusNotFound}, nil
}

// An item is a page to ask for.
type item struct {
	url  string
	hops int // redirects that led there
}

// found is where a page leads.
type found struct {
	redirect string
	links    []string
	skipped  []Outcome // links to what is no page
}

// pages fetches pages and, if links are followed, those that they lead to, in
// the order of their distance from the first ones.
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
					r.show(r.done.Add(1))
					return err
				})
			}
			if err := group.Wait(); err != nil {
				return err
			}
			for i, f := range results {
				if f.redirect != "" && !r.seen[f.redirect] {
					// In the place of the page that leads there.
					r.seen[f.redirect] = true
					r.done.Add(-1)
					next = append(next, item{f.redirect, these[i].hops + 1})
				}
				r.unwantedLinks(f.skipped)
				next = r.admit(next, f.links)
			}
		}
		level = next
	}
	return ctx.Err()
}

// show tells how many pages are done of those that have been found.
func (r *run) show(done int64) {
	r.mu.Lock()
	failed := len(r.report.Failed)
	r.mu.Unlock()
	r.opt.Progress.Show(progress.Event{
		Stage: "downloading pages", Done: done, Total: int64(r.admitted), Failed: int64(failed), Bytes: r.client.received.Load(),
	})
}

// admit adds those of the URLs that are new, up to the page limit.
func (r *run) admit(items []item, urls []string) []item {
	for _, u := range urls {
		if r.seen[u] {
			continue
		}
		if r.admitted >= r.opt.MaxPages {
			r.limit("reached the limit of %d pages; the site has more", r.opt.MaxPages)
			break
		}
		r.seen[u] = true
		r.admitted++
		items = append(items, item{url: u})
	}
	return items
}

// page fetches one page. Its error is one that ends the run.
func (r *run) page(ctx context.Context, it item) (found, error) {
	if r.down() || r.client.full() {
		r.left.Add(1)
		r.stay(it.url)
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
	res, err := r.ask(ctx, u, rec, contents != nil)
	if ctx.Err() != nil {
		return found{}, ctx.Err()
	}
	if errors.Is(err, errSpent) {
		r.left.Add(1)
		r.stay(it.url)
		return found{}, nil
	}
	if err != nil {
		return found{}, r.failed(it.url, err)
	}
	r.silent.Store(0)
	switch {
	case res.status == http.StatusOK:
		return r.store(u, rec, res)
	case res.status == http.StatusNotModified:
		r.count(&r.report.Unchanged)
		r.keepBytes(rec.Size)
		rec.ETag, rec.Modified = cmp.Or(res.etag, rec.ETag), cmp.Or(res.modified, rec.Modified)
		return r.links(rec, contents), r.journal.append(rec)
	case res.location != "":
		return r.redirected(it, u, res.location)
	case (res.status == http.StatusNotFound || res.status == http.StatusGone) && rec.Hash != "":
		r.vanish(it.url)
		return found{}, nil // removed when the run ends
	}
	r.fail(it.url, status(res.status))
	if res.status != http.StatusNotFound && res.status != http.StatusGone {
		r.stay(it.url)
	}
	return found{}, nil
}

// ask asks for a page, or whether it is still what rec says.
func (r *run) ask(ctx context.Context, u *url.URL, rec record, have bool) (response, error) {
	if res, ok := r.listed[u.String()]; ok {
		return res, nil
	}
	req := request{url: u.String(), limit: r.opt.MaxPage, refuse: func(contentType string) string { return notText(u, contentType) }}
	if have {
		req.etag, req.modified = rec.ETag, rec.Modified
	}
	return r.client.get(ctx, req)
}

// failed deals with a page that could not be had, or is not wanted.
func (r *run) failed(u string, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if f.unwanted {
		r.silent.Store(0)
		r.skip(u, f.reason)
		return r.journal.append(record{URL: u, Skip: f.reason})
	}
	if f.unreachable {
		r.silent.Add(1)
	} else {
		r.silent.Store(0)
	}
	r.fail(u, f.reason)
	r.stay(u)
	return nil
}

// stay lets the mirror keep what it has of a page.
func (r *run) stay(u string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep[u] = true
}

func (r *run) redirected(it item, u *url.URL, location string) (found, error) {
	to, within := r.scope.resolve(u, location)
	switch {
	case to == nil:
		r.skip(it.url, "redirects to an invalid URL")
		return found{}, nil
	case !within:
		if it.url == r.scope.start.String() {
			r.moved = &MovedError{it.url, to.String()}
		}
		r.vanish(it.url)
		r.skip(it.url, "redirects to "+to.String()+", which is outside "+r.scope.String())
		return found{}, nil
	case to.String() == it.url || it.hops >= maxHops:
		r.fail(it.url, "too many redirects")
		return found{}, nil
	}
	r.count(&r.report.Redirects)
	return found{redirect: to.String()}, r.journal.append(record{URL: it.url, To: to.String()})
}

// store puts a page into the mirror.
func (r *run) store(u *url.URL, old record, res response) (found, error) {
	if res.contentType == "" {
		res.contentType = http.DetectContentType(res.body)
		if why := notText(u, res.contentType); why != "" {
			return found{}, r.failed(u.String(), &failure{reason: why, unwanted: true})
		}
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
	links := r.fresh(s)
	if err := r.journal.store(rec, res.body); err != nil {
		return found{}, err
	}
	r.noteText(rec, res.body)
	return links, nil
}

// links is where a page of the mirror leads.
func (r *run) links(rec record, contents []byte) found {
	if !r.follow || !isHTML(rec.Type) {
		return found{}
	}
	return r.fresh(scanPage(r.scope, rec.URL, contents, rec.Type))
}

// fresh keeps the links to pages that have not been seen, no more than fit.
func (r *run) fresh(s scan) found {
	var f found
	if !r.follow {
		return f
	}
	for _, link := range s.links {
		if r.seen[link] {
			continue
		}
		u, err := url.Parse(link)
		if err != nil {
			continue
		}
		if why := unwantedLink(u, r.opt.Queries); why != "" {
			if len(f.skipped) <= maxUnwanted {
				f.skipped = append(f.skipped, Outcome{link, why})
			}
			continue
		}
		f.links = append(f.links, link)
		if len(f.links) > r.opt.MaxPages-r.admitted {
			break // one more than fits shows that the limit bit
		}
	}
	return f
}

func isHTML(contentType string) bool {
	return strings.Contains(strings.ToLower(contentType), "html")
}

// notText says why a page of that type is not wanted, "" if it may be.
func notText(u *url.URL, contentType string) string {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch media = strings.TrimSpace(media); media {
	case "", "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown":
		return ""
	case "application/octet-stream", "binary/octet-stream":
		switch strings.ToLower(path.Ext(u.Path)) {
		case ".md", ".markdown", ".mdx", ".txt":
			return "" // servers that do not know the ending
		}
	}
	return short(media) + " is not a text format"
}

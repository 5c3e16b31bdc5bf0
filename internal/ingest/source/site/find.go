package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
)

// find finds the first pages: all of them if the site lists them.
func (r *run) find(ctx context.Context) ([]string, error) {
	var hints []string // from lists that are none
	for _, way := range Discoveries() {
		forced := way == r.opt.Discovery
		if r.opt.Discovery != "" && !forced {
			continue
		}
		var pages []string
		var err error
		switch way {
		case ByLLMs:
			pages, err = r.findLLMs(ctx)
		case ByLLMsFull:
			pages, err = r.findLLMsFull(ctx)
		case BySitemap:
			pages, err = r.findSitemap(ctx)
		case ByLinks:
			r.report.Discovery, r.follow = way, true
			return append([]string{r.scope.start.String()}, hints...), nil
		}
		switch {
		case err != nil:
			return nil, err
		case len(pages) >= few || len(pages) > 0 && (forced || way == ByLLMsFull):
			r.report.Discovery = way
			return pages, nil
		case forced:
			return nil, fmt.Errorf("no %s with pages of %s found", way, r.scope)
		}
		hints = append(hints, pages...)
	}
	return nil, nil
}

// places are where a list of pages may be: where the user's URL says, or
// beside the pages, or at the site's root.
func (r *run) places(way Discovery, names ...string) []string {
	if wayOf(r.scope.start) == way {
		return []string{r.scope.start.String()}
	}
	var urls []string
	for _, name := range names {
		for _, u := range []string{r.scope.beside(name), r.scope.origin + "/" + name} {
			if !slices.Contains(urls, u) {
				urls = append(urls, u)
			}
		}
	}
	return urls
}

// findLLMs reads the pages that an llms.txt lists, and those that others list
// which it names.
func (r *run) findLLMs(ctx context.Context) ([]string, error) {
	var pages []string
	for _, place := range r.places(ByLLMs, "llms.txt") {
		queue := []string{place}
		for i := 0; i < len(queue) && i < maxLists; i++ {
			res, ok, err := r.list(ctx, queue[i])
			if err != nil {
				return nil, err
			}
			if !ok || !isText(res) {
				continue
			}
			found, err := r.listPages(queue[i], parseLLMs(res.body))
			if err != nil {
				return nil, err
			}
			for _, page := range found {
				if path.Base(page) != "llms.txt" {
					pages = append(pages, page)
				} else if !slices.Contains(queue, page) {
					queue = append(queue, page)
				}
			}
		}
		if len(pages) > 0 {
			break
		}
	}
	return pages, nil
}

// findLLMsFull asks for the file that is all pages in one. It is kept for when
// it is fetched as a page.
func (r *run) findLLMsFull(ctx context.Context) ([]string, error) {
	u := r.scope.beside("llms-full.txt")
	if wayOf(r.scope.start) == ByLLMsFull {
		u = r.scope.start.String()
	}
	res, ok, err := r.list(ctx, u)
	if err != nil || !ok || !isText(res) {
		return nil, err
	}
	r.listed[u] = res
	return []string{u}, nil
}

// findSitemap reads the pages that the sitemaps list which robots.txt names, or
// else the one that is where sitemaps are.
func (r *run) findSitemap(ctx context.Context) ([]string, error) {
	places := r.places(BySitemap, "sitemap.xml", "sitemap_index.xml")
	if wayOf(r.scope.start) != BySitemap {
		if named := r.sameSite(r.scope.start.String(), r.robots.sitemaps); len(named) > 0 {
			return r.readSitemaps(ctx, named)
		}
	}
	for _, place := range places {
		pages, err := r.readSitemaps(ctx, []string{place})
		if err != nil || len(pages) > 0 {
			return pages, err
		}
	}
	return nil, nil
}

// sameSite resolves references to files of the site, in the prefix or not.
func (r *run) sameSite(base string, refs []string) []string {
	b, err := url.Parse(base)
	if err != nil {
		return nil
	}
	var urls []string
	for _, ref := range refs {
		if u, _ := r.scope.resolve(b, ref); u != nil && origin(u) == r.scope.origin {
			urls = append(urls, u.String())
		}
	}
	return urls
}

// readSitemaps reads sitemaps, and those that they name, each once.
func (r *run) readSitemaps(ctx context.Context, queue []string) ([]string, error) {
	var pages []string
	queued := map[string]bool{}
	for _, u := range queue {
		queued[u] = true
	}
	for i := 0; i < len(queue); i++ {
		if i == maxLists {
			r.whole = false
			r.limit("reached the limit of %d sitemaps", maxLists)
			break
		}
		if len(pages) > r.opt.MaxPages || r.client.full() {
			break // the limit says so
		}
		res, ok, err := r.list(ctx, queue[i])
		if err != nil {
			return nil, err
		}
		if !ok {
			if i > 0 {
				r.incomplete(queue[i], errors.New(status(res.status)))
			}
			continue
		}
		listed, further, err := r.parseSitemap(res.body)
		if err != nil && (i > 0 || len(listed)+len(further) > 0) {
			r.incomplete(queue[i], err)
		}
		found, err := r.listPages(queue[i], listed)
		if err != nil {
			return nil, err
		}
		pages = append(pages, found...)
		for _, u := range r.sameSite(queue[i], further) {
			if !queued[u] && len(queue) <= maxLists {
				queued[u] = true
				queue = append(queue, u)
			}
		}
	}
	return pages, nil
}

// parseSitemap reads a sitemap, which may be compressed.
func (r *run) parseSitemap(data []byte) (pages, sitemaps []string, err error) {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		data, err = gunzip(data, spender{c: r.client})
		if err != nil {
			return nil, nil, err
		}
	}
	return parseSitemap(data)
}

// listPages are the pages of the site that a list names.
func (r *run) listPages(list string, refs []string) ([]string, error) {
	base, err := url.Parse(list)
	if err != nil {
		return nil, err
	}
	pages, skipped := r.scope.inScope(base, refs, func(u *url.URL) string { return unwantedLink(u, true) })
	r.unwantedLinks(skipped)
	return pages, nil
}

// list asks for a list of pages. ok is false if there is none.
func (r *run) list(ctx context.Context, u string) (res response, ok bool, err error) {
	res, err = r.file(ctx, request{url: u, limit: maxList})
	if ctx.Err() != nil {
		return res, false, ctx.Err()
	}
	if errors.Is(err, errSpent) {
		r.whole = false
		r.limit("reached the limit of %s; some page lists were not read", size(r.opt.MaxBytes))
		return res, false, nil
	}
	if err != nil {
		r.incomplete(u, err)
		return res, false, nil
	}
	return res, res.status == http.StatusOK, nil
}

// incomplete notes that not all lists of pages could be read.
func (r *run) incomplete(u string, err error) {
	r.whole = false
	r.fail(u, err.Error())
}

// unwantedLinks reports links that lead to no page.
func (r *run) unwantedLinks(skipped []Outcome) {
	for _, o := range skipped {
		if r.seen[o.URL] {
			continue
		}
		if r.unwanted++; r.unwanted > maxUnwanted {
			r.limit("more than %d links do not lead to pages", maxUnwanted)
			return
		}
		r.seen[o.URL] = true
		r.report.Skipped = append(r.report.Skipped, o)
	}
}

package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"
)

// find finds the first pages to request: all pages if the site lists them.
func (r *run) find(ctx context.Context) ([]string, error) {
	var hints []string // from lists that are too short
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
		case len(pages) >= minListed || len(pages) > 0 && (forced || way == ByLLMsFull):
			r.report.Discovery = way
			return pages, nil
		case forced:
			return nil, fmt.Errorf("no %s with pages of %s found", way, r.scope)
		}
		hints = append(hints, pages...)
	}
	return nil, nil
}

// listURLs returns the possible URLs of a page list: the user's URL, next to the
// pages, and at the site's root.
func (r *run) listURLs(way Discovery, names ...string) []string {
	if discoveryFor(r.scope.start) == way {
		return []string{r.scope.start.String()}
	}
	var urls []string
	for _, name := range names {
		for _, u := range []string{r.scope.nextTo(name), r.scope.origin + "/" + name} {
			if !slices.Contains(urls, u) {
				urls = append(urls, u)
			}
		}
	}
	return urls
}

// findLLMs returns the pages listed in an llms.txt and in further ones that it
// links to.
func (r *run) findLLMs(ctx context.Context) ([]string, error) {
	var pages []string
	for _, place := range r.listURLs(ByLLMs, "llms.txt") {
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

// findLLMsFull requests llms-full.txt. The response is kept for when the file
// is fetched as a page.
func (r *run) findLLMsFull(ctx context.Context) ([]string, error) {
	u := r.scope.nextTo("llms-full.txt")
	if discoveryFor(r.scope.start) == ByLLMsFull {
		u = r.scope.start.String()
	}
	res, ok, err := r.list(ctx, u)
	if err != nil || !ok || !isText(res) {
		return nil, err
	}
	r.listed[u] = res
	return []string{u}, nil
}

// findSitemap returns the pages of the sitemaps in robots.txt, or else of the
// sitemap at the default location.
func (r *run) findSitemap(ctx context.Context) ([]string, error) {
	places := r.listURLs(BySitemap, "sitemap.xml", "sitemap_index.xml")
	if discoveryFor(r.scope.start) != BySitemap {
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

// sameSite resolves references to files of the site, even outside the prefix.
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

// readSitemaps reads sitemaps recursively, each once.
func (r *run) readSitemaps(ctx context.Context, queue []string) ([]string, error) {
	var pages []string
	queued := map[string]bool{}
	for _, u := range queue {
		queued[u] = true
	}
	for i := 0; i < len(queue); i++ {
		if i == maxLists {
			r.listsComplete = false
			r.limit("reached the limit of %d sitemaps", maxLists)
			break
		}
		if len(pages) > r.opt.MaxPages || r.client.limitReached() {
			break // the limit reports it
		}
		res, ok, err := r.list(ctx, queue[i])
		if err != nil {
			return nil, err
		}
		if !ok {
			if i > 0 {
				r.noteIncomplete(queue[i], errors.New(status(res.status)))
			}
			continue
		}
		listed, further, err := r.parseSitemap(res.body)
		if err != nil && (i > 0 || len(listed)+len(further) > 0) {
			r.noteIncomplete(queue[i], err)
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

// parseSitemap parses a sitemap, which may be compressed.
func (r *run) parseSitemap(data []byte) (pages, sitemaps []string, err error) {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		data, err = gunzip(data, budgetReader{c: r.client})
		if err != nil {
			return nil, nil, err
		}
	}
	return parseSitemap(data)
}

// listPages returns the pages of the site in a list.
func (r *run) listPages(list string, refs []string) ([]string, error) {
	base, err := url.Parse(list)
	if err != nil {
		return nil, err
	}
	pages, skipped, outside := r.scope.inScope(base, refs)
	r.reportUnwanted(skipped)
	r.leaveOut(outside)
	return pages, nil
}

// list requests a page list. ok is false if it does not exist.
func (r *run) list(ctx context.Context, u string) (res response, ok bool, err error) {
	res, err = r.file(ctx, request{url: u, limit: maxList})
	if ctx.Err() != nil {
		return res, false, ctx.Err()
	}
	if errors.Is(err, errSpent) {
		r.listsComplete = false
		r.limit("reached the limit of %s; some page lists were not read", size(r.opt.MaxBytes))
		return res, false, nil
	}
	if err != nil {
		r.noteIncomplete(u, err)
		return res, false, nil
	}
	return res, res.status == http.StatusOK, nil
}

// noteIncomplete records that a page list could not be read completely.
func (r *run) noteIncomplete(u string, err error) {
	r.listsComplete = false
	r.fail(u, err.Error())
}

// reportUnwanted reports links that are not pages.
func (r *run) reportUnwanted(skipped []Outcome) {
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

// maxList is the maximum size of a page list, as for sitemaps.
const maxList = 50 << 20

var errNoSitemap = errors.New("not a sitemap")

// parseSitemap parses a sitemap. It returns the URLs of pages and, for a
// sitemap index, of further sitemaps. A plain text list of URLs is valid too.
// On error it returns the URLs before it.
func parseSitemap(data []byte) (pages, sitemaps []string, err error) {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("\uFEFF"))
	if len(data) == 0 {
		return nil, nil, errors.New("empty")
	}
	if data[0] != '<' {
		pages, err = parseURLList(string(data))
		return pages, nil, err
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = charset.NewReaderLabel
	var path []string // of open elements
	var loc strings.Builder
	for {
		token, err := d.Token()
		switch {
		case err == io.EOF && len(path) == 0:
			return pages, sitemaps, nil
		case err != nil:
			return pages, sitemaps, fmt.Errorf("not well-formed: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := t.Name.Local
			if len(path) == 0 && name != "urlset" && name != "sitemapindex" {
				return nil, nil, errNoSitemap
			}
			if len(path) > 8 {
				return pages, sitemaps, errors.New("nested too deeply")
			}
			path = append(path, name)
			loc.Reset()
		case xml.EndElement:
			if len(path) == 3 && path[2] == "loc" {
				switch u := strings.TrimSpace(loc.String()); {
				case u == "":
				case path[0] == "urlset" && path[1] == "url":
					pages = append(pages, u)
				case path[0] == "sitemapindex" && path[1] == "sitemap":
					sitemaps = append(sitemaps, u)
				}
			}
			path = path[:max(0, len(path)-1)]
		case xml.CharData:
			if len(path) == 3 && path[2] == "loc" && loc.Len() <= maxURL {
				loc.Write(t)
			}
		}
	}
}

// parseURLList parses a text with one URL per line.
func parseURLList(text string) (pages []string, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "http://") && !strings.HasPrefix(line, "https://") {
			return nil, errNoSitemap
		}
		pages = append(pages, line)
	}
	return pages, nil
}

// gunzip decompresses a file, up to maxList and the remaining byte budget.
func gunzip(data []byte, budget budgetReader) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	budget.r = z
	data, err = io.ReadAll(io.LimitReader(budget, maxList+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxList {
		return nil, fmt.Errorf("decompressed size exceeds the limit of %s", size(maxList))
	}
	return data, nil
}

// parseLLMs returns the targets of the Markdown links in an llms.txt.
func parseLLMs(data []byte) []string {
	var links []string
	for line := range strings.Lines(string(data)) {
		for {
			_, after, ok := strings.Cut(line, "](")
			if !ok {
				break
			}
			end := closingBracket(after)
			target := strings.TrimSpace(after[:end])
			line = after[end:]
			if t, ok := strings.CutPrefix(target, "<"); ok {
				target, _, _ = strings.Cut(t, ">")
			} else if fields := strings.Fields(target); len(fields) > 0 {
				target = fields[0] // a title may follow
			}
			if target != "" && target[0] != '#' {
				links = append(links, target)
			}
		}
	}
	return links
}

// closingBracket returns the offset of the bracket that closes the one before s, or
// the length of s.
func closingBracket(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(s)
}

// isText reports whether a response can be a text such as llms.txt. Many sites
// answer any request with an HTML page.
func isText(res response) bool {
	start := bytes.TrimSpace(bytes.TrimPrefix(res.body, []byte("\uFEFF")))
	return !strings.Contains(strings.ToLower(res.contentType), "html") && len(start) > 0 && start[0] != '<'
}

// inScope resolves references. It returns those that are pages of the site,
// without duplicates, the skipped ones with reasons, and other pages of the same origin.
func (s *scope) inScope(base *url.URL, refs []string) (pages []string, skipped []Outcome, outside []string) {
	seen := map[string]bool{}
	for _, ref := range refs {
		u, ok := s.resolve(base, ref)
		if u == nil || seen[u.String()] {
			continue
		}
		seen[u.String()] = true
		if !ok {
			if origin(u) == s.origin && unwantedLink(u) == "" {
				outside = append(outside, withoutQuery(u.String()))
			}
			continue
		}
		if why := unwantedLink(u); why != "" {
			skipped = append(skipped, Outcome{u.String(), why})
			continue
		}
		pages = append(pages, u.String())
	}
	return pages, skipped, outside
}

package site

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Reasons why a page that the site serves is not a document.
const (
	whyLogin   = "a login form"
	whyError   = "an error page"
	whyMissing = "the same text as for pages that do not exist"
)

// An absence is the site's answer for a page that does not exist. Many sites answer with
// status 200 or redirect to another page.
type absence struct {
	texts []uint64 // digests of the page's text
	to    string   // target of the redirect, without its query; or ""
}

// probe requests a page that does not exist.
func (r *run) probe(ctx context.Context) {
	u, err := url.Parse(r.scope.nextTo("no-such-page-" + strings.ToLower(rand.Text())))
	if err != nil || !r.robots.allows(u) {
		return
	}
	res, err := r.client.get(ctx, request{url: u.String(), limit: r.opt.MaxPage})
	switch {
	case err != nil: // the site is at fault, not a page
	case res.location != "":
		if to, _ := r.scope.resolve(u, res.location); to != nil {
			r.absent.to = withoutQuery(to.String())
		}
	case res.status == http.StatusOK:
		r.absent.texts = textDigests(u, res.body, res.contentType)
	}
}

// dropAbsent removes the pages that the site answers like one that does not exist. The
// first page stays: applications of one page show it for all URLs.
func (r *run) dropAbsent() error {
	if r.absent.texts == nil && r.absent.to == "" {
		return nil
	}
	r.journal.mu.Lock()
	records := maps.Clone(r.journal.m.records)
	r.journal.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(records)) {
		rec := records[name]
		u, err := url.Parse(name)
		if err != nil || rec.Run != r.journal.m.run || spelling(name) == spelling(r.scope.start.String()) {
			continue
		}
		why := ""
		switch {
		case rec.To != "" && withoutQuery(rec.To) == r.absent.to && spelling(name) != spelling(rec.To):
			why = "redirects to " + rec.To + ", as pages that do not exist"
		case rec.Hash != "" && r.absent.texts != nil && slices.ContainsFunc(textDigests(u, r.journal.contents(rec), rec.Type), func(d uint64) bool { return slices.Contains(r.absent.texts, d) }):
			why = whyMissing
		default:
			continue
		}
		if err := r.drop(name, why); err != nil {
			return err
		}
	}
	return nil
}

// drop removes a page that is not a document.
func (r *run) drop(u, why string) error {
	r.skip(u, why)
	if _, had := r.journal.m.before[u]; had {
		r.markGone(u)
	}
	return r.journal.append(record{URL: u, Skip: why})
}

// refusePage handles a page that is not a document. The mirror keeps the previous version
// of a page behind a login form; its session may have expired.
func (r *run) refusePage(u, why string, old record) error {
	switch {
	case old.Hash == "":
		return r.failed(u, &failure{reason: why, unwanted: true})
	case why == whyLogin:
		r.fail(u, why)
		r.keepMirrored(u)
		return nil
	}
	return r.drop(u, why)
}

// textDigests returns digests of the visible text of a page, with and without the name of
// the page, which error pages often repeat.
func textDigests(u *url.URL, contents []byte, contentType string) []uint64 {
	name := []byte(path.Base(u.Path))
	without := contents
	if len(name) > 1 {
		without = bytes.ReplaceAll(contents, name, nil)
	}
	digests := []uint64{textDigest(contents, contentType), textDigest(without, contentType)}
	if empty := fnv.New64a().Sum64(); slices.Contains(digests, empty) {
		return nil // a page without text looks like any other
	}
	return digests
}

func withoutQuery(u string) string {
	u, _, _ = strings.Cut(u, "?")
	return u
}

// maxPlaceholder is the maximum number of bytes in the content of a login form or an error
// page, without menus. Documentation about them is longer.
const maxPlaceholder = 800

// noDocument returns whyLogin or whyError for such a page, or "".
func noDocument(contents []byte, contentType string) string {
	if !isHTML(contentType) {
		return ""
	}
	z := html.NewTokenizer(bytes.NewReader(toUTF8(contents, contentType)))
	var title, heading strings.Builder
	var into *strings.Builder
	length, password, around, hidden := 0, false, 0, false
	for {
		switch token := z.Next(); token {
		case html.ErrorToken:
			switch {
			case password:
				return whyLogin
			case isErrorTitle(title.String()) || isErrorTitle(heading.String()):
				return whyError
			}
			return ""
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			end := token == html.EndTagToken
			switch tag := atom.Lookup(name); tag {
			case atom.Nav, atom.Header, atom.Footer, atom.Aside, atom.Dialog:
				if end {
					around = max(0, around-1)
				} else if token == html.StartTagToken {
					around++
				}
			case atom.Script, atom.Style:
				hidden = !end
			case atom.Title, atom.H1:
				into = nil
				if !end {
					into = map[atom.Atom]*strings.Builder{atom.Title: &title, atom.H1: &heading}[tag]
				}
			case atom.Input:
				for more && around == 0 {
					var key, value []byte
					key, value, more = z.TagAttr()
					password = password || string(key) == "type" && strings.EqualFold(string(value), "password")
				}
			}
		case html.TextToken:
			if hidden {
				continue
			}
			said := z.Text()
			if into != nil && into.Len() < maxURL {
				into.Write(said)
			}
			if around == 0 && into != &title {
				for word := range bytes.FieldsSeq(said) {
					length += len(word)
				}
				if length > maxPlaceholder {
					return ""
				}
			}
		}
	}
}

// isErrorTitle reports whether a title is that of an error page, such as "404 - Page not
// found | Manual". Other titles of the same words do not begin with them.
func isErrorTitle(title string) bool {
	title = strings.ToLower(strings.Join(strings.Fields(title), " "))
	for _, separator := range []string{" | ", " – ", " — ", " · ", " :: ", ": "} {
		title = strings.ReplaceAll(title, separator, " - ")
	}
	first, _, _ := strings.Cut(title, " - ")
	first = strings.TrimPrefix(strings.Trim(first, "!.? "), "error ")
	switch first = strings.TrimPrefix(strings.TrimPrefix(first, "404 "), "403 "); first {
	case "404", "403", "404 error", "403 error", "not found", "page not found", "file not found", "document not found", "page does not exist", "this page does not exist",
		"page doesn't exist", "this page doesn't exist", "forbidden", "access denied":
		return true
	}
	return false
}

// dropMasks removes the pages to which many others redirect and no page links, such as an
// error page. Many redirects to the first page do not make it their new address.
func (r *run) dropMasks() error {
	sources := map[string][]string{} // by target
	r.journal.mu.Lock()
	for u, rec := range r.journal.m.records {
		if rec.To == "" || rec.Run != r.journal.m.run || r.redirected[u] {
			continue // the redirects of a chain count as one
		}
		to := r.journal.m.target(u, nil)
		if spelling(u) != spelling(to) && r.journal.m.records[to].Hash != "" {
			sources[to] = append(sources[to], u)
		}
	}
	r.journal.mu.Unlock()
	for _, to := range slices.Sorted(maps.Keys(sources)) {
		first := spelling(to) == spelling(r.scope.start.String()) || spelling(to) == spelling(r.scope.String())
		different := map[string]bool{}
		for _, u := range sources[to] {
			different[spelling(u)] = true
		}
		if len(different) < minMasked || !first && (!r.redirected[to] || r.isLinked(to)) {
			continue
		}
		why := fmt.Sprintf("redirects to %s, as %d pages do", to, len(different))
		for _, u := range slices.Sorted(slices.Values(sources[to])) {
			if err := r.drop(u, why); err != nil {
				return err
			}
		}
		if !first {
			if err := r.drop(to, fmt.Sprintf("%d pages redirect to it, and none links to it", len(different))); err != nil {
				return err
			}
		}
	}
	return nil
}

// minMasked is the minimum number of pages that redirect to the same one, if that is not
// their new address.
const minMasked = 3

// isLinked reports whether a downloaded page links to a URL.
func (r *run) isLinked(u string) bool {
	for _, page := range r.journal.pages() {
		rec, _ := r.journal.known(page)
		if page != u && isHTML(rec.Type) && slices.Contains(scanPage(r.scope, page, r.journal.contents(rec), rec.Type).links, u) {
			return true
		}
	}
	return false
}

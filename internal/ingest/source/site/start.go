package site

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize"
)

// widen extends the default prefix if the user's URL is a page, not a folder: it links to
// pages of the folder that it is in, and to none below itself. A page at the root of the
// site stays alone, because the root may have more than documentation. An existing mirror
// keeps its prefix.
func (r *run) widen(ctx context.Context) {
	if m, err := Open(r.opt.Dir); err == nil && m.URL == r.scope.start.String() {
		if sc, err := newScope(m.URL, m.Prefix); err == nil {
			r.scope.prefix = sc.prefix
		}
		return
	}
	folder := parentOf(r.scope.prefix)
	if folder == "/" || folder == "" || r.readRobots(ctx) != nil {
		return
	}
	u, res, ok := r.firstPage(ctx)
	if !ok {
		return
	}
	r.listed[u.String()] = res
	wide := *r.scope
	wide.prefix = folder
	siblings := false
	for _, link := range scanPage(&wide, u.String(), res.body, res.contentType).links {
		to, err := url.Parse(link)
		switch {
		case err != nil || unwantedLink(to) != "" || spelling(link) == spelling(u.String()) || spelling(link) == spelling(r.scope.start.String()):
		case r.scope.within(to.EscapedPath()):
			return
		case spelling(link) != spelling(wide.String()):
			siblings = true
		}
	}
	if siblings {
		r.scope.prefix = folder
	}
}

// firstPage requests the page at the user's URL.
func (r *run) firstPage(ctx context.Context) (u *url.URL, res response, ok bool) {
	u = r.scope.start
	for range maxHops {
		if !r.robots.allows(u) {
			return nil, response{}, false
		}
		res, err := r.request(ctx, u, record{}, false)
		if err != nil {
			return nil, response{}, false
		}
		if res.location == "" {
			return u, res, res.status == http.StatusOK && isHTML(res.contentType)
		}
		if u, ok = r.scope.resolve(u, res.location); !ok {
			return nil, response{}, false
		}
	}
	return nil, response{}, false
}

// parentOf returns the folder that contains a page or folder, "" for the root.
func parentOf(escaped string) string {
	escaped = strings.TrimSuffix(escaped, "/")
	return escaped[:strings.LastIndexByte(escaped, '/')+1]
}

// maxLeftOut limits the links outside of the prefix that are counted.
const maxLeftOut = 100_000

// leaveOut counts links to other pages of the same origin, but not to its home page.
func (r *run) leaveOut(links []string) {
	for _, link := range links {
		if len(r.leftOut) < maxLeftOut && link != r.scope.origin+"/" {
			r.leftOut[link] = true
		}
	}
}

// reportScope reports the folder of a start page, and the pages outside of the prefix with
// the narrowest prefix that half of them have.
func (r *run) reportScope() {
	sc := r.scope
	if r.opt.Prefix == "" && !sc.listed && sc.prefix != prefixOf(sc.start) {
		r.limit("%s is a page: downloaded its folder %s; to download less, pass --prefix", sc.start, sc)
	}
	if len(r.leftOut) == 0 {
		return
	}
	wide := *sc
	for wide.prefix != "/" {
		wide.prefix = parentOf(wide.prefix)
		n := 0
		for link := range r.leftOut {
			if u, err := url.Parse(link); err == nil && wide.within(u.EscapedPath()) {
				n++
			}
		}
		if 2*n >= len(r.leftOut) {
			r.limit("left out %s outside %s (to download %d of them, pass --prefix %s)", humanize.Count(len(r.leftOut), "linked page"), sc, n, &wide)
			return
		}
	}
}

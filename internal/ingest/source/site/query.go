package site

import (
	"net/url"
	"slices"
	"strings"
)

// maxQueries limits the queries of one path that are followed.
const maxQueries = 1000

// A queried link is one whose URL has parameters that may only vary a page, such as its
// order or a session.
type queried struct{ plain, link string }

// plainURL returns a URL without the parameters that may only vary a page. It keeps those
// whose names say that they select a page: sites of one program have ?title=Install.
func plainURL(u *url.URL) *url.URL {
	var kept []string
	for parameter := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		switch strings.ToLower(name) {
		case "page":
			if strings.Trim(value, "0123456789") == "" {
				continue // of a long list
			}
			fallthrough
		case "title", "topic", "article", "doc", "document", "chapter", "section", "id":
			if value != "" {
				kept = append(kept, parameter)
			}
		}
	}
	plain := *u
	plain.RawQuery, plain.ForceQuery = strings.Join(kept, "&"), false
	return &plain
}

// followQueries returns the queried links whose plain URL the site does not have. For the
// others, the page at the plain URL stands.
func (r *run) followQueries(found []queried) (links []string) {
	for _, q := range found {
		switch all := r.queries[q.plain]; {
		case r.absentPlain[q.plain]:
			links = append(links, q.link)
		case len(all) < maxQueries && !slices.Contains(all, q.link):
			r.queries[q.plain] = append(all, q.link)
		}
	}
	return links
}

// plainFailed returns the queried links of a URL that the site does not have.
func (r *run) plainFailed(plain string) []string {
	links := r.queries[plain]
	if len(links) == 0 {
		return nil
	}
	r.absentPlain[plain] = true
	delete(r.queries, plain)
	// No page links to the plain URL itself, as far as it was requested for its queries.
	r.report.Failed = slices.DeleteFunc(r.report.Failed, func(o Outcome) bool { return o.URL == plain })
	return links
}

package site

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html/charset"
)

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
// without duplicates, and the skipped ones with reasons.
func (s *scope) inScope(base *url.URL, refs []string) (pages []string, skipped []Outcome) {
	seen := map[string]bool{}
	for _, ref := range refs {
		u, ok := s.resolve(base, ref)
		if !ok || seen[u.String()] {
			continue
		}
		seen[u.String()] = true
		if why := unwantedLink(u, true); why != "" {
			skipped = append(skipped, Outcome{u.String(), why})
			continue
		}
		pages = append(pages, u.String())
	}
	return pages, skipped
}

package site

import (
	"bytes"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	pagehtml "github.com/docsearch/docsearch/internal/ingest/format/html"
)

// A scan holds the links of a page.
type scan struct {
	canonical string   // canonical URL within the site, or ""
	links     []string // URLs within the site, without duplicates
	outside   []string // URLs of other pages of the same origin, without duplicates
}

// scanPage extracts the links of an HTML page.
func scanPage(sc *scope, page string, data []byte, contentType string) scan {
	base, err := url.Parse(page)
	if err != nil {
		return scan{}
	}
	s := scanner{scope: sc, base: base, seen: map[string]bool{page: true}, refs: map[string]bool{}}
	text := toUTF8(data, contentType)
	xml := pagehtml.DeclaresXML(text, contentType)
	z := html.NewTokenizer(bytes.NewReader(text))
	for {
		switch token := z.Next(); token {
		case html.ErrorToken:
			if s.nofollow {
				s.links, s.outside = nil, nil
			}
			return s.scan
		case html.StartTagToken, html.SelfClosingTagToken:
			if xml && token == html.SelfClosingTagToken {
				z.NextIsNotRawText()
			}
			name, more := z.TagName()
			tag := atom.Lookup(name)
			switch tag {
			case atom.Noscript, atom.Noframes:
				z.NextIsNotRawText() // content for readers without scripts or frames
				continue
			case atom.A, atom.Area, atom.Base, atom.Frame, atom.Iframe, atom.Link, atom.Meta:
			default:
				continue
			}
			attributes := map[string]string{}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if _, twice := attributes[string(key)]; !twice {
					attributes[string(key)] = string(value)
				}
			}
			s.tag(tag, attributes)
		}
	}
}

type scanner struct {
	scan
	scope    *scope
	base     *url.URL
	based    bool // by the page's base element
	nofollow bool
	refs     map[string]bool // as written in the page
	seen     map[string]bool // URLs
}

func (s *scanner) tag(tag atom.Atom, attributes map[string]string) {
	switch tag {
	case atom.A, atom.Area:
		s.add(attributes["href"])
	case atom.Frame, atom.Iframe:
		s.add(attributes["src"])
	case atom.Base:
		if u, err := s.base.Parse(attributes["href"]); err == nil && !s.based && attributes["href"] != "" {
			s.base, s.based = u, true
			clear(s.refs) // they resolve differently from now on
		}
	case atom.Link:
		for _, rel := range strings.Fields(strings.ToLower(attributes["rel"])) {
			switch rel {
			case "canonical":
				if u, ok := s.scope.resolve(s.base, attributes["href"]); ok && s.canonical == "" {
					s.canonical = u.String()
					s.add(s.canonical)
				}
			case "next", "prev", "previous", "up", "top", "index", "contents", "toc", "start", "chapter", "section":
				s.add(attributes["href"])
			}
		}
	case atom.Meta:
		content := attributes["content"]
		switch {
		case strings.EqualFold(attributes["http-equiv"], "refresh"):
			_, target, _ := strings.Cut(content, ";")
			if key, value, ok := strings.Cut(target, "="); ok && strings.EqualFold(strings.TrimSpace(key), "url") {
				s.add(strings.Trim(strings.TrimSpace(value), `"'`))
			}
		case strings.EqualFold(attributes["name"], "robots"):
			said := strings.FieldsFunc(strings.ToLower(content), func(r rune) bool { return r == ',' || r == ' ' })
			s.nofollow = s.nofollow || slices.Contains(said, "nofollow") || slices.Contains(said, "none")
		}
	}
}

func (s *scanner) add(ref string) {
	ref, _, _ = strings.Cut(ref, "#")
	if ref == "" || s.refs[ref] {
		return
	}
	s.refs[ref] = true
	u, ok := s.scope.resolve(s.base, ref)
	if !ok && u != nil && origin(u) == s.scope.origin && unwantedLink(u) == "" {
		if link := withoutQuery(u.String()); !s.seen[link] {
			s.seen[link] = true
			s.outside = append(s.outside, link)
		}
	}
	if !ok || strings.Contains(u.Path, "/_sources/") {
		return // outside the site, or a source file that Sphinx converted
	}
	if link := u.String(); !s.seen[link] {
		s.seen[link] = true
		s.links = append(s.links, link)
	}
}

// toUTF8 decodes a page well enough to find links.
func toUTF8(data []byte, contentType string) []byte {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return data
	}
	enc, _, _ := charset.DetermineEncoding(data, contentType)
	// Decoders replace invalid bytes up to the end of the text.
	decoded, _ := enc.NewDecoder().Bytes(data)
	return decoded
}

// unwantedLink returns the reason why a URL is not a page, or "".
func unwantedLink(u *url.URL) string {
	switch ext := strings.ToLower(path.Ext(u.Path)); ext {
	case ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".ico", ".bmp", ".tif", ".tiff",
		".css", ".woff", ".woff2", ".ttf", ".eot", ".mp3", ".mp4", ".webm", ".ogg", ".wav", ".mov", ".avi",
		".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".tar", ".7z", ".rar", ".jar", ".war", ".whl",
		".exe", ".msi", ".dmg", ".deb", ".rpm", ".apk", ".iso", ".wasm",
		".pdf", ".epub", ".mobi", ".doc", ".docx", ".ppt", ".pptx", ".xls", ".xlsx", ".odt":
		return "a " + ext + " file"
	}
	return ""
}

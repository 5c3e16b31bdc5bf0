package setup

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	pagehtml "github.com/docsearch/docsearch/internal/ingest/format/html"
)

// A pageHead is the metadata in the head of an HTML page.
type pageHead struct {
	title    string // may contain the site's name
	siteName string
	url      string // canonical URL
}

// parseHead reads the head of a page. It stops at the body.
func parseHead(page []byte) pageHead {
	var h pageHead
	xml := pagehtml.DeclaresXML(page, "")
	z := html.NewTokenizer(bytes.NewReader(page))
	inTitle := false
	for {
		switch token := z.Next(); token {
		case html.ErrorToken:
			return h
		case html.TextToken:
			if inTitle && h.title == "" {
				h.title = strings.Join(strings.Fields(string(z.Text())), " ")
			}
		case html.EndTagToken:
			inTitle = false
			if name, _ := z.TagName(); string(name) == "head" {
				return h
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if xml && token == html.SelfClosingTagToken {
				z.NextIsNotRawText()
			}
			t := z.Token()
			switch t.Data {
			case "title":
				inTitle = true
			case "body":
				return h
			case "link":
				if strings.EqualFold(attribute(t, "rel"), "canonical") {
					h.setURL(attribute(t, "href"))
				}
			case "meta":
				switch strings.ToLower(attribute(t, "property") + attribute(t, "name")) {
				case "og:site_name":
					h.siteName = strings.TrimSpace(attribute(t, "content"))
				case "og:url":
					if h.url == "" {
						h.setURL(attribute(t, "content"))
					}
				}
			}
		}
	}
}

func (h *pageHead) setURL(s string) {
	if u, err := url.Parse(strings.TrimSpace(s)); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		u.Fragment, u.RawQuery = "", ""
		h.url = u.String()
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

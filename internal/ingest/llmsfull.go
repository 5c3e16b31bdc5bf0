package ingest

import (
	"net/url"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A part is a document of a file that has many, end to end.
type part struct {
	url  string
	text string
}

// isFull reports whether the page of that URL is a site's llms-full.txt, which
// has all of its documents.
func isFull(u string) bool { return path.Base(fileOf(u)) == "llms-full.txt" }

// splitFull splits a site's llms-full.txt into its documents. There is no rule
// for how it tells them apart; those who write one begin each document with its
// title or with front matter, and say below where it is from:
//
//	# Title                  ---
//	Source: https://...      source_url: https://...
//	                         ---
//
// Only a place on the site itself is believed. What stands before the first
// document is a document of the file's own URL.
func splitFull(text, base string) []part {
	site, err := url.Parse(base)
	if err != nil {
		return []part{{base, text}}
	}
	var urls []string
	bodies := map[string][]string{} // of each
	add := func(u string, lines []string) {
		body := strings.Join(lines, "\n")
		if strings.TrimSpace(body) == "" {
			return
		}
		if bodies[u] == nil {
			urls = append(urls, u)
		}
		bodies[u] = append(bodies[u], body)
	}
	lines := document.SplitLines([]byte(text))
	from, now := 0, base // where the document begins, and its URL
	fence := ""
	for i, line := range lines {
		switch bare := strings.TrimSpace(line); {
		case fence != "":
			if document.ClosesFence(bare, fence) {
				fence = ""
			}
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence = document.ClosingFence(bare)
		default:
			u := originOf(line)
			if u == nil || u.Host != site.Host {
				continue
			}
			if begin := beginOf(lines[from:i]); begin >= 0 {
				add(now, lines[from:from+begin])
				from, now = from+begin, u.String()
			}
		}
	}
	add(now, lines[from:])
	var parts []part
	for _, u := range urls {
		parts = append(parts, part{u, strings.Join(bodies[u], "\n\n")})
	}
	return parts
}

// originOf is the URL that a line says a document is from, nil if it says none.
func originOf(line string) *url.URL {
	key, value, _ := strings.Cut(line, ":")
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "source", "source_url", "url":
		value = strings.Trim(value, " \t\r\"'<>")
		if u, err := url.Parse(value); err == nil && isURL(value) {
			u.Fragment, u.RawFragment = "", ""
			return u
		}
	}
	return nil
}

// beginOf is where in lines, behind which a document says where it is from, that
// document begins: at its title or front matter. It is negative if there is
// neither.
func beginOf(lines []string) int {
	const most = 12 // lines of front matter
	for i := len(lines) - 1; i >= max(0, len(lines)-most); i-- {
		switch bare := strings.TrimSpace(lines[i]); {
		case strings.HasPrefix(bare, "# "), bare == "---":
			return i
		case bare != "" && !strings.Contains(bare, ":"):
			return -1
		}
	}
	return -1
}

package ingest

import (
	"net/url"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// An llmsDocument is a document within llms-full.txt.
type llmsDocument struct {
	url  string
	text string
}

// isLLMSFull reports whether the URL is that of a site's llms-full.txt, which
// contains all of its documents.
func isLLMSFull(u string) bool { return path.Base(fileOf(u)) == "llms-full.txt" }

// splitLLMSFull splits a site's llms-full.txt into its documents. The format
// does not specify a separator. In practice, each document begins with a title
// or front matter, followed by its URL:
//
//	# Title                  ---
//	Source: https://...      source_url: https://...
//	                         ---
//
// URLs of other hosts are ignored. Text before the first document belongs to
// the URL of the file itself.
func splitLLMSFull(text, base string) []llmsDocument {
	site, err := url.Parse(base)
	if err != nil {
		return []llmsDocument{{base, text}}
	}
	var urls []string
	bodies := map[string][]string{} // by URL
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
	from, now := 0, base // start and URL of the current document
	var fence document.Fence
	for i, line := range lines {
		if fence.Next(strings.TrimSpace(line)) {
			continue
		}
		u := sourceURL(line)
		if u == nil || u.Host != site.Host {
			continue
		}
		if begin := documentStart(lines[from:i]); begin >= 0 {
			add(now, lines[from:from+begin])
			from, now = from+begin, u.String()
		}
	}
	add(now, lines[from:])
	var parts []llmsDocument
	for _, u := range urls {
		parts = append(parts, llmsDocument{u, strings.Join(bodies[u], "\n\n")})
	}
	return parts
}

// sourceURL returns the document URL that a line declares, or nil.
func sourceURL(line string) *url.URL {
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

// documentStart returns the index of the title or front matter in lines, which
// precede the line that declares the URL. It is negative if there is neither.
func documentStart(lines []string) int {
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

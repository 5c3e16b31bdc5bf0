package ingest

import (
	"net/netip"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/source/archive"
)

// projectSubdomains are hosts on which each subdomain is a separate project; on
// projectFolders hosts, each top-level folder is.
var (
	projectSubdomains = [...]string{".readthedocs.io", ".readthedocs.org", ".netlify.app", ".vercel.app", ".pages.dev",
		".web.app", ".gitbook.io", ".mintlify.app"}
	projectFolders = [...]string{".github.io", ".gitlab.io"}
)

// genericNames are parts of host names and paths that do not identify a
// project.
var genericNames = [...]string{
	"www", "docs", "doc", "documentation", "developer", "developers", "devdocs", "dev", "help", "api", "apis", "learn",
	"guide", "guides", "manual", "manuals", "reference", "support", "wiki", "pkg", "static", "en", "en-us", "html",
	"index", "latest", "stable", "current", "main", "master", "llms", "llms-full", "sitemap",
}

// SiteName suggests a database name for the site at a URL: a label of the host
// name, or a folder if the host serves several sites or has a generic name. It
// returns "" if there is none.
func SiteName(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	for _, domain := range projectSubdomains {
		if project, ok := strings.CutSuffix(host, domain); ok {
			return project[strings.LastIndexByte(project, '.')+1:]
		}
	}
	for _, domain := range projectFolders {
		if owner, ok := strings.CutSuffix(host, domain); ok {
			if project := firstFolder(u.Path); project != "" {
				return project
			}
			return owner
		}
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
		labels := strings.Split(host, ".")
		labels = labels[:max(1, len(labels)-1)]
		if n := len(labels); n > 1 && slices.Contains([]string{"co", "com", "org", "net", "ac", "gov"}, labels[n-1]) {
			labels = labels[:n-1]
		}
		for _, label := range slices.Backward(labels) {
			if !isCommon(label) {
				return label
			}
		}
	}
	return firstFolder(u.Path)
}

// firstFolder returns the first distinctive folder or file name of the path.
func firstFolder(p string) string {
	for name := range strings.SplitSeq(strings.ToLower(p), "/") {
		if ext := path.Ext(name); ext == ".html" || ext == ".htm" || ext == ".txt" || ext == ".xml" {
			name = strings.TrimSuffix(name, ext)
		}
		if name != "" && !isCommon(name) && strings.Trim(name, "v0123456789.") != "" {
			return name
		}
	}
	return ""
}

func isCommon(name string) bool { return slices.Contains(genericNames[:], name) }

// WithScheme returns the https URL that a source argument means if it begins with a
// public host name and is no file: "docs.example.com/guide". A name that ends like a
// file is not a host.
func WithScheme(arg string) (string, bool) {
	host, p, hasPath := strings.Cut(arg, "/")
	if strings.ContainsAny(arg, `\@ `) || strings.Contains(arg, "://") {
		return "", false
	}
	if _, err := os.Lstat(arg); err == nil || !hasPath && (format.ParserFor(arg) != nil || archive.Is(arg)) {
		return "", false
	}
	name, port, hasPort := strings.Cut(host, ":")
	if _, err := strconv.ParseUint(port, 10, 16); hasPort && err != nil {
		return "", false
	}
	suffix, official := publicsuffix.PublicSuffix(strings.ToLower(name))
	if !official && !strings.Contains(suffix, ".") || suffix == strings.ToLower(name) ||
		strings.Trim(name, ".") != name || strings.Contains(name, "..") {
		return "", false
	}
	return "https://" + host + "/" + p, true
}

package ingest

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
)

// hosting are the domains below which every label is another project. Of those
// of the second list it is the first folder that is.
var (
	hosting    = [...]string{".readthedocs.io", ".readthedocs.org", ".netlify.app", ".vercel.app", ".pages.dev", ".web.app", ".gitbook.io", ".mintlify.app"}
	hostingDir = [...]string{".github.io", ".gitlab.io"}
)

// common are the names that hosts and folders of documentation have whatever
// it is of.
var common = [...]string{
	"www", "docs", "doc", "documentation", "developer", "developers", "devdocs", "dev", "help", "api", "apis", "learn",
	"guide", "guides", "manual", "manuals", "reference", "support", "wiki", "pkg", "static", "en", "en-us", "html",
	"index", "latest", "stable", "current", "main", "master", "llms", "llms-full", "sitemap",
}

// SiteName is what to call the site at a URL: after its host, or after the path
// where the host serves many sites or none that has a name. "" if nothing
// tells.
func SiteName(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	for _, domain := range hosting {
		if project, ok := strings.CutSuffix(host, domain); ok {
			return project[strings.LastIndexByte(project, '.')+1:]
		}
	}
	for _, domain := range hostingDir {
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

// firstFolder is the first folder or file of the path whose name says something.
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

func isCommon(name string) bool { return slices.Contains(common[:], name) }

package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"mime"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/format/html"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/format/plaintext"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/progress"
)

// KindSite is the source kind of a Site in manifests.
const KindSite = "site"

// MirrorName is the folder of a database with the downloaded pages of its site.
// An update requests only changed pages.
const MirrorName = "source"

// SiteOptions configure the download of a site. They are stored in the manifest
// with the build's options. Zero values mean the defaults of package site.
type SiteOptions struct {
	Prefix       string         `json:"prefix,omitempty"`
	Discovery    site.Discovery `json:"way,omitempty"`
	MaxPages     int            `json:"max_pages,omitempty"`
	MaxBytes     int64          `json:"max_bytes,omitempty"`
	Delay        time.Duration  `json:"delay,omitempty"`
	Concurrency  int            `json:"concurrency,omitempty"`
	Timeout      time.Duration  `json:"timeout,omitempty"`
	IgnoreRobots bool           `json:"ignore_robots,omitempty"`
	Private      bool           `json:"private,omitempty"`
	Headers      []site.Header  `json:"headers,omitempty"`
}

// A Site is a source: the pages of a documentation site. It implements package
// index's Source.
type Site struct {
	url      string
	database string // folder of the database
	opt      SiteOptions
	filter   folder.Filter
	keeper
	report  site.Report
	changes Changes
}

// NewSite returns the source for a site, for the database in folder database.
// The patterns in which match page paths relative to the prefix.
func NewSite(url, database string, opt SiteOptions, which folder.Options) (*Site, error) {
	filter, err := folder.NewFilter(which)
	if err != nil {
		return nil, err
	}
	return &Site{url: url, database: database, opt: opt, filter: filter}, nil
}

// Report describes the last download, and Changes the documents that changed.
func (s *Site) Report() site.Report { return s.report }

func (s *Site) Changes() Changes { return s.changes }

// Prepare updates the mirror and writes the passages of its pages into dir. An
// interrupted download resumes.
func (s *Site) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error) {
	folder := filepath.Join(s.database, MirrorName)
	var err error
	s.report, err = site.Fetch(ctx, site.Options{
		URL: s.url, Dir: folder, Prefix: s.opt.Prefix, Discovery: s.opt.Discovery,
		MaxPages: s.opt.MaxPages, MaxBytes: s.opt.MaxBytes, Delay: s.opt.Delay, Concurrency: s.opt.Concurrency,
		Timeout: s.opt.Timeout, IgnoreRobots: s.opt.IgnoreRobots, Private: s.opt.Private, Headers: s.opt.Headers, Progress: report,
		Refuse: s.refuse, KeepLost: s.keepLost, Supports: isPageFile,
	})
	if err != nil {
		return generation.Prepared{}, err
	}
	m, err := site.Open(folder)
	if err != nil {
		return generation.Prepared{}, err
	}
	var skipped []generation.Skipped
	for _, limit := range s.report.Limits {
		skipped = append(skipped, generation.Skipped{Name: m.Prefix, Reason: limit})
	}
	for _, o := range slices.Concat(s.report.Failed, s.report.Skipped) {
		skipped = append(skipped, generation.Skipped{Name: o.URL, Reason: o.Reason})
	}
	c, items, out := s.collector(m)
	skipped = append(skipped, out...)
	prepared, err := collect(ctx, dir, before, generation.Source{Kind: KindSite, Location: s.url}, c, items, skipped, report)
	s.changes = c.changes
	if err != nil {
		return generation.Prepared{}, err
	}
	if len(s.opt.Headers) > 0 {
		prepared.Perm &= generation.OwnerPerm // the site shows the pages only to the user
	}
	return prepared, passage.WriteAliases(dir.Join(passage.AliasesName), m.Aliases())
}

// Discard removes the mirror of a failed first build unless it has pages, from
// which the next build resumes.
func (s *Site) Discard() { site.Discard(filepath.Join(s.database, MirrorName)) }

// refuse returns the reason not to download the page at a path, or "".
func (s *Site) refuse(path string) string {
	if s.filter.Excluded(cmp.Or(path, firstPage)) {
		return "excluded"
	}
	return ""
}

// firstPage is the path that patterns see for the page at the prefix itself.
const firstPage = "index.html"

// collector returns a collector for the mirror, the items to collect, and the
// pages that were downloaded only for their links.
func (s *Site) collector(m *site.Mirror) (*collector, []source.Item, []generation.Skipped) {
	stock := &siteReader{mirror: m, pages: map[string]site.Page{}, aliases: m.Aliases(), ignoreRobots: s.opt.IgnoreRobots}
	var items []source.Item
	var skipped []generation.Skipped
	for _, p := range m.Pages() {
		if !s.filter.Included(cmp.Or(m.Subtree(p), firstPage)) {
			skipped = append(skipped, generation.Skipped{Name: p.URL, Reason: "not included"})
			continue
		}
		if isLLMSFull(p.URL) {
			items = append(items, stock.addLLMSFull(p)...)
			continue
		}
		stock.pages[p.URL] = p
		items = append(items, source.Item{Name: p.URL, Size: p.Size, Hash: pageHash(p), Context: source.Digest(p.ContentType)})
	}
	var links []string // link targets depend on the aliases of all pages
	for _, u := range slices.Sorted(maps.Keys(stock.aliases)) {
		links = append(links, u, stock.aliases[u])
	}
	if s.opt.IgnoreRobots {
		links = append(links, "robots")
	}
	return &collector{Reader: stock, keeper: s.keeper, context: source.Digest(links...), keepSecrets: s.filter.KeepSecrets}, items, skipped
}

// pageHash returns source.Hash of the page's bytes, derived from the mirror's
// record.
func pageHash(p site.Page) string {
	sum, err := hex.DecodeString(p.Hash)
	if err != nil || len(sum) != sha256.Size {
		return "" // unknown until the page is read
	}
	return string(sum[:sha256.Size/2])
}

// A siteReader reads the pages of a mirror.
type siteReader struct {
	mirror       *site.Mirror
	pages        map[string]site.Page // by URL
	parts        map[string]string    // documents of llms-full.txt, by URL
	aliases      map[string]string    // other URLs of pages, to their canonical ones
	ignoreRobots bool
}

// addLLMSFull adds the documents of an llms-full.txt.
func (s *siteReader) addLLMSFull(p site.Page) []source.Item {
	data, err := s.mirror.Read(p)
	if err == nil {
		data, err = decodeText(data, p.ContentType)
	}
	if err != nil {
		s.pages[p.URL] = p // the error is reported when the page is read
		return []source.Item{{Name: p.URL, Size: p.Size, Hash: pageHash(p)}}
	}
	if s.parts == nil {
		s.parts = map[string]string{}
	}
	var items []source.Item
	var parts []llmsDocument
	if withoutFault(func() error { parts = splitLLMSFull(string(data), p.URL); return nil }) != nil {
		parts = []llmsDocument{{p.URL, string(data)}}
	}
	for _, part := range parts {
		if _, known := s.parts[part.url]; known || s.pages[part.url].URL != "" {
			continue // the site has it as a page
		}
		s.parts[part.url] = part.text
		s.pages[part.url] = site.Page{URL: part.url, ContentType: "text/markdown; charset=utf-8"}
		items = append(items, source.Item{Name: part.url, Size: int64(len(part.text)), Hash: source.Hash([]byte(part.text))})
	}
	return items
}

func (s *siteReader) Load(it *source.Item) ([]byte, error) {
	if text, ok := s.parts[it.Name]; ok {
		return []byte(text), nil
	}
	data, err := s.mirror.Read(s.pages[it.Name])
	if err != nil {
		err = errors.New(generation.Unreadable + source.WithoutPath(err).Error())
	}
	return data, err
}

// Parse parses HTML by its content type. For other pages, the extension is more specific.
func (s *siteReader) Parse(_ context.Context, data []byte, it *source.Item) (document.Document, error) {
	contentType := s.pages[it.Name].ContentType
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(contentType, ";")
	}
	switch name := fileOf(it.Name); {
	case strings.Contains(media, "html"):
		return s.parseHTML(data, contentType, it.Name)
	case path.Base(name) == "llms.txt", path.Base(name) == "llms-full.txt":
		return parseText(data, contentType, markdown.Parse)
	case isPageFile(name):
		return s.parseFile(data, contentType, it.Name)
	case strings.Contains(media, "markdown"):
		return parseText(data, contentType, markdown.Parse)
	}
	return parseText(data, contentType, plaintext.Parse)
}

// isPageFile reports whether the extension of a page's path is that of a format in which
// sites serve documentation. Many servers do not know the content type of these.
func isPageFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".xhtml", ".mdx", ".rst", ".rest", ".adoc", ".asciidoc", ".txt", ".text", ".ipynb",
		".org", ".pod":
		return true
	}
	return format.IsMarkdown(name)
}

// parseFile parses a page in the format of its extension.
func (s *siteReader) parseFile(data []byte, contentType, u string) (document.Document, error) {
	name := fileOf(u)
	text, err := decodeText(data, contentType)
	if err != nil {
		return document.Document{}, err
	}
	doc, err := format.ParserFor(name)(text, name)
	if root, rest, _ := strings.Cut(u, "://"); err == nil {
		host, _, _ := strings.Cut(rest, "/")
		for i := range doc.Sections {
			for k := range doc.Sections[i].Links {
				link := &doc.Sections[i].Links[k]
				link.To = s.canonicalURL(root + "://" + host + "/" + link.To)
			}
		}
	}
	return doc, err
}

func parseText(data []byte, contentType string, read func([]byte) (document.Document, error)) (document.Document, error) {
	text, err := decodeText(data, contentType)
	if err != nil {
		return document.Document{}, err
	}
	return read(text)
}

// decodeText decodes a page with that content type to UTF-8 text.
func decodeText(data []byte, contentType string) ([]byte, error) {
	if !utf8.Valid(data) {
		encoding, _, _ := charset.DetermineEncoding(data, contentType)
		decoded, err := encoding.NewDecoder().Bytes(data)
		if err != nil {
			return nil, err
		}
		data = decoded
	}
	return document.DecodeText(data)
}

func (s *siteReader) parseHTML(data []byte, contentType, u string) (document.Document, error) {
	page, err := html.Parse(data, contentType, u)
	if err != nil {
		return document.Document{}, err
	}
	if page.NoIndex && !s.ignoreRobots {
		return document.Document{}, errors.New("noindex")
	}
	file := page
	if fileOf(u) != indexFileOf(u) && page.Depth > 0 {
		file.Depth-- // the file is next to the folder
	}
	if why := cmp.Or(format.PageSkipReason(fileOf(u), &file), format.PageSkipReason(indexFileOf(u), &page)); why != "" {
		return document.Document{}, errors.New(why)
	}
	for i := range page.Sections {
		for k := range page.Sections[i].Links {
			link := &page.Sections[i].Links[k]
			link.Target = s.canonicalURL(link.Target)
		}
	}
	return format.FromHTML(&page), nil
}

// canonicalURL returns a link target with its page's aliases resolved.
func (s *siteReader) canonicalURL(target string) string {
	to, fragment, found := strings.Cut(target, "#")
	name, known := s.aliases[to]
	switch {
	case !known:
		return target
	case found:
		return name + "#" + fragment
	}
	return name
}

func (*siteReader) IncludesDigest([]string) string { return "" }

func (*siteReader) NeedsSurvey(string) bool { return false }

func (*siteReader) Survey([]byte, string) source.Survey { return source.Survey{} }

func (s *siteReader) Target(name, href string) string {
	base, err := url.Parse(name)
	if err != nil || strings.HasPrefix(href, "#") {
		return ""
	}
	to, err := base.Parse(href)
	if err != nil {
		return ""
	}
	fragment := to.Fragment // unescaped, like anchors
	to.Fragment, to.RawFragment = "", ""
	page := s.canonicalURL(to.String())
	if fragment != "" {
		page += "#" + fragment
	}
	return page
}

// indexFileOf returns the file name of a URL, with index.html for a folder.
func indexFileOf(u string) string {
	if folder, ok := strings.CutSuffix(fileOf(u), ".html"); ok && strings.HasSuffix(u, "/") {
		return folder + "/index.html"
	}
	return fileOf(u)
}

// fileOf returns the file name of a URL: its path, with FOLDER.html for a
// folder. Names that are not URLs are returned unchanged.
func fileOf(u string) string {
	parsed, err := url.Parse(u)
	if err != nil || !isURL(u) {
		return u
	}
	name := strings.TrimPrefix(parsed.Path, "/")
	if folder, ok := strings.CutSuffix(name, "/"); ok {
		return folder + ".html"
	}
	return name
}

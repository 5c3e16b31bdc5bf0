// Package siteaddress derives the public addresses of pages from the files of a
// documentation site: "src/content/reference/hooks.md" is
// "https://example.org/reference/hooks".
//
// The configuration of a site generator says where its documents are, and which rules turn
// their paths into addresses. Without a configuration, the links do: pages link to each
// other by their addresses, so the links of a sample show which folder has which address.
// The front matter of a page can change the last part of its address or all of it.
package siteaddress

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// A Site knows the addresses of the pages of a source.
type Site struct {
	below string // path of the source in the tree, "" or with a slash at the end
	rules []rule // the deepest folders first
	// redirects are addresses by that to which the configuration redirects them, without the
	// slash at its end.
	redirects map[string][]string
	// packages returns the import path of a file of Go packages. The other fields are empty
	// then.
	packages func(name string) string
}

// GoPackages returns the site of Go packages: each has a page on pkg.go.dev.
func GoPackages(importPath func(name string) string) *Site { return &Site{packages: importPath} }

// A rule says which addresses the documents below a folder have.
type rule struct {
	folder string // path in the tree, "" or with a slash at the end
	base   string // address of the folder: a URL, "/" or a path, with a slash at the end; or "": see passage.Address
	style  style
}

// A style says how a generator turns the path of a document into an address.
type style struct {
	ending  string // of pages: "", "/" or ".html"
	numbers bool   // removes the numbers that order files
	groups  bool   // removes folders in parentheses
	lower   bool   // converts to lower case
	pages   bool   // documents are the files page.md of folders
	flat    bool   // removes all folders
	twin    bool   // a document with the name of its folder is the folder's page
	locale  string // folder of the default language, which addresses lack
	asIs    bool   // all files, also others than pages, have their paths as addresses
	hugo    bool   // redirects without a slash at their beginning are relative to the page
	fields  fields // that front matter has
}

// fields are the names of fields in front matter.
type fields struct {
	whole string    // a path below the site
	below string    // a path below the folder of the rule, or below home
	home  string    // base of below and redirects if it differs from the rule's
	last  [2]string // the last segment
	// redirects are paths that the site redirects to the page, below the folder of the rule or
	// home.
	redirects [2]string
}

// Find returns the site of a source. tree contains the source in the folder below, and names
// are the paths of its documents in the source. root is the folder of the pages below the
// database's URL prefix, as a recipe states it; it ends in "/**" if addresses lack the
// folders in it. fallback is the same, if nothing else tells.
func Find(tree fs.FS, below string, names []string, root, fallback string) *Site {
	s := &Site{below: withSlash(below)}
	files, pages := make([]string, len(names)), make([]string, 0, len(names))
	for i, name := range names {
		if files[i] = s.below + name; isPage(name) {
			pages = append(pages, files[i])
		}
	}
	stated := func(folder string) []rule {
		folder, flat := strings.CutSuffix(folder, "/**")
		return []rule{{folder: s.below + withSlash(folder),
			style: style{numbers: true, groups: true, flat: flat, fields: anyFields}}}
	}
	if root != "" {
		s.rules = stated(root)
	} else {
		var all []rule
		all, s.redirects = configured(tree, pages)
		s.rules = slices.DeleteFunc(all, func(r rule) bool {
			below := pages
			if r.style.asIs {
				below = files
			}
			return !slices.ContainsFunc(below, func(name string) bool { return strings.HasPrefix(name, r.folder) })
		})
	}
	if len(s.rules) == 0 {
		s.rules = learned(tree, pages)
	}
	if len(s.rules) == 0 && fallback == "" {
		fallback = s.commonFolder(pages)
	}
	if len(s.rules) == 0 && fallback != "" {
		s.rules = stated(fallback)
	}
	if slices.ContainsFunc(pages, func(name string) bool { return path.Base(name) == "_index.md" }) {
		for i := range s.rules {
			s.rules[i].style.hugo = true
		}
	}
	slices.SortStableFunc(s.rules, func(a, b rule) int { return len(b.folder) - len(a.folder) })
	return s
}

// commonFolder returns the folder of all documents in the source if sites hide folders of its
// name, else "".
func (s *Site) commonFolder(names []string) string {
	const enough = 3 // documents
	if len(names) < enough {
		return ""
	}
	common := names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, common) || common != "" && !strings.HasSuffix(common, "/") {
			common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
		}
	}
	common = strings.TrimSuffix(strings.TrimPrefix(common, s.below), "/")
	for folder := range strings.SplitSeq(common, "/") {
		if !passage.IsHiddenFolder(folder) {
			return ""
		}
	}
	return common
}

// Digest returns a digest of all that addresses depend on, apart from the documents; "" if
// there is nothing.
func (s *Site) Digest() string {
	if s == nil || len(s.rules) == 0 { // the addresses of Go packages depend on nothing else
		return ""
	}
	parts := []string{"addresses", s.below}
	for _, r := range s.rules {
		parts = append(parts, fmt.Sprintf("%+v", r))
	}
	if len(s.redirects) > 0 {
		parts = append(parts, fmt.Sprint(s.redirects))
	}
	return source.Digest(parts...)
}

// anyFields are those of front matter if the generator is unknown.
var anyFields = fields{whole: "permalink", last: [2]string{"slug", "id"},
	redirects: [2]string{"redirect_from", "aliases"}}

// Address returns the address of a document's page, in the form of passage.Address, or "", and
// the addresses that the site redirects to the page. data is the document.
func (s *Site) Address(name string, data []byte) (address string, redirects []string) {
	if s != nil && s.packages != nil && path.Ext(name) == ".go" {
		return "https://pkg.go.dev/" + s.packages(name), nil
	}
	if s == nil {
		return "", nil
	}
	for _, r := range s.rules {
		rest, ok := strings.CutPrefix(s.below+name, r.folder)
		switch {
		case ok && r.style.asIs:
			return r.base + rest, nil
		case ok && isPage(name):
			front := frontMatter(data)
			address = r.address(rest, front)
			redirects = append(r.redirectsTo(address, rest, front), s.redirects[strings.TrimSuffix(address, "/")]...)
			slices.Sort(redirects)
			return address, slices.Compact(redirects)
		}
	}
	if !isPage(name) {
		return "", nil
	}
	front := frontMatter(data)
	if v := front[anyFields.whole]; isPath(v) {
		return "*/" + strings.TrimLeft(v, "/"), nil
	}
	for _, field := range anyFields.last {
		if v := front[field]; isPath(v) {
			return "*/" + strings.TrimLeft(path.Join(path.Dir(name), v), "/"), nil
		}
	}
	return "", nil
}

// redirectsTo returns the addresses that front matter redirects to the page with an address.
// The page's document is at the path rest below the rule's folder.
func (r *rule) redirectsTo(address, rest string, front map[string]string) (list []string) {
	root := cmp.Or(r.style.fields.home, r.base)
	if r.style.fields == anyFields {
		root = siteOf(r.base)
	}
	folder, _ := path.Split(strings.TrimSuffix(strings.TrimPrefix(address, root), "/"))
	language, _, _ := strings.Cut(rest, "/")
	translated := r.style.locale != "" && language != r.style.locale && passage.LanguageCode(language) != ""
	for _, field := range r.style.fields.redirects {
		for _, from := range items(front[field]) {
			switch {
			case strings.HasPrefix(from, "/"):
				from = path.Clean(from)
			case !r.style.hugo:
				continue // a name, not a path
			default:
				from = path.Join("/", folder, from)
			}
			if translated && !strings.HasPrefix(from, "/"+language+"/") {
				from = "/" + language + from
			}
			if from != "/" && isPath(from) {
				list = append(list, join(root, from, ""))
			}
		}
	}
	return list
}

// isPage reports whether a file can be the source of a page. A file in HTML is a page, at its
// own path.
func isPage(name string) bool {
	switch ext := path.Ext(name); ext {
	case ".mdx", ".rst", ".adoc", ".asciidoc", ".txt":
		return true
	default:
		return markdown.Reads(ext)
	}
}

// address returns the address of the document at a path below the rule's folder.
func (r *rule) address(rest string, front map[string]string) string {
	base, st := r.base, &r.style
	if v := front[st.fields.whole]; isPath(v) && st.fields.whole != "" {
		return siteOf(base) + strings.TrimPrefix(v, "/")
	}
	if v := front[st.fields.below]; isPath(v) && st.fields.below != "" {
		ending := strings.TrimSuffix(st.ending, ".html") // a permalink is complete
		if strings.HasSuffix(v, "/") {
			ending = "/"
		}
		return join(cmp.Or(st.fields.home, base), v, ending)
	}

	isRST := path.Ext(rest) == ".rst"
	rest = strings.TrimSuffix(rest, path.Ext(rest))
	segments := strings.Split(rest, "/")
	if st.locale != "" && segments[0] == st.locale && len(segments) > 1 {
		segments = segments[1:]
	}
	last := len(segments) - 1
	switch name := segments[last]; {
	case st.pages && name != "page":
		// a part of another page
	case st.pages, passage.IsIndexName(name), st.twin && last > 0 && plain(name, st) == plain(segments[last-1], st):
		segments[last] = ""
	}
	if st.flat {
		segments, last = segments[last:], 0
	}

	for _, field := range st.fields.last {
		v := front[field]
		if field == "" || !isPath(v) {
			continue
		}
		if strings.HasPrefix(v, "/") {
			return join(base, v, st.ending)
		}
		if segments[last] == "" && last > 0 && field == "slug" && st.twin {
			last-- // a section's slug replaces the folder
		}
		segments = append(segments[:last:last], v)
		break
	}

	kept := make([]string, 0, len(segments))
	for _, s := range segments {
		isGroup := strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")")
		if s = plain(s, st); s != "" && !(isGroup && st.groups) {
			kept = append(kept, s)
		}
	}

	ending := st.ending
	if ending == "" && isRST && st.fields == anyFields {
		ending = ".html" // Sphinx, with its configuration elsewhere
	}
	if segments[last] == "" && ending != "" {
		ending = "/"
	}
	return join(base, strings.Join(kept, "/"), ending)
}

// plain returns a segment without its number, in the style's case.
func plain(segment string, st *style) string {
	if st.numbers {
		segment = passage.WithoutNumber(segment)
	}
	if st.lower {
		segment = strings.ToLower(strings.ReplaceAll(segment, " ", "-"))
	}
	return segment
}

// isPath reports whether a value of front matter can be a path: not a URL or a pattern.
func isPath(v string) bool {
	return v != "" && !strings.ContainsAny(v, " :{}<>#?*\\\n") && !strings.Contains("/"+v+"/", "/../")
}

// join returns the address of a path below a base. Pages other than those of folders have
// the ending, unless the path has one.
func join(base, rest, ending string) string {
	rest = strings.Trim(rest, "/")
	switch {
	case rest == "" && base == "":
		return "./"
	case rest == "":
		return base
	case path.Ext(rest) == ".html":
		return base + rest
	}
	return base + rest + ending
}

// siteOf returns the address of the site's first page.
func siteOf(base string) string {
	if at := strings.Index(base, "://"); at >= 0 {
		host, _, _ := strings.Cut(base[at+3:], "/")
		return base[:at+3] + host + "/"
	}
	return "/"
}

func withSlash(s string) string {
	if s = strings.TrimRight(s, "/"); s == "" || s == "." {
		return ""
	}
	return s + "/"
}

// frontMatter returns the fields of a document's front matter whose values are in one line or
// are lists: see items.
func frontMatter(data []byte) map[string]string {
	const most = 8 << 10
	data = bytes.TrimPrefix(data[:min(len(data), most)], []byte("\xef\xbb\xbf"))
	fence, separator := "---", ":"
	if bytes.HasPrefix(data, []byte("+++")) {
		fence, separator = "+++", "="
	}
	if !bytes.HasPrefix(data, []byte(fence)) {
		return nil
	}
	var front map[string]string
	last, isOpen := "", false // the last field, and whether its list has no end yet
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimRight(line, " \r\t"); i > 0 && (line == fence || line == "...") {
			return front
		}
		if item := strings.TrimLeft(line, " \t"); isOpen || last != "" && strings.HasPrefix(item, "- ") {
			front[last] += "\n" + item
			isOpen = isOpen && !strings.HasSuffix(item, "]")
			continue
		}
		key, value, ok := strings.Cut(line, separator)
		if !ok || key != strings.TrimLeft(key, " \t-#[") {
			continue
		}
		if front == nil {
			front = map[string]string{}
		}
		last, value = strings.TrimSpace(key), strings.TrimSpace(value)
		isOpen = strings.HasPrefix(value, "[") && !strings.Contains(value, "]")
		front[last] = unquote(value)
	}
	return nil
}

// items returns the items of a list in a value of front matter: in brackets, one per line, or
// a single one.
func items(value string) []string {
	var list []string
	isEnd := func(r rune) bool { return r == ',' || r == '\n' }
	for item := range strings.FieldsFuncSeq(strings.Trim(value, "[]\n "), isEnd) {
		if item = unquote(strings.TrimPrefix(strings.TrimSpace(item), "- ")); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// unquote returns a value of YAML, TOML or JavaScript without quotes and comments.
func unquote(value string) string {
	value = strings.TrimSpace(value)
	if value != "" && strings.ContainsRune("\"'`", rune(value[0])) {
		text, _, _ := strings.Cut(value[1:], value[:1])
		return text
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(value)
}

package passage

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/container"
)

// Address returns the public address of the page of a passage's file, as its build derived
// it. It is not escaped and has one of these forms:
//
//	https://example.org/docs/page   a URL
//	/docs/page                      a path on the database's site
//	page                            a path below the database's URL prefix, "./" for the prefix
//	*/page                          the end of a path
//
// The address is "" if the build knows no more than the path.
func (p *Passage) Address() string {
	address, _ := decode(p.Extra["address"], (*jsonReader).string)
	return address
}

// SetAddress sets the value of Address.
func (p *Passage) SetAddress(address string) { p.setIf("address", address, address != "") }

// Redirects returns the addresses that the site redirects to the page, in the forms of Address.
// Only the first passage of a page has them.
func (p *Passage) Redirects() []string {
	redirects, _ := decode(p.Extra["redirects"], (*jsonReader).strings)
	return redirects
}

// SetRedirects sets the value of Redirects.
func (p *Passage) SetRedirects(redirects []string) { p.set("redirects", redirects, len(redirects)) }

// An addressKey is the form of an address that FindAddress looks up: its segments, the
// last one first, so that equal ends of paths are equal beginnings of keys.
type addressKey struct {
	key   string
	whole bool // the whole path is known; otherwise folders may be missing
}

// addressKeyOf returns the key of a passage's document; "" for the page of a URL.
func addressKeyOf(p *Passage) addressKey {
	if p.URL != "" {
		return addressKey{}
	}
	return newAddressKey(cmp.Or(p.Address(), p.Path))
}

// newAddressKey returns the key of an address. The path of a file counts as the end of one.
func newAddressKey(address string) addressKey {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		_, path, _ := strings.Cut(rest, "/")
		address = "/" + path
	}
	if strings.HasPrefix(address, "/") {
		return addressKey{reversed(pathSegments(address)), true}
	}
	end := strings.TrimPrefix(strings.TrimPrefix(address, "*/"), "./")
	return addressKey{reversed(endSegments(end)), false}
}

// pathSegments returns the segments of a page's path in lower case, without extension and
// index.
func pathSegments(path string) []string {
	list := strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return r == '/' })
	if n := len(list); n > 0 {
		list[n-1] = withoutPageExtension(list[n-1])
		if IsIndexName(list[n-1]) {
			list = list[:n-1]
		}
	}
	return list
}

func withoutPageExtension(name string) string {
	for _, extension := range [...]string{".md", ".mdx", ".html", ".htm", ".rst", ".adoc", ".asciidoc", ".txt",
		".markdown", ".mdc", ".qmd", ".rmd", ".mkd", ".mkdn", ".livemd", ".markdoc"} {
		if s, ok := strings.CutSuffix(name, extension); ok && s != "" {
			return s
		}
	}
	return name
}

// IsIndexName reports whether a document of that name, without extension, is the page of its
// folder.
func IsIndexName(name string) bool {
	return name == "index" || name == "_index" || strings.EqualFold(name, "readme")
}

// endSegments returns the segments of a path that files and pages share: without the
// folders that generators do not show, without numbers that order files, and without
// groups in parentheses.
func endSegments(path string) []string {
	all := pathSegments(path)
	list := all[:0]
	for i, s := range all {
		s = WithoutNumber(s)
		isGroup := strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")")
		isLast := i == len(all)-1 && len(list) > 0
		if !isGroup && (isLast || !IsHiddenFolder(s)) {
			list = append(list, s)
		}
	}
	return list
}

// IsHiddenFolder reports whether many sites have a folder of that name in the path of a
// file, but not in the address of its page, or the other way round.
func IsHiddenFolder(name string) bool {
	switch name {
	case "docs", "doc", "documentation", "src", "source", "content", "pages", "page", "website", "site", "www", "app",
		"guides", "packages", "markdown", "en", "en-us", "copy":
		return true
	}
	return false
}

// WithoutNumber removes the number that orders a file or folder among others: of
// "02-runes", "2.guide" and "01_start". It keeps versions and years.
func WithoutNumber(name string) string {
	digits := 0
	for digits < len(name) && name[digits] >= '0' && name[digits] <= '9' {
		digits++
	}
	rest := strings.TrimLeft(name[digits:], "-_. ")
	if digits == 0 || digits > 3 || len(rest) == len(name)-digits || rest == "" || rest[0] >= '0' && rest[0] <= '9' ||
		rest[0] == 'x' && strings.TrimLeft(rest[1:], "abcdefghijklmnopqrstuvwxyz") == rest[1:] {
		return name
	}
	return rest
}

// reversed joins segments, the last one first. Each ends with a slash.
func reversed(segments []string) string {
	var b strings.Builder
	for _, s := range slices.Backward(segments) {
		b.WriteString(s)
		b.WriteByte('/')
	}
	return b.String()
}

// addressSections and redirectSections are the optional sections of a table with the
// addresses of pages, and with those that the site redirects to pages.
var (
	addressSections  = []string{"pages", "pageoffs", "pagekeys"}
	redirectSections = []string{"moved", "movedoff", "movedkey"}
)

// An addressEntry is an address of a document.
type addressEntry struct {
	addressKey
	document uint32
	alias    int // 1 if the page has another address
}

// addAddresses adds the sections of addresses. keys has the key of each document, names the
// document's. A page whose path contains a version is also found without it.
func addAddresses(out *container.Writer, keys []addressKey, names []string) {
	var list []addressEntry
	for d, k := range keys {
		if !k.whole && k.key == "" && (names[d] == "" || hasScheme(names[d])) {
			continue
		}
		list = append(list, addressEntry{k, uint32(d), 0})
		if key := withoutVersion(k.key); k.whole && key != k.key {
			list = append(list, addressEntry{addressKey{key, true}, uint32(d), 1})
		}
	}
	addEntries(out, addressSections, list, names)
}

// addEntries adds sections with addresses.
func addEntries(out *container.Writer, sections []string, list []addressEntry, names []string) {
	// Of the documents with one address, such as variants for several languages, the one
	// with the shortest name comes first. Pages that have the address only without their
	// version come last.
	slices.SortFunc(list, func(a, b addressEntry) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.alias, b.alias),
			cmp.Compare(len(names[a.document]), len(names[b.document])), cmp.Compare(a.document, b.document))
	})
	texts, documents := make([]string, len(list)), make([]byte, 0, 4*len(list))
	for i, e := range list {
		texts[i] = e.key
		v := e.document << 1
		if e.whole {
			v |= 1
		}
		documents = binary.LittleEndian.AppendUint32(documents, v)
	}
	out.Add(sections[0], documents)
	out.AddTexts(sections[1], sections[2], texts)
}

// withoutVersion removes a version number from a key.
func withoutVersion(key string) string {
	segments := strings.SplitAfter(key, "/")
	at := slices.IndexFunc(segments, func(s string) bool {
		number := strings.TrimPrefix(strings.TrimSuffix(s, "/"), "v")
		return strings.Contains(number, ".") && strings.Trim(number, "0123456789.x") == "" && number[0] != '.'
	})
	if at < 0 {
		return key
	}
	return strings.Join(slices.Delete(segments, at, at+1), "")
}

// addresses are optional sections of a table with addresses of its documents.
type addresses struct {
	documents container.Section
	keys      container.Texts
	total     int // documents of the table
}

// openAddresses opens sections of a table with d documents. Older tables lack them.
func openAddresses(file *container.File, sections []string, d int) (a addresses, err error) {
	a.total = d
	if file.Sections(sections, &a.documents, &a.keys.Offsets, &a.keys.Text) != nil {
		return addresses{}, nil
	}
	if a.documents.Len() != 4*int64(a.len()) || a.keys.Offsets.Len() != 4*int64(a.len()+1) {
		err = a.documents.Corrupt(0, "the sections' sizes do not fit together")
	}
	return a, err
}

func (a *addresses) len() int { return int(a.documents.Len() / 4) }

// at returns entry i and its document.
func (a *addresses) at(i int) (k addressKey, d uint32, err error) {
	key, err := a.keys.At(i)
	if err != nil {
		return addressKey{}, 0, err
	}
	b, err := a.documents.Bytes(4*int64(i), 4)
	if err != nil {
		return addressKey{}, 0, err
	}
	v := binary.LittleEndian.Uint32(b)
	if d = v >> 1; int(d) >= a.total {
		err = a.documents.Corrupt(4*int64(i), fmt.Sprintf("document %d of %d", d, a.total))
	}
	return addressKey{string(key), v&1 == 1}, d, err
}

// search returns the first entry whose key is not less.
func (a *addresses) search(key string) (int, error) {
	low, high := 0, a.len()
	for low < high {
		mid := (low + high) / 2
		k, err := a.keys.At(mid)
		if err != nil {
			return 0, err
		}
		if string(k) < key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, nil
}

// PagePaths returns the path of each document's page in lower case and without extension; ""
// if not the whole path is known. It is empty for tables of earlier versions.
func (t *Table) PagePaths() ([]string, error) {
	if t.addresses.len() == 0 {
		return nil, nil
	}
	paths := make([]string, t.d)
	for i := range t.addresses.len() {
		k, d, err := t.addresses.at(i)
		if err != nil {
			return nil, err
		}
		if path := "/" + strings.TrimSuffix(reversed(strings.Split(strings.TrimSuffix(k.key, "/"), "/")), "/"); k.whole && len(path) > len(paths[d]) {
			paths[d] = path
		}
	}
	return paths, nil
}

// FindAddress finds the document of a page by its unescaped path, and by the rest of the
// path after a URL prefix of the database. If only the end of a document's address is
// known, the rest must be that end, or the end of this document's path alone. A page has its
// address before one that is redirected to it.
func (t *Table) FindAddress(path, rest string) (d uint32, found bool, err error) {
	end := endSegments(rest)
	keys := [...]addressKey{
		{reversed(pathSegments(path)), true}, {reversed(pathSegments(rest)), true}, {reversed(end), false},
	}
	for _, list := range [...]*addresses{&t.addresses, &t.redirects} {
		for _, k := range keys {
			if d, found, err = list.exact(k); found || err != nil {
				return d, found, err
			}
		}
	}
	if !slices.ContainsFunc(end, isDistinctive) {
		return 0, false, nil
	}
	return t.addresses.onlyEnd(reversed(end))
}

// PageDocuments returns the documents of the page that document d is of: the files of a Go
// package have one page, any other document has its own.
func (t *Table) PageDocuments(d uint32) ([]uint32, error) {
	name, err := t.Key(d)
	if err != nil || !isGoFile(name) {
		return []uint32{d}, err
	}
	folder := name[:strings.LastIndexByte(name, '/')+1]
	var all []uint32
	for other := range uint32(t.d) {
		name, err := t.Key(other)
		if err != nil {
			return nil, err
		}
		if isGoFile(name) && name[:strings.LastIndexByte(name, '/')+1] == folder {
			all = append(all, other)
		}
	}
	return all, nil
}

// Page returns the name under which the whole page of a passage is read: its document, or the
// address of a Go package.
func (p *Passage) Page() string {
	if address := p.Address(); address != "" && isGoFile(p.Path) {
		return address
	}
	return p.Document()
}

func isGoFile(name string) bool { return strings.HasSuffix(name, ".go") }

// exact finds the first document with a key.
func (a *addresses) exact(key addressKey) (d uint32, found bool, err error) {
	i, err := a.search(key.key)
	for ; err == nil && i < a.len(); i++ {
		var k addressKey
		if k, d, err = a.at(i); err != nil || k.key != key.key {
			break
		}
		if k == key {
			return d, true, nil
		}
	}
	return 0, false, err
}

// onlyEnd finds the document whose path ends with key, if it is the only one. Documents
// whose whole address is known have another one.
func (a *addresses) onlyEnd(key string) (d uint32, found bool, err error) {
	i, err := a.search(key)
	for ; err == nil && i < a.len(); i++ {
		k, other, err := a.at(i)
		if err != nil || !strings.HasPrefix(k.key, key) {
			return d, found && err == nil, err
		}
		if k.whole {
			continue
		}
		if found {
			return 0, false, nil
		}
		d, found = other, true
	}
	return d, found && err == nil, err
}

// isDistinctive reports whether a segment of a path says which page is meant. Many folders
// have pages of the other names.
func isDistinctive(segment string) bool {
	switch segment {
	case "api", "reference", "guide", "guides", "overview", "introduction", "intro", "getting-started", "quickstart",
		"quick-start",
		"install", "installation", "configuration", "config", "usage", "faq", "changelog", "examples", "tutorial",
		"tutorials",
		"blog", "about", "help", "support", "community", "docs", "doc", "documentation":
		return false
	}
	return len(segment) > 1
}

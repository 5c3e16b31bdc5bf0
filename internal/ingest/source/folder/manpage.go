package folder

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format"
)

// A pageFile is the file of a manual page.
type pageFile struct {
	info  fs.FileInfo
	names []string // first its own, in the order of names those of links to it
}

// pageAliases finds the manual pages of a folder that are one file under several names, by
// symbolic or hard links. It returns the name that stays for each of these names: that of the
// page's title, by which its readers call it, or else the file's own.
func (w *walker) pageAliases(f *directory) map[string]string {
	var files []*pageFile
	named := map[string]*pageFile{}
	bySize := map[int64][]*pageFile{}
	var links []string
	for _, d := range f.entries {
		name := path.Join(f.name, d.Name())
		switch {
		case !format.IsManPage(d.Name()):
		case d.Type()&fs.ModeSymlink != 0:
			if !strings.HasPrefix(d.Name(), ".") && !w.filter.Excluded(name) && w.filter.Included(name) &&
				f.rules.ignored(name, false) == "" {
				links = append(links, d.Name())
			}
		case w.skipReason(f, name, d) == "":
			info, err := d.Info()
			if err != nil {
				continue
			}
			same := bySize[info.Size()]
			i := slices.IndexFunc(same, func(p *pageFile) bool {
				return p.info.ModTime().Equal(info.ModTime()) && os.SameFile(p.info, info)
			})
			if i < 0 {
				files = append(files, &pageFile{info: info})
				same, i = append(same, files[len(files)-1]), len(same)
				bySize[info.Size()] = same
			}
			same[i].names = append(same[i].names, d.Name())
			named[d.Name()] = same[i]
		}
	}
	for _, link := range links {
		if p := named[w.targetOf(f, link)]; p != nil {
			p.names = append(p.names, link)
		}
	}
	aliases := map[string]string{}
	for _, p := range files {
		if len(p.names) == 1 {
			continue
		}
		stays := w.titleName(f, p.names)
		for _, name := range p.names {
			aliases[name] = stays
		}
	}
	return aliases
}

// targetOf returns the name of the file in the same folder to which a symbolic link leads, or "".
func (w *walker) targetOf(f *directory, link string) string {
	const maxLinks = 8 // in a row
	for range maxLinks {
		target, err := w.root.Readlink(path.Join(f.name, link))
		if err != nil || strings.ContainsAny(target, `/\`) {
			return ""
		}
		link = target
		if f.hasFile(link) {
			return link
		}
	}
	return ""
}

// titleName returns the one of a manual page's names that its title has, or the first one.
func (w *walker) titleName(f *directory, names []string) string {
	file := path.Join(f.name, names[0])
	data, _, err := ReadFile(w.root, file)
	if err != nil {
		return names[0]
	}
	doc, err := format.ParserFor(file)(data, file)
	title, _, found := strings.Cut(doc.Title, "(")
	if err != nil || !found {
		return names[0]
	}
	i := slices.IndexFunc(names, func(name string) bool {
		name = format.UncompressedName(name)
		return strings.EqualFold(strings.TrimSuffix(name, path.Ext(name)), title)
	})
	return names[max(i, 0)]
}

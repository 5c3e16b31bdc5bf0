package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/format/rst"
	"github.com/docsearch/docsearch/internal/ingest/secret"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/include"
)

var errNotIncluded = errors.New("not included")

// included are the files that pages may include.
type included struct{ Reader }

// Read reads a file that a page includes. It may have any type. It must be within
// the source, and no option, ignore file or rule about secrets may exclude it.
func (s included) Read(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", errNotIncluded
	}
	if _, err := s.Root.Lstat(name); err != nil {
		return "", fs.ErrNotExist // the usual case: checked before the rules
	}
	if !s.Filter.KeepSecrets && secret.IsFile(name) || s.Filter.Excluded(name) {
		return "", errNotIncluded
	}
	var rules *ignores
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ".") {
			return "", errNotIncluded
		}
		if s.Filter.useIgnoreFiles {
			rules = readIgnores(s.Root, path.Join(".", path.Join(parts[:i]...)), rules)
			if rules.ignored(path.Join(parts[:i+1]...), i+1 < len(parts)) != "" {
				return "", errNotIncluded
			}
		}
	}
	f, err := atomicfile.OpenIn(s.Root, name, syscall.O_NONBLOCK)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > include.MaxIncluded {
		return "", errNotIncluded
	}
	data, err := io.ReadAll(io.LimitReader(f, include.MaxIncluded))
	if err != nil {
		return "", err
	}
	text, err := document.DecodeText(data)
	return string(text), err
}

// List returns the files in a folder and below. Large folders are cut.
func (s included) List(folder string) (names []string) {
	const most = 20_000
	fs.WalkDir(s.Root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case len(names) == most:
			return fs.SkipAll
		case d.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	return names
}

// NeedsSurvey reports whether a file may include others or have labels.
func (s Reader) NeedsSurvey(name string) bool { return include.Reads(name) || format.MayBeRST(name) }

// Survey finds the files that a page includes and that are no pages of their own, and the
// references of reStructuredText.
func (s Reader) Survey(data []byte, name string) source.Survey {
	isRST := format.IsRST(name, data)
	if !isRST && !include.Reads(name) {
		return source.Survey{}
	}
	text, err := document.DecodeText(data)
	if err != nil {
		return source.Survey{}
	}
	page := s.expand(text, name)
	survey := source.Survey{Parts: s.withoutPages(page.Parts)}
	if isRST {
		found := rst.FindReferences(strings.Join(page.Lines, "\n"))
		survey.Title, survey.References = found.Title, found.Names
		for _, name := range slices.Sorted(maps.Keys(found.Titles)) {
			survey.Titles = append(survey.Titles, name, found.Titles[name])
		}
	}
	return survey
}

// Needs returns the paths at which the pages of the folder look for included files in vain.
func (s Reader) Needs(ctx context.Context) (names []string) {
	items, _, err := Walk(ctx, s.Root, s.Filter)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for i := range items {
		if !include.Reads(items[i].Name) || ctx.Err() != nil {
			continue
		}
		data, _, err := ReadFile(s.Root, items[i].Name)
		if err != nil {
			continue
		}
		text, err := document.DecodeText(data)
		if err != nil {
			continue
		}
		for _, name := range include.Expand(included{s}, items[i].Name, document.SplitLines(text)).Absent() {
			if !seen[name] && !s.Filter.Excluded(name) {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// withoutPages removes the files that a list of the site's pages has.
func (s Reader) withoutPages(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			for _, list := range []string{"SUMMARY.md", "mkdocs.yml", "_toc.yml", "nav.adoc"} {
				text, err := included{s}.Read(path.Join(dir, list))
				below := strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")
				_, inDocs, _ := strings.Cut(below, "/") // below the folder of the documents
				if err == nil && (listsPage(text, below) || listsPage(text, inDocs)) {
					return true
				}
			}
			if dir == "." {
				return false
			}
		}
	})
}

// listsPage reports whether a text has the path of a page.
func listsPage(text, page string) bool {
	for page != "" {
		i := strings.Index(text, page)
		if i < 0 {
			return false
		}
		if before := strings.TrimSuffix(text[:i], "./"); before == "" ||
			strings.IndexByte(" \t\n\"'(:[", before[len(before)-1]) >= 0 {
			return true
		}
		text = text[i+len(page):]
	}
	return false
}

// IncludesDigest returns a digest of the files with these paths; "" for no paths.
func (s Reader) IncludesDigest(paths []string) string {
	states := make([]string, len(paths))
	for i, path := range paths {
		states[i] = include.State(included{s}.Read(path))
	}
	return source.Digest(states...)
}

package installed

import (
	"bytes"
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// An Extent is how much the files of a package document.
type Extent int

const (
	OnlyReadme Extent = iota // a README at most
	Comments                 // comments of type declarations and of code, docstrings
	Manual                   // pages besides the README
)

// The sizes from which pages are a manual, and comments document more than a few functions.
const (
	minManual   = 8 << 10
	minComments = 4 << 10
)

// Assess measures the documentation and how much it documents. It excludes change logs from
// it: they answer no question about the use of a package.
func Assess(ctx context.Context, d *Documentation) (Extent, error) {
	var logs []string
	var pages, comments int
	err := d.walk(ctx, func(root *os.Root, items []source.Item) error {
		for _, it := range items {
			data, _, err := folder.ReadFile(root, it.Name)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil: // the build skips it, too
			case isPage(it.Name) && isChangeLog(it.Name, data):
				logs = append(logs, "/"+quote(it.Name))
				continue
			case isPage(it.Name) && !IsAboutPackage(it.Name):
				pages += len(data)
			default:
				comments += commentBytes(path.Ext(it.Name), data)
			}
			d.Files++
			d.Bytes += it.Size
		}
		return nil
	})
	d.Exclude = append(slices.Clip(d.Exclude), logs...)
	switch {
	case pages >= minManual:
		return Manual, err
	case comments >= minComments:
		return Comments, err
	}
	return OnlyReadme, err
}

// quote returns the pattern that matches only that path.
func quote(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// isPage reports whether a file contains text for people.
func isPage(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".rdoc", ".html", ".htm":
		return true
	}
	return path.Ext(name) == ""
}

// stem returns the name of a file in lower case and without its endings.
func stem(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(path.Base(name)), ".")
	return strings.NewReplacer("_", "-", " ", "-").Replace(name)
}

// IsAboutPackage reports whether a page introduces a package or concerns its development: a
// README, also in other languages and in the metadata of a Python package, a license, a guide
// to another version.
func IsAboutPackage(name string) bool {
	name = stem(name)
	switch name {
	case "metadata", "pkg-info", "contributing", "security", "code-of-conduct", "governance", "authors", "maintainers",
		"contributors", "sponsors", "backers", "support", "copying", "notice", "patents", "makefile", "thanks":
		return true
	}
	for _, prefix := range []string{"readme", "licen", "third-party", "migrat", "upgrad"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isChangeLog reports whether a page lists the changes of versions. Names that a page of a
// manual may have, too, count only for pages of the top folder.
func isChangeLog(name string, data []byte) bool {
	switch s := stem(name); {
	case passage.NamesReleaseNotes(s):
		return true
	case s == "history", passage.MayNameReleaseNotes(s):
		if !strings.Contains(name, "/") {
			return true
		}
	case IsAboutPackage(name):
		return false
	}
	// A log has a heading for each version, and a few below it, such as "Added".
	const least, most = 3, 3
	headings := heading().FindAll(data, -1)
	versions := len(versionHeading().FindAll(data, -1))
	return versions >= least && len(headings) <= most*versions
}

// heading matches the headings of Markdown, reStructuredText and AsciiDoc; versionHeading
// those that begin with a version, as in "## [1.2.0] - 2026-01-02" and "v3.0 / 2026-01-02".
var (
	heading        = document.Lazily(`(?m)^(?:[#=]{1,5}[ \t]+\S.*|\S` + underlined + `)$`)
	versionHeading = document.Lazily(`(?m)^(?:[#=]{1,5}[ \t]+` + numbered + `.*|` + numbered + underlined + `)$`)
)

const (
	numbered   = `[\[*]{0,2}(?:[Vv]ersion |[Rr]elease )?v?\d+\.\d+(?:\.\d+)?\b`
	underlined = `.*\r?\n(?:={3,}|-{3,}|~{3,})[ \t\r]*`
)

// commentBytes returns the size of the comments in code that describe what it declares.
func commentBytes(extension string, data []byte) int {
	switch extension {
	case ".ts", ".mts", ".cts", ".php":
		return between(data, "/**", "*/")
	case ".py", ".pyi", ".ex", ".exs":
		return between(data, `"""`, `"""`)
	case ".go":
		return linesWith(data, "//")
	case ".rs":
		return linesWith(data, "///") + linesWith(data, "//!")
	case ".dart":
		return linesWith(data, "///")
	case ".rb":
		return linesWith(data, "#")
	}
	return 0
}

// between returns the size of all texts between two marks.
func between(data []byte, start, end string) (n int) {
	for {
		_, rest, ok := bytes.Cut(data, []byte(start))
		text, rest, closed := bytes.Cut(rest, []byte(end))
		if !ok || !closed {
			return n
		}
		n += len(text)
		data = rest
	}
}

// linesWith returns the size of all lines that begin with a mark.
func linesWith(data []byte, mark string) (n int) {
	for line := range bytes.Lines(data) {
		if text, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(mark)); ok {
			n += len(text)
		}
	}
	return n
}

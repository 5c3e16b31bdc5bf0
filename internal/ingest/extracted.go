package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/siteaddress"
	"github.com/docsearch/docsearch/internal/ingest/source/archive"
	"github.com/docsearch/docsearch/internal/ingest/source/docset"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/ingest/source/gitrepo"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/progress"
)

// Source kinds of an Extracted in manifests.
const (
	KindArchive = "archive"
	KindGit     = "git"
	KindDocset  = "docset"
)

// An Extracted is a source that must be unpacked or fetched before its files can be
// read: an archive or its URL, the URL of an API description, a git repository, a
// docset of Dash or DevDocs. The files
// are copied to the database folder and read from there. It implements package
// index's Source.
type Extracted struct {
	fileReader
	kind, location string
	database       string // folder of the database
	private        bool   // allow downloads from private addresses
	commit         string // that the last fetch of a repository copied
}

// ExtractedKind returns the kind of Extracted for a path or URL, or "".
func ExtractedKind(location string) string {
	if _, ok := gitrepo.Parse(location); ok {
		return KindGit
	}
	if name := downloadName(location); archive.Is(name) || isDescription(name) {
		return KindArchive
	}
	st, err := os.Stat(location)
	switch {
	case err != nil:
		return ""
	case st.Mode().IsRegular() && archive.Is(location):
		return KindArchive
	case st.IsDir() && docset.Is(location):
		return KindDocset
	}
	return ""
}

// IsExtracted reports whether sources of that kind are Copies.
func IsExtracted(kind string) bool {
	return kind == KindArchive || kind == KindGit || kind == KindDocset
}

// ExtractedName suggests a name for a database made from an Extracted.
func ExtractedName(location string) string {
	if r, ok := gitrepo.Parse(location); ok {
		return r.Name()
	}
	if name := downloadName(location); name != "" {
		stem := strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))
		switch {
		case archive.Is(name):
			location = name
		case isCommon(stem) || slices.Contains([]string{"openapi", "swagger", "schema", "spec"}, stem):
			return SiteName(location)
		default:
			return stem
		}
	}
	return strings.TrimSuffix(archive.Stem(filepath.Base(location)), ".docset")
}

// downloadName returns the file name in a web URL; "" for other locations and for
// folders.
func downloadName(location string) string {
	if !isURL(location) {
		return ""
	}
	u, err := url.Parse(location)
	if err != nil || strings.HasSuffix(u.Path, "/") || u.Path == "" {
		return ""
	}
	return path.Base(u.Path)
}

// isDescription reports whether a file of that name may describe an API or data.
// As pages of a site, such files have no text.
func isDescription(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// NewExtracted returns the source of that kind at location, for the database in
// folder database.
func NewExtracted(kind, location, database string, opt folder.Options) (*Extracted, error) {
	filter, err := folder.NewFilter(opt)
	if err != nil {
		return nil, err
	}
	if kind != KindGit && downloadName(location) == "" {
		if location, err = filepath.Abs(location); err != nil {
			return nil, err
		}
		if _, err := os.Stat(location); err != nil {
			return nil, err
		}
	}
	return &Extracted{fileReader: fileReader{filter: filter}, kind: kind, location: location, database: database}, nil
}

// AllowPrivate allows a download from a private network.
func (c *Extracted) AllowPrivate() { c.private = true }

// IsDownload reports whether the source is a file at a URL.
func (c *Extracted) IsDownload() bool { return c.kind != KindGit && downloadName(c.location) != "" }

// Prepare fetches the files and writes their passages into dir.
func (c *Extracted) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation,
	report progress.Func) (generation.Prepared, error) {
	copied, skippedEarlier, err := c.fetch(ctx, report)
	if err != nil {
		return generation.Prepared{}, err
	}
	pages, terms, err := docset.Open(copied)
	if err != nil {
		return generation.Prepared{}, err
	}
	root, err := pages.OpenFolder()
	if err != nil {
		return generation.Prepared{}, err
	}
	defer root.Close()
	items, skipped, err := folder.Walk(ctx, root, c.filter)
	if err != nil {
		return generation.Prepared{}, err
	}
	from := generation.Source{Kind: c.kind, Location: c.location, Root: pages.String(), Commit: c.commit}
	prepared, err := c.collect(ctx, dir, before, from, root, terms, items, slices.Concat(skippedEarlier, skipped),
		report)
	prepared.Perm &= c.perm()
	return prepared, err
}

// perm returns the maximum access rights for the copy: those of the origin if
// it is local.
func (c *Extracted) perm() fs.FileMode {
	location := c.location
	if c.kind == KindGit {
		repo, _ := gitrepo.Parse(location)
		if u, err := url.Parse(repo.URL); err == nil && u.Scheme == "file" {
			location = filepath.FromSlash(u.Path)
		}
	}
	st, err := os.Stat(location)
	switch {
	case err != nil:
		return generation.AllPerm
	case !st.IsDir():
		return generation.Perm(st)
	}
	rights := generation.FolderPerm(st)
	if docset.Folded(location) {
		if pages, err := os.Stat(filepath.Join(location, docset.Pages)); err == nil {
			rights &= generation.Perm(pages)
		}
	}
	return rights
}

// fetch copies the files. It returns their folder and the skipped ones.
func (c *Extracted) fetch(ctx context.Context, report progress.Func) (string, []generation.Skipped, error) {
	folder := copyOf(c.database)
	if err := checkReplaceable(folder.Parent()); err != nil {
		return "", nil, err
	}
	switch {
	case c.kind == KindGit:
		report.Report("fetching the repository", 0, 0)
		if err := c.makeFolder(folder.Parent()); err != nil {
			return "", nil, err
		}
		repo, _ := gitrepo.Parse(c.location)
		commit, skipped, err := gitrepo.Fetch(ctx, repo, folder, gitrepo.Options{
			Perm: 0o644 & c.perm(),
			Want: func(name string, size int64) string {
				if siteaddress.IsConfig(name) {
					return ""
				}
				return cmp.Or(c.filter.SkipReason(name), skipReason(name, size))
			},
			Needs:  func(copied *os.Root) []string { return c.needs(ctx, copied) },
			Report: func(files int) { report.Report("writing files", int64(files), 0) },
		})
		c.commit = commit
		return folder.String(), skipped, err
	case c.kind == KindDocset && !docset.Folded(c.location):
		return c.location, nil, nil
	}
	// Keep the old copy until the new one is complete.
	if err := c.makeFolder(folder.Parent()); err != nil {
		return "", nil, err
	}
	fresh := folder.Parent().Join(copyName + ".new")
	if err := fresh.RemoveAll(); err != nil {
		return "", nil, err
	}
	if err := fresh.Mkdir(0o755); err != nil {
		return "", nil, err
	}
	defer fresh.RemoveAll()
	files := fresh.Join("files")
	if err := files.Mkdir(0o755); err != nil {
		return "", nil, err
	}
	skipped, err := c.fill(ctx, fresh, files, report)
	if err == nil {
		err = folder.RemoveAll()
	}
	if err == nil {
		err = files.Rename(folder)
	}
	return singleSubfolder(folder).String(), skipped, err
}

// makeFolder creates the folder that holds the copy. If only the user can read
// the origin, only the user can enter the folder, because the folders in it
// have default rights.
func (c *Extracted) makeFolder(folder confined.Path) error {
	if err := os.MkdirAll(c.database, 0o755); err != nil {
		return err
	}
	if err := folder.MakeFolder(0o755); err != nil || runtime.GOOS == "windows" || c.perm()&0o077 != 0 {
		return err
	}
	return folder.Chmod(0o700)
}

// fill writes the files of the source to a folder. An archive at a URL is
// downloaded to the folder work first; another file at a URL is the only one.
func (c *Extracted) fill(ctx context.Context, work, files confined.Path,
	report progress.Func) ([]generation.Skipped, error) {
	if !c.IsDownload() {
		return c.unpack(ctx, c.location, files, report)
	}
	if !archive.Is(downloadName(c.location)) {
		_, err := c.download(ctx, files, report)
		return nil, err
	}
	location, err := c.download(ctx, work, report)
	if err != nil {
		return nil, err
	}
	return c.unpack(ctx, location, files, report)
}

// download downloads the file at the source's URL to a folder. It returns its path.
func (c *Extracted) download(ctx context.Context, to confined.Path, report progress.Func) (string, error) {
	root, err := to.OpenFolder()
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := localName(downloadName(c.location))
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644&c.perm())
	if err != nil {
		return "", err
	}
	err = site.Save(ctx, c.location, file, site.SaveOptions{Limit: site.DefaultMaxBytes, Private: c.private,
		Report: func(n int64) { report.Report("downloading bytes", n, 0) }})
	return to.Join(name).String(), errors.Join(err, file.Close())
}

// localName returns a file name that is valid on each system, with the extensions of
// a downloaded file's name.
func localName(name string) string {
	if strings.HasPrefix(name, ".") {
		name = "_" + name // hidden files are skipped
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".-_", r)) {
			return r
		}
		return '_'
	}, name)
}

// unpack writes the files of an archive, or of a docset with its pages in one
// file, to a folder.
func (c *Extracted) unpack(ctx context.Context, location string, to confined.Path,
	report progress.Func) ([]generation.Skipped, error) {
	if c.kind == KindDocset {
		return nil, docset.Unfold(ctx, location, to, 0o644&c.perm())
	}
	root, err := to.OpenFolder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	skipped, err := archive.Extract(ctx, location, root, archive.Options{
		Limits: archive.DefaultLimits(), Want: skipReason, Perm: 0o644 & c.perm(),
		Report: func(files int) { report.Report("unpacking files", int64(files), 0) },
	})
	if top := singleSubfolder(to); err == nil && docset.Folded(top.String()) {
		err = docset.Unfold(ctx, top.String(), top, 0o644&c.perm())
	}
	return skipped, err
}

// copyName is the folder of the copied files, within MirrorName.
const copyName = "copy"

func copyOf(database string) confined.Path {
	return confined.In(database).Join(MirrorName).Join(copyName)
}

// checkReplaceable returns an error unless the folder is missing or contains
// only a copy.
func checkReplaceable(folder confined.Path) error {
	err := folder.CheckFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := folder.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == copyName && !e.IsDir() {
			return fmt.Errorf("cannot use %s: %w", folder.Join(copyName), confined.ErrNotFolder)
		}
		if e.Name() != copyName && e.Name() != copyName+".new" {
			return fmt.Errorf("cannot use %s: it contains %s, which docsearch did not write; use another folder for the database", folder, e.Name())
		}
	}
	return nil
}

// CleanExtracted removes the unfinished copy of a killed build from the database in
// folder database. No build of it may be running.
func CleanExtracted(database string) error {
	return copyOf(database).Parent().Join(copyName + ".new").RemoveAll()
}

// Discard removes the copy of a failed first build.
func (c *Extracted) Discard() { RemoveExtracted(c.database) }

// RemoveExtracted removes the files of a copy from the database in folder database.
func RemoveExtracted(database string) error {
	folder := copyOf(database).Parent()
	if err := folder.CheckFolder(); err != nil {
		return nil // missing, or a link that docsearch did not create
	}
	err := errors.Join(folder.Join(copyName).RemoveAll(), folder.Join(copyName+".new").RemoveAll())
	folder.Remove() // fails if it has other files
	return err
}

// needs returns the paths of files that the copied ones include and that are not copied.
func (c *Extracted) needs(ctx context.Context, copied *os.Root) []string {
	return folder.Reader{Root: copied, Filter: c.filter}.Needs(ctx)
}

// skipReason returns the reason to skip a file of an archive, or "".
func skipReason(name string, size int64) string {
	limit := format.Limit(name)
	switch {
	case docset.Needs(name):
		limit = docset.MaxFile
	case format.ParserFor(name) == nil && !slices.Contains(folder.IgnoreFiles[:], path.Base(name)):
		return format.UnsupportedReason(name)
	}
	if size > limit {
		return fmt.Sprintf("larger than %d MiB", limit>>20)
	}
	return ""
}

// singleSubfolder returns the only entry of a folder if that is a folder. Most
// archives have a single top-level folder with a version in its name.
func singleSubfolder(folder confined.Path) confined.Path {
	entries, err := folder.ReadDir()
	if err != nil || len(entries) != 1 || !entries[0].IsDir() {
		return folder
	}
	return folder.Join(entries[0].Name())
}

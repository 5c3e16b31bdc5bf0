package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/ingest/source/gitrepo"
	"github.com/docsearch/docsearch/internal/setup"
	"github.com/docsearch/docsearch/recipes"
)

// CheckRecipe checks the text of a recipe: the file, or else the recipe of the book with that
// name.
func CheckRecipe(arg string) error {
	if !strings.HasSuffix(arg, recipes.Extension) && !IsPath(arg) {
		name, _ := SplitVersion(arg)
		_, err := recipes.Find(name)
		return ExplainRecipe(name, err)
	}
	text, err := os.ReadFile(arg)
	if err == nil {
		_, err = recipes.ParseOwn(strings.TrimSuffix(filepath.Base(arg), recipes.Extension), text)
	}
	return err
}

// CheckOnline builds the database of a recipe from its download in a temporary folder, which
// it removes. It returns what the recipe may state as verified, or all its faults, joined.
func (b *Builder) CheckOnline(ctx context.Context, r *ChosenRecipe) (v recipes.Verification, err error) {
	dir, err := os.MkdirTemp("", "docsearch-recipe-")
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b.Name, b.Out = r.DatabaseName(), filepath.Join(dir, "database")
	b.useSource(r.Source)
	p, err := b.Plan(r.Source.Download())
	if err != nil {
		return v, err
	}
	info, err := b.Build(ctx, &p)
	if err != nil { // such as: the repository, the folder or the tag does not exist
		return v, err
	}
	faults, err := r.faults(ctx, info, dir)
	for _, fault := range faults {
		err = errors.Join(err, errors.New(fault))
	}
	v = recipes.Verification{Date: time.Now().UTC().Format(time.DateOnly), Commit: info.Source.Commit,
		Documents: info.Documents, Bytes: info.Bytes}
	for _, f := range info.Source.Files {
		v.Bytes += f.Size
	}
	return v, err
}

// faults returns the faults of the recipe that its database shows. It may use the folder work.
func (r *ChosenRecipe) faults(ctx context.Context, info index.Info, work string) (faults []string, err error) {
	read, err := r.reading(ctx, info, work)
	if err != nil {
		return nil, err
	}
	if least := r.Verified.Documents / 2; info.Documents < least {
		faults = append(faults, fmt.Sprintf("only %s, of %s when last verified", humanize.Count(info.Documents, "document"),
			humanize.Thousands(r.Verified.Documents)))
	}
	if r.Source.Git != "" {
		for _, pattern := range r.Source.Include {
			if only, err := folder.ParsePattern(pattern); err == nil && !slices.ContainsFunc(read.Files, only.Match) {
				faults = append(faults, fmt.Sprintf("no document matches %q in include", pattern))
			}
		}
	}
	faults = append(faults, r.Faults(read)...)
	answers, err := setup.Answers(ctx, info.Dir, r.Questions, append([]string{r.DatabaseName()}, r.Keywords...))
	for _, a := range answers {
		if name, err := filepath.Rel(info.Source.Root, a.Found); err == nil && r.Source.Git != "" {
			a.Found = filepath.ToSlash(name) // in the repository
		}
		switch {
		case !a.IsConfident:
			faults = append(faults, fmt.Sprintf("it does not answer %q", a.Text))
		case !a.IsItsPage:
			faults = append(faults, fmt.Sprintf("it answers %q from %s instead of %s", a.Text, a.Found, a.Page))
		}
	}
	return faults, err
}

// reading collects what the faults of the recipe are seen in.
func (r *ChosenRecipe) reading(ctx context.Context, info index.Info, work string) (*recipes.Reading, error) {
	db, err := index.Open(info.Dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	read := &recipes.Reading{}
	if read.Files, err = db.Keys(); err != nil || r.Source.Git == "" {
		return read, err
	}
	read.Root = os.DirFS(info.Source.Root)
	repo, _ := gitrepo.Parse(r.Source.Download())
	tags, err := gitrepo.VersionTags(ctx, repo)
	if err != nil {
		return nil, err
	}
	if len(tags) > 0 {
		read.NewestTag = tags[len(tags)-1].Name
	}
	read.IsTagged = slices.ContainsFunc(tags, func(t gitrepo.Tag) bool { return t.Commit == info.Source.Commit })
	licenses := confined.In(work).Join("licenses")
	if _, _, err := gitrepo.Fetch(ctx, repo, licenses, gitrepo.Options{Want: r.skipsLicense}); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(licenses.String(), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		read.Licenses = append(read.Licenses, string(text))
		return err
	})
	return read, err
}

// skipsLicense returns why a file is no license of the recipe's documentation: the license
// files of its folders and of the folders above them are.
func (r *ChosenRecipe) skipsLicense(name string, size int64) string {
	const largest = 256 << 10
	base := strings.ToLower(path.Base(name))
	isLicense := strings.HasPrefix(base, "license") || strings.HasPrefix(base, "licence") ||
		strings.HasPrefix(base, "copying")
	isAbove := path.Dir(name) == "." || slices.ContainsFunc(r.Source.Include, func(pattern string) bool {
		return strings.HasPrefix(pattern, path.Dir(name)+"/")
	})
	if !isLicense || !isAbove || size > largest {
		return "not a license of the documentation"
	}
	return ""
}

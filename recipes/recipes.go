// Package recipes contains the recipe book: one TOML file for each technology,
// with the source of its documentation and the config entry of its database.
// docs/recipes.md documents the keys.
package recipes

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/docsearch/docsearch/internal/config/decode"
)

// Extension is the file name extension of a recipe.
const Extension = ".toml"

// MaxFile is the maximum size of a recipe in bytes.
const MaxFile = 64 << 10

// A Recipe says how to build the database of one technology.
type Recipe struct {
	Name        string   `toml:"-"` // file name without extension
	Title       string   `toml:"title"`
	Keywords    []string `toml:"keywords"` // the first one comes first in the config entry
	Packages    []string `toml:"packages"` // packages that it documents, as "node:react"
	Version     string   `toml:"version"`  // the default for {version}
	URLs        []string `toml:"urls"`     // prefixes of the documented pages
	License     string   `toml:"license"`  // SPDX expression for the documentation
	Attribution string   `toml:"attribution"`
	Source      Source   `toml:"source"`
	// Verified is the last online check that found no fault; zero: none.
	Verified Verification `toml:"verified"`
	// Questions are web searches that the database must answer.
	Questions []Question `toml:"-"`
}

// A Question is a web search. In a recipe, it is {question, page} or only the text.
type Question struct {
	Text string
	// Page is the end of the path of the page that answers the question; "": any page.
	Page string
}

// IsAnsweredBy reports whether a file or URL is the page of the question.
func (q Question) IsAnsweredBy(page string) bool {
	page, _, _ = strings.Cut(page, "#")
	return q.Page == "" || strings.HasSuffix("/"+strings.Trim(page, "/"), "/"+strings.Trim(q.Page, "/"))
}

// A Verification is what an online check of the recipe found.
type Verification struct {
	Date      string `toml:"date"`   // "2006-01-02"
	Commit    string `toml:"commit"` // of the repository; "": the source is a site
	Documents int    `toml:"documents"`
	Bytes     int64  `toml:"bytes"` // size of the database, about
}

// A Source says where the documentation is. Installed takes precedence over
// the download if this machine has it.
type Source struct {
	Site      string   `toml:"site"`      // URL of the first page, of an llms.txt or of a sitemap
	Prefix    string   `toml:"prefix"`    // URL prefix of the site's pages; "": derived from Site
	Git       string   `toml:"git"`       // URL of a repository
	Ref       string   `toml:"ref"`       // branch, tag, or tag pattern; "": the default branch
	Installed string   `toml:"installed"` // name as in "docsearch index build --installed"
	Include   []string `toml:"include"`   // glob patterns of the download's files or pages
	Exclude   []string `toml:"exclude"`
	Root      string   `toml:"root"` // folder of the files whose pages are below the first URL; "": derived
}

const (
	// placeholder stands for the version in URLs, paths and the ref.
	placeholder = "{version}"
	// digitsPlaceholder stands for the version without dots, such as 20 for 2.0.
	digitsPlaceholder = "{digits}"
	// majorFolder is the name of a folder for all versions with a first number, such as 5x.
	majorFolder = placeholder + "x"
)

//go:embed *.toml
var files embed.FS

// Names returns the names of all recipes in the book, sorted.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil // an embedded folder is always readable
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), Extension)
	}
	return names
}

// Text returns the file of the recipe with that name. It returns an error that
// wraps fs.ErrNotExist if the book does not contain the recipe.
func Text(name string) ([]byte, error) {
	return files.ReadFile(name + Extension)
}

// Find returns the recipe with that name or, if there is none, the first recipe
// with that keyword. Case is ignored. The error is a *NotFoundError if neither
// exists. The recipe is shared: callers must not change it.
func Find(name string) (*Recipe, error) {
	known, err := book()
	if err != nil {
		return nil, err
	}
	name = strings.ToLower(name)
	if r := known[name]; r != nil {
		return r, nil
	}
	return nil, &NotFoundError{name, nearest(name, known)}
}

// book parses all recipes once. It returns them by name and by keyword; a name
// takes precedence.
var book = sync.OnceValues(func() (map[string]*Recipe, error) {
	names, known := Names(), map[string]*Recipe{}
	for _, name := range names {
		data, err := Text(name)
		if err != nil {
			return nil, err
		}
		if known[name], err = Parse(name, data); err != nil {
			return nil, fmt.Errorf("recipe %s: %w", name, err)
		}
	}
	for _, name := range names {
		for _, k := range known[name].Keywords {
			if known[k] == nil {
				known[k] = known[name]
			}
		}
	}
	return known, nil
})

// ForPackage returns the recipe of the book that documents a package such as
// "node:react", or nil.
func ForPackage(id string) *Recipe {
	known, err := book()
	if err != nil {
		return nil
	}
	for _, name := range Names() {
		if slices.Contains(known[name].Packages, id) {
			return known[name]
		}
	}
	return nil
}

// A NotFoundError reports that the book has no recipe for a name.
type NotFoundError struct {
	Name    string
	Nearest []string // names of similar recipes, the most similar first
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("recipe %q not found", e.Name) }

// nearest returns the names of the recipes whose names or keywords start with
// name or resemble it. known maps both to their recipe.
func nearest(name string, known map[string]*Recipe) []string {
	const most = 3
	candidates := slices.Sorted(maps.Keys(known))
	var names []string
	add := func(candidate string) {
		if r := known[candidate]; len(names) < most && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	for _, c := range candidates {
		if len(name) > 2 && strings.HasPrefix(c, name) {
			add(c)
		}
	}
	for left := candidates; len(names) < most; {
		near := decode.Nearest(name, left)
		if near == "" {
			break
		}
		add(near)
		left = slices.DeleteFunc(left, func(c string) bool { return c == near })
	}
	return names
}

// Parse parses and checks a recipe. Each problem of the joined error starts
// with its line and column if it has a position.
func Parse(name string, data []byte) (*Recipe, error) { return parse(name, data, false) }

// ParseOwn is Parse for a file of the user. Its site may be an http URL of this
// machine, such as a mirror. A recipe from elsewhere must not read the user's
// servers.
func ParseOwn(name string, data []byte) (*Recipe, error) { return parse(name, data, true) }

func parse(name string, data []byte, own bool) (*Recipe, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("larger than %d KiB", MaxFile>>10)
	}
	var file struct {
		Recipe
		Questions []any `toml:"questions"`
	}
	decoder := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	err := decoder.Decode(&file)
	var unknown *toml.StrictMissingError
	var invalid *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		var all []error
		for _, e := range unknown.Errors {
			row, column := e.Position()
			all = append(all, fmt.Errorf("%d:%d: unknown key %q", row, column, strings.Join(e.Key(), ".")))
		}
		return nil, errors.Join(all...)
	case errors.As(err, &invalid):
		row, column := invalid.Position()
		return nil, fmt.Errorf("%d:%d: %s", row, column, strings.TrimPrefix(invalid.Error(), "toml: "))
	case err != nil:
		return nil, err
	}
	r := &file.Recipe
	r.Name = name
	if r.Questions, err = parseQuestions(file.Questions); err != nil {
		return nil, err
	}
	if err := r.check(own); err != nil {
		return nil, err
	}
	return r, nil
}

// parseQuestions parses the texts and tables of the key "questions".
func parseQuestions(values []any) ([]Question, error) {
	var all []Question
	for _, v := range values {
		q := Question{}
		fields, isTable := v.(map[string]any)
		if isTable {
			v = fields["question"]
			page, hasPage := fields["page"].(string)
			if q.Page = page; !hasPage || page == "" || len(fields) != 2 {
				v = nil
			}
		}
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf(`invalid question: want a text, or {question = "...", page = "..."}`)
		}
		q.Text = text
		all = append(all, q)
	}
	return all, nil
}

// At returns the recipe with its placeholders replaced by a version; "" means
// the default version or, if there is none, the latest release.
func (r *Recipe) At(version string) (*Recipe, error) {
	switch {
	case version == "":
		version = r.Version
	case !r.Source.hasPlaceholder():
		return nil, fmt.Errorf("recipe %q has no versions", r.Name)
	case !isVersion(version):
		return nil, fmt.Errorf("invalid version %q: want letters, digits, and dots", version)
	}
	filled := *r
	filled.Version = version
	fill := strings.NewReplacer(placeholder, version, digitsPlaceholder, strings.ReplaceAll(version, ".", "")).Replace
	if version == "" { // a tag pattern without its first numbers
		fill = strings.NewReplacer(placeholder+".*", "*", placeholder+"_*", "*").Replace
	}
	filled.Source.Site, filled.Source.Prefix = fill(r.Source.Site), fill(r.Source.Prefix)
	filled.Source.Git, filled.Source.Ref = fill(r.Source.Git), fill(r.Source.Ref)
	filled.Source.Root = fill(r.Source.Root)
	filled.Source.Include, filled.Source.Exclude = fillAll(r.Source.Include, fill), fillAll(r.Source.Exclude, fill)
	filled.URLs = nil
	for _, u := range r.URLs {
		if version != "" || !strings.Contains(u, placeholder) {
			filled.URLs = append(filled.URLs, fill(u))
		}
	}
	return &filled, nil
}

func fillAll(list []string, fill func(string) string) []string {
	var filled []string
	for _, s := range list {
		filled = append(filled, fill(s))
	}
	return filled
}

// hasPlaceholder reports whether the source depends on the version.
func (s *Source) hasPlaceholder() bool {
	text := s.text()
	return strings.Contains(text, placeholder) || strings.Contains(text, digitsPlaceholder)
}

// HasMajorVersions reports whether the source differs by the first number of a version only.
func (s *Source) HasMajorVersions() bool { return strings.Contains(s.text(), majorFolder) }

// text returns the URLs and paths that may have a placeholder.
func (s *Source) text() string {
	return strings.Join(append([]string{s.Download(), s.Root}, s.Include...), "\n")
}

// Download returns the URL from which the recipe downloads, with the ref of a
// repository after "#"; "" if it uses only installed documentation.
func (s *Source) Download() string {
	if s.Git != "" && s.Ref != "" {
		return s.Git + "#" + s.Ref
	}
	return s.Git + s.Site
}

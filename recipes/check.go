package recipes

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/ingest/source/gitrepo"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/loopback"
)

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]*$`)
	packagePattern = regexp.MustCompile(`^[a-z]+:[^\s:]\S*$`)
	versionPattern = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]*$`)
	commitPattern  = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	// frozenPattern matches a version number that is a part of a path.
	frozenPattern = regexp.MustCompile(`(^|[/_-])v?[0-9]+(x|\.([0-9]+|x)(\.[0-9x]+)?)(/|$)`)
	// licensePattern matches the form of an SPDX expression without parentheses.
	licensePattern = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+-]*( (AND|OR|WITH) [0-9A-Za-z][0-9A-Za-z.+-]*)*$`)
)

func isVersion(s string) bool { return versionPattern.MatchString(s) && !strings.Contains(s, "..") }

// A checker collects the problems of a recipe.
type checker struct {
	own      bool // a file of the user
	problems []error
}

func (c *checker) require(ok bool, format string, args ...any) {
	if !ok {
		c.problems = append(c.problems, fmt.Errorf(format, args...))
	}
}

// check returns all problems of a recipe, joined.
func (r *Recipe) check(own bool) error {
	c := &checker{own: own}
	c.require(namePattern.MatchString(r.Name), "invalid name %q: want lower-case letters, digits, and hyphens", r.Name)
	c.require(isLine(r.Title), "invalid title %q: want one line of text", r.Title)
	c.require(isLine(r.Attribution), "invalid attribution %q: want one line of text", r.Attribution)
	c.require(licensePattern.MatchString(r.License),
		"invalid license %q: want an SPDX expression such as MIT or CC-BY-4.0", r.License)
	c.checkKeywords(r.Keywords)
	for _, p := range r.Packages {
		c.require(packagePattern.MatchString(p), "invalid package %q: want ECOSYSTEM:NAME", p)
	}
	c.checkQuestions(r)
	c.checkVersion(r)
	c.checkVerification(r.Verified)
	if filled, err := r.At(""); err == nil {
		c.checkSource(&filled.Source)
		for _, u := range filled.URLs {
			c.require(isPrefix(u), "invalid URL prefix %q: want https://HOST/PATH", u)
		}
	}
	return errors.Join(c.problems...)
}

func (c *checker) checkKeywords(keywords []string) {
	c.require(len(keywords) > 0, "no keywords: want at least one")
	for i, k := range keywords {
		c.require(isLine(k) && strings.TrimSpace(k) == k && strings.ToLower(k) == k,
			"invalid keyword %q: want lower case without spaces around it", k)
		c.require(!slices.Contains(keywords[:i], k), "keyword %q is listed twice", k)
	}
}

// checkQuestions checks that the hook selects the database for each question.
func (c *checker) checkQuestions(r *Recipe) {
	c.require(len(r.Questions) > 0, "no questions: want at least one that the documentation answers")
	for _, question := range r.Questions {
		q := question.Text
		words := " " + strings.Join(strings.FieldsFunc(strings.ToLower(q), unicode.IsSpace), " ") + " "
		selects := slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(words, " "+k+" ") })
		c.require(isLine(q) && selects, "invalid question %q: want a web search with one of the keywords", q)
	}
}

func (c *checker) checkVersion(r *Recipe) {
	if r.Version != "" {
		c.require(isVersion(r.Version), "invalid version %q: want letters, digits, and dots", r.Version)
	}
	used := r.Source.hasPlaceholder()
	c.require(used || r.Version == "", "version %q is unused: want %s in site, git, or ref", r.Version, placeholder)
	if filled, err := r.At(""); err == nil {
		c.require(!filled.Source.hasPlaceholder(), "no version: want the default for %s", placeholder)
	}
	if c.own { // a recipe of the user may stay with one version
		return
	}
	for _, path := range append([]string{r.Source.Root}, r.Source.Include...) {
		c.require(!frozenPattern.MatchString(path), "a version is frozen in the path %q: want %s", path, placeholder)
	}
}

func (c *checker) checkVerification(v Verification) {
	if v == (Verification{}) {
		return
	}
	_, err := time.Parse(time.DateOnly, v.Date)
	c.require(err == nil && v.Documents > 0 && v.Bytes > 0 && (v.Commit == "" || commitPattern.MatchString(v.Commit)),
		"invalid verified: want date, documents, bytes, and the commit of a repository, as recipes check --online prints them")
}

// checkSource checks the source with the readers that use it.
func (c *checker) checkSource(s *Source) {
	c.require(s.Site != "" || s.Git != "" || s.Installed != "", "no source: want site, git, or installed")
	c.require(s.Site == "" || s.Git == "", "cannot combine site and git")
	c.require(s.Prefix == "" || s.Site != "", "cannot use prefix without site")
	c.require(s.Ref == "" || s.Git != "", "cannot use ref without git")
	if s.Site != "" {
		u, err := url.Parse(s.Site)
		c.require(err == nil && (u.Scheme == "https" || c.own && loopback.IsSafe(u)),
			"invalid site %q: want an https URL", s.Site)
		if err := site.Check(s.Site, s.Prefix); err != nil {
			c.problems = append(c.problems, err)
		}
	}
	if s.Git != "" && s.Site == "" {
		repo, ok := gitrepo.Parse(s.Download())
		scheme, _, hasScheme := strings.Cut(repo.URL, "://") // git@host:path has none
		encrypted := !hasScheme || scheme == "https" || scheme == "ssh"
		c.require(ok && encrypted && !strings.Contains(s.Git, "#"),
			"invalid git %q: want a URL such as https://git.example.com/project.git", s.Download())
	}
	filter := folder.Options{Include: s.Include, Exclude: s.Exclude}
	c.require(s.Root == "" || s.Git != "" && fs.ValidPath(strings.TrimSuffix(s.Root, "/**")),
		"root: want a folder of the git repository, got %q", s.Root)
	c.require(s.Download() != "" || len(s.Include)+len(s.Exclude) == 0,
		"cannot use include or exclude without site or git")
	if _, err := folder.NewFilter(filter); err != nil {
		c.problems = append(c.problems, err)
	}
}

// isPrefix reports whether s is the URL prefix of public pages.
func isPrefix(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.Path != "" && u.RawQuery == "" &&
		u.Fragment == "" && u.Opaque == ""
}

// isLine reports whether s is a nonempty line of printable text.
func isLine(s string) bool {
	return strings.TrimSpace(s) != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

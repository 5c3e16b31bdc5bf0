package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
)

// SuggestKeyword derives a keyword from the source.
func SuggestKeyword(source string) string {
	source = CanonicalSource(nil, source)
	if ingest.ExtractedKind(source) != "" {
		return strings.ToLower(ingest.ExtractedName(source))
	}
	if IsURL(source) {
		return ingest.SiteName(source)
	}
	path, err := filepath.Abs(source)
	if err != nil {
		return ""
	}
	if dir, err := index.Locate(path); err == nil {
		path = dir
	}
	word := strings.ToLower(nameFor(path))
	if slices.Contains([]string{"doc", "docs", "documentation"}, word) {
		word = strings.ToLower(filepath.Base(filepath.Dir(path)))
	}
	return word
}

// SuggestSource looks for documentation in the usual locations: a LEANN index
// that is not in the config, or a documentation folder in the working
// directory. It returns "" if it finds none.
func SuggestSource(l config.Locations) string {
	all, err := List(l)
	if err != nil {
		return ""
	}
	for _, dir := range []string{".leann", filepath.Join(config.Home(os.Getenv), ".leann")} {
		found, _ := filepath.Glob(filepath.Join(dir, "indexes", "*"))
		for _, path := range found {
			abs, err := filepath.Abs(path)
			if err == nil && IsDatabase(abs) && !isConfigured(all, abs) {
				return path
			}
		}
	}
	for _, dir := range []string{"docs", "doc", "documentation"} {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
	}
	return ""
}

// IsNew reports whether the argument is a source to build a database from, as
// opposed to an existing database.
func IsNew(source string) bool {
	if IsURL(source) || ingest.ExtractedKind(source) != "" {
		return true
	}
	if _, err := os.Stat(source); err != nil {
		return false
	}
	_, err := index.Locate(source)
	return err != nil
}

// DatabaseName converts a keyword to a folder name.
func DatabaseName(keyword string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '-'
		}
		return r
	}, strings.ToLower(keyword))
	return strings.Trim(name, ".-")
}

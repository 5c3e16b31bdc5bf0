package quicksearch

import (
	"slices"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

// Properties are what an answer depends on besides the passages of a database. The zero value
// is an uncalibrated manual in an unknown language.
type Properties struct {
	Confidence *generation.Confidence
	Version    string // of the documented software if the query has none
	Language   string
	Partial    generation.Partial
}

// limit makes a confident answer advice if the confidence says too little about the database. It
// is calibrated for manuals in English: of the searches that only the web answers, manuals in
// German, French, Japanese and Chinese denied 25 of 40.
func (a *Answer) limit(query string, p *Properties) {
	switch {
	case !a.Confident:
	case p.Language != "" && p.Language != lexical.English:
		a.AdviceOnly = "documentation in " + p.Language
	case p.Partial == generation.OnlyReadme, p.Partial == generation.OnlyChanges && !asksChanges(query):
		a.AdviceOnly = "only " + string(p.Partial)
	}
	a.Confident = a.Confident && a.AdviceOnly == ""
}

// isForeign reports whether a query is in another language than English.
func isForeign(query string) bool {
	language := lexical.LanguageOf(query)
	return language != "" && language != lexical.English
}

// asksChanges reports whether a query asks what changed in a release.
func asksChanges(query string) bool {
	return slices.ContainsFunc(slices.Collect(wordsOf(query)), func(w string) bool {
		switch w {
		case "change", "changes", "changed", "changelog", "new", "added", "removed", "deprecated", "fixed", "introduced", "renamed", "breaking", "release", "released", "since":
			return true
		}
		return false
	})
}

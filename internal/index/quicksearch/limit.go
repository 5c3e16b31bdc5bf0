package quicksearch

import (
	"slices"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

// Limit makes a confident answer advice if the confidence says too little about the database. It
// is calibrated for manuals in English: of the searches that only the web answers, manuals in
// German, French, Japanese and Chinese denied 25 of 40.
func (a *Answer) Limit(query, language string, partial generation.Partial) {
	switch {
	case !a.Confident:
	case language != "" && language != lexical.English:
		a.AdviceOnly = "documentation in " + language
	case partial == generation.OnlyReadme, partial == generation.OnlyChanges && !asksChanges(query):
		a.AdviceOnly = "only " + string(partial)
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

package quicksearch

import (
	"path"
	"slices"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// Properties are what an answer depends on besides the passages of a database. The zero value
// is an uncalibrated manual in an unknown language.
type Properties struct {
	Confidence *generation.Confidence
	Version    string // of the documented software if the query has none
	Language   string
	Partial    generation.Partial
}

// limit makes a confident answer advice if the confidence says too little about the database or
// its best hit. It is calibrated for manuals in English: of the searches that only the web
// answers, manuals in German, French, Japanese and Chinese denied 25 of 40.
func (a *Answer) limit(q *Query, p *Properties, d *lexical.Demands, best *Hit) {
	switch {
	case !a.Confident:
	case p.Language != "" && p.Language != lexical.English:
		a.AdviceOnly = "documentation in " + p.Language
	case p.Partial == generation.OnlyReadme, p.Partial == generation.OnlyChanges && !asksChanges(q.Text):
		a.AdviceOnly = "only " + string(p.Partial)
	case lexical.IsForeign(q.Text, len(d.Missing)) && messageOf(q.Text, q.Names) == nil:
		a.AdviceOnly = "query in another language"
	case isReleaseNote(best) && !asksChanges(q.Text):
		a.AdviceOnly = passage.ReleaseNotes
	case best.Kind() == passage.Readme:
		a.AdviceOnly = passage.Readme
	}
	a.Confident = a.Confident && a.AdviceOnly == ""
}

// isReleaseNote reports whether a hit describes the changes of a release. Pages about making
// releases have similar names, and no version in their headings.
func isReleaseNote(h *Hit) bool {
	return h.Kind() == passage.ReleaseNotes &&
		(hasVersion(h.Title) || hasVersion(path.Base(h.Document())) || slices.ContainsFunc(h.Headings, hasVersion))
}

// hasVersion reports whether a text has numbers with a period in between, such as 3.11.
func hasVersion(text string) bool {
	isDigit := func(b byte) bool { return '0' <= b && b <= '9' }
	for i := 1; i+1 < len(text); i++ {
		if text[i] == '.' && isDigit(text[i-1]) && isDigit(text[i+1]) {
			return true
		}
	}
	return false
}

// asksChanges reports whether a query asks what changed in a release.
func asksChanges(query string) bool {
	return hasVersion(query) || slices.ContainsFunc(slices.Collect(wordsOf(query)), func(w string) bool {
		switch w {
		case "change", "changes", "changed", "changelog", "new", "added", "removed", "deprecated", "fixed",
			"introduced", "renamed", "breaking", "incompatible", "incompatibilities", "release", "releases", "released",
			"version", "versions",
			"news", "since", "upgrade", "upgrading", "migrate", "migrating", "migration", "deprecation", "removal":
			return true
		}
		return false
	})
}

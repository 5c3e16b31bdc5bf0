package ingest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/html"
)

// documentKind classifies a document by its name, title and metadata. It
// returns a kind of package passage, or "".
func documentKind(name string, doc *document.Document) string {
	at := strings.ToLower(fileOf(name))
	folders, base := path.Split(at)
	stem := strings.TrimSuffix(base, path.Ext(base))
	segments := append(strings.Split(strings.Trim(folders, "/"), "/"), stem)
	title := strings.ToLower(strings.TrimSpace(doc.Title))
	switch {
	case (slices.ContainsFunc(segments, passage.NamesReleaseNotes) || isReleaseTitle(title)) &&
		(slices.ContainsFunc(segments, hasVersion) || isAboutReleases(segments, doc)):
		return passage.ReleaseNotes
	case slices.ContainsFunc(segments, passage.MayNameReleaseNotes) &&
		(versionName().MatchString(stem) || versionName().MatchString(title) || listsVersions(doc)):
		return passage.ReleaseNotes
	case isBlog(segments[:len(segments)-1], stem):
		return passage.Blog
	case doc.Canonical != "" && isVersionOf(at, strings.ToLower(fileOf(doc.Canonical))),
		slices.ContainsFunc(segments[:len(segments)-1], isOldDocumentation):
		return passage.OldVersion
	case isTranslation(segments, strings.ToLower(doc.Language)):
		return passage.Translation
	}
	return ""
}

// anyVersion matches a version or a year.
var anyVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d\.\d|\b20\d\d\b`) })

func hasVersion(name string) bool {
	return versionName().MatchString(name) || anyVersion().MatchString(name)
}

// isAboutReleases reports whether a document with the name or title of release notes may be
// them, and not the description of a feature of that name. At the top of the source it is.
func isAboutReleases(segments []string, doc *document.Document) bool {
	const most = 2000
	switch {
	case slices.ContainsFunc(segments, describesAPI):
		return listsVersions(doc)
	case len(segments) < 3 && segments[0] == "", len(doc.Lines) == 0:
		return true
	}
	return hasVersion(doc.Title) || slices.ContainsFunc(doc.Lines[:min(len(doc.Lines), most)], anyVersion().MatchString)
}

// describesAPI reports whether a folder of that name has a reference.
func describesAPI(folder string) bool {
	switch folder {
	case "api", "apis", "reference", "rest":
		return true
	}
	return false
}

// versionName matches a name or heading that begins with a version or a date.
var versionName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[\W_]*(?:(?:version|release|changes (?:in|for|since)|new in|v)[\W_]*)?\d+(?:[._-]\d+|$)`)
})

// listsVersions reports whether the headings of a document, or the lines of one without
// headings, are versions or dates.
func listsVersions(doc *document.Document) bool {
	const least, most = 2, 2000
	headings, versions := 0, 0
	for _, s := range doc.Sections {
		if n := len(s.Headings); n > 0 {
			if headings++; versionName().MatchString(s.Headings[n-1]) {
				versions++
			}
		}
	}
	if headings > 1 {
		return versions >= least || 3*versions >= headings
	}
	for _, l := range doc.Lines[:min(len(doc.Lines), most)] {
		if versionName().MatchString(l) && l[0] != ' ' && l[0] != '\t' {
			versions++
		}
	}
	return versions >= least
}

// isBlog reports whether the folders of a document, or those and its name, are typical of a
// blog. A reference may describe posts.
func isBlog(folders []string, stem string) bool {
	isDatedName := func(s string) bool {
		return len(s) >= 4 && (s[:2] == "19" || s[:2] == "20") && strings.Trim(s[:4], "0123456789") == ""
	}
	isDated := isDatedName(stem) || slices.ContainsFunc(folders, isDatedName)
	at := slices.IndexFunc(folders, func(s string) bool { return s == "blog" || s == "blogs" })
	switch {
	case slices.ContainsFunc(folders, describesAPI):
		return false
	case at < 0:
		return isDated && slices.Contains(folders, "posts")
	}
	return isDated || slices.Contains(folders[at:], "posts") || !slices.ContainsFunc(folders[:at], describesUse)
}

// describesUse reports whether a folder of that name has descriptions of features, of which a
// blog may be one.
func describesUse(folder string) bool {
	for _, word := range [...]string{"guide", "tutorial", "feature", "plugin", "user", "manual", "how-to", "howto", "learn"} {
		if strings.Contains(folder, word) {
			return true
		}
	}
	return false
}

// isReleaseTitle reports whether a title is typical of release notes.
func isReleaseTitle(title string) bool {
	for _, prefix := range []string{"release notes", "changelog", "change log", "what's new", "what’s new",
		"version history"} {
		rest, ok := strings.CutPrefix(title, prefix)
		if ok && (rest == "" || strings.IndexByte(" :(", rest[0]) >= 0 && releaseTitle().MatchString(rest) ||
			strings.HasPrefix(prefix, "what")) {
			return true
		}
	}
	return strings.HasSuffix(title, " release notes") || strings.HasSuffix(title, " changelog")
}

// releaseTitle matches what follows "Release notes" in the title of such a page.
var releaseTitle = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[:(|–—-]|v?\d|(?:for|of|in|since|and)\b)`)
})

// isVersionOf reports whether a page is another version of its canonical page.
func isVersionOf(at, canonical string) bool {
	a, versionA := cutVersion(at)
	c, versionC := cutVersion(canonical)
	return a == c && versionA != "" && versionA != versionC
}

// isOldDocumentation reports whether a folder name says that it has documentation that was
// replaced: docs-old, legacy_documentation.
func isOldDocumentation(folder string) bool {
	words := strings.FieldsFunc(folder, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	return len(words) == 2 && slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"old", "legacy", "archive", "archived", "deprecated", "obsolete"}, w)
	}) && slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"doc", "docs", "documentation", "manual", "guide", "site", "website"}, w)
	})
}

// cutVersion removes the first folder from a path that is a version.
func cutVersion(p string) (rest, version string) {
	segments := strings.Split(p, "/")
	i := slices.IndexFunc(segments[:len(segments)-1], func(s string) bool {
		s = strings.TrimPrefix(s, "v")
		return s != "" && strings.Trim(s, "0123456789.") == "" || s == "latest" || s == "stable" || s == "current" ||
			s == "dev" || s == "main" || s == "master"
	})
	if i < 0 {
		return p, ""
	}
	version = segments[i]
	return strings.Join(slices.Delete(segments, i, i+1), "/"), version
}

// isTranslation reports whether the page is not in English and one of its
// folders is named after its language.
func isTranslation(segments []string, language string) bool {
	short, _, _ := strings.Cut(language, "-")
	if short == "" || short == "en" {
		return false
	}
	return slices.Contains(segments[:len(segments)-1], language) || slices.Contains(segments[:len(segments)-1], short)
}

// documentFlags returns the reasons to distrust a document: hidden text about
// assistants, or instructions to programs.
func documentFlags(doc *document.Document) []string {
	var flags []string
	if slices.ContainsFunc(doc.HiddenText, html.MentionsAssistant) || hasAssistantComment(doc) {
		flags = append(flags, passage.HidesText)
	}
	if slices.ContainsFunc(doc.Lines, addressesAssistant) {
		flags = append(flags, passage.Instructs)
	}
	if slices.ContainsFunc(doc.Lines, hasTagCharacters) {
		flags = append(flags, passage.Invisible)
	}
	return flags
}

// hasAssistantComment reports whether the source text has a comment that
// mentions assistants. Readers of the rendered page do not see it.
func hasAssistantComment(doc *document.Document) bool {
	if doc.Converted || !slices.ContainsFunc(doc.Lines, func(l string) bool { return strings.Contains(l, "<!--") }) {
		return false
	}
	text := strings.Join(doc.Lines, "\n")
	for {
		_, rest, found := strings.Cut(text, "<!--")
		if !found {
			return false
		}
		comment, after, _ := strings.Cut(rest, "-->")
		if html.MentionsAssistant(comment) {
			return true
		}
		text = after
	}
}

// instruction matches text that gives a program, not a person, instructions.
// Documentation about such programs does not match.
var instruction = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(ignore|disregard|forget) (all |any )?(of )?(your |the )?(previous|prior|earlier|above|preceding) (instructions|prompts?|directions)\b` +
		`|\bif you are an? (ai|llm|(large )?language model|ai (assistant|agent|model))\b` +
		`|\b(note|attention|instructions?|message) (to|for) (all )?(ai|llm)( |-)?(assistants?|agents?|models?|s)?:` +
		`|\b(do not|don't|never) (tell|inform|alert|mention (this|it) to) the user\b`)
})

// addressesAssistant reports whether a line gives a program instructions.
func addressesAssistant(line string) bool {
	line = strings.ToLower(line)
	for _, word := range [...]string{"instruction", "prompt", "direction", "language model", " ai", " llm",
		"the user"} {
		if strings.Contains(line, word) {
			return instruction().MatchString(line)
		}
	}
	return false
}

// hasTagCharacters reports whether a line has characters of the Unicode block
// "Tags" outside of flag emoji. They are invisible and can encode text.
func hasTagCharacters(line string) bool {
	if !strings.Contains(line, "\xf3\xa0\x80") && !strings.Contains(line, "\xf3\xa0\x81") {
		return false
	}
	const blackFlag = 0x1F3F4
	inFlag := false
	for _, r := range line {
		if isTag := r >= 0xE0000 && r <= 0xE007F; !isTag {
			inFlag = r == blackFlag
		} else if !inFlag {
			return true
		}
	}
	return false
}

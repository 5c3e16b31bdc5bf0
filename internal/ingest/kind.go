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
	case slices.ContainsFunc(segments, passage.NamesReleaseNotes), isReleaseTitle(title):
		return passage.ReleaseNotes
	case slices.ContainsFunc(segments, func(s string) bool { return s == "blog" || s == "blogs" || s == "posts" }):
		return passage.Blog
	case doc.Canonical != "" && isVersionOf(at, strings.ToLower(fileOf(doc.Canonical))):
		return passage.OldVersion
	case isTranslation(segments, strings.ToLower(doc.Language)):
		return passage.Translation
	}
	return ""
}

// isReleaseTitle reports whether a title is typical of release notes.
func isReleaseTitle(title string) bool {
	return hasAnyPrefix(title, "release notes", "changelog", "change log", "what's new", "what’s new", "version history") ||
		strings.HasSuffix(title, " release notes") || strings.HasSuffix(title, " changelog")
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// isVersionOf reports whether a page is another version of its canonical page.
func isVersionOf(at, canonical string) bool {
	a, versionA := cutVersion(at)
	c, versionC := cutVersion(canonical)
	return a == c && versionA != "" && versionA != versionC
}

// cutVersion removes the first folder from a path that is a version.
func cutVersion(p string) (rest, version string) {
	segments := strings.Split(p, "/")
	i := slices.IndexFunc(segments[:len(segments)-1], func(s string) bool {
		s = strings.TrimPrefix(s, "v")
		return s != "" && strings.Trim(s, "0123456789.") == "" || s == "latest" || s == "stable" || s == "current" || s == "dev" || s == "main" || s == "master"
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
	for _, word := range [...]string{"instruction", "prompt", "direction", "language model", " ai", " llm", "the user"} {
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

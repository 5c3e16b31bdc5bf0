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

// kindOf is the kind of a document, by its place and what it says of itself: one
// of package passage's, or "".
func kindOf(name string, doc *document.Document) string {
	at := strings.ToLower(fileOf(name))
	folders, base := path.Split(at)
	stem := strings.TrimSuffix(base, path.Ext(base))
	segments := append(strings.Split(strings.Trim(folders, "/"), "/"), stem)
	title := strings.ToLower(strings.TrimSpace(doc.Title))
	switch {
	case slices.ContainsFunc(segments, isReleaseNotes), isReleaseTitle(title):
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

// isReleaseNotes reports whether a file or folder has the name that release
// notes have.
func isReleaseNotes(name string) bool {
	switch name {
	case "changes", "changelog", "changelogs", "news", "relnotes", "releases", "release":
		return true
	}
	for _, prefix := range [...]string{"whatsnew", "whats-new", "what-s-new", "release-notes", "release_notes", "releasenotes", "releaselog", "changelog-", "changelog_", "release-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isReleaseTitle reports whether a document with that title is release notes.
func isReleaseTitle(title string) bool {
	for _, prefix := range [...]string{"release notes", "changelog", "change log", "what's new", "what’s new", "version history"} {
		if strings.HasPrefix(title, prefix) {
			return true
		}
	}
	return strings.HasSuffix(title, " release notes") || strings.HasSuffix(title, " changelog")
}

// isVersionOf reports whether a page is that of another version than the one
// which it says it should be known by.
func isVersionOf(at, canonical string) bool {
	a, versionA := cutVersion(at)
	c, versionC := cutVersion(canonical)
	return a == c && versionA != "" && versionA != versionC
}

// cutVersion takes the first folder that names a version out of a path.
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

// isTranslation reports whether one of the folders is called after the language
// of the page, which is not English.
func isTranslation(segments []string, language string) bool {
	short, _, _ := strings.Cut(language, "-")
	if short == "" || short == "en" {
		return false
	}
	return slices.Contains(segments[:len(segments)-1], language) || slices.Contains(segments[:len(segments)-1], short)
}

// flagsOf says why to read a document with care: it says something to programs
// that its readers do not see, or tells them what to do.
func flagsOf(doc *document.Document) []string {
	var flags []string
	if slices.ContainsFunc(doc.HiddenText, html.MentionsAssistant) || commentsOn(doc) {
		flags = append(flags, passage.HidesText)
	}
	if slices.ContainsFunc(doc.Lines, instructs) {
		flags = append(flags, passage.Instructs)
	}
	if slices.ContainsFunc(doc.Lines, hasTagCharacters) {
		flags = append(flags, passage.Invisible)
	}
	return flags
}

// commentsOn reports whether a text has a comment, which no reader of what is
// made of it sees, on assistants.
func commentsOn(doc *document.Document) bool {
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

// instruction is what tells a program, rather than a person, what to do. What
// documentation says about such programs is another matter.
var instruction = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(ignore|disregard|forget) (all |any )?(of )?(your |the )?(previous|prior|earlier|above|preceding) (instructions|prompts?|directions)\b` +
		`|\bif you are an? (ai|llm|(large )?language model|ai (assistant|agent|model))\b` +
		`|\b(note|attention|instructions?|message) (to|for) (all )?(ai|llm)( |-)?(assistants?|agents?|models?|s)?:` +
		`|\b(do not|don't|never) (tell|inform|alert|mention (this|it) to) the user\b`)
})

// instructs reports whether a line tells a program what to do.
func instructs(line string) bool {
	line = strings.ToLower(line)
	for _, word := range [...]string{"instruction", "prompt", "direction", "language model", " ai", " llm", "the user"} {
		if strings.Contains(line, word) {
			return instruction().MatchString(line)
		}
	}
	return false
}

// hasTagCharacters reports whether a line has characters of the block of tags,
// which say something and show nothing, other than in the flags of countries.
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

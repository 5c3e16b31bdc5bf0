package lexical

import (
	"cmp"
	"slices"
	"strings"
)

// releaseBonus is the bonus of the release notes that a query asks for. Their words are those of
// many other pages, and that they are release notes counts against them otherwise.
const releaseBonus = 2 * pageBonus

// A releaseQuestion is whether a query asks for what changed in a release.
type releaseQuestion uint8

const (
	notOfRelease releaseQuestion = iota
	// ofRelease is a query such as "removed in 3.2".
	ofRelease
	// ofReleaseNotes is a query whose words only ask for such pages: "release notes", "what's
	// new".
	ofReleaseNotes
)

// releaseQuestionAt classifies the words of a query that end with the i-th, of which first is the
// first.
func releaseQuestionAt(words []framedWord, i int) (asked releaseQuestion, first int) {
	before := ""
	if i > 0 {
		before = words[i-1].folded
	}
	switch before + " " + words[i].folded {
	case "release notes", "what's new", "whats new":
		return ofReleaseNotes, i - 1
	case "changes in", "changed in", "new in", "added in", "removed in", "deprecated in":
		// Without a version, they are changes of something else.
		for _, w := range words[i+1 : min(len(words), i+3)] {
			if isOwnVersion(w) {
				return ofRelease, i - 1
			}
		}
	}
	if words[i].folded == "changelog" && slices.ContainsFunc(words, isOwnVersion) {
		return ofReleaseNotes, i
	}
	return notOfRelease, i
}

// isOwnVersion reports whether markVersions marked a word.
func isOwnVersion(w framedWord) bool {
	numbers, _ := parseNumbers(w.folded)
	return w.framing == strongFraming && len(numbers) > 0
}

// findRelease sets the term of the release notes that a query asks for: those of the version in
// the query, else of the index's own. If the index has them, the words that ask for such pages
// become framing. If it lacks those of the version in the query, they ask for news.
func (x *Index) findRelease(words []framedWord, q *Query, in *intent) error {
	asked, version := notOfRelease, ""
	for i, w := range words {
		found, _ := releaseQuestionAt(words, i)
		asked = max(asked, found)
		if isOwnVersion(w) {
			version = bareVersion(w.folded)
		}
	}
	if asked == notOfRelease || version == "" && q.Version == "" {
		return nil
	}
	term := releaseSymbol(cmp.Or(version, q.Version)).term()
	_, _, found, err := x.dictionary.find(term)
	if err != nil {
		return err
	}
	if !found {
		if asked == ofReleaseNotes && version != "" {
			in.news++
		}
		return nil
	}
	for i := range words {
		if found, first := releaseQuestionAt(words, i); found == ofReleaseNotes {
			words[first].framing, words[i].framing = strongFraming, strongFraming
		}
	}
	in.release = term
	return nil
}

// releaseSymbol is what the release notes of a version define.
func releaseSymbol(version string) symbol { return symbol{"release " + version, pageName} }

// releaseOf returns the version whose release notes a page is, according to its title, or "":
// 3.2 of "Django 3.2 release notes" and "What's New In Python 3.2".
func releaseOf(title string) string {
	title = strings.ToLower(strings.ReplaceAll(title, "’", "'"))
	if !strings.Contains(title, "release") && !strings.Contains(title, "what's new") {
		return ""
	}
	for word := range strings.FieldsSeq(title) {
		word = strings.TrimSuffix(strings.TrimPrefix(word, "v"), ".x")
		if numbers, _ := parseNumbers(word); len(numbers) > 0 {
			return word
		}
	}
	return ""
}

package plaintext

import (
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// Levels of the headings in help files of Vim.
const (
	vimTitle = 1 + iota
	vimChapter
	vimSection
	vimTopic
)

// minTopicWords is the size from which a topic has a passage of its own. Lists of commands
// consist of shorter ones.
const minTopicWords = 20

// isVimHelp reports whether lines are a help file of Vim: the first one starts with the name of
// the file as a tag.
func isVimHelp(lines []string) bool {
	name, _, ok := strings.Cut(strings.TrimPrefix(lines[0], "*"), "*")
	return ok && strings.HasPrefix(lines[0], "*") && strings.HasSuffix(name, ".txt") &&
		!strings.ContainsAny(name, " \t")
}

// parseVimHelp parses a help file of Vim. A line after a blank line that has tags at its end is
// a heading, and so is the first line after a separator. The tags are anchors.
func (p *parser) parseVimHelp() {
	lines := p.doc.Lines
	level := vimTitle
	p.addLine(0)
	for i := 1; i < len(lines); i++ {
		if len(lines[i]) >= longRule && isRule(lines[i]) {
			level = vimSection
			if lines[i][0] == '=' {
				level = vimChapter
			}
			lines[i], p.within = document.DroppedLine, false
			continue
		}
		text, tags := cutTags(lines[i])
		if !p.within && !document.IsBlank(lines[i]) && (len(tags) > 0 || level != vimTopic && level != vimTitle) {
			if n, ok := sectionNumber(text); ok && len(n) > 1 {
				level = vimSection
			}
			if p.heading(level, p.vimHeading(i, text, tags), i) {
				p.sections[len(p.sections)-1].Entry = level == vimTopic
				level = vimTopic
			}
		}
		p.addAnchors(tags, i)
		p.addLine(i)
	}
}

// isTopic reports whether an entry is long enough for a passage of its own.
func (p *parser) isTopic(s *document.Section) bool {
	words := 0
	for _, line := range p.doc.Lines[s.First-1 : s.Last] {
		words += document.CountWords(line)
	}
	return words >= minTopicWords
}

// addAnchors makes anchors of the tags on lines[i].
func (p *parser) addAnchors(tags []string, i int) {
	s := &p.sections[len(p.sections)-1]
	for _, tag := range tags {
		s.Anchors = append(s.Anchors, document.Anchor{Name: tag, Line: i + 1})
	}
}

// cutTags cuts the tags from the end of a line: "reltime()  *reltime()*".
func cutTags(line string) (text string, tags []string) {
	text = strings.TrimRight(line, " \t")
	for strings.HasSuffix(text, "*") {
		open := strings.LastIndexByte(text[:len(text)-1], '*')
		if open < 0 || open > 0 && text[open-1] != ' ' && text[open-1] != '\t' {
			break
		}
		tag := text[open+1 : len(text)-1]
		if tag == "" || strings.ContainsAny(tag, " \t|") {
			break
		}
		tags = append([]string{tag}, tags...)
		text = strings.TrimRight(text[:open], " \t")
	}
	return text, tags
}

// isErrorNumber reports whether a tag is the number of an error message: E123.
func isErrorNumber(tag string) bool {
	digits, ok := strings.CutPrefix(tag, "E")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// vimHeading returns the heading of the topic at lines[i], whose line has the text and tags:
// the command that the line shows, or the next one if it has only tags.
func (p *parser) vimHeading(i int, text string, tags []string) string {
	const longest = 60
	if text == "" && i+1 < len(p.doc.Lines) {
		text, _ = cutTags(p.doc.Lines[i+1])
		if !strings.ContainsAny(text, "\t") && len(text) > longest/2 {
			text = "" // a sentence
		}
	}
	text, _, _ = strings.Cut(text, "\t")
	text, _, _ = strings.Cut(text, "  ")
	if text = strings.TrimSpace(text); text != "" && len(text) <= longest {
		return text
	}
	for _, tag := range tags {
		if !isErrorNumber(tag) {
			return tag
		}
	}
	if len(tags) > 0 {
		return tags[0]
	}
	return document.Shorten(text)
}

package markdown

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

// Keys of front matter.
var (
	noteKeys = []string{"tags", "keywords", "pinned", "priority", "applies_when"}
	whenKeys = []string{"tools", "paths", "commands", "languages"}
	// Aliases of keys: those of Lore's notes, and singulars of conditions.
	// Outside applies_when, other generators use the singulars with other
	// meanings.
	noteAliases = map[string]string{"universal": "pinned", "bash_command_starts_with": "commands",
		"language": "languages"}
	whenAliases = map[string]string{
		"tool": "tools", "path": "paths", "command": "commands", "language": "languages",
		"bash_command_starts_with": "commands", "file_patterns": "paths", "globs": "paths",
	}
	// topLevel are the conditions that are allowed outside applies_when.
	topLevel = []string{"paths", "commands", "languages"}
)

// A noteMetaReader reads the fields that control when a note applies, and
// collects problems.
type noteMetaReader struct {
	lines []string // of the front matter
	meta  passage.NoteMeta
	notes []document.Note
}

// frontMatterMark is the prefix of reasons for problems with front matter.
const frontMatterMark = "front matter: "

// IsFrontMatterProblem reports whether s is a problem with front matter. Such a
// document still has passages.
func IsFrontMatterProblem(s generation.Skipped) bool {
	return strings.HasPrefix(s.Reason, frontMatterMark)
}

// FrontMatterProblem returns the reason in s without its prefix.
func FrontMatterProblem(s generation.Skipped) string {
	return strings.TrimPrefix(s.Reason, frontMatterMark)
}

// parseNoteMeta reads the fields of front matter. lines locates problems.
func parseNoteMeta(fields map[string]any, lines []string) (passage.NoteMeta, []document.Note) {
	u := noteMetaReader{lines: lines}
	u.meta.Tags = parseTerms(fields["tags"])
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		u.field(key, u.canonicalKey(key, fields, noteKeys, topLevel, noteAliases), fields[key])
	}
	u.pinByTag(fields)
	return u.meta, u.notes
}

// pinByTag pins a note with the tag by which Lore does, unless the note applies only to some calls
// or another field decides.
func (u *noteMetaReader) pinByTag(fields map[string]any) {
	w := &u.meta.AppliesWhen
	limited := len(w.Tools)+len(w.Paths)+len(w.Commands) > 0
	if fields["pinned"] == nil && fields["universal"] == nil && !limited {
		u.meta.Pinned = u.meta.Pinned || slices.Contains(u.meta.Tags, "universal")
	}
}

// report adds a problem with a key.
func (u *noteMetaReader) report(key, format string, args ...any) {
	place := ""
	for i, line := range u.lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t[{\"'-"), key)
		if ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\"'"), ":") ||
			ok && strings.ContainsAny(rest[:min(len(rest), 3)], "=]") {
			place = ":" + strconv.Itoa(i+1)
			break
		}
	}
	u.notes = append(u.notes, document.Note{Place: place, Text: frontMatterMark + fmt.Sprintf(format, args...)})
}

// canonicalKey returns the key that a field means, or the field's own name if
// it belongs to another generator. It reports misspelled keys.
func (u *noteMetaReader) canonicalKey(key string, fields map[string]any, keys, more []string,
	aliases map[string]string) string {
	folded := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	if slices.Contains(keys, folded) || slices.Contains(more, folded) {
		return folded
	}
	if alias, ok := aliases[folded]; ok {
		return alias
	}
	// Some words of other generators are one letter away from a key.
	const least = 5
	if len(folded) < least || slices.Contains([]string{"keyword", "command", "language", "category", "parties"},
		folded) {
		return key
	}
	near := decode.Nearest(folded, slices.Concat(keys, more))
	if _, given := fields[near]; near == "" || given || math.Abs(float64(len(near)-len(folded))) > 1 {
		return key
	}
	u.report(key, "reading %q as %q", key, near)
	return near
}

// field reads a field. meant is its canonical key.
func (u *noteMetaReader) field(key, meant string, value any) {
	switch meant {
	case "tags":
		if key != meant {
			u.meta.Tags = parseTerms(value)
		}
	case "pinned":
		u.pinned(key, value)
	case "priority":
		u.priority(key, value)
	case "applies_when":
		u.appliesWhen(key, value)
	case "languages":
		if key == meant || !isNaturalLanguage(value) {
			u.condition(key, meant, value)
		}
	case "paths", "commands":
		u.condition(key, meant, value)
	}
}

// isNaturalLanguage reports whether the value is a natural language such as
// "en" or "pt-BR".
func isNaturalLanguage(value any) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	switch base, _, _ := strings.Cut(strings.ToLower(s), "-"); base {
	case "go", "js", "ts", "py", "cs", "rs", "rb", "md", "sh":
		return false
	default:
		return len(base) == 2 && strings.Trim(base, "abcdefghijklmnopqrstuvwxyz") == ""
	}
}

func (u *noteMetaReader) pinned(key string, value any) {
	switch v := value.(type) {
	case bool:
		u.meta.Pinned = v
		return
	case string:
		switch strings.ToLower(v) {
		case "true", "yes", "on":
			u.meta.Pinned = true
			return
		case "false", "no", "off", "":
			return
		}
	case nil:
		return
	}
	u.report(key, "invalid %s %v: want true or false", key, quoteValue(value))
}

// maxPriority is the largest absolute priority of a document.
const maxPriority = 10

func (u *noteMetaReader) priority(key string, value any) {
	n := 0.
	switch v := value.(type) {
	case int: // YAML
		n = float64(v)
	case int64: // TOML
		n = float64(v)
	case float64:
		n = v
	case string:
		var err error
		if n, err = strconv.ParseFloat(v, 64); err != nil {
			n = math.NaN()
		}
	case nil:
		return
	default:
		n = math.NaN()
	}
	if math.IsNaN(n) {
		u.report(key, "invalid %s %v: want a number from %d to %d", key, quoteValue(value), -maxPriority, maxPriority)
		return
	}
	u.meta.Priority = int(math.Round(max(-maxPriority, min(maxPriority, n))))
	if n < -maxPriority || n > maxPriority {
		u.report(key, "invalid %s %v: want a number from %d to %d; using %d", key, quoteValue(value), -maxPriority,
			maxPriority, u.meta.Priority)
	}
}

// appliesWhen reads the conditions in applies_when.
func (u *noteMetaReader) appliesWhen(key string, value any) {
	fields, ok := value.(map[string]any)
	if !ok {
		if value != nil {
			u.report(key, "invalid %s %v: want %s", key, quoteValue(value), orList(whenKeys))
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		meant := u.canonicalKey(key, fields, whenKeys, nil, whenAliases)
		switch {
		case meant == "universal":
			u.pinned(key, fields[key])
		case slices.Contains(whenKeys, meant):
			u.condition(key, meant, fields[key])
		default:
			u.report(key, "unknown key %q in applies_when: want %s", key, orList(whenKeys))
		}
	}
}

// condition reads a list of strings or a single string.
func (u *noteMetaReader) condition(key, meant string, value any) {
	list, ok := listOf(value)
	if !ok {
		u.report(key, "invalid %s %v: want a string or a list of strings", key, quoteValue(value))
	}
	w := &u.meta.AppliesWhen
	to := map[string]*[]string{"tools": &w.Tools, "paths": &w.Paths, "commands": &w.Commands,
		"languages": &w.Languages}[meant]
	*to = append(*to, list...)
}

// listOf returns the strings of a list, or a single string; ok is false for
// anything else.
func listOf(value any) (list []string, ok bool) {
	switch value := value.(type) {
	case nil:
		return nil, true
	case string:
		if value != "" {
			list = append(list, value)
		}
		return list, true
	case []any:
		ok = true
		for _, v := range value {
			s, isText := v.(string)
			if isText && s != "" {
				list = append(list, s)
			}
			ok = ok && isText
		}
	}
	return list, ok
}

// quoteValue formats a value for a message.
func quoteValue(value any) string {
	const longest = 40
	s := fmt.Sprint(value)
	if text, ok := value.(string); ok {
		s = strconv.Quote(text)
	}
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "..."
	}
	return s
}

func orList(keys []string) string {
	return strings.Join(keys[:len(keys)-1], ", ") + " or " + keys[len(keys)-1]
}

// brokenFrontMatter reports front matter that does not parse, if it looks like
// that of a note. Otherwise it may be text between two thematic breaks.
func brokenFrontMatter(lines []string, err error) []document.Note {
	for _, line := range lines {
		key, _, ok := strings.Cut(strings.TrimLeft(line, "[ \t"), ":")
		if !ok {
			key, _, _ = strings.Cut(key, " ")
		}
		if key == "applies_when" || key == "pinned" || key == "paths" || key == "commands" || key == "universal" {
			text := strings.Join(strings.Fields(err.Error()), " ")
			if strings.Contains(strings.Join(lines, "\n"), "*") {
				text += "; quote patterns that contain *"
			}
			return []document.Note{{Place: ":1", Text: frontMatterMark + "cannot read: " + text}}
		}
	}
	return nil
}

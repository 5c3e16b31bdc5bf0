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
	// aliases are other names of keys: those of Lore, whose notes have them, and
	// the singular of the conditions. Outside applies_when, singulars mean other
	// things to other generators.
	noteAliases = map[string]string{"universal": "pinned", "bash_command_starts_with": "commands", "language": "languages"}
	whenAliases = map[string]string{
		"tool": "tools", "path": "paths", "command": "commands", "language": "languages",
		"bash_command_starts_with": "commands", "file_patterns": "paths", "globs": "paths",
	}
	// topLevel are the conditions that front matter may have outside
	// applies_when.
	topLevel = []string{"paths", "commands", "languages"}
)

// A useReader reads the fields of front matter that say when a document is of use, and
// collects what of them is not understood.
type useReader struct {
	lines []string // of the front matter
	use   passage.NoteMeta
	left  []document.Note
}

// frontMatterMark begins the reasons for what of front matter is not understood.
const frontMatterMark = "front matter: "

// IsFrontMatterProblem reports whether s names front matter that is not understood: its
// document has passages.
func IsFrontMatterProblem(s generation.Skipped) bool {
	return strings.HasPrefix(s.Reason, frontMatterMark)
}

// FrontMatterProblem is the reason in s without the words that mark it as one of
// IsFrontMatterProblem.
func FrontMatterProblem(s generation.Skipped) string {
	return strings.TrimPrefix(s.Reason, frontMatterMark)
}

// useOf reads the fields of the front matter in lines.
func useOf(fields map[string]any, lines []string) (passage.NoteMeta, []document.Note) {
	u := useReader{lines: lines}
	u.use.Tags = termsOf(fields["tags"])
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		u.field(key, u.meant(key, fields, noteKeys, topLevel, noteAliases), fields[key])
	}
	return u.use, u.left
}

// report says what of a key is not understood.
func (u *useReader) report(key, format string, args ...any) {
	place := ""
	for i, line := range u.lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t[{\"'-"), key)
		if ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\"'"), ":") || ok && strings.ContainsAny(rest[:min(len(rest), 3)], "=]") {
			place = ":" + strconv.Itoa(i+1)
			break
		}
	}
	u.left = append(u.left, document.Note{Place: place, Text: frontMatterMark + fmt.Sprintf(format, args...)})
}

// meant returns the key that one of the fields stands for, itself if it is
// another's. A misspelt key is reported.
func (u *useReader) meant(key string, fields map[string]any, keys, more []string, aliases map[string]string) string {
	folded := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	if slices.Contains(keys, folded) || slices.Contains(more, folded) {
		return folded
	}
	if alias, ok := aliases[folded]; ok {
		return alias
	}
	// The words that other generators have are a letter away from some keys.
	const least = 5
	if len(folded) < least || slices.Contains([]string{"keyword", "command", "language", "category", "parties"}, folded) {
		return key
	}
	near := decode.Nearest(folded, slices.Concat(keys, more))
	if _, given := fields[near]; near == "" || given || math.Abs(float64(len(near)-len(folded))) > 1 {
		return key
	}
	u.report(key, "reading %q as %q", key, near)
	return near
}

// field reads a field that stands for a key.
func (u *useReader) field(key, meant string, value any) {
	switch meant {
	case "tags":
		if key != meant {
			u.use.Tags = termsOf(value)
		}
	case "pinned":
		u.pinned(key, value)
	case "priority":
		u.priority(key, value)
	case "applies_when":
		u.when(key, value)
	case "languages":
		if key == meant || !isNatural(value) {
			u.condition(key, meant, value)
		}
	case "paths", "commands":
		u.condition(key, meant, value)
	}
}

// isNatural recognises the language that a document is written in, as "en" or
// "pt-BR".
func isNatural(value any) bool {
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

func (u *useReader) pinned(key string, value any) {
	switch v := value.(type) {
	case bool:
		u.use.Pinned = v
		return
	case string:
		switch strings.ToLower(v) {
		case "true", "yes", "on":
			u.use.Pinned = true
			return
		case "false", "no", "off", "":
			return
		}
	case nil:
		return
	}
	u.report(key, "invalid %s %v: want true or false", key, shown(value))
}

// maxPriority is how far from the usual a document's priority can be.
const maxPriority = 10

func (u *useReader) priority(key string, value any) {
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
		u.report(key, "invalid %s %v: want a number from %d to %d", key, shown(value), -maxPriority, maxPriority)
		return
	}
	u.use.Priority = int(math.Round(max(-maxPriority, min(maxPriority, n))))
	if n < -maxPriority || n > maxPriority {
		u.report(key, "invalid %s %v: want a number from %d to %d; using %d", key, shown(value), -maxPriority, maxPriority, u.use.Priority)
	}
}

// when reads the conditions in applies_when.
func (u *useReader) when(key string, value any) {
	fields, ok := value.(map[string]any)
	if !ok {
		if value != nil {
			u.report(key, "invalid %s %v: want %s", key, shown(value), orList(whenKeys))
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		meant := u.meant(key, fields, whenKeys, nil, whenAliases)
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

// condition reads a list of texts, or a text alone.
func (u *useReader) condition(key, meant string, value any) {
	list, ok := listOf(value)
	if !ok {
		u.report(key, "invalid %s %v: want a string or a list of strings", key, shown(value))
	}
	w := &u.use.AppliesWhen
	switch meant {
	case "tools":
		w.Tools = append(w.Tools, list...)
	case "paths":
		w.Paths = append(w.Paths, list...)
	case "commands":
		w.Commands = append(w.Commands, list...)
	case "languages":
		w.Languages = append(w.Languages, list...)
	}
}

// listOf are the strings of a list, or a string alone; false if there is
// something else.
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

// shown is a value as a message has it.
func shown(value any) string {
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

// brokenFrontMatter reports front matter that does not parse, if it is that of a
// note: what stands between two thematic breaks may be text.
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

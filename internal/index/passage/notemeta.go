package passage

import (
	"slices"
	"strings"
)

// A Use says when a document is of use to an agent that does not ask for it:
// what the document's author wrote about that. In the metadata of each of its
// passages it is "tags", "pinned", "priority" and "applies_when".
type NoteMeta struct {
	Tags        []string // what it is about
	Pinned      bool     // always
	Priority    int      // before others of equal relevance; 0 is the usual
	AppliesWhen AppliesWhen
}

// A When is the calls that a document is for. A list without members means
// any.
type AppliesWhen struct {
	Tools     []string `json:"tools,omitempty"`     // names of tools
	Paths     []string `json:"paths,omitempty"`     // patterns of the files
	Commands  []string `json:"commands,omitempty"`  // how the commands begin
	Languages []string `json:"languages,omitempty"` // of the files
}

// Any reports whether a document is for any call.
func (w *AppliesWhen) Any() bool {
	return len(w.Tools)+len(w.Paths)+len(w.Commands)+len(w.Languages) == 0
}

// NoteMeta is what the passage's document is of use for.
func (p *Passage) NoteMeta() NoteMeta {
	var u NoteMeta
	u.Tags, _ = decode(p.Extra["tags"], (*reader).strings)
	u.Pinned, _ = decode(p.Extra["pinned"], (*reader).bool)
	u.Priority, _ = decode(p.Extra["priority"], (*reader).number)
	u.AppliesWhen, _ = decode(p.Extra["applies_when"], (*reader).when)
	return u
}

// SetNoteMeta sets what Use returns. Tags that the passage has already stay.
func (p *Passage) SetNoteMeta(u NoteMeta) {
	tags := p.NoteMeta().Tags
	for _, tag := range u.Tags {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	p.set("tags", tags, len(tags))
	p.setIf("pinned", u.Pinned, u.Pinned)
	p.setIf("priority", u.Priority, u.Priority != 0)
	p.setIf("applies_when", u.AppliesWhen, !u.AppliesWhen.Any())
}

func (r *reader) bool() bool {
	r.space()
	yes := r.word("true")
	r.bad = r.bad || !yes && !r.word("false")
	return yes
}

func (r *reader) when() AppliesWhen {
	var w AppliesWhen
	r.members(func(key []byte) {
		switch string(key) {
		case "tools":
			w.Tools = r.strings()
		case "paths":
			w.Paths = r.strings()
		case "commands":
			w.Commands = r.strings()
		case "languages":
			w.Languages = r.strings()
		default:
			r.bad = true
		}
	})
	return w
}

// maxKey is the length of a key in bytes. Longer names share a key.
const maxKey = 40

// Keys returns what an index finds a document by when a call may meet its
// conditions: a key for each command, path pattern and language. A call whose
// CommandKey, PathKeys and LanguageKey do not contain any of them meets none of
// these conditions.
func (w *AppliesWhen) Keys() []string {
	var keys []string
	add := func(key string) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, command := range w.Commands {
		if program, _, _ := strings.Cut(strings.TrimSpace(command), " "); program != "" {
			add(CommandKey(program))
		}
	}
	for _, pattern := range w.Paths {
		add(patternKey(pattern))
	}
	for _, language := range w.Languages {
		add(LanguageKey(language))
	}
	return keys
}

// CommandKey is the key of a program, with or without its folder.
func CommandKey(program string) string {
	return key("command", program[strings.LastIndexAny(program, `/\`)+1:])
}

// LanguageKey is the key of a language.
func LanguageKey(language string) string { return key("language", strings.TrimSpace(language)) }

// anyPath is the key of the patterns that name no folder, file or ending.
const anyPath = "path:*"

// PathKeys are the keys of a file: one for each folder, its name and its
// ending, and the one of patterns that name none of these.
func PathKeys(path string) []string {
	keys := []string{anyPath}
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	for _, name := range names[max(0, len(names)-maxFolders):] {
		keys = append(keys, key("path", name))
	}
	if len(names) > 0 {
		if e := ending(names[len(names)-1]); e != "" {
			keys = append(keys, key("path", e))
		}
	}
	return keys
}

// maxFolders is the number of names in a path that have a key.
const maxFolders = 24

// patternKey is the key of the most telling part of a pattern: the last name
// without a wildcard, else the file's ending.
func patternKey(pattern string) string {
	const wildcards = "*?{}"
	if strings.Contains(pattern, "{") {
		return anyPath
	}
	names := strings.Split(strings.TrimRight(pattern, "/"), "/")
	for _, name := range slices.Backward(names) {
		if name != "" && name != "." && !strings.ContainsAny(name, wildcards) {
			return key("path", name)
		}
	}
	e := ending(names[len(names)-1])
	if e == "" || strings.ContainsAny(e, wildcards) {
		return anyPath
	}
	return key("path", e)
}

func key(kind, name string) string {
	name = strings.ToLower(name)
	return kind + ":" + name[:min(len(name), maxKey)]
}

// ending is what follows the last dot of a file's name, with the dot; "" if
// nothing does.
func ending(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || i == len(name)-1 {
		return ""
	}
	return name[i:]
}

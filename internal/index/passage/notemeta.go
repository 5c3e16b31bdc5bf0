package passage

import (
	"slices"
	"strings"
)

// NoteMeta describes when a note is relevant, as written by its author. In the metadata
// of each of its passages, it is "tags", "pinned", "priority" and "applies_when".
type NoteMeta struct {
	Tags        []string // subjects
	Pinned      bool     // always shown
	Priority    int      // breaks ties in relevance; default 0
	AppliesWhen AppliesWhen
}

// AppliesWhen lists the tool calls to which a note applies. An empty list matches any
// call.
type AppliesWhen struct {
	Tools     []string `json:"tools,omitempty"`     // names of tools
	Paths     []string `json:"paths,omitempty"`     // glob patterns of file paths
	Commands  []string `json:"commands,omitempty"`  // command prefixes
	Languages []string `json:"languages,omitempty"` // languages of the files
}

// Any reports whether the note applies to any call.
func (w *AppliesWhen) Any() bool {
	return len(w.Tools)+len(w.Paths)+len(w.Commands)+len(w.Languages) == 0
}

// NoteMeta returns the note metadata of the passage's document.
func (p *Passage) NoteMeta() NoteMeta {
	var u NoteMeta
	u.Tags, _ = decode(p.Extra["tags"], (*jsonReader).strings)
	u.Pinned, _ = decode(p.Extra["pinned"], (*jsonReader).bool)
	u.Priority, _ = decode(p.Extra["priority"], (*jsonReader).number)
	u.AppliesWhen, _ = decode(p.Extra["applies_when"], (*jsonReader).appliesWhen)
	return u
}

// SetNoteMeta sets the value of NoteMeta. It keeps existing tags.
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

func (r *jsonReader) bool() bool {
	r.space()
	yes := r.literal("true")
	r.bad = r.bad || !yes && !r.literal("false")
	return yes
}

func (r *jsonReader) appliesWhen() AppliesWhen {
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

// maxKeyBytes is the maximum length of a name in a key, in bytes. Longer names are
// truncated.
const maxKeyBytes = 40

// Keys returns the index keys of a note: one for each command, path pattern and
// language. A call can satisfy a condition only if its CommandKey, PathKeys or
// LanguageKey contains the condition's key.
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

// CommandKey returns the key of a program, with or without its folder.
func CommandKey(program string) string {
	return key("command", program[strings.LastIndexAny(program, `/\`)+1:])
}

// LanguageKey returns the key of a language.
func LanguageKey(language string) string { return key("language", strings.TrimSpace(language)) }

// anyPath is the key of patterns without a literal folder, file or extension.
const anyPath = "path:*"

// PathKeys returns the keys of a file path: one for each folder, the file name, the
// extension, and anyPath.
func PathKeys(path string) []string {
	keys := []string{anyPath}
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	for _, name := range names[max(0, len(names)-maxFolders):] {
		keys = append(keys, key("path", name))
	}
	if len(names) > 0 {
		if e := extension(names[len(names)-1]); e != "" {
			keys = append(keys, key("path", e))
		}
	}
	return keys
}

// maxFolders is the maximum number of names in a path that get a key.
const maxFolders = 24

// patternKey returns the key of the most specific part of a pattern: the last name
// without a wildcard, else the extension.
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
	e := extension(names[len(names)-1])
	if e == "" || strings.ContainsAny(e, wildcards) {
		return anyPath
	}
	return key("path", e)
}

func key(kind, name string) string {
	name = strings.ToLower(name)
	return kind + ":" + name[:min(len(name), maxKeyBytes)]
}

// extension returns the extension of a file name with its dot, or "".
func extension(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || i == len(name)-1 {
		return ""
	}
	return name[i:]
}

package passage

import "slices"

// A Use says when a document is of use to an agent that does not ask for it:
// what the document's author wrote about that. In the metadata of each of its
// passages it is "tags", "pinned", "priority" and "applies_when".
type Use struct {
	Tags     []string // what it is about
	Pinned   bool     // always
	Priority int      // before others of equal relevance; 0 is the usual
	When     When
}

// A When is the calls that a document is for. A list without members means
// any.
type When struct {
	Tools     []string `json:"tools,omitempty"`     // names of tools
	Paths     []string `json:"paths,omitempty"`     // patterns of the files
	Commands  []string `json:"commands,omitempty"`  // how the commands begin
	Languages []string `json:"languages,omitempty"` // of the files
}

// Any reports whether a document is for any call.
func (w *When) Any() bool { return len(w.Tools)+len(w.Paths)+len(w.Commands)+len(w.Languages) == 0 }

// Use is what the passage's document is of use for.
func (p *Passage) Use() Use {
	var u Use
	u.Tags, _ = decode(p.Extra["tags"], (*reader).strings)
	u.Pinned, _ = decode(p.Extra["pinned"], (*reader).bool)
	u.Priority, _ = decode(p.Extra["priority"], (*reader).number)
	u.When, _ = decode(p.Extra["applies_when"], (*reader).when)
	return u
}

// SetUse sets what Use returns. Tags that the passage has already stay.
func (p *Passage) SetUse(u Use) {
	tags := p.Use().Tags
	for _, tag := range u.Tags {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	p.set("tags", tags, len(tags))
	p.setIf("pinned", u.Pinned, u.Pinned)
	p.setIf("priority", u.Priority, u.Priority != 0)
	p.setIf("applies_when", u.When, !u.When.Any())
}

func (r *reader) bool() bool {
	r.space()
	yes := r.word("true")
	r.bad = r.bad || !yes && !r.word("false")
	return yes
}

func (r *reader) when() When {
	var w When
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

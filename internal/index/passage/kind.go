package passage

import "strings"

// Kinds of documents that say what was, or the same in other words, rather than
// what is. Ranking puts them behind others.
const (
	ReleaseNotes = "release notes" // and changelogs, and what is new
	Blog         = "blog"
	OldVersion   = "old version"
	Translation  = "translation"
)

// Flags of documents that are to be read with care.
const (
	HidesText = "hidden text for assistants"
	Instructs = "instructions to assistants"
	Invisible = "invisible characters"
)

// Kind is one of the kinds above, or "" for documentation as it should be: the
// metadata's "kind".
func (p *Passage) Kind() string {
	kind, _ := decode(p.Extra["kind"], (*reader).string)
	return kind
}

// Flags say why to read the passage's document with care: the metadata's
// "flags".
func (p *Passage) Flags() []string {
	flags, _ := decode(p.Extra["flags"], (*reader).strings)
	return flags
}

// SetKind sets what Kind returns.
func (p *Passage) SetKind(kind string) { p.setIf("kind", kind, kind != "") }

// SetFlags sets what Flags returns.
func (p *Passage) SetFlags(flags []string) { p.set("flags", flags, len(flags)) }

// Label is what to tell with the passage of its document: its kind, and its
// flags; "" if there is nothing to tell.
func (p *Passage) Label() string {
	remark := p.Kind()
	if flags := p.Flags(); len(flags) > 0 {
		if remark != "" {
			remark += "; "
		}
		remark += "caution: " + strings.Join(flags, ", ")
	}
	return remark
}

package passage

import "strings"

// Kinds of documents that describe the past or repeat other documents. Ranking places
// them after other documents.
const (
	ReleaseNotes = "release notes" // also changelogs and "what's new" pages
	Blog         = "blog"
	OldVersion   = "old version"
	Translation  = "translation"
)

// Readme is the kind of the pages about an installed package itself: its README, license and
// guides for contributors. Ranking places them with other documents, but no search is denied
// with them, because they only introduce the package.
const Readme = "README"

// Flags of suspicious documents.
const (
	HidesText = "hidden text for assistants"
	Instructs = "instructions to assistants"
	Invisible = "invisible characters"
)

// Kind returns one of the kinds above, or "" for regular documentation. It is the
// metadata's "kind".
func (p *Passage) Kind() string {
	kind, _ := decode(p.Extra["kind"], (*jsonReader).string)
	return kind
}

// IsSecondary reports whether ranking places the passage's document after others.
func (p *Passage) IsSecondary() bool {
	kind := p.Kind()
	return kind != "" && kind != Readme
}

// Flags returns the reasons why the passage's document is suspicious: the metadata's
// "flags".
func (p *Passage) Flags() []string {
	flags, _ := decode(p.Extra["flags"], (*jsonReader).strings)
	return flags
}

// SetKind sets the value of Kind.
func (p *Passage) SetKind(kind string) { p.setIf("kind", kind, kind != "") }

// SetFlags sets the value of Flags.
func (p *Passage) SetFlags(flags []string) { p.set("flags", flags, len(flags)) }

// Label returns the text shown with the passage about its document: kind and flags, or
// "".
func (p *Passage) Label() string {
	label := p.Kind()
	if flags := p.Flags(); len(flags) > 0 {
		if label != "" {
			label += "; "
		}
		label += "caution: " + strings.Join(flags, ", ")
	}
	return label
}

// NamesReleaseNotes reports whether only release notes have a file or folder of that name,
// which is in lower case and without its ending.
func NamesReleaseNotes(name string) bool {
	switch name {
	case "changelog", "changelogs", "relnotes":
		return true
	}
	for _, prefix := range [...]string{"whatsnew", "whats-new", "what-s-new", "releaselog", "changelog-", "changelog_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, prefix := range [...]string{"release-notes", "release_notes", "releasenotes"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (rest == "" || startsWithVersion(rest)) {
			return true
		}
	}
	rest, ok := strings.CutPrefix(name, "release")
	return ok && startsWithVersion(rest)
}

// MayNameReleaseNotes reports whether a file or folder of that name has release notes or is
// about a feature that is called so.
func MayNameReleaseNotes(name string) bool {
	switch name {
	case "changes", "news", "releases", "release":
		return true
	}
	return false
}

// startsWithVersion reports whether a text is a number, or begins with two of them, as in
// "-v3.2-beta".
func startsWithVersion(s string) bool {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	s = strings.TrimLeft(s, "-_. v")
	rest := strings.TrimLeftFunc(s, isDigit)
	if rest == s {
		return false
	}
	return rest == "" || len(rest) > 1 && strings.ContainsRune("._-", rune(rest[0])) && isDigit(rune(rest[1]))
}

package lexical

import "strings"

// symbols are the names that a passage defines, as far as its title and its
// address tell: os.path.join of the title "os.path.join(path, *paths)" and of
// the anchor #os.path.join; and what of such a name people type, path.join
// and join.
func symbols(f *Fields) []string {
	var names []string
	add := func(name string) {
		if !isName(name) {
			return
		}
		names = append(names, name)
		last := strings.LastIndexAny(name, ".:")
		if last <= 0 || last == len(name)-1 {
			return
		}
		if i := strings.LastIndexAny(strings.TrimRight(name[:last], ":"), ".:"); i > 0 {
			names = append(names, name[i+1:])
		}
		names = append(names, name[last+1:])
	}
	if _, anchor, ok := strings.Cut(f.Address, "#"); ok {
		add(anchor)
	}
	for _, anchor := range f.Anchors {
		add(anchor)
	}
	add(titleName(f.Title))
	return names
}

// titleName is the name at the beginning of a title, or "".
func titleName(title string) string {
	title = strings.TrimRight(strings.TrimSpace(title), "¶#")
	name, rest, _ := strings.Cut(title, "(")
	name = strings.TrimSpace(name)
	if rest != "" || !strings.Contains(name, " ") {
		// A signature: what stands before the name is what kind of thing it is.
		return name[strings.LastIndexByte(name, ' ')+1:]
	}
	return ""
}

// isName tells of what could be the name of something in a program.
func isName(s string) bool {
	if s == "" || len(s) > maxTerm {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || classify(rune(c)) != classWord && strings.IndexByte(".:-$#@+!?", c) < 0 {
			return false
		}
	}
	return true
}

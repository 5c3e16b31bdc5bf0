package lexical

import "strings"

// A symbol is a name that a passage defines, or the end of one, by which
// people know it: path.join and join of os.path.join.
type symbol struct {
	name string
	end  bool
}

// term is the term that a symbol is indexed as.
func (s symbol) term() string {
	if s.end {
		return exactTerm(symbolMark, "."+s.name)
	}
	return exactTerm(symbolMark, s.name)
}

// symbols are the names that a passage defines, as far as its headings and its
// anchors tell: those of the title "os.path.join(path, *paths)", or of several
// definitions in one passage, "append(x) / clear()"; of the anchor
// #os.path.join; of a heading above whose anchor is among the passage's.
func symbols(f *Fields) []symbol {
	var names []symbol
	add := func(name string) {
		if !isName(name) {
			return
		}
		names = append(names, symbol{name, false})
		last := strings.LastIndexAny(name, ".:")
		if last <= 0 || last == len(name)-1 {
			return
		}
		if i := strings.LastIndexAny(strings.TrimRight(name[:last], ":"), ".:"); i > 0 {
			names = append(names, symbol{name[i+1:], true})
		}
		names = append(names, symbol{name[last+1:], true})
	}
	anchors := f.Anchors
	if _, anchor, ok := strings.Cut(f.Address, "#"); ok {
		anchors = append([]string{anchor}, anchors...)
	}
	for _, anchor := range anchors {
		add(anchor)
	}
	for title := range strings.SplitSeq(f.Title, " / ") {
		add(titleName(title))
	}
	for _, heading := range f.Path {
		slug := letters(heading)
		for _, anchor := range anchors {
			if slug != "" && letters(anchor) == slug {
				add(titleName(heading))
				break
			}
		}
	}
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

// letters is what slugs keep of a heading: its letters and digits, small.
func letters(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; isLower(c|0x20) || isDigit(c) {
			b = append(b, c|0x20)
		}
	}
	return string(b)
}

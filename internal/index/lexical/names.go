package lexical

import "strings"

// maxDefinitions is the number of passages of a name that Definitions returns. The first ones
// are enough to find its spelling.
const maxDefinitions = 4

// Correct returns the text of a query with its misspelled words corrected, or "" if it has none.
func (x *Index) Correct(q Query) (string, error) {
	s, err := x.respell(q.Text, q.Names)
	if len(s.misspelled) == 0 {
		return "", err
	}
	return s.text, err
}

// DefinedNames calls yield with each name that passages define, in lower case and without
// separators, in ascending order. See Spelling.
func (x *Index) DefinedNames(yield func(name string)) error {
	for name, err := range x.termsWith(string(symbolMark)) {
		if err != nil {
			return err
		}
		if name != "" && strings.IndexByte(".:^=+", name[0]) < 0 && name[0] != askedMark { // no short forms and no words of other kinds
			yield(name)
		}
	}
	return nil
}

// Definitions returns the first passages that define a name of DefinedNames.
func (x *Index) Definitions(name string) ([]uint32, error) {
	list, found, err := x.postingList(string(symbolMark) + name)
	if err != nil || !found {
		return nil, err
	}
	c := newCursor(list)
	found, err = c.seek(0)
	if err != nil || !found {
		return nil, err
	}
	locals, _, err := c.passagesOf(c.at)
	if err != nil {
		return nil, err
	}
	first, _, _, err := x.segment(c.segments[c.at])
	if err != nil {
		return nil, err
	}
	var passages []uint32
	for _, local := range locals[:min(len(locals), maxDefinitions)] {
		n, err := x.passageNumber(first + local)
		if err != nil {
			return nil, err
		}
		passages = append(passages, n)
	}
	return passages, nil
}

// Spelling returns a name of DefinedNames as a passage that defines it spells it, or "" if only
// an anchor of the passage has it: that of a section "Getting started" is no name.
func (f *Fields) Spelling(name string) string {
	term := string(symbolMark) + name
	for _, s := range symbols(f) {
		if s.kind != wholeName || s.term() != term {
			continue
		}
		for _, heading := range append([]string{f.Title}, f.Path...) {
			if strings.Contains(heading, s.name) {
				return s.name
			}
		}
	}
	for listed := range listedNames(f.Body) {
		if (symbol{listed, wholeName}).term() == term {
			return listed
		}
	}
	return ""
}

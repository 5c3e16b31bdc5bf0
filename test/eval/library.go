package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// A library finds passages by the source that the hook shows: a URL or a path, with
// an anchor or a line.
type library map[string]*shelf

// A shelf is where the passages with one source are.
type shelf struct {
	set     string
	page    string // within the manual, without ".gz"
	anchors []string
}

// add reads the passages of manuals below root.
func (lib library) add(l *lab, root string, manuals []manual) error {
	for _, m := range manuals {
		folder := filepath.Join(root, m.name)
		target, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return err
		}
		prefixes := append([]string{filepath.ToSlash(folder) + "/", filepath.ToSlash(target) + "/"}, m.urls...)
		err = eachPassage(filepath.Join(l.data, m.name), func(p *passage.Passage) {
			for _, prefix := range prefixes {
				lib.put(prefix+p.Locator(), m.name, p)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (lib library) put(source, set string, p *passage.Passage) {
	s := lib[source]
	if s == nil {
		s = &shelf{set: set, page: strings.TrimSuffix(p.Document(), ".gz")}
		lib[source] = s
	}
	s.anchors = append(s.anchors, p.Anchors...)
}

// find returns the page of the source. The hook truncates a long source. All
// sources with the same prefix belong to the same page.
func (lib library) find(source string) (*shelf, error) {
	if s, ok := lib[filepath.ToSlash(source)]; ok {
		return s, nil
	}
	if beginning, ok := strings.CutSuffix(filepath.ToSlash(source), " [...]"); ok {
		for whole, s := range lib {
			if strings.HasPrefix(whole, beginning) {
				return s, nil
			}
		}
	}
	return nil, fmt.Errorf("source %q is in no manual", source)
}

// holds reports whether one of the sources is at one of the places "page" or
// "page#anchor" of a manual.
func (lib library) holds(sources []string, set string, places []string) (bool, error) {
	found := false
	for _, source := range sources {
		s, err := lib.find(source)
		if err != nil {
			return false, err
		}
		found = found || s.set == set && slices.ContainsFunc(places, s.at)
	}
	return found, nil
}

func (s *shelf) at(place string) bool {
	page, anchor, _ := strings.Cut(place, "#")
	return s.page == page && (anchor == "" || slices.Contains(s.anchors, anchor))
}

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
)

// A passageIndex finds passages by the source shown by the hook: a URL or path with an
// anchor or a line.
type passageIndex map[string]*sourceLocation

// A sourceLocation is the location of all passages with one source.
type sourceLocation struct {
	set     string
	page    string // path within the manual, without ".gz"
	anchors []string
}

// passagesOf returns the passages of libraries.
func (l *harness) passagesOf(libraries ...*library) (passageIndex, error) {
	passages := passageIndex{}
	for _, lib := range libraries {
		root, err := l.open(lib)
		if err != nil {
			return nil, err
		}
		if err := passages.add(l, root, lib.manuals); err != nil {
			return nil, err
		}
	}
	return passages, nil
}

// add adds the passages of manuals below root.
func (lib passageIndex) add(l *harness, root string, manuals []manual) error {
	for _, m := range manuals {
		folder := filepath.Join(root, m.name)
		target, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return err
		}
		prefixes := []string{filepath.ToSlash(folder) + "/", filepath.ToSlash(target) + "/"}
		err = eachPassage(filepath.Join(l.data, m.name), func(p *passage.Passage) {
			for _, q := range withEachAnchor(p) {
				for _, prefix := range prefixes {
					lib.addSource(prefix+q.Locator(), m.name, p)
				}
				if url := urlmatch.WebURL(&q, m.urls); url != "" {
					lib.addSource(url, m.name, p)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// withEachAnchor returns a passage with each of its anchors as its own: its source may be that of
// a definition in it.
func withEachAnchor(p *passage.Passage) []passage.Passage {
	list := []passage.Passage{*p}
	page, _, _ := strings.Cut(p.URL, "#")
	for i := 1; i < len(p.Anchors); i++ {
		q := *p
		q.Anchors = p.Anchors[i:]
		if page != p.URL {
			q.URL = page + "#" + p.Anchors[i]
		}
		list = append(list, q)
	}
	return list
}

func (lib passageIndex) addSource(source, set string, p *passage.Passage) {
	s := lib[source]
	if s == nil {
		s = &sourceLocation{set: set, page: strings.TrimSuffix(p.Document(), ".gz")}
		lib[source] = s
	}
	s.anchors = append(s.anchors, p.Anchors...)
}

// find returns the location of a source. The hook truncates long sources. All sources
// with the same prefix belong to the same page.
func (lib passageIndex) find(source string) (*sourceLocation, error) {
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
	// The line of a definition is one below the first line of its passage.
	if at := strings.LastIndexByte(source, ':'); at > 0 {
		for line, _ := strconv.Atoi(source[at+1:]); line > 0; line-- {
			if s, ok := lib[filepath.ToSlash(source[:at+1])+strconv.Itoa(line)]; ok {
				return s, nil
			}
		}
	}
	return nil, fmt.Errorf("source %q is in no manual", source)
}

// containsAny reports whether one of the sources is in one of the places "page" or
// "page#anchor" of a manual.
func (lib passageIndex) containsAny(sources []string, set string, places []string) (bool, error) {
	found := false
	for _, source := range sources {
		s, err := lib.find(source)
		if err != nil {
			return false, err
		}
		found = found || s.set == set && slices.ContainsFunc(places, s.matches)
	}
	return found, nil
}

func (s *sourceLocation) matches(place string) bool {
	page, anchor, _ := strings.Cut(place, "#")
	return s.page == page && (anchor == "" || slices.Contains(s.anchors, anchor))
}

package index

import (
	"bytes"
	"errors"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// languageSampleSize is the number of passages whose language is counted, or up to twice as
	// many.
	languageSampleSize = 300
	// leastSections is the number of sections from which a README is the manual of a package: a
	// shorter one says what the package is and how to install it.
	leastSections = 2
)

// detect stores in the manifest the properties of the documentation that decide how its answers
// are used: its version, unless the source knows it, and whether it is only a part. As its
// language, which decides how it is indexed, they depend only on the passages, because an update
// and a full build must agree.
func (w *buildJob) detect(known *generation.Edition) (err error) {
	draft, err := draftGeneration(w.Build, &w.m)
	if err != nil {
		return err
	}
	table, err := passage.OpenTable(draft)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	keys := make([]string, table.Documents())
	for d := range keys {
		if keys[d], err = table.Key(uint32(d)); err != nil {
			return err
		}
	}
	if w.m.Partial, err = partialOf(keys, func(d uint32) (int, error) { return sections(table, d) }); err != nil {
		return err
	}
	if w.m.Edition = known; known == nil {
		w.m.Edition, err = detectEdition(table, w.m.Source.Location, keys)
	}
	return err
}

// A languageSample is every n-th line of the passages files, where n is a power of two. The
// language must be known before the passages are indexed, and how many there are is not.
type languageSample struct {
	lines  [][]byte
	all    int // number of lines so far
	spread uint
}

// add adds the next line.
func (s *languageSample) add(line []byte) {
	if s.all%(1<<s.spread) == 0 {
		s.lines = append(s.lines, bytes.Clone(line))
	}
	s.all++
	if len(s.lines) < 2*languageSampleSize {
		return
	}
	s.spread++
	for i := range languageSampleSize {
		s.lines[i] = s.lines[2*i]
	}
	s.lines = s.lines[:languageSampleSize]
}

// language returns the language of most passages, or "".
func (s *languageSample) language() string {
	var c lexical.LanguageCounts
	for _, line := range s.lines {
		if p, err := passage.Decode(line); err == nil {
			c.Add(p.Text)
		}
	}
	return c.Language()
}

// partialOf returns what the documents with these keys are if none of them is a page of a manual.
// sections returns the number of a document's sections.
func partialOf(keys []string, sections func(document uint32) (int, error)) (generation.Partial, error) {
	partial := generation.OnlyChanges
	for d, key := range keys {
		switch name := baseName(key); {
		case passage.NamesReleaseNotes(name), passage.MayNameReleaseNotes(name), name == "history": // a page of a shell has that name, too
			continue
		case name != "readme":
			return "", nil
		}
		n, err := sections(uint32(d))
		if err != nil || n >= leastSections {
			return "", err
		}
		partial = generation.OnlyReadme
	}
	if len(keys) == 0 {
		return "", nil
	}
	return partial, nil
}

// sections returns the number of a document's sections below its title, at least that of its
// passages after the first one.
func sections(table *passage.Table, document uint32) (int, error) {
	members, err := table.Members(document)
	if err != nil {
		return 0, err
	}
	passages, err := table.Read(members)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range passages {
		n += strings.Count("\n"+passages[i].Text, "\n##")
	}
	return max(n, len(passages)-1), nil
}

// baseName returns the name of a document's file in lower case and without its endings: "changelog"
// for doc/CHANGELOG.Debian.gz.
func baseName(key string) string {
	name, _, _ := strings.Cut(strings.ToLower(path.Base(strings.ReplaceAll(key, `\`, "/"))), ".")
	return name
}

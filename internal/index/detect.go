package index

import (
	"errors"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// languageSampleSize is the number of passages whose language is counted.
	languageSampleSize = 300
	// leastSections is the number of sections from which a README is the manual of a package: a
	// shorter one says what the package is and how to install it.
	leastSections = 2
)

// detect stores in the manifest the properties of the documentation that decide how its answers
// are used: its version, unless the source knows it, its language, and whether it is only a part.
// All depend only on the passages, as an update and a full build must agree.
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
	if w.m.Language, err = detectLanguage(table); err != nil {
		return err
	}
	if w.m.Edition = known; known == nil {
		w.m.Edition, err = detectEdition(table, w.m.Source.Location, keys)
	}
	return err
}

// detectLanguage returns the language of most passages, or "".
func detectLanguage(table *passage.Table) (string, error) {
	var c lexical.LanguageCounts
	n := min(table.Passages(), languageSampleSize)
	for i := range n {
		p, err := table.Passage(uint32(i * table.Passages() / n))
		if err != nil {
			return "", err
		}
		c.Add(p.Text)
	}
	return c.Language(), nil
}

// partialOf returns what the documents with these keys are if none of them is a page of a manual.
// sections returns the number of a document's sections.
func partialOf(keys []string, sections func(document uint32) (int, error)) (generation.Partial, error) {
	partial := generation.OnlyChanges
	for d, key := range keys {
		switch name := baseName(key); {
		case isChangeLog(name):
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

// isChangeLog reports whether a file's base name is that of a change log.
func isChangeLog(name string) bool {
	switch name {
	case "changelog", "changes", "history", "news", "releases", "release-notes", "releasenotes":
		return true
	}
	return false
}

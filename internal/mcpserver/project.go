package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

// maxProjectNames limits the databases of the project that the instructions name.
const maxProjectNames = 20

// project returns the project in which the server runs, or nil.
func (c *Catalog) project() *config.Project {
	if c.Project == nil {
		return nil
	}
	return c.Project()
}

// editions keeps one entry of each software: of the version that the query names, else of
// the version that the project uses, else the newest. It sets Used of those that it keeps.
func (c *Catalog) editions(query string, entries []Entry) []Entry {
	all := make([]config.Edition, len(entries))
	for i, e := range entries {
		all[i] = config.Edition{Software: e.Software, Version: e.Version}
	}
	var kept []Entry
	for _, chosen := range c.project().ChooseEditions(all, func(i int) string {
		if len(entries[i].Software) == 0 {
			return ""
		}
		return lexical.NamedVersion(query, entries[i].QueryNames())
	}) {
		e := entries[chosen.Index]
		e.Used = chosen.Used
		kept = append(kept, e)
	}
	return kept
}

// usedVersion returns the version of an entry's software that the project uses, and whether
// the entry documents it: the same version, up to the patch release.
func usedVersion(p *config.Project, e *Entry) (version string, documented bool) {
	for _, v := range p.Versions(e.Software) {
		if config.VersionCloseness(e.Version, v) >= config.SameMinor {
			return v, true
		}
		if version == "" {
			version = v
		}
	}
	return version, false
}

// projectFirst sorts the entries for the project to the front.
func (c *Catalog) projectFirst(entries []Entry) []Entry {
	p := c.project()
	if p.Snapshot() == nil {
		return entries
	}
	rank := make(map[string]int, len(entries))
	for i := range entries {
		if _, ok := usedVersion(p, &entries[i]); !ok {
			rank[entries[i].Name] = 1
		}
	}
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return rank[a.Name] - rank[b.Name] })
	return sorted
}

// projectSentence names the databases of the versions that the project uses, or "".
func (c *Catalog) projectSentence(entries []Entry) string {
	var names []string
	p := c.project()
	for i := range entries {
		if _, ok := usedVersion(p, &entries[i]); ok {
			names = append(names, singleLine(entries[i].Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxProjectNames; n > 0 {
		names, more = names[:maxProjectNames], fmt.Sprintf(", and %d more", n)
	}
	return instructionTexts.Text("project", "databases", strings.Join(names, ", ")+more) + "\n"
}

// mismatch returns a note for a result of a database that documents another version than
// the project uses, or nil. Version is the documented one.
func (e *Entry) mismatch(version string) []string {
	if e.Used == "" || version == "" || config.VersionCloseness(version, e.Used) >= config.SameMinor {
		return nil
	}
	return []string{fmt.Sprintf("documentation of %s; this project uses %s", version, e.Used)}
}

package mcpserver

import (
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/humanize/textfile"
	"github.com/docsearch/docsearch/internal/index"
)

var (
	//go:embed texts/instructions.txt
	instructionTexts textfile.File
	//go:embed texts/results.txt
	resultTexts textfile.File
)

const (
	// maxDescription limits the length of a tool's description; Claude Code truncates
	// it slightly above this.
	maxDescription = 2000
	// maxFirstLine limits the first line of the search tool's description: clients that list
	// tools before they load them show no more.
	maxFirstLine = 150
	// manifestTimeout limits how long tools/list waits for the manifests of the
	// databases. The client waits for that response before it contacts the model.
	manifestTimeout = 100 * time.Millisecond
)

// noDatabases explains how the user adds the first database.
func noDatabases() string { return instructionTexts.Text("no-databases") }

// instructions tell the model when to search. They do not list the databases, because
// every client shows the description of the search tool, which does.
func (s *Server) instructions(ctx context.Context) string {
	entries := s.catalog.Entries(ctx)
	if len(entries) == 0 {
		return instructionTexts.Text("instructions-without-databases", "problem", noDatabases()) + "\n"
	}
	where := instructionTexts.Text("where") + " "
	if !s.catalog.AnyPath || slices.ContainsFunc(entries, func(e Entry) bool { return e.Remote != nil }) {
		where = ""
	}
	text := instructionTexts.Text("instructions", "where", where) + "\n"
	text += s.catalog.projectSentence(entries)
	if s.offersNotes() {
		text += "\n" + instructionTexts.Text("write-notes") + "\n"
	}
	return text
}

// inspect describes a database on this machine. A server's databases were described by
// the server.
func inspect(e Entry) (index.Info, error) {
	if e.Remote != nil {
		return index.Info{}, nil
	}
	return index.Inspect(e.Path)
}

// firstLine returns the first line of the search tool's description. It names as many
// databases as it has room for.
func firstLine(entries []Entry) (line string) {
	names := ""
	for i, e := range entries {
		names += singleLine(e.label())
		more := ""
		if rest := len(entries) - i - 1; rest > 0 {
			more = " " + instructionTexts.Text("search-more", "number", strconv.Itoa(rest))
		}
		longer := instructionTexts.Text("search", "databases", names+more)
		if i > 0 && len(longer) > maxFirstLine {
			break
		}
		line = longer
		names += ", "
	}
	return line
}

// searchDescription returns the description of the search tool, with the databases.
func (s *Server) searchDescription(ctx context.Context) string {
	entries := s.catalog.projectFirst(s.catalog.Entries(ctx))
	howToSearch := instructionTexts.Text("how-to-search")
	if len(entries) == 0 {
		return instructionTexts.Text("search-without-databases", "problem", noDatabases()) + "\n\n" + howToSearch
	}
	others := func(n int) string { return instructionTexts.Text("more-databases", "number", strconv.Itoa(n)) + "\n" }
	var w strings.Builder
	w.WriteString(firstLine(entries) + "\n")
	room := maxDescription - w.Len() - len(howToSearch) - len(others(10000)+"\n")
	// Read only the manifests: databases are opened on first use.
	for i, a := range forEachEntry(ctx, entries, manifestTimeout, inspect) {
		e := entries[i]
		line := "- " + singleLine(e.label())
		if e.Description != "" {
			line += ": " + singleLine(e.Description)
		}
		if version := a.value.VersionOr(e.Version); version != "" {
			line += ", version " + singleLine(version)
		}
		if e.Publisher != "" {
			line += ", published by " + singleLine(e.Publisher)
		}
		if a.err != nil && a.err != errTimeout {
			line += " (not searchable now; list_databases shows why)"
		}
		line += "\n"
		if room -= len(line); room < 0 {
			w.WriteString(others(len(entries) - i))
			break
		}
		w.WriteString(line)
	}
	return w.String() + "\n" + howToSearch
}

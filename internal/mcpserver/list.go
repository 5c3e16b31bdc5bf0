package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/safetext"
)

func (s *Server) listTool() (params []param, run func(context.Context) (string, error)) {
	return nil, func(ctx context.Context) (string, error) { return s.list(ctx), nil }
}

func (s *Server) list(ctx context.Context) string {
	entries := s.catalog.projectFirst(s.catalog.Entries(ctx))
	if len(entries) == 0 {
		return noDatabases() + "\n"
	}
	return humanize.Count(len(entries), "database") + ":\n\n" + s.describe(ctx, entries)
}

// describe describes each database in a paragraph.
func (s *Server) describe(ctx context.Context, entries []Entry) string {
	var w strings.Builder
	p := s.catalog.project()
	for i, a := range forEachEntry(ctx, entries, searchTimeout,
		func(e Entry) (index.Info, error) { return s.catalog.info(ctx, e) }) {
		e, info := entries[i], a.value
		if w.Len() > maxTokens*bytesPerToken/2 {
			fmt.Fprintf(&w, "\nand %d more: %s\n", len(entries)-i, nameList(entries[i:]))
			break
		}
		if i > 0 {
			w.WriteString("\n")
		}
		w.WriteString(singleLine(e.Name) + "\n")
		field := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&w, "  %s: %s\n", name, value)
			}
		}

		field("description", singleLine(e.Description))
		field("version", singleLine(info.VersionOr(e.Version)))
		switch version, documented := usedVersion(p, &e); {
		case documented:
			field("project", "uses this version")
		case version != "":
			field("project", "uses version "+singleLine(version))
		}
		field("publisher", singleLine(e.Publisher))
		field("keywords", singleLine(strings.Join(e.Keywords, ", ")))
		field("pages", singleLine(strings.Join(e.URLs, ", ")))

		if e.Remote != nil {
			field("server", singleLine(e.Remote.Host()))
			continue
		}
		if s.catalog.showsPaths() { // else the client may not learn the server's folders
			field("path", safetext.Line(e.Path))
		}
		if a.err != nil {
			field("state", searchError(e, a.err))
			continue
		}

		field("passages", fmt.Sprintf("%s of %s", humanize.Thousands(info.Passages),
			humanize.Count(info.Documents, "document")))
		field("built", info.Created.UTC().Format("2006-01-02 15:04 MST"))
		if n := len(info.Skipped); n > 0 {
			field("skipped", fmt.Sprintf("%s; to list them, run: docsearch index info %s", humanize.Thousands(n),
				s.catalog.nameForCommand(e)))
		}

		if info.Stale == "" {
			field("state", "ready")
		} else {
			field("state", fmt.Sprintf("stale: %s; to update it, run: docsearch update %s", info.Stale,
				s.catalog.nameForCommand(e)))
		}
	}
	return w.String()
}

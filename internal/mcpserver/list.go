package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/index"
)

// listPatience is how long list_databases waits for a folder.
const listPatience = 3 * time.Second

func (s *Server) listTool() (params []param, run func(context.Context) (string, error)) {
	return nil, func(context.Context) (string, error) { return s.list(), nil }
}

func (s *Server) list() string {
	entries := s.catalog.Entries()
	if len(entries) == 0 {
		return "There is no database yet. The user makes one with docsearch index build FOLDER and names it in docsearch's config.\n"
	}
	return count(len(entries), "database") + ":\n\n" + s.describe(entries)
}

// describe tells all that is known of the databases, a paragraph each.
func (s *Server) describe(entries []Entry) string {
	var w strings.Builder
	for i, st := range s.catalog.inspect(entries, listPatience) {
		if st.err == nil {
			// The manifest is whole; are the files that it names?
			st.err = s.catalog.use(st.Path, func(*index.Database) error { return nil })
		}
		if i > 0 {
			w.WriteString("\n")
		}
		w.WriteString(label(st.Name) + "\n")
		field := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&w, "  %s: %s\n", name, value)
			}
		}
		field("what", label(st.Description))
		field("version", label(st.Version))
		field("keywords", label(strings.Join(st.Keywords, ", ")))
		field("pages", label(strings.Join(st.URLs, ", ")))
		field("path", clean(st.Path))
		if st.err != nil {
			field("state", trouble(st.Entry, st.err))
			continue
		}
		field("passages", fmt.Sprintf("%s of %s", thousands(st.Passages), count(st.Documents, "document")))
		field("built", st.Created.UTC().Format("2006-01-02 15:04 MST"))
		if n := len(st.Skipped); n > 0 {
			field("left out", fmt.Sprintf("%s of the source; docsearch index info %s names them", count(n, "part"), st.Path))
		}
		if st.Stale == "" {
			field("state", "can be searched")
		} else {
			field("state", fmt.Sprintf("can be searched, but %s; to bring it up to date, run: docsearch index build %s", st.Stale, st.Path))
		}
	}
	return w.String()
}

package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/leann"
)

// Tools with the names and arguments of LEANN's own server, for configs and
// habits that refer to them. docsearch answers the calls.

func (s *Server) leannSearchTool() (params []param, run func(context.Context) (string, error)) {
	var name string
	var metadata bool
	complexity := 32
	a := searchArguments{topK: 5, maxTokens: s.maxTokens}
	params = []param{
		{name: "index_name", target: &name, required: true,
			description: "Index name from leann_list.",
			aliases:     []string{"index", "name", "database", "db"}},
		{name: "query", target: &a.query, required: true,
			description: "Question or topic in plain words.",
			aliases:     []string{"q", "question", "text"}},
		{name: "top_k", target: &a.topK, min: 1, max: maxTopK,
			description: "Maximum number of passages to return.",
			aliases:     []string{"k", "limit", "n", "n_results"}},
		{name: "complexity", target: &complexity, min: 1, max: 1 << 20,
			description: "Accepted for compatibility with LEANN and ignored."},
		{name: "show_metadata", target: &metadata,
			description: "Include all metadata of each passage.",
			aliases:     []string{"metadata"}},
	}
	return params, func(ctx context.Context) (string, error) {
		q := index.Query{Text: a.query, TopK: a.topK}
		if err := q.Check(); err != nil {
			return "", err
		}
		entries, err := s.catalog.choose(ctx, []string{name}, nil)
		if err != nil {
			return "", errors.New(strings.ReplaceAll(err.Error(), "list_databases", "leann_list"))
		}
		f := s.catalog.search(ctx, entries, q)[0]
		if f.err != nil {
			return "", errors.New(searchError(f.Entry, f.err))
		}
		return answerLEANN(a, f, metadata), nil
	}
}

// answerLEANN formats the hits of one index.
func answerLEANN(a searchArguments, f databaseResult, metadata bool) string {
	if len(f.Hits) == 0 {
		return resultTexts.Text("leann-none", "database", f.Name, "query", quote(a.query)) + "\n"
	}
	w := &budgetWriter{limit: a.maxTokens * bytesPerToken}
	w.WriteString(resultTexts.Text("passages", "passages", humanize.Count(len(f.Hits), "passage"), "databases", f.Name,
		"query", quote(a.query)) + "\n")
	if f.Confidence < index.Relevant {
		w.WriteString(resultTexts.Text("leann-weak", "confidence", fmt.Sprintf("%.2f", f.Confidence)) + "\n")
	}
	if metadata {
		for i := range f.Hits {
			f.Hits[i].Text = metadataOf(&f.Hits[i]) + "\n" + f.Hits[i].Text
		}
	}
	w.passages(merge([]databaseResult{f}, a.topK), StemPrefixes(a.query, nil))
	return w.String()
}

// metadataOf returns the metadata of the passage in the passages file.
func metadataOf(h *index.Hit) string {
	line := h.Passage
	line.ID, line.Text = "", ""
	_, metadata, _ := strings.Cut(strings.TrimSuffix(string(line.AppendLine(nil)), "}\n"), `"metadata": `)
	return "metadata: " + metadata
}

func (s *Server) leannListTool() (params []param, run func(context.Context) (string, error)) {
	return nil, func(ctx context.Context) (string, error) {
		var w strings.Builder
		entries := s.catalog.Entries(ctx)
		if len(entries) == 0 {
			w.WriteString(noDatabases() + "\n")
		} else {
			fmt.Fprintf(&w, "%s:\n", humanize.Count(len(entries), "index"))
		}
		for _, e := range entries {
			fmt.Fprintf(&w, "  %s", singleLine(e.Name))
			if e.Description != "" {
				fmt.Fprintf(&w, " - %s", singleLine(e.Description))
			}
			w.WriteString("\n")
		}
		if names := s.registered(entries); len(names) > 0 {
			w.WriteString(resultTexts.Text("leann-registered", "names", strings.Join(names, ", ")) + "\n")
		}
		return w.String(), nil
	}
}

// registered returns the names of the indexes that LEANN has registered on this machine and
// that are not in the entries, if the client may learn them.
func (s *Server) registered(entries []Entry) (names []string) {
	if !s.catalog.showsPaths() {
		return nil
	}
	all, err := leann.RegisteredIndexes(config.Home(os.Getenv))
	if err != nil {
		s.log.Warn("cannot read LEANN's registered projects", "err", err)
	}
	folders := map[string]bool{}
	for i := range entries {
		if dir, err := index.Locate(entries[i].Path); err == nil && entries[i].Remote == nil {
			folders[dir] = true
		}
	}
	for _, x := range all {
		if dir, err := leann.Folder(x.Path); err == nil && !folders[dir] {
			names = append(names, singleLine(x.Name))
		}
	}
	return names
}

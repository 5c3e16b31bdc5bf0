package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
	"github.com/docsearch/docsearch/internal/safetext"
)

// MaxNeighbors is the maximum number of neighbors on either side that read returns.
const MaxNeighbors = 50

type readArguments struct {
	id, url, path               string
	names                       stringList
	neighbors, start, maxTokens int
	whole                       bool
}

func (s *Server) readTool() (params []param, run func(context.Context) (string, error)) {
	a := readArguments{start: 1, maxTokens: s.maxTokens}
	params = []param{
		{name: "id", target: &a.id,
			description: "Passage id from a search result.",
			aliases:     []string{"passage", "passage_id", "ref", "reference", "identifier"}},
		{name: "url", target: &a.url,
			description: "Document URL. With an #anchor: the passage of that section.",
			aliases:     []string{"uri", "link", "page", "href"}},
		{name: "path", target: &a.path,
			description: "Document path from a search result. With :LINE: the passage at that line.",
			aliases:     []string{"file", "file_path", "document", "filename", "source"}},
		{name: "database", target: &a.names,
			description: "Database that contains the document. Default: all databases.",
			aliases:     []string{"databases", "db", "index", "index_name", "collection", "library", "name"}},
		{name: "neighbors", target: &a.neighbors, max: MaxNeighbors,
			description: "Number of passages to include before and after it.",
			aliases:     []string{"neighbours", "context", "around", "window", "radius"}},
		{name: "whole", target: &a.whole,
			description: "Read the whole document.",
			aliases:     []string{"whole_document", "full", "all", "entire", "full_document"}},
		{name: "start", target: &a.start, min: 1, max: 1 << 30,
			description: "First passage to return, for the next page of a long document.",
			aliases:     []string{"from", "offset", "first"}},
		{name: "max_tokens", target: &a.maxTokens, min: minTokens, max: maxTokens,
			description: "Approximate maximum size of the result in tokens.",
			aliases:     []string{"tokens", "token_limit", "budget", "max_length", "limit"}},
	}
	return params, func(ctx context.Context) (string, error) { return s.read(ctx, a, params) }
}

func (s *Server) read(ctx context.Context, a readArguments, params []param) (string, error) {
	ref := index.Ref{Neighbors: a.neighbors, Whole: a.whole}
	for _, name := range []string{a.id, a.url, a.path} {
		if name != "" && ref.Name != "" {
			return "", errors.New("pass exactly one of id, url, path; " + usage("read", params))
		}
		ref.Name += name
	}
	if ref.Name == "" {
		return "", errors.New("pass one of id, url, path; " + usage("read", params))
	}

	entries, err := s.catalog.choose(ctx, a.names, nil)
	if err != nil {
		return "", err
	}

	type found struct {
		Entry
		index.Reading
	}
	var all []found
	var problems []string
	remote := perServer(entries, func(r Remote, databases []RemoteDatabase) (map[string]RemoteReading, error) {
		return r.Read(ctx, namesOf(databases), ref)
	})
	for i, a := range forEachEntry(ctx, entries, searchTimeout, func(e Entry) (r index.Reading, err error) {
		if e.Remote != nil {
			found, err := remote(e)
			return found.Reading, errors.Join(err, found.Err)
		}
		return s.catalog.read(ctx, e, ref)
	}) {
		switch {
		case errors.Is(a.err, index.ErrNotFound):
		case a.err != nil:
			problems = append(problems, searchError(entries[i], a.err)+".")
		default:
			all = append(all, found{entries[i], a.value})
		}
	}

	if err := ctx.Err(); err != nil {
		return "", err
	}
	if slices.ContainsFunc(all, func(f found) bool { return !f.Mapped }) {
		all = slices.DeleteFunc(all, func(f found) bool { return f.Mapped })
	}

	switch len(all) {
	case 0:
		missing := fmt.Sprintf("%s not found in %s; search returns valid ids, URLs, and paths", quote(ref.Name),
			nameList(entries))
		return "", errors.New(strings.Join(append([]string{missing}, problems...), "\n"))
	case 1:
		return answerRead(a, all[0].Entry, all[0].Reading)
	}
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	return "", fmt.Errorf("%s is in several databases (%s): pass database", quote(ref.Name), strings.Join(names, ", "))
}

// answerRead formats the passages within the token budget.
func answerRead(a readArguments, e Entry, r index.Reading) (string, error) {
	var first, last int // of r.Passages; last is exclusive
	limit := a.maxTokens * bytesPerToken
	sizes := make([]int, len(r.Passages))
	for i := range r.Passages {
		sizes[i] = len(passageHeader(&r, i)) + len(fenced(safetext.Block(r.Passages[i].Text)))
	}
	const frame = 400 // bytes for the header and the footer
	if r.Wanted >= 0 && !a.whole {
		first, last = expandAround(sizes, r.Wanted, limit-frame)
	} else {
		if first = a.start - 1; first >= len(r.Passages) {
			return "", fmt.Errorf("invalid start: the document has %d passages", len(r.Passages))
		}
		last = lastWithin(sizes, first, limit-frame)
	}

	w := &budgetWriter{limit: limit}
	p := &r.Passages[first]
	document := addressLine(cmp.Or(p.Document(), p.ID))
	if url, _, _ := strings.Cut(urlmatch.WebURL(p, e.URLs), "#"); url != "" && p.URL == "" {
		document = addressLine(url) + " | " + document
	}
	fmt.Fprintf(w, "%s | %s | %s\n", safetext.Name(p.Name()), e.label(), document)
	if r.Total > 1 {
		fmt.Fprintf(w, "Passages %d to %d of %d. ", r.First+first+1, r.First+last, r.Total)
	}
	w.WriteString(resultTexts.Text("quoted") + "\n")
	w.reserve(frame / 2)
	for i := first; i < last; i++ {
		text, head := safetext.Block(r.Passages[i].Text), passageHeader(&r, i)
		w.WriteString(head)
		if room := w.remaining() - fenceSize(text); room < len(text) {
			w.WriteString(fenced(excerpt(text, max(room, minExcerpt), nil)))
			w.WriteString(resultTexts.Text("page-truncated") + "\n")
			continue
		}
		w.WriteString(fenced(text))
	}
	w.release()
	switch {
	case r.Wanted >= 0 && !a.whole && last-first < len(r.Passages):
		w.WriteString(resultTexts.Text("neighbors-omitted") + "\n")
	case (r.Wanted < 0 || a.whole) && last < len(r.Passages):
		w.WriteString(resultTexts.Text("next-page", "number", strconv.Itoa(last+1)) + "\n")
	}
	return w.String(), nil
}

// passageHeader returns the line above the i-th passage.
func passageHeader(r *index.Reading, i int) string {
	p := &r.Passages[i]
	s := fmt.Sprintf("\n%d. %s", r.First+i+1, heading(p))
	if p.Locator() != p.ID {
		s += " | " + addressLine(p.Locator())
	}
	return s + " | id " + singleLine(p.ID) + documentNote(p) + "\n"
}

// expandAround returns the widest span around wanted whose size stays within
// limit. It grows on both sides in turn.
func expandAround(sizes []int, wanted, limit int) (first, last int) {
	first, last = wanted, wanted+1
	limit -= sizes[wanted]
	for before, after := true, true; before || after; {
		if before = before && first > 0 && sizes[first-1] <= limit; before {
			first--
			limit -= sizes[first]
		}
		if after = after && last < len(sizes) && sizes[last] <= limit; after {
			limit -= sizes[last]
			last++
		}
	}
	return first, last
}

// lastWithin returns the end of the longest span from first whose size stays
// within limit, with at least one passage.
func lastWithin(sizes []int, first, limit int) int {
	last := first + 1
	limit -= sizes[first]
	for last < len(sizes) && sizes[last] <= limit {
		limit -= sizes[last]
		last++
	}
	return last
}

package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	defaultTopK   = 5
	maxTopK       = 100
	defaultTokens = 4000
	// maxTokens is the longest result that Claude Code accepts.
	maxTokens = 25000
	minTokens = 200

	// closestSections is the number of headings to list if nothing is relevant.
	closestSections = 5
	// maxErrors is the number of database errors that a result reports in full.
	maxErrors = 3
)

// Values of the detail argument.
const (
	detailPassages = "passages"
	detailHeadings = "headings"
)

type searchArguments struct {
	query, filter, detail string
	after                 string
	keywords              []string
	databases, paths      stringList
	topK, maxTokens       int
	shown                 passage.Shown // what the agent has seen, by after
}

func (s *Server) searchTool() (params []param, run func(context.Context) (string, error)) {
	a := searchArguments{detail: detailPassages, topK: s.topK, maxTokens: s.maxTokens}
	params = []param{
		{name: "query", target: &a.query, required: true,
			description: "Question or topic in plain words.",
			aliases:     []string{"q", "question", "search_query", "search", "text", "prompt", "input"}},
		{name: "keywords", target: &a.keywords,
			description: `The documentation's own terms, exact names, synonyms. For "change a folder's name": ["os.rename", "shutil.move", "rename directory", "mv"].`,
			aliases:     []string{"keyword", "terms", "synonyms", "tags", "hints"}},
		{name: "database", target: &a.databases,
			description: "Database to search, or several separated by commas. Default: the database that the query names, otherwise all.",
			aliases: []string{"databases", "db", "dbs", "index", "index_name", "indexes", "collection",
				"collections", "library", "source", "sources", "name"}},
		{name: "path", target: &a.paths,
			description: "Path of a database or LEANN index to search, if it has no name here.",
			aliases:     []string{"paths", "database_path", "index_path", "db_path"}},
		{name: "top_k", target: &a.topK, min: 1, max: maxTopK,
			description: "Maximum number of passages to return.",
			aliases: []string{"k", "limit", "n", "n_results", "num_results", "max_results", "count", "size", "top",
				"results"}},
		{name: "max_tokens", target: &a.maxTokens, min: minTokens, max: maxTokens,
			description: "Approximate maximum size of the result in tokens.",
			aliases:     []string{"tokens", "token_limit", "budget", "max_length"}},
		{name: "filter", target: &a.filter,
			description: `Search only documents whose URL or path contains this text or pattern (* and ? are wildcards, a leading "!" negates): "ci/yaml", "!*.md".`,
			aliases:     []string{"filters", "where"}},
		{name: "detail", target: &a.detail, choices: []string{detailPassages, detailHeadings},
			description: `"headings" returns titles, sources, and ids without text; call read to get the text.`,
			aliases:     []string{"detail_level", "format", "mode", "verbosity"}},
		{name: "after", target: &a.after,
			description: "Code in a denied web search: passages shown there are listed without text."},
	}
	return params, func(ctx context.Context) (string, error) { return s.search(ctx, a) }
}

func (s *Server) search(ctx context.Context, a searchArguments) (string, error) {
	q := index.Query{Text: a.query, Keywords: a.keywords, Filter: a.filter}
	if err := q.Check(); err != nil {
		return "", err
	}
	entries, err := s.catalog.choose(ctx, a.databases, a.paths)
	if err != nil {
		return "", err
	}
	if a.after != "" && a.detail != detailHeadings {
		a.shown = s.shown(a.after)
	}
	q.TopK = a.topK + len(a.shown)
	findings, all := s.catalog.searchNamed(ctx, entries, q, len(a.databases)+len(a.paths) > 0)
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return answerSearch(a, findings, len(findings) < all, all)
}

// entriesNamedIn returns the entries that the query names, or all if it names
// none.
func entriesNamedIn(query string, entries []Entry) []Entry {
	names := make([][]string, len(entries))
	for i, e := range entries {
		names[i] = e.QueryNames()
	}
	var named []Entry
	for _, i := range index.Named(query, names) {
		named = append(named, entries[i])
	}
	if named == nil {
		return entries
	}
	return named
}

// answerSearch formats the results for the model.
func answerSearch(a searchArguments, findings []databaseResult, scoped bool, all int) (string, error) {
	var notes, searched []string
	var failed []Entry
	for _, f := range findings {
		if errors.Is(f.err, index.ErrFilter) {
			return "", f.err
		}
		if f.err != nil {
			failed = append(failed, f.Entry)
			if len(failed) <= maxErrors {
				notes = append(notes, searchError(f.Entry, f.err)+".")
			}
			continue
		}
		searched = append(searched, f.label())
		for _, n := range f.Notes {
			notes = append(notes, f.label()+": "+n+".")
		}
	}

	if more := len(failed) - maxErrors; more > 0 {
		notes = append(notes, resultTexts.Text("not-searched", "databases", nameList(failed[maxErrors:])))
	}
	if len(failed) == len(findings) {
		return "", errors.New(strings.Join(notes, "\n"))
	}
	if scoped {
		notes = append(notes, resultTexts.Text("scoped", "databases", strings.Join(searched, ", "),
			"number", strconv.Itoa(all)))
	}

	hits := merge(findings, a.topK+len(a.shown))
	for i := range hits {
		hits[i].define(strings.Join(append([]string{a.query}, a.keywords...), " "))
	}
	known, fresh := split(hits, a.shown, a.topK)
	where := strings.Join(searched, ", ")
	if len(searched) > 5 {
		where = fmt.Sprintf("%d databases", len(searched))
	}

	w := &budgetWriter{limit: a.maxTokens * bytesPerToken}
	for _, n := range notes {
		w.reserve(len("Note: \n") + len(n))
	}

	switch {
	case len(hits) == 0:
		w.WriteString(resultTexts.Text("none", "query", quote(a.query), "databases", where) + "\n")
		if a.filter != "" {
			w.WriteString(resultTexts.Text("filtered", "filter", quote(a.filter)) + "\n")
		}
		w.WriteString(resultTexts.Text("improve") + "\n")
	case hits[0].confidence < index.Relevant:
		confidence := fmt.Sprintf("%.2f", hits[0].confidence)
		w.WriteString(resultTexts.Text("no-confident", "query", quote(a.query), "databases", where,
			"confidence", confidence) + "\n")
		for _, h := range hits[:min(closestSections, len(hits))] {
			w.line("- " + h.place())
		}
		w.WriteString(resultTexts.Text("improve") + "\n")
	case a.detail == detailHeadings:
		w.WriteString(resultTexts.Text("headings", "passages", humanize.Count(len(hits), "passage"), "databases", where,
			"query", quote(a.query)) + "\n")
		for i, h := range hits {
			if !w.line(fmt.Sprintf("%d. %s (score %.2f)", i+1, h.place(), h.relevance)) {
				break
			}
		}
	case len(fresh) == 0:
		w.WriteString(resultTexts.Text("no-further", "databases", where, "query", quote(a.query)) + "\n")
		w.WriteString(resultTexts.Text("improve") + "\n")
		w.WriteString(listKnown(known, w.remaining()))
	default:
		w.WriteString(resultTexts.Text("passages", "passages", humanize.Count(len(fresh), "passage"),
			"databases", where, "query", quote(a.query)) + "\n")
		if hits[0].confidence < index.Doubtful {
			w.line(resultTexts.Text("weak"))
		}
		list := listKnown(known, (w.limit-4*minExcerpt)/8)
		w.reserve(len(list))
		w.passages(fresh, StemPrefixes(a.query, a.keywords))
		w.reserve(-len(list))
		w.WriteString(list)
	}

	w.release()
	for i, n := range notes {
		if i == 0 {
			w.WriteString("\n")
		}
		w.WriteString("Note: " + n + "\n")
	}
	return w.String(), nil
}

// A hit is a passage of one of several databases.
type hit struct {
	index.Hit
	database   string
	urls       []string // URL prefixes of the database
	confidence float64  // of the database's best hit
	relevance  float64  // sort key across databases
	shown      int      // bytes of the text that the agent has seen
	start      int      // of the definition of a term of the query in the text
}

// define makes the definition of a term of the query the place of the hit, if it has one.
func (h *hit) define(query string) {
	if d, ok := passage.Define(safetext.Block(h.Text), query); ok {
		h.Passage, h.start = h.At(d), d.Start
	}
}

// text returns the text of the hit that the agent has not seen, from the definition on.
func (h hit) text() string {
	if h.shown == 0 {
		return safetext.Block(h.Text)[h.start:]
	}
	text := strings.Trim(safetext.Block(h.Text), " \t\n")
	return strings.TrimSpace(text[min(h.shown, len(text)):])
}

// place returns the location of the hit in one line.
func (h hit) place() string {
	return fmt.Sprintf("%s | %s", heading(&h.Passage), h.source())
}

// source returns the database, the source location and the ID of the hit.
func (h hit) source() string {
	return h.database + location(&h.Passage, h.urls) + documentNote(&h.Passage)
}

// merge sorts the hits of all results. If there are relevant hits, it omits the
// others, which would only fill the result.
func merge(findings []databaseResult, topK int) []hit {
	results := make([]index.Result, len(findings))
	for i, f := range findings {
		results[i] = f.Result
	}
	var hits []hit
	for _, m := range index.Merge(results, topK) {
		if len(hits) > 0 && hits[0].relevance >= index.Relevant && m.Relevance < index.Relevant {
			continue
		}
		from := findings[m.From]
		hits = append(hits, hit{Hit: m.Hit, database: from.label(), urls: from.URLs, confidence: from.Confidence,
			relevance: m.Relevance})
	}
	return hits
}

// split separates the hits that the agent has seen whole from the others, of which it
// returns limit. Of a hit that the agent has seen in part, the rest is new.
func split(hits []hit, shown passage.Shown, limit int) (known, fresh []hit) {
	for _, h := range hits {
		n, seen := shown[h.Fingerprint()]
		h.shown = n
		switch {
		case seen && (n == passage.Whole || h.text() == ""):
			known = append(known, h)
		case len(fresh) < limit:
			fresh = append(fresh, h)
		}
	}
	return known, fresh
}

// quote quotes the query for a sentence.
func quote(s string) string { return `"` + singleLine(s) + `"` }

// A budgetWriter collects a result up to a size limit.
type budgetWriter struct {
	strings.Builder
	limit    int // in bytes
	reserved int
}

// remaining returns the number of bytes left.
func (w *budgetWriter) remaining() int { return w.limit - w.reserved - w.Len() }

// reserve reserves n bytes for the end, or frees -n; release frees all.
func (w *budgetWriter) reserve(n int) { w.reserved += n }
func (w *budgetWriter) release()      { w.reserved = 0 }

// line writes a line if it fits.
func (w *budgetWriter) line(s string) bool {
	if len(s)+1 > w.remaining() {
		return false
	}
	w.WriteString(s + "\n")
	return true
}

// listKnown lists the hits that the agent has seen in at most limit bytes.
func listKnown(hits []hit, limit int) string {
	list := ""
	for i, h := range hits {
		line := "- " + h.place() + "\n"
		if i == 0 {
			line = "\n" + resultTexts.Text("known") + "\n" + line
		}
		if len(list)+len(line) > limit {
			break
		}
		list += line
	}
	return list
}

// passages writes the hits with their texts while they fit. It shortens a
// passage that exceeds its share to its most relevant part, and lists the hits
// that do not fit by name.
func (w *budgetWriter) passages(hits []hit, words []string) {
	const tail = 160 // for the line that lists the omitted hits
	for i, h := range hits {
		rest := ""
		if h.shown > 0 {
			rest = " (continued from the denial)"
		}
		head := fmt.Sprintf("\n%d. %s%s\n   score %.2f | %s\n", i+1, heading(&h.Passage), rest, h.relevance, h.source())
		text := h.text()
		room := w.remaining() - len(head) - fenceSize(text) - len("…\n")
		if i < len(hits)-1 {
			room -= tail
			// The first of many passages must not use all the space: one passage gets at
			// most half of the rest.
			room = min(room, max(w.remaining()/2, 4*minExcerpt))
		}
		if room < min(minExcerpt, len(text)) {
			w.line("\n" + resultTexts.Text("omitted", "results", humanize.Count(len(hits)-i, "more result")))
			for _, h := range hits[i:] {
				if !w.line("- " + h.place()) {
					return
				}
			}
			return
		}
		quoted := excerpt(text, room, words)
		skips := h.start > 0 && h.shown == 0
		if skips {
			quoted = "…\n" + quoted
		}
		w.WriteString(head + fenced(quoted))
		if len(text) > room || skips {
			w.line(resultTexts.Text("truncated", "id", singleLine(h.ID)))
		}
	}
}

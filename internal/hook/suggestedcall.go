package hook

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
)

const (
	maxCallQuery = 400
	minQuery     = 20 // of a shortened query
	maxKeywords  = 6
)

// query returns the query of the search, or the prompt of the fetch, on one line.
func (o *result) query() string {
	return oneLineMax(o.request.Search.Query+o.request.Fetch.Prompt, maxCallQuery)
}

// isFetch reports whether the result contributes to the fetch of a page.
func (o *result) isFetch() bool { return o.request.Tool == event.WebFetch }

// calls returns the calls that search further, in at most limit units. Each call is JSON
// on a line of its own, below a heading. hint is the heading if keywordsHint may be
// appended to it. Calls that do not fit are in rest.
func (t *denialText) calls(limit int) (calls, hint, rest string) {
	var head string
	switch several := len(t.results) > 1; {
	case t.withheld():
		head = "\n" + denialTexts.Text("command")
	case several && t.isFetch():
		head = "\n" + denialTexts.Text("read-calls")
	case several:
		head = "\n" + denialTexts.Text("search-calls")
	case t.isFetch() && t.results[0].own:
		head = "\n" + denialTexts.Text("read-call")
	default:
		head = "\n" + denialTexts.Text("search-call")
	}
	var fitting, others []string
	room := limit - utf16Len(head)
	for i := range t.results {
		o := &t.results[i]
		if o.withheld && o.command == "" {
			continue
		}
		share := room / (len(t.results) - i)
		call := "\n" + t.call(o, share-1)
		switch {
		case slices.Contains(fitting, call):
		case utf16Len(call) <= share:
			fitting = append(fitting, call)
			room -= utf16Len(call)
		default:
			others = append(others, "\n"+t.call(o, maxCallQuery))
		}
	}
	if len(others) > 0 {
		rest = strings.TrimSuffix(head, ":") + ", too:" + strings.Join(others, "")
	}
	if len(fitting) == 0 {
		return "", "", rest
	}
	calls = head + strings.Join(fitting, "")
	if strings.Contains(calls, keywordsArgument) || strings.Contains(calls, keywordsOption) {
		hint = head
	}
	return calls, hint, rest
}

// call returns the exact call for a database, or the name of another server's tool. To fit into
// limit units, it drops keywords or shortens the query; it may still be longer.
func (t *denialText) call(o *result, limit int) string {
	query := o.query()
	if o.withheld {
		return searchCommand(o, query, limit)
	}
	full := func(arguments string) string { return t.client.Call(t.event, o.tool, arguments) }
	leann := o.takesIndexName()
	database := ", \"database\": " + quote(o.db.Name)
	if t.code != "" {
		database += ", \"after\": " + quote(t.code)
	}
	switch {
	case !o.own && !leann: // its arguments are unknown
		return t.client.ToolName(o.tool)
	case o.isFetch() && o.own:
		return full(readArguments(o.page, o.db.Name))
	case o.own && !leann:
		keywords := contentWords(query, o.db.Keywords, maxKeywords)
		for n := len(keywords); n >= 0; n-- {
			list := make([]string, n)
			for i := range list {
				list[i] = quote(keywords[i])
			}
			call := full("{\"query\": " + quote(query) + ", " + keywordsArgument + strings.Join(list, ", ") + "]" + database + "}")
			if utf16Len(call) <= limit {
				return call
			}
		}
	}
	before, after := "{\"query\": ", "}"
	switch {
	case leann:
		before = "{\"index_name\": " + quote(indexName(o)) + ", \"query\": "
	case o.own:
		after = database + "}"
	}
	for {
		call := full(before + quote(query) + after)
		over := utf16Len(call) - limit
		if over <= 0 || utf16Len(query)-over < minQuery {
			return call
		}
		query = shortQuery(query, utf16Len(query)-over)
	}
}

// The start of the keywords in a call, and in a shell command.
const (
	keywordsArgument = `"keywords": [`
	keywordsOption   = "--keywords "
)

// searchCommand returns the shell command that searches the database of a result, in limit units
// if that does not make the query too short. The keywords are left out first. As JSON, the
// passages are whole, as those of the server.
func searchCommand(o *result, query string, limit int) string {
	start := o.command + " search --json --db " + ShellWord(o.db.Name) + " "
	if keywords := contentWords(query, o.db.Keywords, maxKeywords); len(keywords) > 0 {
		command := start + keywordsOption + ShellWord(strings.Join(keywords, ",")) + " " + ShellWord(query)
		if utf16Len(command) <= limit {
			return command
		}
	}
	for {
		command := start + ShellWord(query)
		over := utf16Len(command) - limit
		if over <= 0 || utf16Len(query)-over < minQuery {
			return command
		}
		query = shortQuery(query, utf16Len(query)-over)
	}
}

// ShellWord quotes a word for a shell.
func ShellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// withheld reports whether the agent can call none of the tools.
func (t *denialText) withheld() bool {
	return !slices.ContainsFunc(t.results, func(o result) bool { return !o.withheld })
}

// shortQuery cuts a query to limit units at a word boundary.
func shortQuery(query string, limit int) string {
	query = strings.TrimSuffix(cut(query, limit+utf16Len(cutMark)), cutMark)
	if i := strings.LastIndexByte(query, ' '); i > 0 {
		query = query[:i]
	}
	return query
}

// takesIndexName reports whether the tool is LEANN's, which requires the name of an index.
func (o *result) takesIndexName() bool {
	return strings.HasSuffix(o.tool, "__leann_search") || o.tool == "mcp__leann__search" && !o.own
}

// indexName returns the name of a database for LEANN's tool: the folder name of its index,
// or for docsearch's own tool the database's name.
func indexName(o *result) string {
	if o.own {
		return o.db.Name
	}
	return cmp.Or(FolderName(o.db.Path), o.db.Name)
}

// tools returns the distinct tools of the results as the agent calls them, without those that it
// cannot call.
func (t *denialText) tools() []string {
	var tools []string
	for _, o := range t.results {
		if o.withheld {
			continue
		}
		tools = appendNew(tools, t.client.ToolName(o.tool))
	}
	return tools
}

// subject returns a database's description without the word documentation: "GitLab" for
// "GitLab documentation" and "the documentation of GitLab".
func subject(db *config.Database) string {
	words := strings.Fields(oneLine(db.Description))
	words = slices.DeleteFunc(words,
		func(w string) bool { return strings.EqualFold(w, "documentation") || strings.EqualFold(w, "docs") })
	for len(words) > 0 && slices.Contains([]string{"the", "of", "for", "on"}, strings.ToLower(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 {
		return oneLine(db.Name)
	}
	return strings.Join(words, " ")
}

// contentWords returns the words of a query that describe its subject, except the
// database's own keywords. They start the list of keywords that the agent completes.
func contentWords(query string, keywords []string, limit int) []string {
	var words []string
	for w := range strings.FieldsSeq(query) {
		w = strings.Trim(w, `.,;:!?"'()[]{}`)
		folded := strings.ToLower(w)
		known := slices.ContainsFunc(keywords, func(k string) bool { return match.Has(match.Fold(k), []string{w}) })
		if utf8.RuneCountInString(w) < 2 || known || isFiller(folded) || slices.Contains(words, w) {
			continue
		}
		if words = append(words, w); len(words) == limit {
			break
		}
	}
	return words
}

// isFiller reports whether a lower-case word carries no information about a query's
// subject.
func isFiller(w string) bool {
	switch w {
	case "a", "an", "and", "are", "as", "at", "be", "between", "by", "can", "can't", "cannot", "do", "does", "doesn't",
		"don't", "for", "from", "get", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "need",
		"of",
		"on", "or", "should", "that", "the", "there", "these", "this", "to", "use", "using", "vs", "want", "was", "we",
		"what",
		"when", "where", "which", "why", "will", "with", "you", "your", "docs", "documentation", "example", "examples",
		"guide", "tutorial", "latest", "best", "official", "2024", "2025", "2026":
		return true
	}
	return false
}

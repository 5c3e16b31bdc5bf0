package hook

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
	"github.com/docsearch/docsearch/internal/humanize/textfile"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	// maxReason limits a reason in UTF-16 units, without a rule's message. Clients show it
	// to the user in red.
	maxReason = 600
	// maxMessage limits the line for the person, without the time.
	maxMessage = 230
	// maxContext limits a context in UTF-16 units. Claude Code counts in these and moves a
	// context of more than 10,000 to a file.
	maxContext = 9000
	// maxQuotation limits the passages of a denial, which then has some 2,000 tokens. What is
	// left of maxContext is for the calls below them.
	maxQuotation = 7900
	// excerptReserve is the space kept in a reason for an excerpt if the client shows no
	// context; minExcerpt is the shortest useful excerpt.
	excerptReserve = 200
	minExcerpt     = 60
	maxLabels      = 150 // all labels on the first line
	maxLabel       = 60  // one of several labels
	maxLine        = 200 // a title or description
	maxPath        = 1000
)

//go:embed texts/denial.txt
var denialTexts textfile.File

// A denialText composes the text of a denial from denialTexts.
type denialText struct {
	event       *event.Event
	client      *host.Client
	results     []result
	ruleMessage string // message of the rule that searched the database; empty if none did
	needsCall   bool   // a retry runs only after a call of the tool
	// code is the argument of the search call that excludes the passages in the denial.
	// shown are these passages, set by compose. See Denial.
	code  string
	shown passage.Shown
}

// isFetch reports whether the call only fetches pages that databases contain.
func (t *denialText) isFetch() bool {
	return !slices.ContainsFunc(t.results, func(o result) bool { return o.request.Tool != event.WebFetch })
}

// keepsLegacyText reports whether the denial contains the sentences of the original Python
// hook, which its users match on. It does if another server's tool searches a database.
func (t *denialText) keepsLegacyText() bool {
	return t.ruleMessage == "" && !t.isFetch() && t.usesOtherServer()
}

// usesOtherServer reports whether another server's tool searches one of the databases.
func (t *denialText) usesOtherServer() bool {
	return slices.ContainsFunc(t.results, func(o result) bool { return !o.own })
}

// compose returns the reason and the context. The reason is a sentence, because clients show
// it to the person as an error. The context has the passages, then the calls that search
// further, then the way to the web. If the client is not known to show the agent the
// context, all but the passages is in the reason.
func (t *denialText) compose() (reason, context string) {
	if t.client.ShowsContext(t.event) {
		passages := t.context()
		room := maxContext - utf16Len(passages) - len("\n\n")
		return t.opening(), strings.TrimPrefix(passages+"\n\n"+t.nextSteps(room), "\n\n")
	}
	if limit := t.client.MaxReason; limit > 0 {
		return t.shortReason(limit), ""
	}
	r := boundedText{remaining: maxReason + utf16Len(t.ruleMessage)}
	r.add(t.opening())
	escape := "\n" + t.escapeHatch()
	r.remaining -= utf16Len(escape)
	calls, hint, rest := t.calls(r.remaining)
	if shorter, _, none := t.calls(r.remaining - excerptReserve); none == "" {
		calls = shorter
	}
	r.remaining -= utf16Len(calls)

	excerpt := t.excerpt(r.remaining)
	r.remaining -= utf16Len(excerpt)
	load := t.loadHint()
	if r.remaining < utf16Len(load) {
		rest += load
		load = ""
	}
	if r.remaining -= utf16Len(load); r.remaining >= utf16Len(t.keywordsHint()) {
		calls = t.explainKeywords(calls, hint)
	}

	r.WriteString(excerpt + calls + escape + load)
	return r.String(), strings.Trim(t.context()+rest, "\n")
}

// shortReason returns a reason for clients that show the agent at most limit units: the call that
// finds the passages is in it, but not the passages.
func (t *denialText) shortReason(limit int) string {
	escape := "\n" + t.escapeHatch()
	if !t.needsCall {
		escape = "\n" + denialTexts.Text("retry-short", "tool", t.client.CallName(t.event), "runs", t.runs())
	}
	best := t.bestResult()
	if best == nil {
		best = &t.results[0]
	}
	opening := t.opening() + "\n"
	return opening + t.call(best, limit-utf16Len(opening)-utf16Len(escape)) + escape
}

// nextSteps returns the calls that search further, the way to the web, and the call that loads
// the tools, in at most limit units.
func (t *denialText) nextSteps(limit int) string {
	b := boundedText{remaining: limit}
	escape := t.escapeHatch()
	b.remaining -= utf16Len(escape)
	calls, hint, rest := t.calls(b.remaining - utf16Len(t.keywordsHint()))
	b.add(t.explainKeywords(strings.TrimPrefix(calls+rest+"\n", "\n"), strings.TrimPrefix(hint, "\n")))
	b.WriteString(escape)
	b.add(t.loadHint())
	return b.String()
}

// explainKeywords adds to the heading of calls what their keywords are. hint is "" if it must
// not.
func (t *denialText) explainKeywords(calls, hint string) string {
	if hint == "" {
		return calls
	}
	return strings.Replace(calls, hint, strings.TrimSuffix(hint, ":")+t.keywordsHint(), 1)
}

// keywordsHint is what explainKeywords puts in the place of the colon of a heading.
func (t *denialText) keywordsHint() string {
	argument := `"keywords"`
	if t.withheld() {
		argument = strings.TrimSpace(keywordsOption)
	}
	return " " + denialTexts.Text("keywords", "argument", argument) + ":"
}

// message returns the line that tells the person what happened.
func (t *denialText) message() string {
	best := t.bestResult()
	if best == nil {
		return cut(denialTexts.Text("person-pointed", "databases", labels(t.results)), maxMessage)
	}
	path := headingPath(&best.Passages[0])
	if last := len(path) - 1; last > 1 { // "Examples" alone says nothing
		path = []string{path[0], path[last]}
	}
	return cut(denialTexts.Text("person-answered", "database", cut(label(best), 2*maxLabel),
		"heading", strings.Join(path, " > ")), maxMessage)
}

// documentation says whose documentation the results are.
func documentation(results []result) string {
	if slices.ContainsFunc(results, func(o result) bool { return o.db.Remote == "" }) {
		return denialTexts.Text("local")
	}
	return denialTexts.Text("of-team")
}

// opening returns the line that tells the user the outcome, after the legacy line if that
// is kept.
func (t *denialText) opening() string {
	if t.ruleMessage != "" {
		return t.ruleMessage
	}
	answering := slices.DeleteFunc(slices.Clone(t.results), func(o result) bool { return len(o.Passages) == 0 })
	var line string
	switch {
	case t.isFetch() && len(answering) > 0:
		line = denialTexts.Text("page-found", "documentation", documentation(answering), "databases", labels(answering))
	case t.isFetch():
		line = denialTexts.Text("page-available", "documentation", documentation(t.results), "databases", labels(t.results))
	case len(answering) > 0:
		line = denialTexts.Text("found", "documentation", documentation(answering), "databases", labels(answering))
	default:
		line = denialTexts.Text("available", "documentation", documentation(t.results), "databases", labels(t.results))
	}
	line = strings.ToUpper(line[:1]) + line[1:]
	if !t.keepsLegacyText() {
		return line
	}
	var keywords []string
	for _, o := range t.results {
		keywords = append(keywords, "'"+oneLineMax(o.db.Keyword(), maxLabel)+"'")
	}
	databases := "database"
	if len(keywords) > 1 {
		databases = "databases"
	}
	return denialTexts.Text("legacy", "keywords", joinShort(keywords, " and "), "databases", databases) + "\n" + line
}

// escapeHatch returns the line on how to run the call anyway.
func (t *denialText) escapeHatch() string {
	tool, runs := t.client.CallName(t.event), t.runs()
	switch {
	case t.needsCall:
		return denialTexts.Text("retry-after-call", "tool", tool, "runs", runs)
	case t.bestResult() == nil:
		return denialTexts.Text("retry-without-passages", "tool", tool, "runs", runs)
	}
	return denialTexts.Text("retry", "tool", tool, "runs", runs)
}

// runs returns what a retry does.
func (t *denialText) runs() string {
	runs := "runs it"
	if t.event.Tool == event.WebSearch || t.event.Tool == event.WebFetch {
		runs = "runs it on the web"
	}
	if t.event.Refuses {
		runs += ", " + denialTexts.Text("if-permitted")
	}
	return runs
}

// loadHint returns the call that loads the tools, for clients that load tools on demand. The
// main agent is known to have the search tool if the client loads it at once.
func (t *denialText) loadHint() string {
	loaded := t.client.LoadsSearch() && t.event.Agent == "" && !t.isFetch() && !t.usesOtherServer()
	if t.client.Loader == "" || len(t.tools()) == 0 || t.client.CallsThrough(t.event) || loaded && t.client.ShowsContext(t.event) {
		return ""
	}
	return "\n" + denialTexts.Text("load", "call", loadCall(t.client, t.tools()...))
}

// loadCall returns the call that loads tools.
func loadCall(client *host.Client, tools ...string) string {
	return client.Loader + " {\"query\": \"select:" + strings.Join(tools, ",") + "\"}"
}

// bestResult returns the result with the highest confidence, or nil if none has passages.
func (t *denialText) bestResult() *result {
	var best *result
	for i := range t.results {
		if o := &t.results[i]; len(o.Passages) > 0 && (best == nil || o.Confidence > best.Confidence) {
			best = o
		}
	}
	return best
}

// excerpt returns the part of the best passage that matches the query, in at most limit
// units.
func (t *denialText) excerpt(limit int) string {
	best := t.bestResult()
	if best == nil {
		return ""
	}
	p, text := best.answer()
	head := "\n" + denialTexts.Text("best-match", "heading", shortHeading(p, maxLabel)) + "\n> "
	room := limit - utf16Len(head)
	if room < min(minExcerpt, utf16Len(text)) {
		return ""
	}
	return head + shorten(text, room)
}

// answer returns the first passage that is more than headings, and its definition or paragraph
// that matches the query best.
func (o *result) answer() (*passage.Passage, string) {
	words := contentWords(o.query(), o.db.Keywords, maxKeywords)
	for i := range o.Passages {
		p := &o.Passages[i]
		body := sanitize(p.Text)
		if d, ok := passage.Define(body, o.definedBy()); ok {
			if text := firstDefinition(body[d.Start:]); text != "" {
				defined := p.At(d)
				return &defined, text
			}
		}
		if text := bestParagraph(body, words); text != "" {
			return p, text
		}
	}
	return &o.Passages[0], safetext.Line(o.Passages[0].Text)
}

// context returns the passages, each once.
func (t *denialText) context() string {
	b := boundedText{remaining: maxQuotation}
	if t.keepsLegacyText() {
		b.add(t.legacySentence())
	}
	answering := 0
	for _, o := range t.results {
		if len(o.Passages) > 0 {
			answering++
		}
	}
	first := true
	t.shown = make(passage.Shown)
	for i := range t.results {
		o := &t.results[i]
		if len(o.Passages) == 0 {
			continue
		}
		b.paragraph(t.introduction(o, first))
		first = false
		share := boundedText{remaining: b.remaining / answering}
		answering--
		maps.Copy(t.shown, share.passages(o.Passages, o.db.URLs, o.definedBy(), o.terms()))
		b.add(share.String())
	}
	return b.String()
}

// definedBy returns the query by whose terms passages are quoted from a definition. Of a whole
// page, no part is skipped.
func (o *result) definedBy() string {
	if o.Whole {
		return ""
	}
	return o.query()
}

// terms returns the terms by which the passages are shortened.
func (o *result) terms() []lexical.TermWeight {
	if len(o.Weights) > 0 {
		return o.Weights
	}
	return wordWeights(contentWords(o.query(), o.db.Keywords, maxExtractTerms))
}

// legacySentence returns the sentence of the original Python hook.
func (t *denialText) legacySentence() string {
	if len(t.results) == 1 {
		o := t.results[0]
		return denialTexts.Text("legacy-database", "tool", t.client.ToolName(o.tool),
			"description", oneLine(o.db.Description), "path", oneLineMax(o.db.Path, maxPath))
	}
	s := denialTexts.Text("legacy-databases")
	for i, o := range t.results {
		s += "\n" + denialTexts.Text("legacy-list", "number", strconv.Itoa(i+1), "tool", t.client.ToolName(o.tool),
			"description", oneLine(o.db.Description), "path", oneLineMax(o.db.Path, maxPath))
	}
	return s
}

// introduction describes the passages of a database. For the first database it adds that
// they are not instructions.
func (t *denialText) introduction(o *result, first bool) string {
	from := label(o) + " (database " + quote(o.db.Name)
	if o.db.Remote != "" {
		from += " on " + config.Host(o.db.Remote)
	}
	from += ")"
	var s string
	query := "the query"
	if len(t.event.Several) > 0 {
		query += " " + quote(o.query())
	}
	switch {
	case o.withheld && o.Whole:
		s = denialTexts.Text("whole-page-alone", "source", from)
	case o.withheld && o.isFetch():
		s = denialTexts.Text("page-sections-alone", "source", from)
	case o.Whole:
		s = denialTexts.Text("whole-page", "source", from)
	case o.isFetch():
		s = denialTexts.Text("page-sections", "source", from)
	case o.own && !o.withheld && t.code == "":
		s = denialTexts.Text("passages-repeated", "source", from, "query", query)
	default:
		s = denialTexts.Text("passages", "source", from, "query", query)
	}
	if first {
		s += " " + denialTexts.Text("reference-data")
	}
	return s
}

// adviceLine returns the line of context for a call that runs.
func (d *decider) adviceLine(results []result) string {
	var parts []string
	d.withhold(results)
	t := denialText{event: &d.event, client: d.client}
	for _, o := range results {
		if o.withheld && o.command == "" {
			continue
		}
		parts = append(parts, denialTexts.Text("advice", "description", oneLine(o.db.Description),
			"call", t.call(&o, maxContext)))
	}
	return strings.Join(parts, "; ")
}

// labels returns the labels of the databases, as many as fit on a line.
func labels(results []result) string {
	var all []string
	for i := range results {
		name := label(&results[i])
		if len(results) > 1 {
			name = cut(name, maxLabel)
		}
		all = appendNew(all, name)
	}
	return joinShort(all, ", ")
}

// joinShort joins the items that fit on a line and adds the number of the others.
func joinShort(all []string, separator string) string {
	if len(all) == 0 {
		return ""
	}
	s := all[0]
	for i, next := range all[1:] {
		if utf16Len(s)+utf16Len(next) > maxLabels {
			return fmt.Sprintf("%s%s%d more", s, separator, len(all)-i-1)
		}
		s += separator + next
	}
	return s
}

// label returns the documented software with its version: "CMake 3.25". It adds the
// version that the project uses if the documentation is of another one.
func label(o *result) string {
	documented := o.version()
	if o.db.Used == "" || documented == "" || config.VersionCloseness(documented, o.db.Used) >= config.SameMinor {
		return edition(o)
	}
	return edition(o) + "; this project uses " + oneLineMax(o.db.Used, maxLabel)
}

// edition returns the documented software with its version. If the database came as a
// pack, the publisher follows: "CMake 3.25, published by docs.example.com".
func edition(o *result) string {
	name := cut(subject(o.db), 2*maxLabel)
	version := oneLineMax(o.version(), maxLabel)
	if version != "" && !strings.Contains(" "+name+" ", " "+version+" ") {
		name += " " + version
	}
	if o.db.Publisher != "" {
		name += ", published by " + oneLineMax(o.db.Publisher, maxLabel)
	}
	return name
}

package hook

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/humanize/textfile"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notes"
	"github.com/docsearch/docsearch/internal/safetext"
)

//go:embed texts/context.txt
var contextTexts textfile.File

// Notes finds the documents that the hook adds to the agent's context.
type Notes interface {
	// Entries returns the documents of a database that are related to a call, judged by
	// the call and the floor. Its error wraps ErrNeedsMain if the documents can only be
	// found with the full program.
	Entries(db *config.Database, call *notes.Call, floor float64) ([]notes.Entry, error)
	// Contents returns the first notes of a database, with the text of the pinned ones,
	// and the number of all its notes.
	Contents(db *config.Database) (entries []notes.Entry, all int, err error)
	// Remedy returns the passages of a database that match a failure, best first.
	Remedy(db *config.Database, call *notes.Call) ([]Remedy, error)
}

// A Remedy is a passage that may help with a failure.
type Remedy struct {
	Passage  passage.Passage
	Evidence float64 // see notes.Evidence.Score
	Score    float64 // the passage's search score
	Name     string  // the name or error code that the passage is about
}

// nameWeight is the weight of a name in Rank.
const nameWeight = .35

// Rank returns the ranking score of a passage for a failure. It is lower if a
// higher-ranked passage is about the same name.
func (r *Remedy) Rank(named bool) float64 {
	rank := r.Score + r.Evidence/2
	if named {
		rank -= nameWeight
	}
	return rank
}

const (
	// maxSessionContext limits the text added when a session starts, in UTF-16 units;
	// maxDatabaseLines limits the lines about databases within it.
	maxSessionContext = 3900
	maxDatabaseLines  = 2400
	maxTitles         = 40
	// maxRemedyText limits the text added for a failure, in UTF-16 units; MaxRemedies
	// limits its passages.
	maxRemedyText = 3600
	MaxRemedies   = 3
	// evidenceShare is the share of the floor that the evidence for a passage must reach.
	// weakEvidenceShare applies if the call is related to the database only by its
	// language or an argument.
	evidenceShare     = 1. / 3
	weakEvidenceShare = 1. / 2
)

// takesNotes reports whether notes may be added to a call. For most calls they may not, so
// checking first saves time.
func takesNotes(e event.Event, c *config.Config) bool {
	client := host.Of(e.Host)
	if !client.TakesContext(e.Name) || skipsAgent(e, c) || !slices.ContainsFunc(c.Databases, hasNotes) {
		return false
	}
	switch {
	case e.Failure != "":
		return c.Inject.Failures
	case e.Name == event.PreToolUse, e.Name == event.PostToolUse && !client.TakesContext(event.PreToolUse):
		return slices.Contains(c.Inject.Tools, e.Tool)
	}
	return false
}

func hasNotes(db config.Database) bool { return len(db.Inject) > 0 }

// skipsAgent reports whether the event is of a kind of subagent that gets no notes, such
// as one that only reads.
func skipsAgent(e event.Event, c *config.Config) bool {
	return e.AgentType != "" && slices.Contains(c.Inject.SkipAgents, e.AgentType)
}

// CallOf converts the event to the call that notes are matched with. The query of a call
// that takes no notes is empty.
func CallOf(e event.Event) *notes.Call {
	return &notes.Call{
		Tool: e.Tool, Folder: e.Cwd, Path: e.File.Path, Text: e.File.Text,
		Command: e.Command.Line, Description: e.Command.Description, UserText: e.UserText, Failure: failureOf(&e),
	}
}

// failureOf returns the error output of a failed tool. If the host does not report whether
// a command failed, its output decides.
func failureOf(e *event.Event) string {
	if e.Failure == "" && e.Output != "" && notes.ShowsFailure(e.Command.Line, e.Output) {
		return e.Output
	}
	return e.Failure
}

// addMatchingNotes adds the notes that match a call that runs, or that has run if the host
// shows no context before.
func (d *decider) addMatchingNotes() {
	if !takesNotes(d.event, d.config) {
		return
	}
	call := CallOf(d.event)
	d.trace("query for this call: %q", call.Query())
	var entries []notes.Entry
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		if !hasNotes(*db) {
			continue
		}
		found, err := d.search.Entries(db, call, d.config.Inject.Floor)
		if errors.Is(err, ErrNeedsMain) {
			d.NeedsMain = true
			return
		}
		if err != nil {
			d.skipNotes(db, err)
			continue
		}
		entries = append(entries, found...)
	}
	d.Entries = entries
	for i := range entries {
		e := &entries[i]
		d.trace("%s of %s: selected: %t; %s", e.Document, e.Database, e.Selected, e.Reason)
	}
	injection := notes.Injection{
		Head: contextTexts.Text("matching-notes") + "\n\n",
		Max:  d.config.Inject.MaxChars, Limit: d.config.Inject.TopK,
	}
	for _, e := range notes.Best(entries) {
		injection.Items = append(injection.Items, d.noteItem(&e))
	}
	if len(injection.Items) > 0 {
		d.injectNotes(injection)
	}
}

// skipNotes reports a database whose notes cannot be read. If it is the database of a
// folder that has no notes yet, that is no fault.
func (d *decider) skipNotes(db *config.Database, err error) {
	if db.Notes != "" && errors.Is(err, generation.ErrNoIndex) {
		d.trace("database %s skipped: no note was written yet", db.Name)
		return
	}
	d.fault("database %s skipped: %v", db.Name, err)
}

// noteItem formats an entry for the agent.
func (d *decider) noteItem(e *notes.Entry) notes.Item {
	title, source := safetext.Name(e.Title), oneLineMax(e.Source, maxPath)
	text := title
	if source != "" {
		text += " (" + source + ")"
	}
	item := notes.Item{Database: e.Database, Key: e.Key(), Title: title, Text: text + ":", Quote: sanitize(e.Text)}
	if source != "" && !d.event.CLI {
		item.Rest = contextTexts.Text("note-text", "call", d.client.Call(&d.event, d.server.Read, readArguments(source, e.Database)))
	}
	return item
}

func (d *decider) injectNotes(o notes.Injection) {
	o.Event, o.Tool = d.event.Name, d.event.Tool
	d.Notes = &o
}

// sessionStart adds the context of a new session: the databases, the titles of the notes,
// and the pinned notes.
func (d *decider) sessionStart() {
	injection := notes.Injection{Max: maxSessionContext}
	outdated := ""
	if d.event.Name == event.SessionStart {
		switch d.event.Source {
		case "clear", "compact":
			injection.ContextReset = d.event.Source
		default:
			if d.client.Volatile {
				injection.ContextReset = cmp.Or(d.event.Source, "startup")
			}
			d.Update, d.Adapt = d.config.Update.OnSessionStart, d.config.Hook.Adapt
			if d.config.Project.Outdated() {
				d.Project = d.event.Cwd
			}
			if d.refresh(); d.NeedsMain {
				return
			}
			outdated = d.checkFormats()
		}
	}
	if d.config.Inject.Sessions && d.client.TakesContext(d.event.Name) {
		lines := boundedText{remaining: maxDatabaseLines}
		if outdated != "" {
			lines.add(outdated + "\n")
		}
		d.databaseLines(&lines)
		pinned := d.noteLines(&lines)
		d.projectLine(&lines)
		if text := strings.TrimSpace(lines.String()); text != "" {
			h := fnv.New64a()
			h.Write([]byte(text))
			injection.Items = append(injection.Items,
				notes.Item{Key: fmt.Sprintf("lines %016x", h.Sum64()), Title: "the databases", Text: text})
		}
		for i := range pinned {
			injection.Items = append(injection.Items, d.noteItem(&pinned[i]))
		}
	}
	if len(injection.Items) > 0 || injection.ContextReset != "" {
		d.injectNotes(injection)
	}
}

// checkFormats looks for databases that answer nothing because their index has the format
// of another docsearch version. Those of an older one are rebuilt in the background;
// checkFormats returns a sentence about them.
func (d *decider) checkFormats() string {
	var old []string
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		err := d.search.Opens(db)
		switch version, ok := errors.AsType[*container.VersionError](err); {
		case !ok:
			d.checkDatabase(db, err)
		case version.Older():
			old = append(old, oneLine(db.Name))
		default:
			d.fault("database %s skipped: %v", db.Name, err)
		}
	}
	if len(old) == 0 {
		return ""
	}
	d.Reindex = true
	const most = 5
	names := strings.Join(old[:min(most, len(old))], ", ")
	if more := len(old) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	text := contextTexts.Text("outdated-index", "databases", names)
	d.fault("%s", text)
	return text
}

// databaseLines adds a line for each searchable database. At the start of a session, it
// leaves out those that the description of docsearch's search tool lists, if the agent sees
// it. A subagent may not.
func (d *decider) databaseLines(b *boundedText) {
	var names []result
	command, withheld := d.withholds(d.server.Search)
	listed := false
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		if db.Mode == config.ModeOff {
			continue
		}
		version, err := d.search.Check(db)
		if err != nil && (d.server.Serves(db) || !errors.Is(err, generation.ErrNoIndex) || !d.reachable(db)) {
			d.trace("database %s skipped: %v", db.Name, err)
			continue
		}
		if !withheld && d.event.Name != event.SubagentStart && d.client.LoadsSearch() && d.server.ToolOf(db) == d.server.Search {
			listed = true
			continue
		}
		names = append(names, result{db: db, Answer: Answer{Version: version}})
	}
	if len(names) == 0 && !listed || withheld && command == "" {
		return
	}

	search := d.client.ToolName(d.server.Search)
	head := contextTexts.Text("searchable", "tool", search)
	if listed {
		head += " " + contextTexts.Text("listed")
	}
	switch {
	case withheld:
		head = contextTexts.Text("searchable-by-command", "program", command)
	case d.client.CallsThrough(&d.event):
		head += " " + contextTexts.Text("call", "call", d.client.Call(&d.event, d.server.Search, `{"query": "...", "keywords": ["..."]}`))
	case d.client.Loader != "":
		head += " " + contextTexts.Text("load", "call", loadCall(d.client, search))
	}
	b.add(head + "\n")
	if len(names) == 0 {
		return
	}
	title := contextTexts.Text("databases")
	if listed {
		title = contextTexts.Text("other-databases")
	}
	b.add(title + "\n")

	others := func(n int) string {
		list := contextTexts.Text("listed-by-tool")
		if withheld {
			list = contextTexts.Text("listed-by-command", "program", command)
		}
		return contextTexts.Text("more-databases", "number", strconv.Itoa(n), "list", list) + "\n"
	}
	reserve := len(others(1000))
	b.remaining -= reserve
	for i, o := range names {
		line := "- " + oneLine(o.db.Name) + ": " + oneLine(o.db.Description)
		if version := o.version(); version != "" {
			line += ", version " + oneLine(version)
		}
		if tool := d.server.ToolOf(o.db); tool != d.server.Search {
			line += " (tool " + d.client.ToolName(tool) + ")"
		}
		if !b.add(line + "\n") {
			b.remaining += reserve
			b.add(others(len(names) - i))
			return
		}
	}
	b.remaining += reserve
}

// projectLine adds the project's databases with their versions, as space allows: those of
// direct dependencies first.
func (d *decider) projectLine(b *boundedText) {
	s := d.config.Project.Snapshot()
	if s == nil {
		return
	}
	if d.Project != "" && d.Update {
		b.add(contextTexts.Text("project-changed") + "\n")
	}
	const maxNames = 25
	var names []string
	for _, u := range s.Uses {
		i := slices.IndexFunc(d.config.Databases, func(db config.Database) bool {
			return db.Mode != config.ModeOff && db.Version != "" && slices.Contains(db.Software(), u.Software) &&
				config.VersionCloseness(db.Version, u.Versions[0]) >= config.SameMinor
		})
		if i < 0 {
			continue
		}
		db := &d.config.Databases[i]
		if name := oneLine(subject(db) + " " + db.Version); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	more := ""
	if n := len(names) - maxNames; n > 0 {
		names, more = names[:maxNames], fmt.Sprintf(", and %d more", n)
	}
	b.add(contextTexts.Text("project", "databases", strings.Join(names, ", ")+more) + "\n")
}

// noteLines adds the titles of the notes and returns the pinned notes, which agents that get no
// notes with their calls do not get either.
func (d *decider) noteLines(b *boundedText) (pinned []notes.Entry) {
	skipped := skipsAgent(d.event, d.config)
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		if !hasNotes(*db) {
			continue
		}
		entries, all, err := d.search.Contents(db)
		if err != nil {
			d.skipNotes(db, err)
			continue
		}
		slices.SortStableFunc(entries,
			func(a, b notes.Entry) int { return cmp.Compare(b.Use.Priority, a.Use.Priority) })
		heading := contextTexts.Text("notes", "database", oneLine(db.Name))
		if skipped {
			heading = contextTexts.Text("listed-notes", "database", oneLine(db.Name), "tool",
				d.client.ToolName(d.server.Search))
		} else {
			pinned = append(pinned, slices.DeleteFunc(slices.Clone(entries),
				func(e notes.Entry) bool { return !e.Use.Pinned })...)
		}
		if len(entries) > 0 && b.add(heading+"\n") {
			d.titleLines(b, db, entries, all)
		}
	}
	return pinned
}

// titleLines adds the titles of a database's notes as space allows, the number of the
// others, and the tool that finds them.
func (d *decider) titleLines(b *boundedText, db *config.Database, entries []notes.Entry, all int) {
	command, withheld := d.withholds(d.server.Search)
	others := func(n int) string {
		switch {
		case withheld && command == "":
			return contextTexts.Text("more-notes-alone", "number", strconv.Itoa(n)) + "\n"
		case withheld:
			return contextTexts.Text("more-notes-by-command", "number", strconv.Itoa(n), "program", command,
				"database", ShellWord(oneLine(db.Name))) + "\n"
		}
		return contextTexts.Text("more-notes", "number", strconv.Itoa(n), "tool", d.client.ToolName(d.server.Search),
			"database", quote(oneLine(db.Name))) + "\n"
	}
	reserve := utf16Len(others(all))
	b.remaining -= reserve
	listed := 0
	for i := range entries[:min(len(entries), maxTitles)] {
		e := &entries[i]
		line := "- " + safetext.Name(e.Title)
		if len(e.Use.Tags) > 0 {
			line += " [" + oneLine(strings.Join(e.Use.Tags, ", ")) + "]"
		}
		if b.add(line + "\n") {
			listed++
		}
	}
	b.remaining += reserve
	if listed < all {
		b.add(others(all - listed))
	}
}

// toolFailure adds the passages that match a failure. It searches the databases with
// notes, and those that the command or its output mentions.
func (d *decider) toolFailure() {
	e, c := d.event, d.config
	if !c.Inject.Failures || !d.client.TakesContext(e.Name) || skipsAgent(e, c) {
		return
	}
	command := match.Fold(e.Command.Line)
	call := CallOf(e)
	d.trace("query for this failure: %q", call.Query())
	var best []Remedy
	var from *config.Database
	bestRelation := notes.Unrelated
	relationOf := func(db *config.Database) (relation int, related bool) {
		relation = call.Relation(db.Keywords)
		if hasNotes(*db) {
			return max(relation, notes.SameProgram), true // notes are about the user's own programs
		}
		return relation, db.Mode != config.ModeOff && db.Remote == "" &&
			(relation != notes.Unrelated || match.Has(command, db.Keywords))
	}
	var candidates []*config.Database
	for i := range c.Databases {
		if _, related := relationOf(&c.Databases[i]); related {
			candidates = append(candidates, &c.Databases[i])
		}
	}
	for _, db := range match.Editions(candidates, e.Command.Line, c.Project) {
		relation, _ := relationOf(db)
		found, err := d.search.Remedy(db, call)
		if err != nil {
			if !errors.Is(err, generation.ErrNoIndex) || db.Notes == "" && d.server.Serves(db) {
				d.fault("database %s skipped: %v", db.Name, err)
			}
			continue
		}
		share := evidenceShare
		if relation < notes.SameProgram {
			share = weakEvidenceShare
		}
		if found = d.selectRemedies(db, found, share*c.Inject.Floor); len(found) == 0 {
			continue
		}
		if from == nil || relation > bestRelation || relation == bestRelation && found[0].Evidence > best[0].Evidence {
			best, from, bestRelation = found, db, relation
		}
	}
	if from != nil {
		d.injectRemedies(from, best)
	}
}

// selectRemedies returns the passages with enough evidence: none if no passage reaches the
// floor, otherwise those that reach half the floor and minShareOfBest of the best
// passage's evidence.
func (d *decider) selectRemedies(db *config.Database, found []Remedy, floor float64) []Remedy {
	best := 0.
	for i := range found {
		best = max(best, found[i].Evidence)
	}
	least := floor
	if best >= floor {
		least = max(floor/2, minShareOfBest*best)
	}
	var kept []Remedy
	for i := range found {
		r := &found[i]
		e := notes.Entry{Database: db.Name, Document: r.Passage.Locator(), Title: heading(&r.Passage),
			Relevance: r.Evidence}
		if e.Judge(least); e.Selected {
			kept = append(kept, *r)
		}
		d.Entries = append(d.Entries, e)
		d.trace("%s of %s: %s", e.Document, e.Database, e.Reason)
	}
	return kept
}

// minShareOfBest is the required share of the best passage's evidence.
const minShareOfBest = .2

func (d *decider) injectRemedies(db *config.Database, found []Remedy) {
	found = found[:min(len(found), d.config.Inject.TopK)]
	text := boundedText{remaining: maxRemedyText}
	text.add(contextTexts.Text("failure", "description", oneLine(db.Description)))
	for i := range found {
		share := text.remaining / (len(found) - i)
		part := boundedText{remaining: share}
		part.passage(i+1, &found[i].Passage, db.URLs)
		text.add(part.String())
	}
	d.injectNotes(notes.Injection{Max: maxRemedyText, Items: []notes.Item{{
		Database: db.Name, Key: db.Name + "/" + found[0].Passage.Locator(), Title: heading(&found[0].Passage),
		Text: text.String(),
	}}})
}

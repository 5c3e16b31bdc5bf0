package hook

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/inject"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// Notes finds what an agent may be told without asking.
type Notes interface {
	// Entries returns the documents of a database that have something to do
	// with a call, judged by the call and the floor.
	Entries(db *config.Database, call *inject.Call, floor float64) ([]inject.Entry, error)
	// Contents returns the documents of a database that are told at fitting
	// calls, and of pinned ones the text.
	Contents(db *config.Database) ([]inject.Entry, error)
	// Remedy returns the passages of a database that are about a failure, the
	// most telling first.
	Remedy(db *config.Database, call *inject.Call) ([]Remedy, error)
}

// A Remedy is a passage about a failure.
type Remedy struct {
	Passage passage.Passage
	Rarity  float64 // of the failure's words in it
}

const (
	// maxBeginning is the length of what is told when a session starts, in
	// UTF-16 units, and maxLines what of it are lines about databases.
	maxBeginning = 3900
	maxLines     = 2400
	maxTitles    = 40
	maxRemedy    = 2500
	// remedyFloor is how many times the floor a passage about a failure must
	// reach: a failure has more words than a call.
	remedyFloor = 1.5
)

// accompanied reports whether a call may be accompanied by what the agent did
// not ask for. Most are not, and spare the time.
func accompanied(e event.Event, c *config.Config) bool {
	if !e.Host.TakesContext(e.Name) || skipsAgent(e, c) || !slices.ContainsFunc(c.Databases, marked) {
		return false
	}
	switch e.Name {
	case event.PreToolUse:
		return slices.Contains(c.Inject.Tools, e.Tool)
	case event.PostToolUse, event.PostToolUseFailure:
		return e.Failure != "" && c.Inject.Failures
	}
	return false
}

func marked(db config.Database) bool { return len(db.Inject) > 0 }

// skipsAgent reports whether the event is of a subagent that gets nothing: one
// that changes nothing, and has its hands full with reading.
func skipsAgent(e event.Event, c *config.Config) bool {
	return e.AgentType != "" && slices.Contains(c.Inject.SkipAgents, e.AgentType)
}

// CallOf is the event's call as databases are asked about it. Calls that
// nothing accompanies have an empty query.
func CallOf(e event.Event) *inject.Call {
	return &inject.Call{
		Tool: e.Tool, Folder: e.Cwd, Path: e.File.Path, Text: e.File.Text,
		Command: e.Command.Line, Description: e.Command.Description, Said: e.Said, Failure: e.Failure,
	}
}

// accompany offers the documents that fit a call that goes through.
func (d *decider) accompany() {
	if !accompanied(d.event, d.config) {
		return
	}
	call := CallOf(d.event)
	d.trace("asked for this call: %q", call.Query())
	var entries []inject.Entry
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		if !marked(*db) {
			continue
		}
		found, err := d.search.Entries(db, call, d.config.Inject.Floor)
		if err != nil {
			d.fault("database %s is left out: %v", db.Name, err)
			continue
		}
		entries = append(entries, found...)
	}
	d.Entries = entries
	for i := range entries {
		e := &entries[i]
		d.trace("%s of %s: taken: %t; %s", e.Document, e.Database, e.Taken, e.Why)
	}
	offer := inject.Offer{
		Head: "From the notes on this machine, what is about the work at hand (each is shown once in a session):\n\n",
		Max:  d.config.Inject.MaxChars,
	}
	for _, e := range inject.Best(entries) {
		offer.Items = append(offer.Items, d.note(&e))
	}
	if len(offer.Items) > 0 {
		d.offerNotes(offer)
	}
}

// note is an entry as it is told.
func (d *decider) note(e *inject.Entry) inject.Item {
	title, source := oneLine(e.Title), oneLineOf(e.Source, maxPath)
	text := title
	if source != "" {
		text += " (" + source + ")"
	}
	item := inject.Item{Database: e.Database, Key: e.Key(), Title: title, Text: text + ":", Quote: clean(e.Text)}
	if source != "" {
		item.Rest = "The rest: " + d.server.Read + " " + readArguments(source, e.Database)
	}
	return item
}

func (d *decider) offerNotes(o inject.Offer) {
	o.Event, o.Tool = d.event.Name, d.event.Tool
	d.Notes = &o
}

// beginning offers what an agent should know from the start: which databases
// there are, which notes, and those that are pinned.
func (d *decider) beginning() {
	offer := inject.Offer{Max: maxBeginning}
	if d.event.Name == event.SessionStart {
		switch d.event.Source {
		case "clear", "compact":
			offer.Begins = d.event.Source
		default:
			d.Update = d.config.Update.OnSessionStart
		}
	}
	if d.config.Inject.Sessions && d.event.Host.TakesContext(d.event.Name) {
		lines := limited{left: maxLines}
		d.databaseLines(&lines)
		var pinned []inject.Entry
		if !skipsAgent(d.event, d.config) {
			pinned = d.noteLines(&lines)
		}
		if text := strings.TrimSpace(lines.String()); text != "" {
			h := fnv.New64a()
			h.Write([]byte(text))
			offer.Items = append(offer.Items, inject.Item{Key: fmt.Sprintf("lines %016x", h.Sum64()), Title: "the databases", Text: text})
		}
		for i := range pinned {
			offer.Items = append(offer.Items, d.note(&pinned[i]))
		}
	}
	if len(offer.Items) > 0 || offer.Begins != "" {
		d.offerNotes(offer)
	}
}

// databaseLines adds a line for each database that something can search.
func (d *decider) databaseLines(b *limited) {
	var names []*config.Database
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		if db.Mode == config.ModeOff {
			continue
		}
		if err := d.search.Check(db); err != nil && (d.server.Serves(db) || !errors.Is(err, disk.ErrNoIndex) || !d.reachable(db)) {
			d.trace("database %s is left out: %v", db.Name, err)
			continue
		}
		names = append(names, db)
	}
	if len(names) == 0 {
		return
	}
	b.add("Documentation on this machine, for the tool " + d.server.Search +
		" (where it is not loaded, ToolSearch loads it: {\"query\": \"select:" + d.server.Search + "\"}):\n")
	const reserve = len("- and 1000 more: list_databases lists them\n")
	b.left -= reserve
	for i, db := range names {
		line := "- " + oneLine(db.Name) + ": " + oneLine(db.Description)
		if db.Version != "" {
			line += ", version " + oneLine(db.Version)
		}
		if tool := d.server.ToolOf(db); tool != d.server.Search {
			line += " (tool " + tool + ")"
		}
		if !b.add(line + "\n") {
			b.left += reserve
			b.add(fmt.Sprintf("- and %d more: list_databases lists them\n", len(names)-i))
			return
		}
	}
	b.left += reserve
}

// noteLines adds the titles of the notes, and returns those that are pinned.
func (d *decider) noteLines(b *limited) (pinned []inject.Entry) {
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		if !marked(*db) {
			continue
		}
		entries, err := d.search.Contents(db)
		if err != nil {
			d.fault("database %s is left out: %v", db.Name, err)
			continue
		}
		slices.SortStableFunc(entries, func(a, b inject.Entry) int { return cmp.Compare(b.Use.Priority, a.Use.Priority) })
		if len(entries) == 0 || !b.add("Notes in "+oneLine(db.Name)+", shown when a call is about them:\n") {
			continue
		}
		for i := range entries {
			e := &entries[i]
			if e.Use.Pinned {
				pinned = append(pinned, *e)
			}
			if i >= maxTitles {
				continue
			}
			line := "- " + oneLine(e.Title)
			if len(e.Use.Tags) > 0 {
				line += " [" + oneLine(strings.Join(e.Use.Tags, ", ")) + "]"
			}
			b.add(line + "\n")
		}
	}
	return pinned
}

// remedy offers the passage that is about a failure: of the databases marked
// for it, and of those whose keyword the command names.
func (d *decider) remedy() {
	e, c := d.event, d.config
	if e.Failure == "" || !c.Inject.Failures || !e.Host.TakesContext(e.Name) || skipsAgent(e, c) {
		return
	}
	command := match.Fold(e.Command.Line)
	call := CallOf(e)
	floor := remedyFloor * c.Inject.Floor
	d.trace("asked for this failure: %q", call.Query())
	var best Remedy
	var from *config.Database
	for i := range c.Databases {
		db := &c.Databases[i]
		if !marked(*db) && (db.Mode == config.ModeOff || !match.Has(command, db.Keywords)) {
			continue
		}
		found, err := d.search.Remedy(db, call)
		if err != nil {
			if !errors.Is(err, disk.ErrNoIndex) || d.server.Serves(db) {
				d.fault("database %s is left out: %v", db.Name, err)
			}
			continue
		}
		for _, r := range found {
			e := inject.Entry{Database: db.Name, Document: r.Passage.Locator(), Title: heading(&r.Passage), Rarity: r.Rarity}
			call.Judge(&e, floor)
			d.Entries = append(d.Entries, e)
			d.trace("%s of %s: %s", e.Document, e.Database, e.Why)
			if e.Taken && r.Rarity > best.Rarity {
				best, from = r, db
			}
		}
	}
	if from == nil {
		return
	}
	text := limited{left: maxRemedy}
	text.add("From " + oneLine(from.Description) + " on this machine, about this failure (quoted):")
	text.passage(1, &best.Passage)
	d.offerNotes(inject.Offer{Max: maxRemedy, Items: []inject.Item{{
		Database: from.Name, Key: from.Name + "/" + best.Passage.Locator(), Title: heading(&best.Passage), Text: text.String(),
	}}})
}

package hook

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/index/generation"
)

const (
	// troubleName is the file in the folder of the hook's state with the last line about
	// trouble, after the day on which it was shown: "2026-01-02 docsearch is off: …".
	troubleName = "docsearch-trouble.txt"
	maxTrouble  = 4096
)

// troubleLine returns a line for the person about what is wrong at the start of a session, or
// "" if nothing is, or if the person has seen the line today. Otherwise docsearch would
// answer nothing, or less, and nobody would know: agents hide what a hook prints on stderr
// if the call runs.
func (p *Process) troubleLine(d *Decision, c *config.Config, l config.Locations, problems []string) string {
	e := p.Event
	if e.Name != event.SessionStart || e.Source == "clear" || e.Source == "compact" || l.State == "" {
		return ""
	}
	p.readRules(e)
	all := slices.Concat(problems, d.Faults, p.ruleProblems[0], p.ruleProblems[1])
	if len(all) == 0 {
		return ""
	}
	more := ""
	if n := len(all) - 1; n > 0 {
		more = contextTexts.Text("more-problems", "number", strconv.Itoa(n))
	}
	say := func(problem string) string {
		if len(c.Databases) == 0 && len(problems) > 0 {
			return contextTexts.Text("off", "problem", problem, "more", more)
		}
		return contextTexts.Text("partly-off", "problem", problem, "more", more)
	}
	line := say(cut(oneLine(all[0]), maxMessage-utf16Len(say(""))))
	path := config.Join(l.State, troubleName)
	today := p.Now().Format(time.DateOnly) + " " + line
	if shown, err := atomicfile.Read(path, maxTrouble); err == nil && string(shown) == today {
		return ""
	}
	if err := atomicfile.WriteCache(path, []byte(today), 0o600); err != nil {
		p.Debug("cannot record that a problem was shown: %v", err)
	}
	return line
}

// readRules reads the rules of a session's folder for their problems. Without snapshots of the
// rules, the next session reports them.
func (p *Process) readRules(e *event.Event) {
	routes := p.routes(*e)
	for _, read := range routes.readers() {
		if _, err := read(func(*config.Rule) bool { return false }); err != nil {
			return
		}
	}
}

// checkDatabase reports a database that should have an index of docsearch and cannot be used.
func (d *decider) checkDatabase(db *config.Database, err error) {
	switch {
	case err == nil, db.Mode == config.ModeOff:
	case errors.Is(err, generation.ErrNoIndex) && (db.Notes != "" || !d.server.Serves(db) && d.reachable(db)):
	default:
		d.fault("database %s skipped: %v", db.Name, err)
	}
}

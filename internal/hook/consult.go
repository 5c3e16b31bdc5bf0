package hook

import (
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// consults reports whether the call searches or reads local documentation: with one of
// docsearch's tools, with another server's tool for a database, as a resource of
// docsearch's server, or with "docsearch search" in a shell. A list of the databases does
// not count. The commands of a shell are parsed only if a retry depends on them.
func (d *decider) consults() bool {
	e := &d.event
	switch e.Tool {
	case event.ReadResource:
		return readsDocument(e.Input, &d.server)
	case event.Bash:
		return d.runsSearch()
	}
	return (d.server.Reads(e.Tool) || isDatabaseTool(e.Tool, d.config)) && !listsDatabases(e.Tool)
}

func isDatabaseTool(tool string, c *config.Config) bool {
	for _, db := range c.Databases {
		if db.Tool != "" && db.Tool == tool {
			return true
		}
	}
	return false
}

func listsDatabases(tool string) bool {
	return strings.HasSuffix(tool, "__list_databases") || strings.HasSuffix(tool, "__leann_list")
}

// resourceScheme starts the URIs of docsearch's resources: "docsearch://database", or
// "docsearch://database/document".
const resourceScheme = "docsearch://"

// readsDocument reports whether a call that reads a resource reads a document from
// docsearch's server. Claude Code gives the server's name as in its settings, and replaces
// the characters that a tool's name cannot have only there.
func readsDocument(input string, server *config.Server) bool {
	fields, err := rawjson.Object([]byte(input))
	if err != nil {
		return false
	}
	_, document, found := strings.Cut(strings.TrimPrefix(fields.String("uri"), resourceScheme), "/")
	return found && document != "" && strings.HasPrefix(fields.String("uri"), resourceScheme) &&
		server.Reads("mcp__"+config.ToolPart(fields.String("server"))+"__read")
}

// runsSearch reports whether a line of shell runs "docsearch search". If main must parse
// the line, it sets NeedsMain.
func (d *decider) runsSearch() bool {
	if !consultationCounts(d.event, d.config) || !mentionsSearch(d.event.Command.Line) {
		return false
	}
	if d.routes.Commands == nil {
		d.NeedsMain = true
		return false
	}
	commands, err := d.routes.Commands(d.event.Command.Line)
	if err != nil {
		d.trace("cannot parse the command: %v", err)
		return false
	}
	for _, c := range commands {
		words := strings.Fields(c)
		if len(words) > 2 && words[1] == "search" && isProgram(words[0]) {
			return true
		}
	}
	return false
}

// mentionsSearch reports whether a line may contain "docsearch search".
func mentionsSearch(line string) bool {
	n := strings.Count(line, "docsearch")
	return n > 0 && strings.Count(line, "search") > n
}

// isProgram reports whether the first word of a command runs docsearch.
func isProgram(word string) bool {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	return strings.TrimSuffix(word, ".exe") == "docsearch"
}

// recordConsultation records in the session's state that the agent consults the local
// documentation, if a retry depends on that.
func (d *decider) recordConsultation() {
	if d.Consults && consultationCounts(d.event, d.config) && d.event.Agent == "" && len(d.state.Denied) > 0 {
		d.trace("consultation recorded")
		d.Change.Consult = true
	}
}

// mayConsult reports whether the call may be a consultation on which a retry depends.
func mayConsult(e *event.Event, c *config.Config, server *config.Server) bool {
	if !consultationCounts(*e, c) {
		return false
	}
	switch e.Tool {
	case event.ReadResource:
		return true
	case event.Bash:
		return mentionsSearch(e.Command.Line)
	}
	return server.Reads(e.Tool) || isDatabaseTool(e.Tool, c)
}

// consultationCounts reports whether a retry requires a consultation of the local
// documentation, or is recognized by one because tool uses have no IDs.
func consultationCounts(e event.Event, c *config.Config) bool {
	return c.Hook.Retry == config.RetryEvidence || e.Use == ""
}

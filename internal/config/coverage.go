package config

import (
	"errors"
	"strings"
)

// EditTools are the tools that run commands and change files. Rules and notes
// apply to their calls.
func EditTools() []string { return []string{"Bash", "Edit", "MultiEdit", "NotebookEdit", "Write"} }

// LookupTools are the tools besides MCP tools with which an agent can consult the local
// documentation: with "docsearch search", or as a resource of docsearch's server.
func LookupTools() []string { return []string{"Bash", "ReadMcpResourceTool"} }

// A Coverage lists the hook events that only some configurations need. The hook
// is always registered for web searches, fetches, docsearch's own tools and the
// start of a session.
type Coverage struct {
	Edits     bool // calls of EditTools: rules, or databases with notes
	Servers   bool // calls of other MCP servers' tools: rules, or databases that such a tool searches
	Failures  bool // failed commands: passages about them
	Subagents bool // the start of a subagent: the list of databases and notes
	Lookups   bool // calls of LookupTools: a retry requires a consultation of the local documentation
}

// FullCoverage is the coverage of entries that several people share, such as
// those of a project or a plugin: each of them has another configuration.
func FullCoverage() Coverage { return Coverage{true, true, true, true, true} }

// Union returns the events of either coverage.
func (c Coverage) Union(o Coverage) Coverage {
	return Coverage{c.Edits || o.Edits, c.Servers || o.Servers, c.Failures || o.Failures, c.Subagents || o.Subagents,
		c.Lookups || o.Lookups}
}

// Includes reports whether c has all events of o.
func (c Coverage) Includes(o Coverage) bool { return c.Union(o) == c }

// registeredMagic ends with the version of the format, which every change to
// Coverage must change, too.
const registeredMagic = "docsearch hook entries 2\n"

// Registered returns the coverage that docsearch last wrote to the user's
// settings in the folder claude; false if that is unknown.
func Registered(l Locations, claude string) (Coverage, bool) {
	data, err := readCacheFile(registeredPath(l, claude))
	if err != nil || !strings.HasPrefix(string(data), registeredMagic) {
		return Coverage{}, false
	}
	var r Coverage
	c := coder{data: string(data[len(registeredMagic):])}
	r.code(&c)
	return r, !c.corrupt && len(c.data) == 0
}

// SetRegistered records the coverage that docsearch wrote to the user's settings
// in the folder claude; nil removes the record.
func SetRegistered(l Locations, claude string, r *Coverage) error {
	path := registeredPath(l, claude)
	switch {
	case path == "":
		return errors.New("cannot record the hook entries: the home directory is not known")
	case r == nil:
		return removeCacheFile(path)
	}
	c := coder{writing: true}
	r.code(&c)
	return writeCacheFile(l, path, append([]byte(registeredMagic), c.out...))
}

func (c *Coverage) code(to *coder) {
	to.flag(&c.Edits)
	to.flag(&c.Servers)
	to.flag(&c.Failures)
	to.flag(&c.Subagents)
	to.flag(&c.Lookups)
}

func registeredPath(l Locations, claude string) string {
	return cacheFile(l, "entries", claude, ".snapshot")
}

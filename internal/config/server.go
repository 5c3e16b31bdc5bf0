package config

import (
	"cmp"
	"strings"
)

// The names under which a client offers docsearch's MCP server: as its plugin
// does, and as docsearch install enters it.
const (
	pluginServer = "mcp__plugin_docsearch_docs__"
	plainServer  = "mcp__docsearch__"
	searchTool   = "search"
	readTool     = "read"
)

// A Server is docsearch's own MCP server as the agent's client names it.
type Server struct {
	Search  string // the search tool's full name
	Read    string // that of the tool that reads a document
	renamed string // prefix of its tools, if the user gave it another name
}

// Server derives the names from the environment the hook runs in, so they
// must not be kept in a snapshot: $DOCSEARCH_MCP_TOOL, else the config, else
// the plugin's name if CLAUDE_PLUGIN_ROOT says that it is one. A name that
// cannot be that of docsearch's search tool is ignored.
func (c *Config) Server(getenv Getenv) Server {
	for _, name := range [...]string{getenv("DOCSEARCH_MCP_TOOL"), c.Hook.Tool} {
		if IsSearchTool(name) {
			prefix := name[:strings.LastIndex(name, "__")+2]
			s := Server{Search: name, Read: prefix + readTool}
			if prefix != pluginServer && prefix != plainServer {
				s.renamed = prefix
			}
			return s
		}
	}
	prefix := plainServer
	if getenv("CLAUDE_PLUGIN_ROOT") != "" {
		prefix = pluginServer
	}
	return Server{Search: prefix + searchTool, Read: prefix + readTool}
}

// IsSearchTool reports whether name can be the full name of docsearch's search
// tool: "mcp__", the server's name, "__search" or "__leann_search".
func IsSearchTool(name string) bool {
	_, ok := ServerName(name)
	if !ok {
		return false
	}
	switch name[strings.LastIndex(name, "__")+2:] {
	case searchTool, "leann_search":
		return true
	}
	return false
}

// ServerName is the name of the MCP server in the full name of a tool,
// "mcp__server__tool".
func ServerName(tool string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return "", false
	}
	i := strings.LastIndex(rest, "__")
	if i <= 0 || i+2 == len(rest) {
		return "", false
	}
	return rest[:i], true
}

// Reads reports whether tool has the name of one of the server's own tools,
// all of which only read.
func (s *Server) Reads(tool string) bool {
	return s.Installed(tool) || s.renamed != "" && ownTool(tool, s.renamed)
}

// Installed reports whether tool is one of the server's own under a name that
// docsearch's plugin or its installation gives it.
func (s *Server) Installed(tool string) bool {
	return ownTool(tool, pluginServer) || ownTool(tool, plainServer)
}

// ownTool reports whether tool is one of docsearch's tools with the prefix of
// a server.
func ownTool(tool, prefix string) bool {
	name, ok := strings.CutPrefix(tool, prefix)
	if !ok {
		return false
	}
	switch name {
	case searchTool, readTool, "list_databases", "leann_search", "leann_list":
		return true
	}
	return false
}

// ToolOf is the tool that searches the database.
func (s *Server) ToolOf(d *Database) string { return cmp.Or(d.Tool, s.Search) }

// Serves reports whether docsearch's own server is what searches the
// database, so that a missing index means that nothing does.
func (s *Server) Serves(d *Database) bool { return d.Tool == "" || s.Reads(d.Tool) }

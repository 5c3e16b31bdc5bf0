package config

import "bytes"

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
	Search  string    // the search tool's full name
	Read    string    // that of the tool that reads a document
	servers [3]string // prefixes of its tools
}

// Server derives the names from the environment the hook runs in, so they
// must not be kept in a snapshot: $DOCSEARCH_MCP_TOOL, else the config, else
// the plugin's name where CLAUDE_PLUGIN_ROOT says that it is one.
func (c *Config) Server(getenv Getenv) Server {
	name := first(getenv("DOCSEARCH_MCP_TOOL"), c.Hook.Tool)
	if name == "" {
		name = plainServer + searchTool
		if getenv("CLAUDE_PLUGIN_ROOT") != "" {
			name = pluginServer + searchTool
		}
	}
	s := Server{Search: name, Read: plainServer + readTool, servers: [3]string{pluginServer, plainServer}}
	if i := bytes.LastIndex([]byte(name), []byte("__")); i > 0 {
		s.servers[2] = name[:i+2]
		s.Read = s.servers[2] + readTool
	}
	return s
}

// Reads reports whether tool is one of the server's own, all of which only
// read.
func (s *Server) Reads(tool string) bool {
	if tool == s.Search {
		return true
	}
	for _, prefix := range s.servers {
		if prefix == "" || len(tool) < len(prefix) || tool[:len(prefix)] != prefix {
			continue
		}
		switch tool[len(prefix):] {
		case searchTool, readTool, "list_databases", "leann_search", "leann_list":
			return true
		}
	}
	return false
}

// ToolOf is the tool that searches the database.
func (s *Server) ToolOf(d *Database) string { return first(d.Tool, s.Search) }

// Serves reports whether docsearch's own server is what searches the
// database, so that a missing index means that nothing does.
func (s *Server) Serves(d *Database) bool { return d.Tool == "" || s.Reads(d.Tool) }

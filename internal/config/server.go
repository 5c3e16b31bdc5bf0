package config

import (
	"cmp"
	"strings"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// Tool name prefixes of docsearch's MCP server as installed by the plugin and by
// docsearch install, and the names of its tools.
const (
	pluginServer = "mcp__plugin_docsearch_docs__"
	plainServer  = "mcp__docsearch__"
	searchTool   = "search"
	readTool     = "read"
)

// A Server holds the names of docsearch's own MCP server in the agent's client.
type Server struct {
	Search  string // full name of the search tool
	Read    string // full name of the read tool
	renamed string // prefix of its tools, if the user renamed the server
}

// Server returns the names for the hook's environment: from $DOCSEARCH_MCP_TOOL, else from
// the config, else the plugin's name if docsearch's plugin runs the hook, else the name that
// docsearch install uses. The result depends on the environment, so it must not be stored
// in a snapshot. A name that cannot be that of docsearch's search tool is ignored.
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
	if isOwnPlugin(getenv("CLAUDE_PLUGIN_ROOT")) {
		prefix = pluginServer
	}
	return Server{Search: prefix + searchTool, Read: prefix + readTool}
}

// maxManifest is the maximum size of a plugin's manifest in bytes.
const maxManifest = 64 << 10

// isOwnPlugin reports whether a folder is that of docsearch's plugin. Other agents set
// CLAUDE_PLUGIN_ROOT for every hook.
func isOwnPlugin(dir string) bool {
	if dir == "" {
		return false
	}
	data, err := atomicfile.Read(Join(Join(dir, ".claude-plugin"), "plugin.json"), maxManifest)
	if err != nil {
		return false
	}
	manifest, err := rawjson.Object(data)
	return err == nil && manifest.String("name") == "docsearch"
}

// IsDefault reports whether the names are those that docsearch install uses. The client
// may have the server under another one, see Named.
func (s *Server) IsDefault() bool { return strings.HasPrefix(s.Search, plainServer) }

// Named returns the names for a server that the client's settings call name. The names of
// tools contain no other characters than letters, digits, hyphens, and underscores.
func (s *Server) Named(name string) Server {
	prefix := "mcp__" + ToolPart(name) + "__"
	return Server{Search: prefix + searchTool, Read: prefix + readTool, renamed: prefix}
}

// ToolPart returns a server's name as part of the name of a tool.
func ToolPart(server string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, server)
}

// MayOwn reports whether tool has the name of one of docsearch's tools, of any server.
func MayOwn(tool string) bool {
	server, ok := ServerName(tool)
	return ok && ownTool(tool, "mcp__"+server+"__")
}

// IsSearchTool reports whether name can be the full name of docsearch's search tool:
// "mcp__", the server's name, and "__search" or "__leann_search".
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

// ServerName returns the MCP server's name from the full name of a tool,
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

// Reads reports whether tool is one of the server's own tools, all of which only read.
func (s *Server) Reads(tool string) bool {
	return s.Installed(tool) || s.renamed != "" && ownTool(tool, s.renamed)
}

// Installed reports whether tool is one of the server's own under a name that docsearch's
// plugin or installation gives it.
func (s *Server) Installed(tool string) bool {
	return ownTool(tool, pluginServer) || ownTool(tool, plainServer)
}

// ownTool reports whether tool is one of docsearch's tools with the prefix of a server.
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

// ToolOf returns the tool that searches the database.
func (s *Server) ToolOf(d *Database) string { return cmp.Or(d.Tool, s.Search) }

// Serves reports whether docsearch's own server searches the database. If so, a database
// without an index cannot be searched.
func (s *Server) Serves(d *Database) bool { return d.Tool == "" || s.Reads(d.Tool) }

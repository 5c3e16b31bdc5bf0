package host

import (
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// maxSettings is the maximum size of a settings file in bytes. Claude Code keeps more than
// settings in .claude.json.
const maxSettings = 64 << 20

// FindServer looks for the MCP server of a tool ("mcp__server__tool") in Claude Code's
// settings for a session in the folder cwd: the user's, the user's for this project, and
// the project's own. own reports that the server is docsearch's. Settings that cannot be
// read count as empty. For hosts that have other settings, a server found there is assumed to
// exist, but is never own: under the same name they may start another program. So is the server of
// a tool whose name does not contain it, as in configs of docsearch.py.
func FindServer(h event.Host, getenv config.Getenv, cwd, tool string) (found, own bool) {
	name, ok := config.ServerName(tool)
	if !ok {
		return tool != "", false
	}
	for _, servers := range clientServers(getenv, projectFolder(getenv, cwd)) {
		for _, s := range servers {
			if s.Name == name || config.ToolPart(s.Name) == name {
				return true, readsClaude(h) && runsDocsearch(s.Value)
			}
		}
	}
	return false, false
}

// OwnServer returns the name under which Claude Code's settings start docsearch's server
// for a session in the folder cwd, in doubt the name that docsearch install uses. It is
// empty if they do not, and for other hosts, see FindServer.
func OwnServer(h event.Host, getenv config.Getenv, cwd string) (name string) {
	if !readsClaude(h) {
		return ""
	}
	for _, servers := range clientServers(getenv, projectFolder(getenv, cwd)) {
		for _, s := range servers {
			if (name == "" || s.Name == "docsearch") && runsDocsearch(s.Value) {
				name = s.Name
			}
		}
	}
	return name
}

// readsClaude reports whether a host starts the servers in Claude Code's settings.
func readsClaude(h event.Host) bool {
	return h == event.Claude || h == event.Grok || h == event.Devin
}

// projectFolder returns the folder whose settings apply to a session in the folder cwd.
func projectFolder(getenv config.Getenv, cwd string) string {
	if project := getenv("CLAUDE_PROJECT_DIR"); project != "" {
		return project
	}
	return cwd
}

// clientServers returns the "mcpServers" objects of Claude Code's settings.
func clientServers(getenv config.Getenv, project string) []rawjson.Fields {
	dir := getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = config.Home(getenv)
	}
	var all []rawjson.Fields
	add := func(settings rawjson.Fields) {
		if servers, err := rawjson.Object(settings.Raw("mcpServers")); err == nil {
			all = append(all, servers)
		}
	}
	if dir != "" {
		user := readSettings(config.Join(dir, ".claude.json"))
		add(user)
		if projects, err := rawjson.Object(user.Raw("projects")); err == nil {
			if local, err := rawjson.Object(projects.Raw(project)); err == nil {
				add(local)
			}
		}
	}
	if config.IsAbs(project) {
		add(readSettings(config.Join(project, ".mcp.json")))
	}
	return all
}

// runsDocsearch reports whether a server's entry starts docsearch's server.
func runsDocsearch(entry []byte) bool {
	fields, err := rawjson.Object(entry)
	if err != nil {
		return false
	}
	args := fields.Strings("args")
	command := fields.String("command")
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.HasPrefix(base, "docsearch") && len(args) > 0 && args[0] == "serve"
}

// readSettings reads a settings file, or returns nil if it cannot.
func readSettings(path string) rawjson.Fields {
	data, err := atomicfile.Read(path, maxSettings)
	if err != nil {
		return nil
	}
	fields, err := rawjson.Object(data)
	if err != nil {
		return nil
	}
	return fields
}

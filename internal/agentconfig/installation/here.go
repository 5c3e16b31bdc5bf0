package installation

import (
	"os"
	"strings"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/file/execpath"
	"github.com/docsearch/docsearch/internal/library"
)

// Agents returns this user's Claude Code in the working directory, and the folders with the
// files of the other clients. Their MCP server has the name that it has in Claude Code.
func Agents() (*agentconfig.Claude, *agentconfig.Places, error) {
	claude, err := Claude()
	if err != nil {
		return nil, nil, err
	}
	p, err := agentconfig.FindPlaces(".")
	if err == nil {
		p.Server = claude.Server
	}
	return claude, p, err
}

// Claude returns this user's Claude Code in the working directory. If the
// config renames docsearch's search tool, the server is registered under the
// matching name. CLI is set if the settings of a scope have the hook for the command line.
func Claude() (*agentconfig.Claude, error) {
	claude, err := agentconfig.FindClaude(".")
	if err != nil {
		return nil, err
	}
	cfg := config.Default()
	if r, err := load.Load(config.Locate(os.Getenv)); err == nil {
		cfg = r.Config
	}
	tool := cfg.Server(os.Getenv).Search
	if name, ok := strings.CutPrefix(tool, "mcp__"); ok && !strings.HasPrefix(name, "plugin_") {
		if i := strings.LastIndex(name, "__"); i > 0 {
			claude.Server = name[:i]
		}
	}
	claude.CLI = claude.HasCLI(agentconfig.Scopes...)
	return claude, nil
}

// UsesClaude reports whether the user has Claude Code.
func UsesClaude() bool {
	if _, err := execpath.Find("claude"); err == nil {
		return true
	}
	claude, err := Claude()
	return err == nil && (library.FileExists(claude.Settings(agentconfig.User)) ||
		library.FileExists(claude.Servers(agentconfig.User)))
}

package client

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// A Hook is a hook entry of docsearch that was found in a settings file.
type Hook struct {
	Scope   Scope
	Path    string // of the file
	Event   string
	Matcher string
	Command string // for a shell
	Program string // that the command runs
}

// A Server is an MCP server entry of docsearch.
type Server struct {
	Scope   Scope
	Path    string // of the file
	Name    string
	Command string
	Args    []string
}

// Installed finds docsearch's entries in every scope.
func (c *Claude) Installed() (hooks []Hook, servers []Server, err error) {
	for _, scope := range Scopes {
		d, err := open(c.Settings(scope))
		if err != nil {
			return nil, nil, err
		}
		err = eachHook(d, func(h *hookEntry) error {
			hooks = append(hooks, Hook{scope, c.Settings(scope), h.event, h.matcher, h.command, h.program})
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.Settings(scope), err)
		}
		if d, err = open(c.Servers(scope)); err != nil {
			return nil, nil, err
		}
		if entry, ok := findServer(d, c.serverAt(scope)); ok {
			server := Server{scope, c.Servers(scope), c.Server, entry.text("command"), nil}
			args, _, _ := entry.array("args")
			for _, arg := range args.Elements {
				server.Args = append(server.Args, stringOf(arg))
			}
			servers = append(servers, server)
		}
	}
	return hooks, servers, nil
}

// Heard reports whether one of the hooks is called before the tool is.
func Heard(hooks []Hook, tool string) bool {
	for _, h := range hooks {
		if h.Event == "PreToolUse" && matches(h.Matcher, tool) {
			return true
		}
	}
	return false
}

// Watched are the tools that the hook must hear of to answer from local
// documentation. For the other entries that install makes, people may have
// reasons to do without.
func (c *Claude) Watched() []string {
	return []string{"WebSearch", "WebFetch", "mcp__" + c.Server + "__search"}
}

// HasServer reports whether one of the scopes has an MCP server of that name,
// whatever it runs.
func (c *Claude) HasServer(name string) bool {
	for _, scope := range Scopes {
		d, err := open(c.Servers(scope))
		if err != nil {
			continue
		}
		servers := d.top()
		ok := true
		for _, key := range c.serverAt(scope).keys {
			if servers, ok, err = servers.object(key); !ok || err != nil {
				break
			}
		}
		if ok && err == nil && servers.index(name) >= 0 {
			return true
		}
	}
	return false
}

// HooksDisabled is the settings file that switches all hooks off, or "".
func (c *Claude) HooksDisabled() string {
	path := ""
	for _, scope := range Scopes {
		d, err := open(c.Settings(scope))
		if err != nil {
			continue
		}
		i := d.top().index("disableAllHooks")
		if i < 0 {
			continue
		}
		path = "" // a later scope has the last word
		if lit, ok := d.top().Members[i].Value.Value.(hujson.Literal); ok && lit.Bool() {
			path = c.Settings(scope)
		}
	}
	return path
}

// Plugin is the plugin of docsearch that the settings enable, with its
// marketplace, or "". A plugin given on Claude Code's command line does not
// show in the settings.
func (c *Claude) Plugin() (string, error) {
	plugin := ""
	for _, scope := range Scopes {
		d, err := open(c.Settings(scope))
		if err != nil {
			return "", err
		}
		plugins, ok, err := d.top().object("enabledPlugins")
		if err != nil || !ok {
			continue // of no concern here
		}
		for _, member := range plugins.Members {
			id := stringOf(member.Name)
			if name, _, _ := strings.Cut(id, "@"); name != "docsearch" {
				continue
			}
			if lit, ok := member.Value.Value.(hujson.Literal); ok && lit.Bool() {
				plugin = id
			} else if plugin == id {
				plugin = "" // a later scope has the last word
			}
		}
	}
	return plugin, nil
}

// open parses the file at path; one that is not there is empty.
func open(path string) (*document, error) {
	data, _, err := readFile(path)
	if err != nil {
		return nil, err
	}
	d, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not valid JSON: %w", path, err)
	}
	return d, nil
}

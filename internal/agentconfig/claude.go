// Package agentconfig reads and changes the config files of the agents that
// docsearch works with: Claude Code's settings and its list of MCP servers.
//
// A change touches what is docsearch's and nothing else: other entries, their
// order, the layout and the comments of the file stay as they are, a copy of
// the file is kept beside it, and it is replaced whole or not at all. The
// package plans changes and applies them; it prints nothing and asks nothing.
package agentconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/config"
)

// A Scope says for whom docsearch is installed.
type Scope string

const (
	User    Scope = "user"    // this user, in every project
	Project Scope = "project" // everyone who works on the project: the files go into its repository
	Local   Scope = "local"   // this user, in this project
)

// Scopes are all scopes, the usual one first.
var Scopes = []Scope{User, Project, Local}

// ParseScope reads a scope as a user writes it.
func ParseScope(s string) (Scope, error) {
	for _, scope := range Scopes {
		if s == string(scope) {
			return scope, nil
		}
	}
	return "", errors.New("want user, project, or local")
}

// A Claude is one user's Claude Code, seen from one project.
type Claude struct {
	// Server is the name of docsearch's MCP server, which makes its tools
	// mcp__docsearch__search and so on.
	Server string
	// Version is the one that the settings are for, if it is known.
	Version Version
	// Coverage lists the events that install registers in addition to those that
	// every configuration needs. A project's settings always get all of them.
	Coverage config.Coverage

	settings string // folder of the user's settings, ~/.claude
	state    string // file with the user's MCP servers, ~/.claude.json
	project  string // the project's folder
}

// FindClaude finds the files of the current user, and those of the project
// that dir is in, the way Claude Code finds them. They may not exist yet.
func FindClaude(dir string) (*Claude, error) {
	project, err := projectOf(dir)
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("cannot find Claude Code's settings: %w", err)
	}
	c := &Claude{
		Server:   "docsearch",
		settings: filepath.Join(home, ".claude"),
		state:    filepath.Join(home, ".claude.json"),
		project:  project,
	}
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		c.settings = dir
		c.state = filepath.Join(dir, ".claude.json")
	}
	if old := filepath.Join(c.settings, ".config.json"); exists(old) {
		c.state = old
	}
	return c, nil
}

// projectOf is the root of the repository that dir is in, else dir itself.
func projectOf(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	for root := dir; ; root = filepath.Dir(root) {
		if exists(filepath.Join(root, ".git")) {
			return root, nil
		}
		if root == filepath.Dir(root) {
			return dir, nil
		}
	}
}

// Settings is the file that holds the hooks of a scope.
func (c *Claude) Settings(s Scope) string {
	switch s {
	case Project:
		return filepath.Join(c.project, ".claude", "settings.json")
	case Local:
		return filepath.Join(c.project, ".claude", "settings.local.json")
	default:
		return filepath.Join(c.settings, "settings.json")
	}
}

// Servers is the file that holds the MCP servers of a scope.
func (c *Claude) Servers(s Scope) string {
	if s == Project {
		return filepath.Join(c.project, ".mcp.json")
	}
	return c.state
}

// serverAt is where in that file docsearch's server is.
func (c *Claude) serverAt(s Scope) serverAt {
	at := serverAt{[]string{"mcpServers"}, c.Server}
	if s == Local {
		at.keys = []string{"projects", filepath.ToSlash(c.project), "mcpServers"}
	}
	return at
}

// Install plans what puts docsearch into a scope: its hook into the settings
// and its server into the list of MCP servers. A file that is as it should be
// is left out; one that Claude Code ignores is an *IgnoredError.
func (c *Claude) Install(s Scope, program string) ([]*Change, error) {
	at := c.serverAt(s)
	return c.plan(s,
		edit{check: c.refuses(c.checkSettings), apply: func(d *document) error { return putHook(d, s, program, c.registrations(s)) }},
		edit{check: c.checkJSON, apply: func(d *document) error { return putServer(d, at, program) }})
}

// Refresh plans the change that registers the events of c.Coverage in the user's
// settings, if they have the hook: installed is false if they do not. The change
// is nil if nothing is to be changed.
func (c *Claude) Refresh() (change *Change, installed bool, err error) {
	change = &Change{Path: c.Settings(User), What: "the hook", newMode: 0o600, edit: edit{
		check: c.refuses(c.checkSettings),
		apply: func(d *document) error {
			program := ""
			eachHook(d, func(h *hookEntry) error {
				if program == "" && h.end > 0 && h.via == "" && !h.python {
					program = h.program
				}
				return nil
			})
			if installed = program != ""; !installed {
				return nil
			}
			return putEntries(d, User, program, c.registrations(User))
		},
	}}
	if err := change.prepare(); err != nil || change.None() {
		return nil, installed, err
	}
	return change, installed, nil
}

// Uninstall plans what takes docsearch out of a scope again.
func (c *Claude) Uninstall(s Scope) ([]*Change, error) {
	at := c.serverAt(s)
	return c.plan(s,
		edit{apply: dropHook, redo: func(d *document) func(*document) error { return reinstallHook(d, s, c.Server) }},
		edit{
			apply: func(d *document) error { return dropServer(d, at) },
			redo:  func(d *document) func(*document) error { return reinstallServer(d, at) },
		})
}

// refuses is a check that minds only what has all of a file ignored.
func (c *Claude) refuses(check func(path string, data []byte) error) func(path string, data []byte) error {
	return func(path string, data []byte) error {
		err := check(path, data)
		var ignored *IgnoredError
		if errors.As(err, &ignored) && ignored.Entry {
			return nil
		}
		return err
	}
}

// plan prepares both files before either is written, so that a damaged one
// stops the whole.
func (c *Claude) plan(s Scope, hook, server edit) ([]*Change, error) {
	fresh := fs.FileMode(0o600)
	if s == Project {
		fresh = 0o644
	}
	var changes []*Change
	for _, change := range []*Change{
		{Path: c.Settings(s), What: "the hook", edit: hook, newMode: fresh},
		{Path: c.Servers(s), What: "the MCP server", edit: server, newMode: fresh, locked: s != Project},
	} {
		if err := change.prepare(); err != nil {
			return nil, err
		}
		if !change.None() {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

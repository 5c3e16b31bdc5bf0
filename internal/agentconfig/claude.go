// Package agentconfig reads and changes the config files of coding agents: their
// hooks and their MCP servers. A Claude is an installation of Claude Code, and a
// Client is one of the other agents, each with a file of its own.
//
// A change affects only docsearch's own entries. Other entries, their order, the
// layout and the comments of the file stay the same. The file is backed up next
// to it and replaced atomically. The package plans and applies changes; it
// neither prints nor prompts.
package agentconfig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/inplace"
)

// A Scope selects the users and projects that an installation applies to.
type Scope string

const (
	User    Scope = "user"    // this user, in every project
	Project Scope = "project" // everyone who works on the project: the files go into its repository
	Local   Scope = "local"   // this user, in this project
)

// Scopes lists all scopes, the default first.
var Scopes = []Scope{User, Project, Local}

// Set sets the scope to a value of the command line. With String and Type, a Scope is the value
// of a flag.
func (s *Scope) Set(value string) error {
	if !slices.Contains(Scopes, Scope(value)) {
		return errors.New("want user, project, or local")
	}
	*s = Scope(value)
	return nil
}

func (s *Scope) String() string { return string(*s) }

// Type returns the name of the flag's type.
func (s *Scope) Type() string { return "scope" }

// A Claude is one user's installation of Claude Code, seen from one project.
type Claude struct {
	// Server is the name of docsearch's MCP server. The names of its tools begin
	// with it, as in mcp__docsearch__search.
	Server string
	// CLI reports that the agent gets a skill and the command line in place of the MCP
	// server.
	CLI bool
	// Version is the version of Claude Code that reads the settings. The zero
	// Version is unknown.
	Version Version
	// Coverage lists the events to register in addition to those that every
	// configuration needs. A project's settings always get all events.
	Coverage config.Coverage
	// Permit makes Install permit the tools of docsearch's server that change nothing.
	Permit bool

	settings string   // folder of the user's settings, ~/.claude
	state    string   // file with the user's MCP servers, ~/.claude.json
	project  string   // root folder of the project
	managed  []string // files with an administrator's settings
}

// FindClaude locates the files of the current user and of the project that
// contains dir, by the rules of Claude Code. The files need not exist.
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
		managed:  managedSettings(),
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

// projectOf returns the root of the repository that contains dir, or dir outside
// of a repository.
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

// Settings returns the file with the hooks of a scope.
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

// Servers returns the file with the MCP servers of a scope.
func (c *Claude) Servers(s Scope) string {
	if s == Project {
		return filepath.Join(c.project, ".mcp.json")
	}
	return c.state
}

// server returns the entry of docsearch's server in that file. With alwaysLoad, the first
// request contains the tool, not only its name.
func (c *Claude) server(s Scope) serverEntry {
	const template = `{"type": "stdio", "command": "PROGRAM", "args": ["serve"], "alwaysLoad": true}`
	keys := []string{"mcpServers"}
	if s == Local {
		keys = []string{"projects", filepath.ToSlash(c.project), "mcpServers"}
	}
	return serverEntry{inplace.JSONC, keys, c.Server, template}
}

// Install plans the changes that add docsearch to a scope: the hook to the
// settings, and the server to the list of MCP servers, or with CLI the skill. It
// omits files that need no change. If Claude Code ignores a file, the error is an
// *IgnoredError.
func (c *Claude) Install(s Scope, program Program) ([]*Change, error) {
	v := invocation{scope: s}
	if c.CLI {
		v.cli = program.shellWord()
	}
	hook := &Change{Path: c.Settings(s), Subject: "the hook", newMode: s.newMode(), edit: edit{
		check: c.refuses(c.checkSettings),
		apply: onJSON(func(d *inplace.Document) error {
			err := putHook(d, v, program.Hook, c.registrations(s))
			if c.Permit && !c.CLI && err == nil {
				err = allowTools(d, c.Server)
			}
			return err
		}),
	}}
	if c.CLI {
		changes, err := prepareAll([]*Change{hook})
		if err != nil {
			return nil, err
		}
		skill, err := plan(c.skillParts(s), s, putEdit(Program{program.Path, program.Path}))
		return append(changes, skill...), err
	}
	server := c.serverChange(s, putEdit(program))
	server.edit.check = c.checkJSON
	return prepareAll([]*Change{hook, server})
}

// Replaced plans the changes that remove what Install replaces in a scope: the
// server if CLI is set, otherwise the skill.
func (c *Claude) Replaced(s Scope) ([]*Change, error) {
	if c.CLI {
		return prepareAll([]*Change{c.serverChange(s, dropEdit)})
	}
	return plan(c.skillParts(s), s, dropEdit)
}

func (c *Claude) serverChange(s Scope, editOf func([]entry) edit) *Change {
	return &Change{Path: c.Servers(s), Subject: "the MCP server", edit: editOf([]entry{c.server(s)}), newMode: s.newMode()}
}

// Refresh plans the change that registers the events of c.Coverage in the user's
// settings. installed is false if the settings do not contain the hook. The
// change is nil if the settings are up to date.
func (c *Claude) Refresh() (change *Change, installed bool, err error) {
	change = &Change{Path: c.Settings(User), Subject: "the hook", newMode: 0o600, edit: edit{
		check: c.refuses(c.checkSettings),
		apply: onJSON(func(d *inplace.Document) error {
			hooks, _ := hookEntries(d)
			i := slices.IndexFunc(hooks, func(h *hookEntry) bool { return h.program != "" && h.end > 0 && h.via == "" && !h.python })
			if installed = i >= 0; !installed {
				return nil
			}
			v := invocation{scope: User}
			if hooks[i].cli {
				v.cli = allowedWord(d)
			}
			return putEntries(d, v, hooks[i].program, c.registrations(User))
		}),
	}}
	if err := change.prepare(); err != nil || change.None() {
		return nil, installed, err
	}
	return change, installed, nil
}

// Uninstall plans the changes that remove docsearch from a scope.
func (c *Claude) Uninstall(s Scope) ([]*Change, error) {
	hook := &Change{Path: c.Settings(s), Subject: "the hook", newMode: s.newMode(), edit: edit{
		apply: onJSON(func(d *inplace.Document) error {
			return cmp.Or(dropHook(d), disallowTools(d, c.Server))
		}),
		redo: func(data []byte) func([]byte) ([]byte, error) {
			d, err := parse(data)
			if err != nil {
				return func([]byte) ([]byte, error) { return nil, err }
			}
			redo := onJSON(reinstallHook(d, s, c.Server))
			if !c.staysInstalled(s) {
				redo = withoutPython(redo)
			}
			return redo
		},
	}}
	changes, err := prepareAll([]*Change{hook, c.serverChange(s, dropEdit)})
	if err != nil {
		return nil, err
	}
	skill, err := plan(c.skillParts(s), s, dropEdit)
	return append(changes, skill...), err
}

// refuses returns a check that fails only if Claude Code ignores the whole file.
func (c *Claude) refuses(check func(path string, data []byte) error) func(path string, data []byte) error {
	return func(path string, data []byte) error {
		err := check(path, data)
		if ignored, ok := errors.AsType[*IgnoredError](err); ok && ignored.Entry {
			return nil
		}
		return err
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

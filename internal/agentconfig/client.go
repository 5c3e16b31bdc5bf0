package agentconfig

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/file/execpath"
)

// A Client is a coding agent whose config files docsearch edits. Claude is the
// installation of Claude Code, which needs more than the others.
type Client struct {
	Name  string // value of --client
	Title string // for messages
	// Tested reports that docsearch's tests run the client. Support for the others
	// follows their documentation.
	Tested bool
	// Limits describes the parts of docsearch that the client cannot use; "" if
	// none.
	Limits string

	programs   []string // names on PATH
	exitCode   bool     // it reads the decision from the exit code of the hook
	dropsEqual bool     // it runs hooks with equal commands only once
	// folder returns the client's own folder in the user's home.
	folder func(p *Places) string
	// parts returns the files with docsearch's entries; nil: Claude has them.
	parts func(p *Places, s Scope) []part
	// others returns further files in which the client finds hooks, as patterns.
	others func(p *Places, s Scope) []string
	// covered returns a file of another client from which the client already runs
	// the hook in a scope; "" if none. nil: there is no such file.
	covered func(p *Places, s Scope) string
	// approval describes the step after an install in a scope.
	approval map[Scope]string
	// blocked returns the settings that keep the client from running the hook.
	blocked func(p *Places, hooks []Hook) []Obstacle
	// sample returns an event of a search for a query, or of a fetch of a URL if
	// the client's searches run no hook, or else of a harmless shell command. nil:
	// the client has no hook. The URL may be "".
	sample func(query, url string) map[string]any
	// answer reads the decision from the hook's output; nil: as Claude Code does.
	answer func(o output) (decision, reason string)
}

// An Obstacle is a setting that keeps a client from running the hook.
type Obstacle struct {
	Problem string
	Fix     string
}

// A part is a file of a client with entries of docsearch.
type part struct {
	subject string // for messages: "the hook"
	path    string
	entries []entry
}

// An entry is a set of docsearch's entries in a config file. The functions get the
// contents of the file, nil if it does not exist. They return the same slice if
// nothing changes, and nil to remove the file.
type entry interface {
	put(data []byte, program Program) ([]byte, error)
	drop(data []byte) ([]byte, error)
	// find returns the entries in the file.
	find(data []byte) ([]Hook, []Server)
}

// Places are the folders of a user and a project with the files of the clients.
type Places struct {
	// Server is the name of docsearch's MCP server.
	Server string

	home    string
	config  string // $XDG_CONFIG_HOME, ~/.config
	project string
	getenv  func(string) string
}

// FindPlaces locates the folders of the current user and of the project that
// contains dir.
func FindPlaces(dir string) (*Places, error) {
	project, err := projectOf(dir)
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("cannot find the agents' settings: %w", err)
	}
	p := &Places{Server: "docsearch", home: home, project: project, getenv: os.Getenv}
	p.config = p.variable("XDG_CONFIG_HOME", ".config")
	return p, nil
}

// variable returns the folder that an environment variable names, or else a path
// in the user's home.
func (p *Places) variable(name string, otherwise ...string) string {
	if dir := p.getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	return p.atHome(otherwise...)
}

func (p *Places) atHome(path ...string) string {
	return filepath.Join(append([]string{p.home}, path...)...)
}

func (p *Places) inProject(path ...string) string {
	return filepath.Join(append([]string{p.project}, path...)...)
}

// in returns the user's file or the project's file.
func (s Scope) in(user, project string) string {
	if s == Project {
		return project
	}
	return user
}

// Clients returns all clients, Claude Code first, then the tested ones.
func Clients() []*Client {
	return []*Client{
		claudeClient(), codex(), copilot(), gemini(), opencode(), qwen(),
		amp(), crush(), cursor(), goose(), kiro(), vscode(), windsurf(),
	}
}

// ClientNamed returns the client with a name.
func ClientNamed(name string) (*Client, bool) {
	clients := Clients()
	i := slices.IndexFunc(clients, func(c *Client) bool { return c.Name == name })
	if i < 0 {
		return nil, false
	}
	return clients[i], true
}

// claudeClient stands for Claude Code among the clients. A Claude changes its
// files.
func claudeClient() *Client {
	return &Client{
		Name: "claude", Title: "Claude Code", Tested: true, programs: []string{"claude"},
		folder: func(p *Places) string { return p.variable("CLAUDE_CONFIG_DIR", ".claude") },
	}
}

// IsClaude reports whether a Claude changes the client's files.
func (c *Client) IsClaude() bool { return c.parts == nil }

// Found reports whether the client is on this machine: its program is on PATH, or
// its folder contains more than docsearch's own files.
func (c *Client) Found(p *Places) bool {
	for _, program := range c.programs {
		if _, err := execpath.Find(program); err == nil {
			return true
		}
	}
	entries, err := os.ReadDir(c.folder(p))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !c.IsClaude() || e.Name() != "hooks" // docsearch's config file is in ~/.claude/hooks
	})
}

// Approval returns the step that the user must take after an install in a scope,
// or "".
func (c *Client) Approval(s Scope) string { return c.approval[s] }

// Covered returns a file of another client from which the client already runs the
// hook in a scope, or "". Install then adds no second one.
func (c *Client) Covered(p *Places, s Scope) string {
	if c.covered == nil {
		return ""
	}
	return c.covered(p, s)
}

// Install plans the changes that add docsearch to a scope. It omits files that
// need no change.
func (c *Client) Install(p *Places, s Scope, program Program) ([]*Change, error) {
	parts, err := c.partsOf(p, s)
	if err != nil {
		return nil, err
	}
	if c.Covered(p, s) != "" {
		parts = slices.DeleteFunc(parts, part.hasHook)
	}
	if err := c.refuseTwins(p, s, parts); err != nil {
		return nil, err
	}
	return plan(parts, s, putEdit(program))
}

// Uninstall plans the changes that remove docsearch from a scope.
func (c *Client) Uninstall(p *Places, s Scope) ([]*Change, error) {
	parts, err := c.partsOf(p, s)
	if err != nil {
		return nil, err
	}
	return plan(parts, s, dropEdit)
}

// putEdit returns the edit that adds entries with a program.
func putEdit(program Program) func([]entry) edit {
	return func(entries []entry) edit {
		return edit{apply: func(data []byte) ([]byte, error) { return putAll(entries, data, program) }}
	}
}

// dropEdit returns the edit that removes entries.
func dropEdit(entries []entry) edit {
	return edit{
		apply: func(data []byte) (_ []byte, err error) {
			for _, e := range entries {
				if data, err = e.drop(data); err != nil {
					return nil, err
				}
			}
			return data, nil
		},
		redo: func(data []byte) func([]byte) ([]byte, error) {
			return putEdit(programIn(entries, data))(entries).apply
		},
	}
}

// partsOf returns the client's files in a scope.
func (c *Client) partsOf(p *Places, s Scope) ([]part, error) {
	if s == Local {
		return nil, fmt.Errorf("%s has no local scope: want user or project", c.Title)
	}
	return c.parts(p, s), nil
}

// plan plans the changes of all files.
func plan(parts []part, s Scope, editOf func([]entry) edit) ([]*Change, error) {
	var changes []*Change
	for _, part := range parts {
		change := &Change{Path: part.path, Subject: part.subject, newMode: s.newMode(), edit: editOf(part.entries)}
		if file, ok := part.entries[0].(ownFile); ok {
			change.written = file.isWritten
		}
		changes = append(changes, change)
	}
	return prepareAll(changes)
}

func putAll(entries []entry, data []byte, program Program) (_ []byte, err error) {
	for _, e := range entries {
		if data, err = e.put(data, program); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// programIn returns the program in the entries of a file.
func programIn(entries []entry, data []byte) (p Program) {
	for _, e := range entries {
		hooks, servers := e.find(data)
		for _, h := range hooks {
			p.Hook = cmp.Or(p.Hook, h.Program)
		}
		for _, s := range servers {
			p.Path = cmp.Or(p.Path, s.Command)
		}
	}
	return p
}

// refuseTwins returns an error if another file of the scope has the hook: the
// client would run both, and each could deny the retry that the other lets run.
func (c *Client) refuseTwins(p *Places, s Scope, parts []part) error {
	if !slices.ContainsFunc(parts, part.hasHook) {
		return nil
	}
	for _, h := range c.hooksInOthers(p, s) {
		return fmt.Errorf("cannot install: %s already has %q; remove it from there first", h.Path, h.Line())
	}
	return nil
}

// hasHook reports whether docsearch's hook is one of the part's entries.
func (q part) hasHook() bool { return strings.Contains(q.subject, "hook") }

// Installed finds the client's entries of docsearch in all scopes.
func (c *Client) Installed(p *Places) Installation {
	var in Installation
	for _, s := range []Scope{User, Project} {
		parts, err := c.partsOf(p, s)
		in.ignore(err)
		for _, part := range parts {
			data, _, err := readFile(part.path)
			if in.ignore(err); data == nil {
				continue
			}
			for _, e := range part.entries {
				hooks, servers := e.find(data)
				for _, h := range hooks {
					h.Scope, h.Path = s, part.path
					in.Hooks = append(in.Hooks, h)
				}
				for _, server := range servers {
					server.Scope, server.Path = s, part.path
					in.Servers = append(in.Servers, server)
				}
			}
		}
		in.Hooks = append(in.Hooks, c.hooksInOthers(p, s)...)
	}
	return in
}

// hooksInOthers finds docsearch's hooks in the client's further files.
func (c *Client) hooksInOthers(p *Places, s Scope) (hooks []Hook) {
	if c.others == nil {
		return nil
	}
	parts, _ := c.partsOf(p, s)
	for _, pattern := range c.others(p, s) {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			if slices.ContainsFunc(parts, func(q part) bool { return q.path == path && q.hasHook() }) {
				continue
			}
			data, _, err := readFile(path)
			if err != nil {
				continue // not docsearch's concern
			}
			for _, h := range findHooks(path, data) {
				h.Scope = s
				hooks = append(hooks, h)
			}
		}
	}
	return hooks
}

// Doubles returns the hooks if the client runs more than one of them for a call:
// hooks with different commands, in more than one file.
func (c *Client) Doubles(hooks []Hook) []Hook {
	var run []Hook
	for _, h := range hooks {
		same := func(other Hook) bool {
			return h.Path == other.Path || h.Line() == other.Line() && h.Scope != other.Scope && c.dropsEqual
		}
		if !slices.ContainsFunc(run, same) {
			run = append(run, h)
		}
	}
	if len(run) < 2 {
		return nil
	}
	return run
}

// MayDeny reports whether a hook's exit code denies calls if docsearch cannot
// start, and install can repair the hook.
func (c *Client) MayDeny(h Hook) bool {
	isPlugin := filepath.Ext(h.Path) == ".js"
	return !c.exitCode && !isPlugin && !h.Harmless() && h.Repairable()
}

// Blocked returns the settings that keep the client from running the hooks.
func (c *Client) Blocked(p *Places, hooks []Hook) []Obstacle {
	if c.blocked == nil || len(hooks) == 0 {
		return nil
	}
	return c.blocked(p, hooks)
}

// Sample returns an event that the client sends for a search, for a fetch if its
// searches run no hook, or for a harmless shell command. The URL may be "".
func (c *Client) Sample(query, url string) map[string]any { return c.sample(query, url) }

// lineEnding returns the line ending of a text.
func lineEnding(data []byte) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// appendLines appends lines to a text, after one line ending, which cutLines
// removes again.
func appendLines(data []byte, lines ...string) []byte {
	newline := lineEnding(data)
	block := strings.Join(lines, newline) + newline
	if len(bytes.TrimPrefix(data, []byte(bom))) > 0 {
		block = newline + block
	}
	return append(bytes.Clone(data), block...)
}

// cutLines removes the lines from start to end, and the line ending before them
// that appendLines adds, unless it ends the line before the next one.
func cutLines(data []byte, start, end int) []byte {
	before := data[:start]
	if trimmed, ok := bytes.CutSuffix(before, []byte("\n")); ok && (end == len(data) || bytes.HasSuffix(bytes.TrimSuffix(trimmed, []byte("\r")), []byte("\n"))) {
		before = bytes.TrimSuffix(trimmed, []byte("\r"))
	}
	return slices.Concat(before, data[end:])
}

// desktopFolder returns the folder in which an Electron program keeps its files.
func (p *Places) desktopFolder(name string) string {
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(p.variable("APPDATA", "AppData", "Roaming"), name)
	case "darwin":
		return p.atHome("Library", "Application Support", name)
	}
	return filepath.Join(p.config, name)
}

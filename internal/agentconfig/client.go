package agentconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	// Successor is the name of the client that replaces this one; "" if none.
	Successor string
	// Limits describes the parts of docsearch that the client cannot use; "" if
	// none.
	Limits string

	programs   []string // names on PATH
	exitCode   bool     // it reads the decision from the exit code of the hook
	dropsEqual bool     // it runs hooks with equal commands only once
	folder     string   // the client's own folder in the user's home, as Places.path reads it
	hook       hookFile
	server     serverFile
	// more returns the files with docsearch's entries if they are not those of hook and
	// server, the given ones; nil: they are.
	more func(p *Places, s Scope, parts []part) []part
	// others are further files in which the client finds hooks, as patterns.
	others locations
	// covered is the file of another client from which the client already runs the hook.
	covered locations
	// follows reports that the client also starts the servers that belong to the covered
	// hook.
	follows bool
	// approval describes the step after an install in a scope.
	approval map[Scope]string
	// blocked returns the settings that keep the client from running the hook.
	blocked func(p *Places, hooks []Hook) []Obstacle
	// sample is the template of an event of a search for "QUERY", or of a fetch of "URL" if
	// the client's searches run no hook; "" if the client has no hook. sampleShell is the
	// event of a harmless shell command for a client that needs a URL.
	sample, sampleShell string
	// answer reads the decision from the hook's output; nil: as Claude Code does.
	answer func(o output) (decision, reason string)
}

// locations are the files of a client by scope, as Places.path reads them. The first of
// several is the one of a new file.
type locations map[Scope][]string

// inBoth returns the same path in the user's home and in the project.
func inBoth(path string) locations {
	return locations{User: {"~/" + path}, Project: {"./" + path}}
}

// A hookFile describes the file with docsearch's hook; without files, there is none.
type hookFile struct {
	files locations
	// own returns the file if only docsearch writes it; nil: the events are entries of a
	// JSON file.
	own       func(invocation) ownFile
	events    []registration // "SERVER" in them is the name of docsearch's MCP server
	handler   string         // template of a handler; "": commandHandler
	timeout   int            // of a commandHandler; 0: hookTimeout
	flat      bool           // a handler is not in a group
	bare      bool           // a handler without a matcher is not in a group
	versioned bool           // a new file has a member "version"
}

// A serverFile describes the file with docsearch's MCP server.
type serverFile struct {
	files    locations
	key      string // of the object with the servers
	template string // of the entry, with "PROGRAM" and "SERVER"; "": commandServer
}

// The usual templates of a client.
const (
	commandHandler = `{"type": "command", "command": "COMMAND", "timeout": %d}`
	commandServer  = `{"command": "PROGRAM", "args": ["serve"]}`
)

// parts returns the client's files in a scope.
func (c *Client) parts(p *Places, s Scope) (parts []part) {
	if paths := p.paths(c.hook.files[s]); len(paths) > 0 {
		parts = append(parts, part{"the hook", configFile(paths), []entry{c.hookEntry(p, s)}})
	}
	if paths := p.paths(c.server.files[s]); len(paths) > 0 {
		path := configFile(paths)
		server := serverEntry{formatOf(path), []string{c.server.key}, p.Server, cmp.Or(c.server.template, commandServer)}
		if len(parts) > 0 && parts[0].path == path {
			parts[0] = part{"the hook and the MCP server", path, append(parts[0].entries, server)}
		} else {
			parts = append(parts, part{"the MCP server", path, []entry{server}})
		}
	}
	if c.more != nil && len(parts) > 0 {
		return c.more(p, s, parts)
	}
	return parts
}

// hookEntry returns the entry of the hook in a scope.
func (c *Client) hookEntry(p *Places, s Scope) entry {
	run := invocation{scope: s, client: c.Name, exitCode: c.exitCode}
	if c.hook.own != nil {
		return c.hook.own(run)
	}
	named := strings.NewReplacer("SERVER", p.Server)
	events := slices.Clone(c.hook.events)
	for i, e := range events {
		events[i].expr = named.Replace(e.expr)
		events[i].tools = slices.Clone(e.tools)
		for k, tool := range e.tools {
			events[i].tools[k] = named.Replace(tool)
		}
	}
	handler := cmp.Or(c.hook.handler, fmt.Sprintf(commandHandler, cmp.Or(c.hook.timeout, hookTimeout)))
	return jsonHooks{run, events, handler, c.hook.flat, c.hook.bare, c.hook.versioned}
}

// configFile returns the one of several config files to edit: the one with an
// entry of docsearch, or else the first that exists, or else the first.
func configFile(paths []string) string {
	found := paths[0]
	for _, path := range slices.Backward(paths) {
		if exists(path) {
			found = path
		}
	}
	for _, path := range paths {
		if data, _, err := readFile(path); err == nil && bytes.Contains(data, []byte("docsearch")) {
			return path
		}
	}
	return found
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

// roaming returns a path in Windows' folder for the data of programs.
func (p *Places) roaming(path ...string) string {
	return filepath.Join(append([]string{p.variable("APPDATA", "AppData", "Roaming")}, path...)...)
}

func (p *Places) atHome(path ...string) string {
	return filepath.Join(append([]string{p.home}, path...)...)
}

// path returns the path of a location: a path below "~", the user's home, below ".", the
// project, or below a folder that a variable names.
func (p *Places) path(location string) string {
	root, rest, _ := strings.Cut(location, "/")
	dir := p.home
	switch root {
	case ".":
		dir = p.project
	case "$CLAUDE_CONFIG_DIR":
		dir = p.variable("CLAUDE_CONFIG_DIR", ".claude")
	case "$CODEX_HOME":
		dir = p.variable("CODEX_HOME", ".codex")
	case "$XDG_CONFIG_HOME":
		dir = p.config
	case "$CODE":
		dir = codeFolder(p)
	case "$GOOSE":
		dir = configFolder(p, "goose", "Block", "goose", "config")
	case "$GROK_HOME":
		dir = p.variable("GROK_HOME", ".grok")
	case "$DEVIN":
		dir = configFolder(p, "devin", "devin")
	case "$ZED":
		dir = configFolder(p, "zed", "Zed")
	}
	return filepath.Join(dir, filepath.FromSlash(rest))
}

func (p *Places) paths(locations []string) (paths []string) {
	for _, location := range locations {
		paths = append(paths, p.path(location))
	}
	return paths
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

// IsClaude reports whether a Claude changes the client's files.
func (c *Client) IsClaude() bool { return c.Name == "claude" }

// Found reports whether the client is on this machine: its program is on PATH, or
// its folder contains more than docsearch's own files.
func (c *Client) Found(p *Places) bool {
	for _, program := range c.programs {
		if _, err := execpath.Find(program); err == nil {
			return true
		}
	}
	entries, err := os.ReadDir(p.path(c.folder))
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
	for _, path := range p.paths(c.covered[s]) {
		if data, _, err := readFile(path); err == nil && len(findHooks(path, data)) > 0 {
			return path
		}
	}
	return ""
}

// Follows reports whether the client runs the hooks and the servers of Claude Code.
func (c *Client) Follows() bool { return c.follows }

// Install plans the changes that add docsearch to a scope. It omits files that
// need no change.
func (c *Client) Install(p *Places, s Scope, program Program) ([]*Change, error) {
	parts, err := c.partsOf(p, s)
	if err != nil {
		return nil, err
	}
	if c.Covered(p, s) != "" {
		parts = slices.DeleteFunc(parts, func(q part) bool { return c.follows || q.hasHook() })
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
	parts, _ := c.partsOf(p, s)
	for _, pattern := range p.paths(c.others[s]) {
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
func (c *Client) Sample(query, url string) (event map[string]any) {
	sample := c.sample
	if url == "" && c.sampleShell != "" {
		sample = c.sampleShell
	}
	if err := json.Unmarshal(fill(sample, "QUERY", query, "URL", url), &event); err != nil {
		panic("agentconfig: internal error: " + err.Error())
	}
	return event
}

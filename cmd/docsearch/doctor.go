package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/client"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/disk"
)

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check every link from the agent's settings to an answered question",
		Long: `Check every link from the agent's settings to an answered question: the
program, the config, the databases, the hook and the MCP server. The hook and
the server are run as Claude Code runs them. Says what to do where something
is wrong, and exits with code 1 then.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{app: a, locations: config.Locate(os.Getenv)}
			if err := d.examine(cmd.Context()); err != nil {
				return err
			}
			if d.failures > 0 {
				return exitStatus(exitFailure)
			}
			return nil
		},
	}
}

// patience is how long the hook and the server may take to answer.
const patience = 10 * time.Second

// A doctor checks one link after the other. A link that is broken does not
// keep it from those after it.
type doctor struct {
	*app
	locations config.Locations
	config    config.Config
	claude    *client.Claude
	plugin    string // enabled in the settings
	hooks     []client.Hook
	servers   []client.Server
	failures  int
}

func (d *doctor) examine(ctx context.Context) error {
	var err error
	if d.claude, err = d.app.claude(); err != nil {
		return err
	}
	d.checkProgram()
	d.checkConfig()
	d.checkDatabases(ctx)
	d.checkInstallation()
	if d.plugin == "" {
		d.runHooks(ctx)
		d.runServers(ctx)
	}
	return ctx.Err()
}

func (d *doctor) checkProgram() {
	program, err := client.Program()
	switch {
	case errors.Is(err, client.ErrTemporary):
		d.note("program", "this one is a temporary file of \"go run\"; the checks below use those that are installed")
	case err != nil:
		d.fail("program", err.Error(), "")
	default:
		d.ok("program", "docsearch %s, %s", buildVersion(), program)
	}
}

func (d *doctor) checkConfig() {
	d.config = config.Default()
	r, err := load.Load(d.locations)
	switch {
	case err != nil:
		d.fail("config", err.Error(), "\"docsearch config path\" says which file is read")
		return
	case !r.Exists:
		d.fail("config", r.Path+" does not exist", "docsearch setup KEYWORD SOURCE makes it")
		return
	}
	d.config = r.Config
	if len(r.Problems) > 0 {
		first := r.Problems[0].String()
		d.fail("config", fmt.Sprintf("%s: %s, the first: %s", r.Path, count(len(r.Problems), "problem"), first), "\"docsearch config check\" lists all")
		return
	}
	if len(r.Config.Databases) == 0 {
		d.fail("config", r.Path+" names no database", "docsearch setup KEYWORD SOURCE adds one")
		return
	}
	d.ok("config", "%s: %s", r.Path, count(len(r.Config.Databases), "database"))
}

func (d *doctor) checkDatabases(ctx context.Context) {
	server := d.config.Server(os.Getenv)
	embedders := index.NewEmbedders(func() []index.EmbedderSpec { return specsOf(d.config.Embedders) }, patience)
	defer embedders.Close()
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		name := "database " + db.Name
		info, state, why := inspect(db.Path)
		switch {
		case state == stateOK:
			d.ok(name, "%s of %s", count(info.Passages, "passage"), count(info.Documents, "document"))
			if p := info.Provided; p != nil {
				d.checkEmbedder(ctx, name, embedders, p)
			}
		case state == stateNone && !server.Serves(db):
			d.checkForeignTool(name, db)
		default:
			d.fail(name, why, "docsearch index build "+quoteArgument(db.Path))
		}
	}
}

// checkEmbedder checks that the embedder that a database was built with can be
// asked for the vectors of queries, too.
func (d *doctor) checkEmbedder(ctx context.Context, name string, e *index.Embedders, p *disk.Provided) {
	if err := e.Check(ctx, p.Name, p.Dimensions); err != nil {
		d.fail(name, fmt.Sprintf("it is searched without the vectors of %s: %v", p.Name, err), "\"embedder\" in the config says how to reach it")
		return
	}
	d.ok(name, "%s gives vectors", p.Name)
}

// checkForeignTool checks a database that another server's tool searches: the
// hook points at that tool, so it must be there.
func (d *doctor) checkForeignTool(name string, db *config.Database) {
	server, _, ok := strings.Cut(strings.TrimPrefix(db.Tool, "mcp__"), "__")
	switch {
	case ok && (d.claude.HasServer(server) || strings.HasPrefix(server, "plugin_")):
		d.ok(name, "searched by %s; \"docsearch index build\" would let docsearch answer by itself", db.Tool)
	default:
		d.fail(name, fmt.Sprintf("%s is to search it, but Claude Code has no server %s", db.Tool, server),
			"add that server, or drop mcp_tool_name and run docsearch index build "+quoteArgument(db.Path))
	}
}

func (d *doctor) checkInstallation() {
	var err error
	if d.plugin, err = d.claude.Plugin(); err != nil {
		d.fail("settings", err.Error(), "repair the file; Claude Code ignores it as it is")
		return
	}
	if d.hooks, d.servers, err = d.claude.Installed(); err != nil {
		d.fail("settings", err.Error(), "repair the file; Claude Code ignores it as it is")
		return
	}
	if path := d.claude.HooksDisabled(); path != "" {
		d.fail("settings", path+" switches all hooks off", "take \"disableAllHooks\" out of it")
	}
	switch {
	case d.plugin != "" && len(d.hooks) > 0:
		d.fail("settings", fmt.Sprintf("the plugin %s and %s both have the hook: every search is denied twice", d.plugin, d.hooks[0].Path),
			"docsearch uninstall --scope "+string(d.hooks[0].Scope)+", or claude plugin disable "+d.plugin)
	case d.plugin != "":
		d.ok("settings", "the plugin %s is enabled", d.plugin)
	case len(d.hooks) == 0:
		d.fail("settings", "no settings of Claude Code have the hook", "docsearch install (a plugin given with --plugin-dir does not show here)")
	default:
		for _, tool := range d.claude.Watched() {
			if !client.Heard(d.hooks, tool) {
				d.fail("settings", "the hook is not called for "+tool, "docsearch install")
				return
			}
		}
		d.ok("settings", "the hook is in %s", strings.Join(pathsOf(d.hooks), ", "))
	}
}

// runHooks runs every hook that was found, on a search that the first database
// has something on and on a call of docsearch's own tool.
func (d *doctor) runHooks(ctx context.Context) {
	query := d.probe(ctx)
	seen := map[string]bool{}
	for _, h := range d.hooks {
		if seen[h.Command] {
			continue
		}
		seen[h.Command] = true
		if query == "" || d.tryHook(ctx, h, query) {
			d.tryPermission(ctx, h)
		}
	}
}

// probe is a web search that the first database with an index should answer:
// what one of its headings says. Empty if there is none.
func (d *doctor) probe(ctx context.Context) string {
	for i := range d.config.Databases {
		configured := &d.config.Databases[i]
		db, err := index.Open(configured.Path)
		if err != nil {
			continue
		}
		defer db.Close()
		found, err := db.Search(ctx, index.Query{Text: configured.Description, TopK: 1})
		if err != nil || len(found.Hits) == 0 {
			return configured.Keyword() + " " + configured.Description
		}
		return configured.Keyword() + " " + found.Hits[0].Name()
	}
	return ""
}

// tryHook reports whether the hook answers at all.
func (d *doctor) tryHook(ctx context.Context, h client.Hook, query string) bool {
	o, err := d.runHook(ctx, h, "WebSearch", map[string]any{"query": query})
	took := o.Took.Round(time.Millisecond)
	switch {
	case err != nil:
		d.fail("hook", h.Command+": "+err.Error(), "docsearch install")
		return false
	case o.Stderr != "":
		d.fail("hook", h.Command+": "+firstLine(o.Stderr), "DOCSEARCH_DEBUG=1 docsearch hook tells more")
	case o.Decision == "deny":
		d.ok("hook", "it denies a search for %q in %s: %s", query, took, firstLine(o.Reason))
	default:
		d.ok("hook", "it lets a search for %q through in %s: no database is sure of an answer", query, took)
	}
	return true
}

// tryPermission checks that the hook spares the user the question whether
// docsearch's own tool may run.
func (d *doctor) tryPermission(ctx context.Context, h client.Hook) {
	tool := d.config.Server(os.Getenv).Search
	o, err := d.runHook(ctx, h, tool, map[string]any{"query": "x"})
	switch {
	case err != nil:
		d.fail("hook", h.Command+": "+err.Error(), "docsearch install")
	case o.Decision != "allow":
		d.fail("hook", h.Command+" does not allow "+tool+", so that the user is asked each time", "docsearch install")
	default:
		d.ok("hook", "it allows %s", tool)
	}
}

func (d *doctor) runHook(ctx context.Context, h client.Hook, tool string, input any) (client.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	state, err := os.MkdirTemp("", "docsearch-doctor-")
	if err != nil {
		return client.Outcome{}, err
	}
	defer os.RemoveAll(state)
	cmd := client.Shell(ctx, h.Command)
	cmd.Env = append(os.Environ(), "DOCSEARCH_STATE_DIR="+state)
	cmd.WaitDelay = time.Second
	return client.RunHook(cmd, map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "doctor", "tool_name": tool, "tool_input": input,
	})
}

// runServers starts every server that was found and asks it for its tools.
func (d *doctor) runServers(ctx context.Context) {
	if len(d.servers) == 0 {
		d.fail("server", "Claude Code has no MCP server "+d.claude.Server, "docsearch install")
	}
	for _, s := range d.servers {
		d.runServer(ctx, s)
	}
}

func (d *doctor) runServer(ctx context.Context, s client.Server) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	session, err := client.StartServer(ctx, func(ctx context.Context) *exec.Cmd {
		return exec.CommandContext(ctx, s.Command, s.Args...)
	})
	if err != nil {
		d.fail("server", s.Command+": "+err.Error(), "docsearch install")
		return
	}
	defer session.Close()
	want := d.config.Server(os.Getenv).Search
	if i := slices.IndexFunc(session.Tools, func(tool string) bool { return "mcp__"+s.Name+"__"+tool == want }); i < 0 {
		d.fail("server", fmt.Sprintf("denials name the tool %s, which %s does not have", want, s.Path), "docsearch install, after a look at hook.mcp_tool_name in the config")
		return
	}
	if _, err := session.Call(ctx, "list_databases", map[string]any{}); err != nil {
		d.fail("server", err.Error(), "DOCSEARCH_DEBUG=1 docsearch serve tells more")
		return
	}
	d.ok("server", "%s answers in %s; tools: %s", session.Server, session.Took.Round(time.Millisecond), strings.Join(session.Tools, ", "))
}

func (d *doctor) ok(link, format string, args ...any) {
	fmt.Fprintf(d.stdout, "ok    %s: %s\n", link, fmt.Sprintf(format, args...))
}

func (d *doctor) note(link, what string) { fmt.Fprintf(d.stdout, "note  %s: %s\n", link, what) }

func (d *doctor) fail(link, what, remedy string) {
	d.failures++
	fmt.Fprintf(d.stdout, "FAIL  %s: %s\n", link, what)
	if remedy != "" {
		fmt.Fprintf(d.stdout, "      to do: %s\n", remedy)
	}
}

func pathsOf(hooks []client.Hook) []string {
	paths := map[string]bool{}
	for _, h := range hooks {
		paths[h.Path] = true
	}
	return slices.Sorted(maps.Keys(paths))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

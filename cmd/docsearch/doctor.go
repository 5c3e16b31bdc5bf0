package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/execpath"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/web/manage"
)

func newDoctorCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and print how to fix problems",
		Long: `Check the installation and print how to fix problems: the program, the config,
the databases, the hook, and the MCP server in each agent that has them. The doctor
runs the hook and the server as the agent runs them, if they are this program. It
lists other programs in the settings without running them. The exit code is 1 if a
check fails.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{app: a, locations: config.Locate(os.Getenv), asJSON: asJSON}
			if err := d.run(cmd.Context()); err != nil {
				return err
			}
			return failureIf(d.failures > 0)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one check per line")
	return cmd
}

// checkTimeout limits each call of the hook and the server.
const checkTimeout = 10 * time.Second

// A doctor runs the checks in order. A failed check does not stop the later
// ones.
type doctor struct {
	*app
	locations config.Locations
	config    config.Config
	claude    *agentconfig.Claude
	places    *agentconfig.Places
	installed installation
	asJSON    bool
	failures  int
}

func (d *doctor) run(ctx context.Context) error {
	var err error
	if d.claude, d.places, err = d.agents(); err != nil {
		return err
	}
	d.checkProgram(ctx)
	d.checkConfig()
	d.checkDatabases(ctx)
	d.checkServers(ctx)
	d.checkProject()
	clients := d.installedClients()
	if len(clients) == 0 || d.usesClaude() {
		d.checkInstallation()
		d.runHooks(ctx)
		if d.installed.plugin == "" {
			d.runServers(ctx)
		}
	}
	for _, c := range clients {
		d.checkClient(ctx, c)
	}
	return ctx.Err()
}

func (d *doctor) checkProgram(ctx context.Context) {
	program, err := agentconfig.Executable()
	switch {
	case errors.Is(err, agentconfig.ErrTemporary):
		d.note("program", "this is a temporary binary of \"go run\"; the checks below use the installed binary")
	case err != nil:
		d.fail("program", userMessage(err), "")
	default:
		d.ok("program", "docsearch %s, %s", buildVersion(), program)
		d.checkHookProgram(ctx, agentconfig.ProgramAt(program))
	}
}

// checkHookProgram checks that docsearch-hook, if there is one, has the version of docsearch.
func (d *doctor) checkHookProgram(ctx context.Context, program agentconfig.Program) {
	if program.Hook == program.Path {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	want := "docsearch-hook " + buildVersion()
	out, err := exec.CommandContext(ctx, program.Hook, "version").Output()
	switch version := strings.TrimSpace(string(out)); {
	case err != nil:
		d.fail("program", fmt.Sprintf("cannot run %s: %v", program.Hook, err), "install docsearch again")
	case version != want:
		d.fail("program", fmt.Sprintf("%s is %s, want %s", program.Hook, firstLine(version), want), "install docsearch again")
	default:
		d.ok("program", "%s, %s", want, program.Hook)
	}
}

func (d *doctor) checkConfig() {
	d.config = config.Default()
	h, err := uncached.ReadHere()
	switch {
	case err != nil:
		d.fail("config", userMessage(err), "correct the file, then run docsearch config check")
		return
	case !h.Config.Exists && len(h.Config.Config.Projects) == 0:
		d.fail("config", h.Config.Path+" does not exist", "docsearch setup NAME, or docsearch setup KEYWORD SOURCE")
		return
	}
	defer d.checkRules(h)
	r := h.Config
	if cwd, err := os.Getwd(); err == nil {
		r.Config.AddProject(cwd)
	}
	d.config = r.Config
	if len(r.Problems) > 0 {
		first := r.Problems[0].String()
		d.fail("config", fmt.Sprintf("%s: %s, first: %s", r.Path, count(len(r.Problems), "problem"), first), "run docsearch config check to list all problems")
		return
	}
	if len(r.Config.Databases)+len(r.Config.Remotes)+len(r.Config.Clustered)+len(r.Config.Projects) == 0 {
		d.fail("config", r.Path+" has no databases", "docsearch setup NAME, or docsearch setup KEYWORD SOURCE")
		return
	}
	d.ok("config", "%s: %s", r.Path, countDatabases(&r.Config, "database"))
}

// checkRules checks the rules that apply in the working directory, and the time that the hook
// takes to read them and the config.
func (d *doctor) checkRules(h *uncached.Reading) {
	switch n := len(h.Routes.Problems); {
	case n > 0:
		d.fail("rules", fmt.Sprintf("%s, first: %s", count(n, "problem"), strings.TrimPrefix(h.Routes.Problems[0], "routes ")), "run docsearch config check to list all problems")
	case h.Slow() != "":
		d.fail("rules", h.Slow(), `raise "timeout_ms" of "hook" in the config, or use fewer rules`)
	default:
		d.ok("rules", "%s", h.Duration())
	}
}

func (d *doctor) checkDatabases(ctx context.Context) {
	server := d.config.Server(os.Getenv)
	embedders := index.NewEmbedders(func() []index.EmbedderSpec { return library.SpecsOf(d.config.Embedders) }, checkTimeout)
	defer embedders.Close()
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		name := "database " + db.Name
		if db.Project != "" {
			name += " of the project " + db.Project
		}
		info, state, why := library.Inspect(db.Path)
		switch {
		case state == library.StateOK:
			d.ok(name, "%s of %s", count(info.Passages, "passage"), count(info.Documents, "document"))
			if p := info.Provided; p != nil {
				d.checkEmbedder(ctx, name, embedders, p)
			}
		case state == library.StateNoIndex && !server.Serves(db):
			d.checkExternalTool(name, db)
		case db.Project != "":
			d.fail(name, why, "docsearch setup --project "+quoteArgument(db.Project))
		case state == library.StateMissing:
			d.fail(name, why, "docsearch setup "+quoteArgument(db.Keyword())+" SOURCE, or remove its entry from the config")
		default:
			fix := repairCommand(library.Ref{Path: db.Path})
			if fix == "" {
				fix = "update docsearch"
			}
			d.fail(name, why, fix)
		}
	}
}

// checkEmbedder checks that searches can also reach the embedder that the
// database was built with.
func (d *doctor) checkEmbedder(ctx context.Context, name string, e *index.Embedders, p *generation.Provided) {
	if err := e.Check(ctx, p.Name, p.Dimensions); err != nil {
		d.fail(name, fmt.Sprintf("cannot search with the vectors of %s: %v", p.Name, err), "check \"embedder\" in the config")
		return
	}
	d.ok(name, "the embedder %s responds", p.Name)
}

// checkExternalTool checks a database that another server's tool searches. The
// hook redirects to that tool, so it must exist.
func (d *doctor) checkExternalTool(name string, db *config.Database) {
	server, _, ok := strings.Cut(strings.TrimPrefix(db.Tool, "mcp__"), "__")
	switch {
	case ok && (d.claude.HasServer(server) || strings.HasPrefix(server, "plugin_")):
		d.ok(name, "searched by %s; to search it with docsearch, run docsearch index build", db.Tool)
	default:
		d.fail(name, fmt.Sprintf("its search tool is %s, but Claude Code has no server %s", db.Tool, server),
			"add that server, or remove mcp_tool_name and run docsearch index build "+quoteArgument(db.Path))
	}
}

func (d *doctor) checkInstallation() {
	d.installed = findInstalled(d.claude)
	in := &d.installed
	for _, err := range in.Ignored {
		d.fail("settings", userMessage(err), "fix the file; Claude Code ignores it")
	}
	if path := d.claude.HooksDisabled(); path != "" {
		d.fail("settings", path+" turns all hooks off", "remove \"disableAllHooks\" from it")
	}
	for _, double := range in.duplicates {
		d.fail("settings", duplicateWarning(double), duplicateFix(double))
	}
	all := slices.Concat(in.Hooks, in.pluginHooks)
	if len(all) == 0 {
		d.fail("settings", "Claude Code's settings do not contain the hook", "docsearch install (the doctor cannot see a plugin loaded with --plugin-dir)")
		return
	}
	for _, tool := range d.claude.RequiredTools() {
		if in.plugin == "" && !agentconfig.Matched(all, tool) {
			d.fail("settings", "Claude Code does not run the hook for "+tool, "docsearch install")
			return
		}
	}
	d.claude.Coverage = coverage(d.locations)
	if missing := d.claude.Uncovered(in.Hooks); in.plugin == "" && len(in.Hooks) > 0 && len(missing) > 0 {
		d.fail("settings", "the config or the rules need the hook for "+strings.Join(missing, ", ")+", but Claude Code does not run it there", "docsearch install"+scopeOption(in.Hooks[0].Scope))
	}
	if in.plugin != "" {
		d.ok("settings", "the plugin %s is enabled", in.plugin)
	}
	if len(in.Hooks) > 0 {
		d.ok("settings", "the hook is in %s", strings.Join(pathsOf(in.Hooks), ", "))
	}
	d.checkModule()
}

// checkModule checks that the hooks module runs the program of the hook. A module that
// cannot run it leaves all calls to the hook.
func (d *doctor) checkModule() {
	program := d.claude.Module()
	if program == "" {
		return
	}
	for _, h := range d.installed.Hooks {
		if h.Scope == agentconfig.User && h.Program == program {
			d.ok("settings", "the hooks module shows answers as results")
			return
		}
	}
	d.fail("settings", "the hooks module runs "+program+", which is not the program of the hook", "docsearch install")
}

// runHooks tests the hooks that run this program, with a search that the first
// database answers and with a call of docsearch's own tool.
func (d *doctor) runHooks(ctx context.Context) {
	tested := false
	for range d.ownHooks(d.installed.Hooks, claudeAgent, mayDeny) {
		if tested {
			continue // same program
		}
		tested = true
		if query, _ := d.sampleQuery(ctx); query == "" || d.testHook(ctx, query) {
			d.testPermission(ctx)
		}
	}
}

// ownHooks iterates over the different hooks of an agent that run this program. It reports
// the others, and those that may deny calls.
func (d *doctor) ownHooks(hooks []agentconfig.Hook, a agent, mayDeny func(agentconfig.Hook) bool) iter.Seq[agentconfig.Hook] {
	return func(yield func(agentconfig.Hook) bool) {
		seen := map[string]bool{}
		for _, h := range hooks {
			key := h.Path + "\x00" + h.Line()
			if seen[key] {
				continue
			}
			if seen[key] = true; d.isOtherProgram(h, a) {
				continue
			}
			if mayDeny(h) {
				d.fail(a.link("hook"), mayDenyWarning(h), a.install(h.Scope))
			}
			if !yield(h) {
				return
			}
		}
	}
}

// isOtherProgram reports whether the hook runs a program other than this one.
// The doctor does not run such programs; the agent does, if its user agrees.
func (d *doctor) isOtherProgram(h agentconfig.Hook, a agent) bool {
	switch {
	case h.Python:
		d.fail(a.link("hook"), fmt.Sprintf("%s has %q: the Python version of the hook; each of the two denies retries that the other lets run", h.Path, h.Line()), otherProgramFix(h, a))
	case h.Via != "":
		d.fail(a.link("hook"), fmt.Sprintf("%s has %q: %s would run it through %s; the doctor did not run it", h.Path, h.Line(), a.title, h.Via), otherProgramFix(h, a))
	case !agentconfig.Own(h.Program):
		d.fail(a.link("hook"), fmt.Sprintf("%s has %q: it is not this program; %s would run it, the doctor did not%s", h.Path, h.Line(), a.title, missingProgram(h.Program)), otherProgramFix(h, a))
	case h.OtherCommand != "":
		d.note(a.link("hook"), fmt.Sprintf("%s has %q: %s also runs %s; the doctor did not run it", h.Path, h.Line(), a.title, h.OtherCommand))
		return false
	default:
		return false
	}
	return true
}

// missingProgram returns a message if the program does not exist, otherwise "".
func missingProgram(program string) string {
	if _, err := execpath.Find(program); errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return " (program not found)"
	}
	return ""
}

// otherProgramFix returns the fix for a hook that runs another program.
func otherProgramFix(h agentconfig.Hook, a agent) string {
	if h.Python && a == claudeAgent {
		return pythonFix(h)
	}
	if h.Python || h.OtherCommand != "" {
		return "remove the entry from " + h.Path + ", or keep it if you trust it"
	}
	scope := a.option + scopeOption(h.Scope)
	return "run docsearch uninstall" + scope + " to remove it, then docsearch install" + scope + " to add this program"
}

// scopeOption returns the command-line option for a scope, with a leading
// space; it is empty for the default scope.
func scopeOption(s agentconfig.Scope) string {
	if s == agentconfig.User {
		return ""
	}
	return " --scope " + string(s)
}

// sampleQuery returns a heading of the first indexed database, a web search
// that the database should answer, and the URL of that page. The query is "" if no
// database is indexed, and the URL is "" if the page has none.
func (d *doctor) sampleQuery(ctx context.Context) (query, url string) {
	for i := range d.config.Databases {
		configured := &d.config.Databases[i]
		db, err := index.Open(configured.Path)
		if err != nil {
			continue
		}
		defer db.Close()
		found, err := db.Search(ctx, index.Query{Text: configured.Description, TopK: 1})
		if err != nil || len(found.Hits) == 0 {
			return configured.Keyword() + " " + configured.Description, ""
		}
		hit := found.Hits[0]
		return configured.Keyword() + " " + hit.Name(), pageURL(configured, db.Info().Source.Root, hit)
	}
	return "", ""
}

// pageURL returns the URL of a hit: its own, or that of its path below the first
// configured prefix.
func pageURL(configured *config.Database, root string, hit index.Hit) string {
	if hit.URL != "" || len(configured.URLs) == 0 {
		return hit.URL
	}
	path := hit.Path
	if below, err := filepath.Rel(root, path); err == nil {
		path = below
	}
	return strings.TrimSuffix(configured.URLs[0], "/") + "/" + filepath.ToSlash(path)
}

// testHook reports whether the hook responds at all.
func (d *doctor) testHook(ctx context.Context, query string) bool {
	o, err := d.runHook(ctx, "WebSearch", map[string]any{"query": query})
	took := o.Took.Round(time.Millisecond)
	switch {
	case err != nil:
		d.fail("hook", userMessage(err), "docsearch install")
		return false
	case o.Stderr != "":
		d.fail("hook", firstLine(o.Stderr), "run DOCSEARCH_DEBUG=1 docsearch hook to see each step")
	case o.Decision == "deny":
		d.ok("hook", "denied a search for %q in %s: %s", query, took, firstLine(o.Reason))
	default:
		d.ok("hook", "did not deny a search for %q (%s): no result reached the confidence threshold", query, took)
	}
	return true
}

// testPermission checks that the hook lets docsearch's own tool run without a
// permission prompt.
func (d *doctor) testPermission(ctx context.Context) {
	tool := d.config.Server(os.Getenv).Search
	o, err := d.runHook(ctx, tool, map[string]any{"query": "x"})
	switch {
	case err != nil:
		d.fail("hook", userMessage(err), "docsearch install")
	case o.Decision != "allow":
		d.fail("hook", "does not allow "+tool+", so Claude Code asks for permission each time", "docsearch install")
	default:
		d.ok("hook", "allows %s", tool)
	}
}

// runHook runs this program as a hook, the way Claude Code runs the command
// that install adds.
func (d *doctor) runHook(ctx context.Context, tool string, input any) (agentconfig.Outcome, error) {
	return runHookCommand(ctx, agentconfig.Shell, func(cmd *exec.Cmd) (agentconfig.Outcome, error) {
		return agentconfig.RunHook(cmd, map[string]any{
			"hook_event_name": "PreToolUse", "session_id": "doctor", "tool_name": tool, "tool_input": input,
		})
	})
}

// runHookCommand runs the command of a hook that is this program, with an empty state.
func runHookCommand(ctx context.Context, command func(ctx context.Context, program string) *exec.Cmd,
	run func(cmd *exec.Cmd) (agentconfig.Outcome, error)) (agentconfig.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	state, err := os.MkdirTemp("", "docsearch-doctor-")
	if err != nil {
		return agentconfig.Outcome{}, err
	}
	defer os.RemoveAll(state)
	program, err := os.Executable()
	if err != nil {
		return agentconfig.Outcome{}, err
	}
	cmd := command(ctx, agentconfig.ProgramAt(program).Hook)
	cmd.Env = append(os.Environ(), "DOCSEARCH_STATE_DIR="+state)
	cmd.WaitDelay = time.Second
	return run(cmd)
}

// runServers starts each configured server that is this program and requests
// its tool list.
func (d *doctor) runServers(ctx context.Context) {
	if len(d.installed.Servers) == 0 {
		d.fail("server", "Claude Code has no MCP server "+d.claude.Server, "docsearch install")
	}
	for _, s := range d.installed.Servers {
		d.checkServer(ctx, s, claudeAgent, "claude mcp remove "+s.Name+", if you no longer need it")
	}
}

// checkServer runs a configured server if it is this program. remove is how to
// remove another program's server.
func (d *doctor) checkServer(ctx context.Context, s agentconfig.Server, a agent, remove string) {
	line := strings.Join(append([]string{s.Command}, s.Args...), " ")
	switch {
	case !s.Ours:
		d.failOtherProgram(s, a, line, remove)
	case !agentconfig.Own(s.Command):
		d.failOtherProgram(s, a, line, a.install(s.Scope))
	case s.Scope == agentconfig.Project && !slices.Equal(s.Args, []string{"serve"}):
		d.note(a.link("server"), fmt.Sprintf("%s has the server %s with arguments from the project: %q; the doctor did not run it", s.Path, s.Name, line))
	default:
		d.runServer(ctx, s, a)
	}
}

// failOtherProgram reports that a server is a different program.
func (d *doctor) failOtherProgram(s agentconfig.Server, a agent, line, remedy string) {
	d.fail(a.link("server"), fmt.Sprintf("%s has the server %s, %q: it is not this program; %s would run it, the doctor did not%s", s.Path, s.Name, line, a.title, missingProgram(s.Command)), remedy)
}

func (d *doctor) runServer(ctx context.Context, s agentconfig.Server, a agent) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	program, err := os.Executable()
	if err != nil {
		d.fail(a.link("server"), userMessage(err), "")
		return
	}
	session, err := agentconfig.StartServer(ctx, func(ctx context.Context) *exec.Cmd {
		return exec.CommandContext(ctx, program, s.Args...)
	})
	if err != nil {
		d.fail(a.link("server"), s.Command+": "+err.Error(), a.install(s.Scope))
		return
	}
	defer session.Close()
	want := d.config.Server(os.Getenv).Search
	if i := slices.IndexFunc(session.Tools, func(tool string) bool { return "mcp__"+s.Name+"__"+tool == want }); i < 0 {
		d.fail(a.link("server"), fmt.Sprintf("denials name the tool %s, but the server in %s does not have it", want, s.Path), "check hook.mcp_tool_name in the config, then run "+a.install(s.Scope))
		return
	}
	if _, err := session.Call(ctx, "list_databases", map[string]any{}); err != nil {
		d.fail(a.link("server"), userMessage(err), "run DOCSEARCH_DEBUG=1 docsearch serve to see the log")
		return
	}
	d.ok(a.link("server"), "%s responded in %s; tools: %s", session.Server, session.Took.Round(time.Millisecond), strings.Join(session.Tools, ", "))
}

func (d *doctor) ok(link, format string, args ...any) {
	d.report(manage.Check{Status: manage.CheckOK, Name: link, Text: fmt.Sprintf(format, args...)})
}

func (d *doctor) note(link, message string) {
	d.report(manage.Check{Status: manage.CheckNote, Name: link, Text: message})
}

func (d *doctor) fail(link, problem, fix string) {
	d.failures++
	d.report(manage.Check{Status: manage.CheckFailed, Name: link, Text: problem, Fix: fix})
}

// report prints the result of a check, which may contain text from files of others.
func (d *doctor) report(c manage.Check) {
	if d.asJSON {
		if line, err := json.Marshal(c); err == nil {
			fmt.Fprintln(d.stdout, string(line))
		}
		return
	}
	status := map[manage.Status]string{manage.CheckOK: "ok    ", manage.CheckNote: "note  ", manage.CheckFailed: "FAIL  "}
	fmt.Fprintln(d.stdout, printable(status[c.Status]+c.Name+": "+c.Text))
	if c.Fix != "" {
		fmt.Fprintln(d.stdout, printable("      fix: "+c.Fix))
	}
}

func pathsOf(hooks []agentconfig.Hook) []string {
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

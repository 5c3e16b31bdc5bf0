// Package doctor checks the installation: the program, the config, the databases, the hook and
// the MCP server in each agent, by running them as the agents do.
package doctor

import (
	"context"
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

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/file/execpath"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/usererror"
	"github.com/docsearch/docsearch/internal/web/manage"
)

// CheckTimeout limits each call of the hook and the server.
const CheckTimeout = 10 * time.Second

// A Doctor runs the checks in order. A failed check does not stop the later
// ones.
type Doctor struct {
	version   string // of docsearch
	show      func(manage.Check)
	locations config.Locations
	config    config.Config
	claude    *agentconfig.Claude
	places    *agentconfig.Places
	installed installation.Found
	Failures  int
}

// New returns a doctor of a version of docsearch that shows the results of its checks.
func New(version string, show func(manage.Check)) *Doctor {
	return &Doctor{version: version, show: show, locations: config.Locate(os.Getenv)}
}

// Run runs the checks, and shows each result as soon as it is known.
func (d *Doctor) Run(ctx context.Context) error {
	var err error
	if d.claude, d.places, err = installation.Agents(); err != nil {
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
		if titles := agentconfig.Followers(d.places); len(titles) > 0 && len(d.installed.Hooks) > 0 {
			d.note("hook", "Claude Code's hooks and servers also run in "+strings.Join(titles, " and "))
		}
		if d.installed.Plugin == "" {
			d.runServers(ctx)
		}
	}
	for _, c := range clients {
		d.checkClient(ctx, c)
	}
	return ctx.Err()
}

func (d *Doctor) checkProgram(ctx context.Context) {
	program, err := agentconfig.Executable()
	switch {
	case errors.Is(err, agentconfig.ErrTemporary):
		d.note("program", "this is a temporary binary of \"go run\"; the checks below use the installed binary")
	case err != nil:
		d.fail("program", usererror.Message(err), "")
	default:
		d.ok("program", "docsearch %s, %s", d.version, program)
		d.checkHookProgram(ctx, agentconfig.ProgramAt(program))
	}
}

// checkHookProgram checks that docsearch-hook, if there is one, has the version of docsearch.
func (d *Doctor) checkHookProgram(ctx context.Context, program agentconfig.Program) {
	if program.Hook == program.Path {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, CheckTimeout)
	defer cancel()
	want := "docsearch-hook " + d.version
	out, err := exec.CommandContext(ctx, program.Hook, "version").Output()
	switch version := strings.TrimSpace(string(out)); {
	case err != nil:
		d.fail("program", fmt.Sprintf("cannot run %s: %v", program.Hook, err), "install docsearch again")
	case version != want:
		d.fail("program", fmt.Sprintf("%s is %s, want %s", program.Hook, FirstLine(version), want),
			"install docsearch again")
	default:
		d.ok("program", "%s, %s", want, program.Hook)
	}
}

func (d *Doctor) checkConfig() {
	d.config = config.Default()
	h, err := uncached.ReadHere()
	switch {
	case err != nil:
		d.fail("config", usererror.Message(err), "correct the file, then run docsearch config check")
		return
	case !h.Config.Exists && len(h.Config.Config.Projects) == 0:
		d.fail("config", h.Config.Path+" does not exist", "docsearch setup NAME, or docsearch setup KEYWORD SOURCE")
		return
	}
	defer d.checkRules(h)
	r := h.Config
	if cwd, err := os.Getwd(); err == nil {
		r.Config.AddProject(cwd)
		d.checkProjectSettings(cwd)
	}
	d.config = r.Config
	if len(r.Problems) > 0 {
		first := r.Problems[0].String()
		d.fail("config", fmt.Sprintf("%s: %s, first: %s", r.Path, humanize.Count(len(r.Problems), "problem"), first),
			"run docsearch config check to list all problems")
		return
	}
	if len(r.Config.Databases)+len(r.Config.Remotes)+len(r.Config.Clustered)+len(r.Config.Projects) == 0 {
		d.fail("config", r.Path+" has no databases", "docsearch setup NAME, or docsearch setup KEYWORD SOURCE")
		return
	}
	d.ok("config", "%s: %s", r.Path, CountDatabases(&r.Config, "database"))
}

// checkProjectSettings reports what the settings of the project in the working directory take
// away, because their author may be somebody else.
func (d *Doctor) checkProjectSettings(cwd string) {
	ignored, err := config.ReadProjectSettings(config.ProjectSettingsPath(cwd, config.Home(os.Getenv)))
	if err != nil {
		d.note("project", usererror.Message(err))
	}
	if len(ignored) > 0 {
		d.note("project", config.ProjectSettings+" switches off here: "+listSome(ignored))
	}
}

// checkRules checks the rules that apply in the working directory, and the time that the hook
// takes to read them and the config.
func (d *Doctor) checkRules(h *uncached.Reading) {
	switch n := len(h.Routes.Problems); {
	case n > 0:
		d.fail("rules", fmt.Sprintf("%s, first: %s", humanize.Count(n, "problem"),
			strings.TrimPrefix(h.Routes.Problems[0], "routes ")), "run docsearch config check to list all problems")
	case h.Slow() != "":
		d.fail("rules", h.Slow(), "give the hook more time with docsearch config set hook.timeout_ms, or use fewer rules")
	default:
		d.ok("rules", "%s", h.Duration())
	}
}

func (d *Doctor) checkDatabases(ctx context.Context) {
	server := d.config.Server(os.Getenv)
	embedders := index.NewEmbedders(func() []index.EmbedderSpec { return library.SpecsOf(d.config.Embedders) },
		CheckTimeout)
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
			d.ok(name, "%s of %s", humanize.Count(info.Passages, "passage"), humanize.Count(info.Documents, "document"))
			if p := info.Provided; p != nil {
				d.checkEmbedder(ctx, name, embedders, p)
			}
		case state == library.StateNoIndex && !server.Serves(db):
			d.checkExternalTool(name, db)
		case db.Project != "":
			d.fail(name, why, "docsearch setup --project "+humanize.Argument(db.Project))
		case state == library.StateMissing:
			d.fail(name, why, "docsearch setup "+humanize.Argument(db.Keyword())+
				" SOURCE, or remove its entry from the config")
		default:
			fix := library.RepairCommand(library.Ref{Path: db.Path})
			if fix == "" {
				fix = "update docsearch"
			}
			d.fail(name, why, fix)
		}
	}
}

// checkEmbedder checks that searches can also reach the embedder that the
// database was built with.
func (d *Doctor) checkEmbedder(ctx context.Context, name string, e *index.Embedders, p *generation.Provided) {
	if err := e.Check(ctx, p.Name, p.Dimensions); err != nil {
		d.fail(name, fmt.Sprintf("cannot search with the vectors of %s: %v", p.Name, err),
			"check \"embedder\" in the config")
		return
	}
	d.ok(name, "the embedder %s responds", p.Name)
}

// checkExternalTool checks a database that another server's tool searches. The
// hook redirects to that tool, so it must exist.
func (d *Doctor) checkExternalTool(name string, db *config.Database) {
	server, _, ok := strings.Cut(strings.TrimPrefix(db.Tool, "mcp__"), "__")
	switch {
	case d.claude.HasServer(server) || ok && strings.HasPrefix(server, "plugin_"):
		d.ok(name, "searched by %s; to search it with docsearch, run docsearch index build", db.Tool)
	default:
		d.fail(name, fmt.Sprintf("its search tool is %s, but Claude Code has no server %s", db.Tool, server),
			"add that server, or remove mcp_tool_name and run docsearch index build "+humanize.Argument(db.Path))
	}
}

func (d *Doctor) checkInstallation() {
	d.installed = installation.Find(d.claude)
	in := &d.installed
	for _, err := range in.Ignored {
		d.fail("settings", usererror.Message(err), "fix the file; Claude Code ignores it")
	}
	if path := d.claude.HooksDisabled(); path != "" {
		d.fail("settings", path+" turns all hooks off", "remove \"disableAllHooks\" from it")
	}
	for _, double := range in.Duplicates {
		d.fail("settings", installation.DuplicateWarning(double), installation.DuplicateFix(double))
	}
	all := slices.Concat(in.Hooks, in.PluginHooks)
	if len(all) == 0 {
		d.fail("settings", "Claude Code's settings do not contain the hook",
			"docsearch install (the doctor cannot see a plugin loaded with --plugin-dir)")
		return
	}
	for _, h := range in.Older {
		if h.Tool != agentconfig.PythonHook { // ownHooks reports it
			problem, fix := installation.OlderProblem(h)
			d.fail("settings", problem, fix)
		}
	}
	for _, tool := range d.claude.RequiredTools() {
		if in.Plugin == "" && !agentconfig.Matched(all, tool) {
			d.fail("settings", "Claude Code does not run the hook for "+tool, "docsearch install")
			return
		}
	}
	d.claude.Coverage = installation.Coverage(d.locations)
	if missing := d.claude.Uncovered(in.Hooks); in.Plugin == "" && len(in.Hooks) > 0 && len(missing) > 0 {
		d.fail("settings", "the config or the rules need the hook for "+strings.Join(missing, ", ")+
			", but Claude Code does not run it there", "docsearch install"+installation.ScopeOption(in.Hooks[0].Scope))
	}
	if in.Plugin != "" {
		d.ok("settings", "the plugin %s is enabled", in.Plugin)
	}
	if len(in.Hooks) > 0 {
		d.ok("settings", "the hook is in %s", strings.Join(installation.PathsOf(in.Hooks), ", "))
	}
	d.checkModule()
}

// checkModule checks that the hooks module runs the program of the hook. A module that
// cannot run it leaves all calls to the hook.
func (d *Doctor) checkModule() {
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
func (d *Doctor) runHooks(ctx context.Context) {
	tested := false
	for range d.ownHooks(d.installed.Hooks, claudeAgent, installation.MayDeny) {
		if tested {
			continue // same program
		}
		tested = true
		if query, _ := d.sampleQuery(ctx); (query == "" || d.testHook(ctx, query)) && !d.claude.CLI {
			d.testPermission(ctx)
		}
	}
}

// ownHooks iterates over the different hooks of an agent that run this program. It reports
// the others, and those that may deny calls.
func (d *Doctor) ownHooks(hooks []agentconfig.Hook, a agent,
	mayDeny func(agentconfig.Hook) bool) iter.Seq[agentconfig.Hook] {
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
				d.fail(a.link("hook"), installation.MayDenyWarning(h), a.install(h.Scope))
			}
			if !yield(h) {
				return
			}
		}
	}
}

// isOtherProgram reports whether the hook runs a program other than this one.
// The doctor does not run such programs; the agent does, if its user agrees.
func (d *Doctor) isOtherProgram(h agentconfig.Hook, a agent) bool {
	switch {
	case h.Python:
		d.fail(a.link("hook"),
			fmt.Sprintf("%s has %q: the Python version of the hook; each of the two denies retries that the other lets run", h.Path, h.Line()), otherProgramFix(h, a))
	case h.Via != "":
		d.fail(a.link("hook"), fmt.Sprintf("%s has %q: %s would run it through %s; the doctor did not run it", h.Path,
			h.Line(), a.title, h.Via), otherProgramFix(h, a))
	case !agentconfig.Own(h.Program):
		d.fail(a.link("hook"), fmt.Sprintf("%s has %q: it is not this program; %s would run it, the doctor did not%s",
			h.Path, h.Line(), a.title, missingProgram(h.Program)), otherProgramFix(h, a))
	case h.OtherCommand != "":
		d.note(a.link("hook"), fmt.Sprintf("%s has %q: %s also runs %s; the doctor did not run it", h.Path, h.Line(),
			a.title, h.OtherCommand))
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
		return installation.PythonFix(h)
	}
	if h.Python || h.OtherCommand != "" {
		return "remove the entry from " + h.Path + ", or keep it if you trust it"
	}
	scope := a.option + installation.ScopeOption(h.Scope)
	return "run docsearch uninstall" + scope + " to remove it, then docsearch install" + scope + " to add this program"
}

// sampleQuery returns a heading of the first indexed database, a web search
// that the database should answer, and the URL of that page. The query is "" if no
// database is indexed, and the URL is "" if the page has none.
func (d *Doctor) sampleQuery(ctx context.Context) (query, url string) {
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
func (d *Doctor) testHook(ctx context.Context, query string) bool {
	o, err := d.runHook(ctx, "WebSearch", map[string]any{"query": query})
	took := o.Took.Round(time.Millisecond)
	switch {
	case err != nil:
		d.fail("hook", usererror.Message(err), "docsearch install")
		return false
	case o.Stderr != "":
		d.fail("hook", FirstLine(o.Stderr), "run DOCSEARCH_DEBUG=1 docsearch hook to see each step")
	case o.Decision == "deny":
		d.ok("hook", "denied a search for %q in %s: %s", query, took, FirstLine(o.Reason))
	default:
		d.ok("hook", "did not deny a search for %q (%s): no result reached the confidence threshold", query, took)
	}
	return true
}

// testPermission checks that the hook lets docsearch's own tool run without a
// permission prompt.
func (d *Doctor) testPermission(ctx context.Context) {
	tool := d.config.Server(os.Getenv).Search
	o, err := d.runHook(ctx, tool, map[string]any{"query": "x"})
	switch {
	case err != nil:
		d.fail("hook", usererror.Message(err), "docsearch install")
	case o.Decision != "allow":
		d.fail("hook", "does not allow "+tool+", so Claude Code asks for permission each time", "docsearch install")
	default:
		d.ok("hook", "allows %s", tool)
	}
}

// runHook runs this program as a hook, the way Claude Code runs the command
// that install adds.
func (d *Doctor) runHook(ctx context.Context, tool string, input any) (agentconfig.Outcome, error) {
	return runHookCommand(ctx, agentconfig.Shell, func(cmd *exec.Cmd) (agentconfig.Outcome, error) {
		return agentconfig.RunHook(cmd, map[string]any{
			"hook_event_name": "PreToolUse", "session_id": "doctor", "tool_name": tool, "tool_input": input,
		})
	})
}

// runHookCommand runs the command of a hook that is this program, with an empty state.
func runHookCommand(ctx context.Context, command func(ctx context.Context, program string) *exec.Cmd,
	run func(cmd *exec.Cmd) (agentconfig.Outcome, error)) (agentconfig.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, CheckTimeout)
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
func (d *Doctor) runServers(ctx context.Context) {
	if d.claude.CLI {
		d.checkCLI()
	}
	if len(d.installed.Servers) == 0 && !d.claude.CLI {
		d.fail("server", "Claude Code has no MCP server "+d.claude.Server, "docsearch install")
	}
	for _, s := range d.installed.Servers {
		d.checkServer(ctx, s, claudeAgent, "claude mcp remove "+s.Name+", if you no longer need it")
	}
}

// checkCLI checks that the agent has the skill in the scopes whose hook names the command line,
// and not the server, too.
func (d *Doctor) checkCLI() {
	for _, s := range []agentconfig.Scope{agentconfig.User, agentconfig.Project} {
		fix := "docsearch install --cli" + installation.ScopeOption(s)
		switch {
		case !d.claude.HasCLI(s):
		case !d.claude.HasSkill(s):
			d.fail("skill", "denials name the command docsearch search, but "+d.claude.Skill(s)+" is missing", fix)
		case slices.ContainsFunc(d.installed.Servers, func(o agentconfig.Server) bool { return o.Ours && o.Scope == s }):
			d.fail("skill", "denials name the command docsearch search, but Claude Code also has the MCP server "+
				d.claude.Server, fix)
		default:
			d.ok("skill", "%s tells the agent about the command docsearch search", d.claude.Skill(s))
		}
	}
}

// checkServer runs a configured server if it is this program. remove is how to
// remove another program's server.
func (d *Doctor) checkServer(ctx context.Context, s agentconfig.Server, a agent, remove string) {
	line := strings.Join(append([]string{s.Command}, s.Args...), " ")
	switch {
	case !s.Ours:
		d.failOtherProgram(s, a, line, remove)
	case !agentconfig.Own(s.Command):
		d.failOtherProgram(s, a, line, a.install(s.Scope))
	case s.Scope == agentconfig.Project && !slices.Equal(s.Args, []string{"serve"}):
		d.note(a.link("server"),
			fmt.Sprintf("%s has the server %s with arguments from the project: %q; the doctor did not run it", s.Path,
				s.Name, line))
	default:
		d.runServer(ctx, s, a)
	}
}

// failOtherProgram reports that a server is a different program.
func (d *Doctor) failOtherProgram(s agentconfig.Server, a agent, line, remedy string) {
	d.fail(a.link("server"),
		fmt.Sprintf("%s has the server %s, %q: it is not this program; %s would run it, the doctor did not%s", s.Path,
			s.Name, line, a.title, missingProgram(s.Command)), remedy)
}

func (d *Doctor) runServer(ctx context.Context, s agentconfig.Server, a agent) {
	ctx, cancel := context.WithTimeout(ctx, CheckTimeout)
	defer cancel()
	program, err := os.Executable()
	if err != nil {
		d.fail(a.link("server"), usererror.Message(err), "")
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
		d.fail(a.link("server"), fmt.Sprintf("denials name the tool %s, but the server in %s does not have it", want,
			s.Path), "check hook.mcp_tool_name in the config, then run "+a.install(s.Scope))
		return
	}
	if _, err := session.Call(ctx, "list_databases", map[string]any{}); err != nil {
		d.fail(a.link("server"), usererror.Message(err), "run DOCSEARCH_DEBUG=1 docsearch serve to see the log")
		return
	}
	d.ok(a.link("server"), "%s responded in %s; tools: %s", session.Server, session.Took.Round(time.Millisecond),
		strings.Join(session.Tools, ", "))
}

func (d *Doctor) ok(link, format string, args ...any) {
	d.show(manage.Check{Status: manage.CheckOK, Name: link, Text: fmt.Sprintf(format, args...)})
}

func (d *Doctor) note(link, message string) {
	d.show(manage.Check{Status: manage.CheckNote, Name: link, Text: message})
}

func (d *Doctor) fail(link, problem, fix string) {
	d.Failures++
	d.show(manage.Check{Status: manage.CheckFailed, Name: link, Text: problem, Fix: fix})
}

// FirstLine returns the first line of a text.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// checkProject checks that the direct dependencies of the project in the working directory
// have databases of their versions. Not all need one, so it only reports them.
func (d *Doctor) checkProject() {
	if _, err := library.Registrations(d.locations); err != nil {
		d.fail("project", usererror.Message(err), "remove the file, then run docsearch setup --project in the project")
	}
	p, err := project.Read(".", config.Home(os.Getenv))
	if err != nil || len(p.Direct()) == 0 {
		return
	}
	for _, problem := range p.Problems {
		d.note("project", problem)
	}
	var missing, other []string
	documented := 0
	databases := make(map[string]string) // name to dependency
	for _, u := range Uses(p, d.config.Databases) {
		switch {
		case u.Database == "":
			missing = append(missing, u.Package)
		case !u.Matches:
			other = append(other, fmt.Sprintf("%s %s (the database has %s)", u.Package, u.Version, u.Documents))
		default:
			documented++
			databases[u.Database] = u.Package
		}
	}
	if documented == 0 && len(other) == 0 {
		d.note("project", fmt.Sprintf("no database for its %s; to set them up, run docsearch setup --project",
			humanize.Count(len(p.Direct()), "package")))
		return
	}
	d.ok("project", "%d of %d direct dependencies have a database of their version", documented, len(p.Direct()))
	if len(other) > 0 {
		d.note("project", "other versions: "+listSome(other)+"; run docsearch update --project")
	}
	if len(missing) > 0 {
		d.note("project", "no database: "+listSome(missing)+"; run docsearch setup --project")
	}
	if silent := d.unanswering(databases); len(silent) > 0 {
		d.note("project", "no web search answered in the last 30 days: "+listSome(silent)+"; run docsearch stats")
	}
}

// unanswering returns the dependencies whose databases matched web searches of the last 30
// days and answered none.
func (d *Doctor) unanswering(databases map[string]string) []string {
	s, err := activity.Read(eventlog.Log{Dir: d.locations.State}, time.Now().Add(-RecentPeriod))
	if err != nil {
		return nil // reported with the state folder
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(databases)) {
		if c := s.Databases[name]; c[eventlog.Unanswered] > 0 && c[eventlog.Answered]+c[eventlog.Redirected] == 0 {
			list = append(list, databases[name])
		}
	}
	return list
}

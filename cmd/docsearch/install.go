package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
)

func newInstallCommand(a *app) *cobra.Command {
	i := &installCommand{app: a, scope: agentconfig.User}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Add the hook and the MCP server to your agents' settings",
		Long: `Add the hook and the MCP server to the settings of Claude Code and other agents.

At a terminal, install asks about each agent that it finds on this machine. To
select agents, pass --client with their names, or --client all for all that are
found. docsearch's tests do not run the untested ones.

  tested    claude, cline, codex, copilot, droid, gemini, grok, kilo, opencode, qwen
  untested  amp, antigravity, auggie, crush, cursor, devin, goose, kiro, vscode,
            windsurf, zed

In Claude Code, the hook is added to settings.json, and the server to the list of
MCP servers:

  scope    hook                          server                       for
  user     ~/.claude/settings.json       ~/.claude.json               you, everywhere
  project  .claude/settings.json         .mcp.json                    everyone in the project
  local    .claude/settings.local.json   ~/.claude.json (projects)    you, in this project

The files of other agents are in docs/agents.md. They have no local scope.

Install backs up each file next to it and changes nothing else in it. If you
move the docsearch binary, run install again.

In Claude Code 2.1.328 and later, a hooks module returns answers as results of web
searches, not as denied calls. Install offers it in the user scope, --yes accepts it,
and --modules=false removes it.

With --cli, Claude Code gets no MCP server but a skill, skills/docsearch-cli, and a
permission for the command docsearch search, which denials then name. Later installs
keep that; --cli=false adds the server again.

Install replaces the Python version of the hook, docsearch.py, in Claude Code's
settings: both together keep retries from running. It moves the entries to
settings.json.replaced-by-docsearch, and uninstall puts them back.

At a terminal, install asks whether Claude Code may call docsearch's search and read
tools without a prompt, also where hooks are off; --yes permits them. The rules go to
permissions.allow of the settings, never into the project scope.

In Claude Code's user and local scopes, the hook is registered only for the tools
that the config and the rules need. In the project scope it is registered for all
tools, because each person has another config.`,
		Example: `  docsearch install
  docsearch install --client codex,gemini --dry-run
  docsearch install --client all`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i.keepsCLI = !cmd.Flags().Changed("cli")
			i.choosesModules = !cmd.Flags().Changed("modules")
			return i.run(cmd.Context())
		},
	}
	cmd.Flags().SortFlags = false
	clientFlag(cmd.Flags(), &i.clients, "install in `CLIENTS`, separated by commas, or all (default: ask)")
	cmd.Flags().Var(&i.scope, "scope", "install for `SCOPE`: user, project, or local")
	cmd.Flags().StringVar(&i.program, "command", "", "use the docsearch binary at `PATH` (default: this binary)")
	cmd.Flags().BoolVar(&i.cli, "cli", false,
		"add a skill and the command line, no MCP server (Claude Code, scopes user and project)")
	cmd.Flags().BoolVar(&i.modules, "modules", false,
		"show answers as results, not as denied calls (Claude Code 2.1.328 and later, scope user; default: ask)")
	cmd.Flags().BoolVar(&i.dryRun, "dry-run", false, "print the changes as a diff and do not write them")
	cmd.Flags().BoolVarP(&i.yes, "yes", "y", false, "install in all tested agents on this machine without asking")
	cmd.Flags().BoolVar(&i.refresh, "refresh", false, "add the hook entries that the config needs (run by the hook)")
	cobra.CheckErr(cmd.Flags().MarkHidden("refresh"))
	completeScopes(cmd)
	completeClients(cmd)
	return cmd
}

// An installCommand adds docsearch to the settings of agents.
type installCommand struct {
	*app
	clients []string
	scope   agentconfig.Scope
	program string
	cli     bool
	modules bool
	dryRun  bool
	yes     bool
	refresh bool

	keepsCLI       bool // an installation for the command line stays one
	choosesModules bool // --modules is not on the command line
}

func (i *installCommand) run(ctx context.Context) error {
	switch {
	case i.refresh:
		return i.widenEntries(ctx)
	case i.modules && i.scope != agentconfig.User:
		return usagef("--modules needs --scope user: Claude Code loads the module from your own settings")
	case i.cli && i.scope == agentconfig.Local:
		return usagef("--cli needs --scope user or project: Claude Code has no skills of the scope local")
	case i.cli && len(i.clients) == 0:
		i.clients = []string{"claude"}
	}
	claude, places, err := installation.Agents()
	if err != nil {
		return err
	}
	clients, err := i.clientsToInstall(ctx, places, i.clients, i.yes, !i.dryRun && i.scope != agentconfig.Local)
	if err != nil {
		return err
	}
	if i.cli && slices.ContainsFunc(clients, func(c *agentconfig.Client) bool { return !c.IsClaude() }) {
		return usagef("--cli needs --client claude: docsearch adds no skill to other agents")
	}
	program, err := i.checkedProgram()
	if err != nil {
		return err
	}
	err = i.eachClient(clients, func(c *agentconfig.Client) error {
		if c.IsClaude() {
			return i.installClaude(ctx, claude, program)
		}
		return i.installOther(c, places, i.scope, program, i.dryRun)
	})
	if err != nil || i.dryRun {
		return err
	}
	if len(i.clients) == 0 && i.scope != agentconfig.Local {
		i.mentionOthers(places, clients)
	}
	i.proposeSetup()
	return nil
}

// checkedProgram returns the program to write.
func (i *installCommand) checkedProgram() (program agentconfig.Program, err error) {
	switch path := i.program; {
	case path == "":
		program, err = i.programFor(i.scope, i.dryRun)
	case library.IsPath(path):
		path, err = filepath.Abs(path)
		program = agentconfig.ProgramAt(path)
	default:
		program = agentconfig.ProgramAt(path)
	}
	if err != nil || i.dryRun && program.Path == config.ProgramPath(os.Getenv) {
		return program, err // the copy may not exist yet
	}
	if err := agentconfig.CheckProgram(program.Path); err != nil {
		return program, withHint(err, "pass --command with the path of a docsearch binary")
	}
	return program, nil
}

// installClaude installs docsearch in Claude Code.
func (i *installCommand) installClaude(
	ctx context.Context, claude *agentconfig.Claude, program agentconfig.Program,
) error {
	claude.Version = agentconfig.VersionOnPath(ctx, config.Locate(os.Getenv).Cache)
	locations := config.Locate(os.Getenv)
	claude.Coverage = installation.Coverage(locations)
	claude.CLI = i.cli || i.keepsCLI && claude.HasCLI(i.scope)
	replaced, err := installation.ReplacePython(claude)
	if err != nil {
		return err
	}
	if claude.Permit, err = i.permitsTools(ctx, claude); err != nil {
		return err
	}
	plan, err := claude.Install(i.scope, program)
	if err != nil {
		return explainInstall(err)
	}
	dropped, err := claude.Replaced(i.scope)
	if err != nil {
		return err
	}
	if i.scope == agentconfig.User {
		added, removed, err := i.planModule(ctx, claude, program)
		if err != nil {
			return err
		}
		plan, dropped = append(plan, added...), append(dropped, removed...)
	}
	if i.dryRun {
		return i.showPlan(slices.Concat(replaced, dropped, plan))
	}
	if err := i.applyPlan(replaced, "moved %s: %s"); err != nil {
		return err
	}
	if err := i.applyPlan(dropped, "removed %s from %s"); err != nil {
		return err
	}
	if len(plan)+len(replaced)+len(dropped) == 0 {
		fmt.Fprintf(i.stdout, "docsearch is already installed for %s; no files changed\n", scopeAudience(i.scope))
	}
	if err := i.applyPlan(plan, "added %s to %s"); err != nil {
		return err
	}
	if claude.Permit {
		fmt.Fprintf(i.stdout, "permitted docsearch's search and read tools in %s\n", claude.Settings(i.scope))
	}
	if i.scope == agentconfig.User {
		if err := installation.RecordEntries(locations, &claude.Coverage); err != nil {
			i.warn("%v", err)
		}
	}
	if len(plan)+len(replaced)+len(dropped) > 0 {
		fmt.Fprintf(i.stdout, "docsearch is installed for %s; new sessions use it\n", scopeAudience(i.scope))
	}
	i.warnAboutInstallation(installation.Find(claude))
	if i.scope == agentconfig.Project && !claude.CLI {
		fmt.Fprintln(i.stdout, "Claude Code asks each user once to approve the project's MCP server")
	}
	return nil
}

// planModule plans the changes of the hooks module: it stays installed, and is offered for the
// versions of Claude Code that run it.
func (i *installCommand) planModule(
	ctx context.Context, claude *agentconfig.Claude, program agentconfig.Program,
) (added, removed []*agentconfig.Change, err error) {
	wanted := i.modules || claude.Module() != ""
	switch {
	case !i.choosesModules && !i.modules:
		removed, err = claude.UninstallModule()
		return nil, removed, err
	case i.choosesModules && !wanted && claude.KnownModules():
		wanted, err = i.offer(ctx, "Show answers as results of web searches, not as denied calls?")
	}
	if err != nil || !wanted {
		return nil, nil, err
	}
	if !claude.HasModules() {
		i.warn("this version of Claude Code ignores the hooks module: want 2.1.328 or later")
	}
	added, err = claude.InstallModule(program)
	return added, nil, err
}

// permitsTools reports whether the user wants to permit the tools that only read in Claude
// Code's settings.
func (i *installCommand) permitsTools(ctx context.Context, claude *agentconfig.Claude) (bool, error) {
	if i.scope == agentconfig.Project || claude.HasPermissions(i.scope) {
		return false, nil // a team decides about its own rules
	}
	return i.offer(ctx, "Let Claude Code use docsearch's search and read tools without asking, also when hooks are off?")
}

// offer asks a question. Without a terminal, only --yes says yes.
func (i *installCommand) offer(ctx context.Context, question string) (bool, error) {
	prompter := terminal.NewPrompter(i.stdin, i.stderr)
	if i.yes || i.dryRun || prompter == nil {
		return i.yes, nil
	}
	return prompter.Confirm(ctx, question, true)
}

// programFor returns the program to write into the files of a scope. Files that go
// into a repository contain only the name docsearch if that resolves to this program:
// a path of this machine is useless on others, which may not have docsearch-hook.
func (a *app) programFor(scope agentconfig.Scope, dryRun bool) (agentconfig.Program, error) {
	path, err := agentconfig.Executable()
	if errors.Is(err, agentconfig.ErrTemporary) {
		err = withHint(err, "run go install to build a permanent binary, or pass --command PATH")
	}
	program := agentconfig.ProgramAt(path)
	if err == nil && agentconfig.InCache(path) {
		program, err = a.copyProgram(program, dryRun)
	}
	if err != nil || scope != agentconfig.Project {
		return program, err
	}
	if _, ok := agentconfig.OnPath(program.Path); ok {
		return agentconfig.ProgramAt("docsearch"), nil
	}
	a.warn("%s exists only on this machine; to share the settings, add docsearch to PATH and run docsearch install again",
		program.Path)
	return program, nil
}

// copyProgram copies a program that its package manager may remove to the data folder
// and returns the copy. A dry run does not copy.
func (a *app) copyProgram(program agentconfig.Program, dryRun bool) (agentconfig.Program, error) {
	to := program.CopyAt(config.ProgramPath(os.Getenv))
	switch {
	case to.Path == "":
		err := fmt.Errorf("cannot install %s: its package manager may remove it, and there is no data folder for a copy",
			program.Path)
		return to, withHint(err, "run npm install -g docsearch-cli")
	case dryRun:
		fmt.Fprintf(a.stdout, "would copy the program to %s, because its package manager may remove %s\n", to.Path,
			program.Path)
		return to, nil
	}
	if err := program.Copy(to); err != nil {
		return to, err
	}
	fmt.Fprintf(a.stdout, "copied the program to %s, because its package manager may remove %s\n", to.Path, program.Path)
	return to, nil
}

// explainInstall adds a hint to the error about a settings file that Claude
// Code ignores, in which an entry would have no effect.
func explainInstall(err error) error {
	var ignored *agentconfig.IgnoredError
	if !errors.As(err, &ignored) {
		return err
	}
	return withHint(fmt.Errorf("cannot install: %w", err), "fix line %d of %s, then run the same command again",
		ignored.Line, quoteArgument(ignored.Path))
}

// proposeSetup prints the command that adds a database if there is none.
func (a *app) proposeSetup() {
	if r, err := load.Load(config.Locate(os.Getenv)); err == nil && len(r.Config.Databases) == 0 {
		fmt.Fprintf(a.stdout,
			"next: run docsearch setup NAME or docsearch setup KEYWORD SOURCE to build a database and add it to %s "+
				"(docsearch recipes list prints the names)\n", r.Path)
	}
}

func (a *app) showPlan(plan []*agentconfig.Change) error {
	if len(plan) == 0 {
		fmt.Fprintln(a.stdout, "no changes")
	}
	for _, change := range plan {
		if _, err := fmt.Fprint(a.stdout, change.Diff()); err != nil {
			return err
		}
	}
	return nil
}

// applyPlan makes the changes and prints each with its subject and file.
func (a *app) applyPlan(plan []*agentconfig.Change, format string) error {
	for _, change := range plan {
		if err := a.applyChange(change, "change %[2]s", format); err != nil {
			return err
		}
	}
	return nil
}

// applyChange makes a change and prints it. The formats for a failure and for success get
// its subject and file.
func (a *app) applyChange(change *agentconfig.Change, failure, success string) error {
	backup, err := change.Apply()
	if err != nil {
		return fmt.Errorf("cannot %s: %w", fmt.Sprintf(failure, change.Subject, change.Path), err)
	}
	fmt.Fprintf(a.stdout, success+"\n", change.Subject, change.Path)
	if change.Removes() {
		fmt.Fprintln(a.stdout, "  removed the file: it had no other content")
	}
	if backup != "" {
		fmt.Fprintf(a.stdout, "  backup: %s\n", backup)
	}
	return nil
}

// warn prints a warning that does not stop the command.
func (a *app) warn(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = userMessage(err)
		}
	}
	fmt.Fprintf(a.stderr, "docsearch: warning: "+format+"\n", args...)
}

// scopeAudience returns whom a scope affects.
func scopeAudience(scope agentconfig.Scope) string {
	return map[agentconfig.Scope]string{
		agentconfig.User: "you in every project", agentconfig.Project: "everyone in this project",
		agentconfig.Local: "you in this project",
	}[scope]
}

func completeScopes(cmd *cobra.Command) {
	names := collect(agentconfig.Scopes, func(s agentconfig.Scope) string { return string(s) })
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("scope",
		cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
}

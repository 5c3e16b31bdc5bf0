package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/doctor"
)

// installClients installs the hook and the server in Claude Code and in the other
// agents on this machine, if they are missing and the user agrees.
func (s *setupCommand) installClients(ctx context.Context) error {
	claude, places, err := installation.Agents()
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(foundClients(places), (*agentconfig.Client).IsClaude)
	s.Step("Connect your agents")
	fmt.Fprintln(s.stdout)
	if in := claude.Installed(); s.usesClaude || len(in.Hooks) > 0 ||
		!slices.ContainsFunc(others, func(c *agentconfig.Client) bool { return c.Tested }) {
		if err := s.installClaude(ctx, claude); err != nil {
			return err
		}
	}
	for _, c := range others {
		if err := s.installOther(ctx, c, places); err != nil {
			return err
		}
	}
	return nil
}

// installOther installs docsearch in a client other than Claude Code if the user
// agrees. A failure does not stop setup.
func (s *setupCommand) installOther(ctx context.Context, c *agentconfig.Client, p *agentconfig.Places) error {
	if in := c.Installed(p); len(in.Servers) > 0 {
		s.connected = true
		fmt.Fprintf(s.stdout, "docsearch is installed in %s: %s\n", c.Title, in.Servers[0].Path)
		return nil
	}
	wanted := !s.noInstall && c.Tested && (s.yes || s.install)
	if s.prompter != nil && !s.install && !s.noInstall {
		var err error
		if wanted, err = s.prompter.Confirm(ctx, installQuestion(c), c.Tested); err != nil {
			return err
		}
	}
	if !wanted {
		fmt.Fprintf(s.stdout, "not installed in %s; to install later, run: docsearch install --client %s\n", c.Title, c.Name)
		return nil
	}
	program, err := s.programFor(agentconfig.User, false)
	if err == nil {
		err = s.app.installOther(c, p, agentconfig.User, program, false)
	}
	if err != nil {
		s.warn("not installed in %s: %v", c.Title, err)
		return nil
	}
	s.connected = true
	s.created = append(s.created, "the hook and the MCP server in the settings of "+c.Title)
	if !slices.Contains(s.undoCommands, "docsearch uninstall") {
		s.undoCommands = append(s.undoCommands, "docsearch uninstall")
	}
	return nil
}

// installClaude installs the hook and the server in Claude Code if they are
// missing and the user agrees.
func (s *setupCommand) installClaude(ctx context.Context, claude *agentconfig.Claude) error {
	if path := claude.HooksDisabled(); path != "" {
		s.warn("%s turns all hooks off; remove \"disableAllHooks\" from it", path)
	}
	in := installation.Find(claude)
	if sources := in.Sources(claude); sources != "" {
		if err := s.replacePython(claude); err != nil {
			return err
		}
		s.connected = true
		what := "the hook and the MCP server"
		if claude.CLI {
			what = "the hook and the skill"
		}
		fmt.Fprintf(s.stdout, "%s are installed: %s\n", what, sources)
		s.refreshHook(ctx)
		s.warnAboutInstallation(installation.Find(claude))
		return nil
	}
	wanted, err := s.wantsInstall(ctx)
	if err != nil {
		return err
	}
	if !wanted {
		fmt.Fprintln(s.stdout, "not installed; to install later, run: docsearch install")
		return nil
	}
	program, err := s.programFor(agentconfig.User, false)
	if err != nil {
		s.warn("not installed: %v", err)
		return nil
	}
	if err := s.replacePython(claude); err != nil {
		return err
	}
	claude.Version = agentconfig.VersionOnPath(ctx, config.Locate(os.Getenv).Cache)
	claude.Coverage = installation.Coverage(s.locations)
	changes, err := claude.Install(agentconfig.User, program)
	if _, ok := errors.AsType[*agentconfig.IgnoredError](err); ok {
		s.warn("not installed: %v; fix the file, then run docsearch install", err)
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.applyPlan(changes, "added %s to %s"); err != nil {
		return err
	}
	if err := installation.RecordEntries(s.locations, &claude.Coverage); err != nil {
		s.warn("%v", err)
	}
	fmt.Fprintln(s.stdout, "new sessions use it")
	s.warnAboutInstallation(installation.Find(claude))
	s.connected = true
	s.created = append(s.created, "the hook and the MCP server in Claude Code's settings")
	s.undoCommands = append(s.undoCommands, "docsearch uninstall")
	return nil
}

// replacePython removes the Python version of the hook.
func (s *setupCommand) replacePython(claude *agentconfig.Claude) error {
	changes, err := installation.ReplacePython(claude)
	if err != nil {
		return err
	}
	return s.applyPlan(changes, "moved %s: %s")
}

func (s *setupCommand) wantsInstall(ctx context.Context) (bool, error) {
	switch {
	case s.install:
		return true, nil
	case s.noInstall:
		return false, nil
	case s.prompter == nil:
		return s.yes && s.usesClaude, nil
	}
	return s.prompter.Confirm(ctx, "Add the hook and the MCP server to Claude Code's settings?", s.usesClaude)
}

// testSearch runs a search through the hook and the server.
func (s *setupCommand) testSearch(ctx context.Context) error {
	s.Step("Run a test search")
	query, confident, err := s.evidence.Question(ctx, s.plan.Dir, s.entry.Keyword(), s.entry.QueryNames())
	if err != nil {
		return err
	}
	s.WebSearch(query)
	o, err := doctor.TryHook(ctx, query)
	if err != nil {
		return withHint(fmt.Errorf("cannot run the hook: %w", err), "run docsearch doctor to check the installation")
	}
	took := o.Took.Round(time.Millisecond)
	switch {
	case o.Decision == "deny":
		s.Text(fmt.Sprintf("The hook denied it in %s and returned the answer:", took))
		s.Quote(o.Reason, 10)
		s.warnSlow(o.Took)
	case s.entry.Mode == config.ModeOff || s.entry.Mode == config.ModeAdvise:
		s.Text(fmt.Sprintf("The hook let the test search run (%s): the mode of %s is %q.", took, s.entry.Name, s.entry.Mode))
	case o.Stderr != "":
		return withHint(fmt.Errorf("the hook did not deny the test search: %s",
			strings.TrimPrefix(doctor.FirstLine(o.Stderr), "docsearch: ")), "run docsearch doctor to check the installation")
	case confident:
		return withHint(errors.New("the hook did not deny the test search, although the database answers it"),
			"run DOCSEARCH_DEBUG=1 docsearch hook to see each step")
	default:
		s.Text(fmt.Sprintf("The hook let the test search run (%s): no result reached the confidence threshold. The agent "+
			"can still call the search tool:", took))
	}
	return s.callServer(ctx, query)
}

// warnSlow warns of a test search that an agent's hook would not have answered in
// time.
func (s *setupCommand) warnSlow(took time.Duration) {
	r, err := load.Load(s.locations)
	if err != nil {
		return // another step reports it
	}
	if limit := time.Duration(r.Config.Hook.TimeoutMS) * time.Millisecond; took > limit {
		s.warn("the hook took longer than its timeout of %s, after which a web search runs as usual; the next search is "+
			"usually faster", limit)
	}
}

// callServer searches for the same query through the server.
func (s *setupCommand) callServer(ctx context.Context, query string) error {
	answer, took, err := doctor.TryServer(ctx, query, s.entry.Name)
	if err != nil {
		return err
	}
	s.Text(fmt.Sprintf("The server's search tool returned in %s:", took.Round(time.Millisecond)))
	s.Quote(answer, 12)
	return nil
}

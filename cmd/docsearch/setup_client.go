package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
)

// connect installs the hook and the server where they are not, if the user
// wants it.
func (s *setupCommand) connect(ctx context.Context) error {
	s.step("Connect Claude Code")
	fmt.Fprintln(s.stdout)
	claude, err := s.claude()
	if err != nil {
		return err
	}
	if path := claude.HooksDisabled(); path != "" {
		s.warn("%s switches all hooks off: take \"disableAllHooks\" out of it", path)
	}
	in := findInstalled(claude)
	if where := in.where(claude); where != "" {
		fmt.Fprintf(s.stdout, "the hook and the MCP server are installed: %s\n", where)
		s.warnOf(in)
		return nil
	}
	wanted, err := s.wantsInstall(ctx)
	if err != nil {
		return err
	}
	if !wanted {
		fmt.Fprintln(s.stdout, "not installed; docsearch install does it any time")
		return nil
	}
	program, err := s.programFor(agentconfig.User)
	if err != nil {
		s.warn("not installed: %v", err)
		return nil
	}
	claude.Version = agentconfig.VersionOnPath(ctx)
	changes, err := claude.Install(agentconfig.User, program)
	var ignored *agentconfig.IgnoredError
	if errors.As(err, &ignored) {
		s.warn("not installed: %v; correct the file, then run docsearch install", err)
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.applyPlan(changes, "put %s into %s"); err != nil {
		return err
	}
	fmt.Fprintln(s.stdout, "sessions that start from now on have it")
	s.warnOf(findInstalled(claude))
	s.done = append(s.done, "the hook and the MCP server in Claude Code's settings")
	s.undo = append(s.undo, "docsearch uninstall")
	return nil
}

// where says where Claude Code has both the hook and the server from; "" if it
// lacks one of them, or the program that they name is gone.
func (in *installation) where(claude *agentconfig.Claude) string {
	if in.plugin != "" {
		return in.plugin
	}
	if len(in.Servers) == 0 {
		return ""
	}
	for _, tool := range claude.Watched() {
		if !agentconfig.Heard(in.Hooks, tool) {
			return ""
		}
	}
	var programs []string
	for _, h := range in.Hooks {
		if h.Via == "" {
			programs = append(programs, h.Program)
		}
	}
	for _, server := range in.Servers {
		programs = append(programs, server.Command)
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return ""
		}
	}
	return strings.Join(pathsOf(in.Hooks), ", ")
}

func (s *setupCommand) wantsInstall(ctx context.Context) (bool, error) {
	switch {
	case s.install:
		return true, nil
	case s.noInstall:
		return false, nil
	case s.asker == nil:
		return s.yes && s.usesClaude, nil
	}
	return s.asker.agree(ctx, "Put the hook and the MCP server into Claude Code's settings?", s.usesClaude)
}

// usesClaude reports whether the user has Claude Code.
func usesClaude(a *app) bool {
	if _, err := exec.LookPath("claude"); err == nil {
		return true
	}
	claude, err := a.claude()
	if err != nil {
		return false
	}
	for _, path := range []string{claude.Settings(agentconfig.User), claude.Servers(agentconfig.User)} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// try sends a search of its own through the hook and the server.
func (s *setupCommand) try(ctx context.Context) error {
	s.step("Try it")
	query, sure, err := s.evidence.Question(ctx, s.plan.dir, s.entry.Keyword(), append([]string{s.entry.Name}, s.entry.Keywords...))
	if err != nil {
		return err
	}
	s.webSearch(query)
	o, err := s.runHook(ctx, query)
	if err != nil {
		return withHint(fmt.Errorf("run the hook: %w", err), "docsearch doctor follows the chain")
	}
	took := o.Took.Round(time.Millisecond)
	switch {
	case o.Decision == "deny":
		s.say(fmt.Sprintf("The hook denies it in %s, with the answer:", took))
		s.quote(o.Reason, 10)
	case s.entry.Mode == config.ModeOff || s.entry.Mode == config.ModeAdvise:
		s.say(fmt.Sprintf("The hook lets it through in %s: the mode of %s is %q.", took, s.entry.Name, s.entry.Mode))
	case o.Stderr != "":
		return withHint(fmt.Errorf("the hook let it through: %s", firstLine(o.Stderr)), "docsearch doctor follows the chain")
	case sure:
		return withHint(errors.New("the hook let it through, and the database has an answer"), "DOCSEARCH_DEBUG=1 docsearch hook tells each step of its decision")
	default:
		s.say(fmt.Sprintf("The hook lets it through in %s: the database is not sure enough of any of its headings to answer in the web's place. The agent can ask it all the same:", took))
	}
	return s.ask(ctx, query)
}

func (s *setupCommand) runHook(ctx context.Context, query string) (agentconfig.Outcome, error) {
	state, err := os.MkdirTemp("", "docsearch-setup-")
	if err != nil {
		return agentconfig.Outcome{}, err
	}
	defer os.RemoveAll(state)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, err := s.docsearch(ctx, "hook")
	if err != nil {
		return agentconfig.Outcome{}, err
	}
	cmd.Env = append(os.Environ(), "DOCSEARCH_STATE_DIR="+state)
	return agentconfig.RunHook(cmd, map[string]any{
		"session_id": "setup", "hook_event_name": "PreToolUse", "tool_name": "WebSearch",
		"tool_input": map[string]string{"query": query},
	})
}

// ask asks the server the same question.
func (s *setupCommand) ask(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, err := s.docsearch(ctx, "serve")
	if err != nil {
		return err
	}
	session, err := agentconfig.StartServer(ctx, func(context.Context) *exec.Cmd { return cmd })
	if err != nil {
		return withHint(fmt.Errorf("start the MCP server: %w", err), "docsearch doctor follows the chain")
	}
	defer session.Close()
	start := time.Now()
	answer, err := session.Call(ctx, "search", map[string]any{"query": query, "database": s.entry.Name, "top_k": 3})
	if err != nil {
		return err
	}
	s.say(fmt.Sprintf("The server's search tool finds in %s:", time.Since(start).Round(time.Millisecond)))
	s.quote(answer, 12)
	return nil
}

// docsearch is this program with other arguments.
func (s *setupCommand) docsearch(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Args[0] = "docsearch"
	return cmd, nil
}

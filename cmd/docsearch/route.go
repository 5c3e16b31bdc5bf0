package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/rules"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

func newRouteCommand(a *app) *cobra.Command {
	var files []string
	cmd := group(&cobra.Command{
		Use:   "route",
		Short: "List, check, and test tool rules",
		Long: `List, check, and test tool rules: the rules in the config file, in the files that
route_files and TOOL_ROUTING_ROUTES name, in the project of the working directory,
and in Claude Code's plugins.`,
	})
	cmd.PersistentFlags().StringArrayVar(&files, "file", nil, "use only the rules in `FILE` (repeatable)")
	rules := func() (*load.Routes, error) {
		routes, _, err := a.loadRules(files)
		return routes, err
	}
	list := func() (*load.Routes, string, error) { return a.loadRules(files) }
	cmd.AddCommand(newRouteListCommand(a, list), newRouteCheckCommand(a, rules),
		a.movedTo("why --tool TOOL CALL", newRouteExplainCommand(a, rules)), newRouteTestCommand(a, rules))
	return cmd
}

// loadRules returns the rules of the files, or without files the rules that apply in this
// folder. It also describes how long these take the hook, and warns of problems.
func (a *app) loadRules(files []string) (routes *load.Routes, duration string, err error) {
	if len(files) > 0 {
		routes = load.LoadRouteFiles(files)
	} else {
		h, err := uncached.ReadHere()
		if err != nil {
			return nil, "", err
		}
		routes, duration = h.Routes, h.Duration()
		for _, p := range h.Config.Problems {
			if strings.HasPrefix(p.Entry, "routes") {
				routes.Problems = append(routes.Problems, "config "+h.Config.Path+": "+p.String())
			}
		}
		if slow := h.Slow(); slow != "" {
			routes.Problems = append(routes.Problems, slow)
		}
	}
	for _, problem := range routes.Problems {
		a.warn("%s", problem)
	}
	return routes, duration, nil
}

// routeCall returns the tool call that the arguments describe: an event as JSON
// from a file or from stdin ("-"), a URL to fetch, or a command to run.
func (a *app) routeCall(text, tool string) (rules.Call, error) {
	if text == "-" || filepath.Ext(text) == ".json" && !strings.ContainsAny(text, " \n") {
		data, err := a.readInput(text)
		if err != nil {
			return rules.Call{}, err
		}
		text = string(data)
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case tool == "" && strings.HasPrefix(trimmed, "{"):
		event, err := event.Parse([]byte(trimmed))
		if err != nil {
			return rules.Call{}, fmt.Errorf("cannot read the event: %w", err)
		}
		return hook.RouteCall(event), nil
	case tool == "" && isURL(trimmed):
		tool, text = "WebFetch", trimmed
	case tool == "":
		tool = "Bash"
	}
	return rules.Call{Tool: tool, Text: text}, nil
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// routeMatcher returns a matcher configured like the hook's.
func (a *app) routeMatcher() *rules.Matcher {
	return &rules.Matcher{Commands: shell.Commands, Fault: a.warn}
}

// ruleJSON is the JSON form of a rule.
type ruleJSON struct {
	Name           string   `json:"name"`
	Origin         string   `json:"origin"`
	Line           int      `json:"line,omitempty"`
	Tools          []string `json:"tools,omitempty"`
	ToolPattern    string   `json:"tool_pattern,omitempty"`
	Pattern        string   `json:"pattern,omitempty"`
	CommandPattern string   `json:"command_pattern,omitempty"`
	Unless         []string `json:"unless,omitempty"`
	Commands       string   `json:"commands,omitempty"`
	Action         string   `json:"action"`
	Message        string   `json:"message,omitempty"`
	Limit          int      `json:"limit,omitempty"`
	Rate           string   `json:"rate,omitempty"`
	Database       string   `json:"database,omitempty"`
	Tests          int      `json:"tests"`
	OverriddenBy   string   `json:"overridden_by,omitempty"` // location of the rule that replaces this one
}

func newRuleJSON(r *config.Rule) ruleJSON {
	j := ruleJSON{
		Name: r.Name, Origin: r.Origin, Line: r.Line, Tools: r.Tools, ToolPattern: r.ToolPattern.Text,
		Pattern: r.Pattern.Text, CommandPattern: r.CommandPattern.Text,
		Action: string(r.Action), Message: r.Message, Limit: r.Limit, Database: r.Database, Tests: len(r.Tests),
	}
	if r.Rate.Calls > 0 {
		j.Rate = r.Rate.String()
	}
	if r.Parsed {
		j.Commands = "parsed"
	}
	for _, p := range r.Unless {
		j.Unless = append(j.Unless, p.Text)
	}
	return j
}

// toolLabel returns the tools that a rule applies to.
func toolLabel(r *config.Rule) string {
	tools := r.Tools
	if r.ToolPattern.Text != "" {
		tools = append(tools[:len(tools):len(tools)], r.ToolPattern.Text)
	}
	if len(tools) == 0 && r.Pattern.Text != "" {
		tools = append(tools, "WebFetch")
	}
	if len(r.Tools) == 0 && r.ToolPattern.Text == "" && r.CommandPattern.Text != "" {
		tools = append(tools, "Bash")
	}
	return strings.Join(tools, ", ")
}

// ruleLocation returns the file and line of a rule.
func ruleLocation(r *config.Rule) string {
	if r.Line == 0 {
		return r.Origin
	}
	return fmt.Sprintf("%s:%d", r.Origin, r.Line)
}

// printEscapedJSON is printJSON with escape sequences for <, > and &.
func (a *app) printEscapedJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

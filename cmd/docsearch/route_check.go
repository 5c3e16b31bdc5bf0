package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/rules"
)

// aboutCalls is what check and explain say of their argument.
const aboutCalls = `
CALL is a shell command, or an address that begins with http:// or https://, or
a hook event as JSON: itself, the name of its file (.json), or - for standard
input. With --tool it is the main argument of that tool, or all its arguments as
JSON where it has no main one.`

func newRouteCheckCommand(a *app, rules func() (*load.Routes, error)) *cobra.Command {
	var tool string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check CALL",
		Short: "Say which rule a tool call meets, and why",
		Long: `Say which rule a tool call meets, and why. The exit code is 1 if the rule denies
the call or asks about it, and 0 if the call goes through.
` + aboutCalls,
		Example: `  docsearch route check 'kubectl get pods'
  docsearch route check https://github.com/cli/cli/pull/42
  docsearch route check --tool mcp__github__create_issue '{"title": "x"}'`,
		Args: oneArgument("a call: a command, a URL, or JSON"),
		RunE: func(_ *cobra.Command, args []string) error {
			call, err := a.routeCall(args[0], tool)
			if err != nil {
				return err
			}
			routes, err := rules()
			if err != nil {
				return err
			}
			return a.checkCall(routes, call, asJSON)
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "", "the `tool` that is called")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkJSON is what check prints as JSON.
type checkJSON struct {
	Action  config.Action `json:"action"`
	Tool    string        `json:"tool"`
	Text    string        `json:"text"`
	Rule    *ruleJSON     `json:"rule,omitempty"`
	Pattern string        `json:"pattern,omitempty"`
	Part    string        `json:"part,omitempty"`
	Matched string        `json:"matched,omitempty"`
	Message string        `json:"message,omitempty"`
}

func (a *app) checkCall(routes *load.Routes, call rules.Call, asJSON bool) error {
	found, err := a.routeMatcher().First(routes.Rules, call)
	if err != nil {
		return err
	}
	action := config.ActionPass
	if found != nil {
		action = found.Rule.Action
	}
	if asJSON {
		out := checkJSON{Action: action, Tool: call.Tool, Text: call.Text}
		if found != nil {
			rule := newRuleJSON(found.Rule)
			out.Rule, out.Part, out.Matched, out.Message = &rule, found.Part, found.Text, found.Message()
			if found.Pattern != nil {
				out.Pattern = found.Pattern.Text
			}
		}
		err = a.printJSON(out)
	} else {
		err = a.printCheck(routes, call, found)
	}
	if err == nil && (action == config.ActionDeny || action == config.ActionAsk) {
		return exitStatus(exitFailure)
	}
	return err
}

func (a *app) printCheck(routes *load.Routes, call rules.Call, found *rules.Match) error {
	if found == nil {
		_, err := fmt.Fprintf(a.stdout, "pass: none of %s matches this call of %s\n", count(len(routes.Rules), "rule"), call.Tool)
		return err
	}
	r := found.Rule
	var b strings.Builder
	fmt.Fprintf(&b, "%s: rule %s\n", r.Action, r.Name)
	fmt.Fprintf(&b, "  from     %s\n", place(r))
	fmt.Fprintf(&b, "  tool     %s\n", call.Tool)
	if found.Pattern != nil {
		fmt.Fprintf(&b, "  pattern  %s\n", found.Pattern.Text)
		fmt.Fprintf(&b, "  matches  %s\n", found.Text)
	}
	if found.Part != call.Text {
		fmt.Fprintf(&b, "  in       %s\n", found.Part)
	}
	if r.Limit > 0 {
		fmt.Fprintf(&b, "  limit    %s in a session, then it warns\n", count(r.Limit, "denial"))
	}
	if r.Database != "" {
		fmt.Fprintf(&b, "  asks     the database %s\n", r.Database)
	}
	if message := strings.TrimRight(found.Message(), "\n"); message != "" {
		fmt.Fprintf(&b, "  message\n    %s\n", strings.ReplaceAll(message, "\n", "\n    "))
	}
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

func newRouteExplainCommand(a *app, rules func() (*load.Routes, error)) *cobra.Command {
	var tool string
	cmd := &cobra.Command{
		Use:   "explain CALL",
		Short: "Say of every rule what becomes of it for a tool call",
		Long: `Say of every rule what becomes of it for a tool call, in the order in which
they are tried: up to the first that matches.
` + aboutCalls,
		Args: oneArgument("a call: a command, a URL, or JSON"),
		RunE: func(_ *cobra.Command, args []string) error {
			call, err := a.routeCall(args[0], tool)
			if err != nil {
				return err
			}
			routes, err := rules()
			if err != nil {
				return err
			}
			return a.explainCall(routes, call)
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "", "the `tool` that is called")
	return cmd
}

func (a *app) explainCall(routes *load.Routes, call rules.Call) error {
	fmt.Fprintf(a.stdout, "%s: %s\n", call.Tool, call.Text)
	outcomes, found, err := a.routeMatcher().Outcomes(routes.Rules, call)
	if err != nil {
		return err
	}
	for i := range routes.Rules {
		r := &routes.Rules[i]
		switch {
		case i >= len(outcomes):
			fmt.Fprintf(a.stdout, "  %s: not tried\n", r.Name)
		case outcomes[i] == rules.OtherTool:
			fmt.Fprintf(a.stdout, "  %s: for %s\n", r.Name, toolOf(r))
		case outcomes[i] == rules.Lacks:
			fmt.Fprintf(a.stdout, "  %s: the call lacks %s\n", r.Name, quotedList(needsOf(r, call.Tool)))
		default:
			fmt.Fprintf(a.stdout, "  %s: %s\n", r.Name, outcomes[i])
		}
	}
	return a.printCheck(routes, call, found)
}

// needsOf are the texts of which a call must have one for the rule to match.
func needsOf(r *config.Rule, tool string) []string {
	if tool == "Bash" && r.CommandPattern.Text != "" {
		return r.CommandPattern.Needs
	}
	return r.Pattern.Needs
}

// quotedList is "a" or "b".
func quotedList(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(" or ")
		}
		fmt.Fprintf(&b, "%q", s)
	}
	return b.String()
}

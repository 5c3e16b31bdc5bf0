package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/rules"
)

// aboutCalls describes the argument of check and explain.
const aboutCalls = `
CALL is a shell command, a URL, or a hook event: its JSON, its file (.json), or -
for standard input. With --tool, CALL is the main argument of the tool, or all of
its arguments as JSON.`

func newRouteCheckCommand(a *app, active func() (*load.Routes, error)) *cobra.Command {
	var asJSON bool
	cmd := a.withCall(active, &cobra.Command{
		Use:   "check CALL",
		Short: "Show which rule matches a tool call",
		Long: `Show which rule matches a tool call, and why. The exit code is 1 if the rule denies
the call or asks the user, and 0 otherwise.
` + aboutCalls,
		Example: `  docsearch route check 'kubectl get pods'
  docsearch route check https://github.com/cli/cli/pull/42
  docsearch route check --tool mcp__github__create_issue '{"title": "x"}'`,
	}, func(routes *load.Routes, call rules.Call) error { return a.checkCall(routes, call, asJSON) })
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkJSON is the JSON output of check.
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
	return cmp.Or(err, failureIf(action == config.ActionDeny || action == config.ActionAsk))
}

func (a *app) printCheck(routes *load.Routes, call rules.Call, found *rules.Match) error {
	if found == nil {
		_, err := fmt.Fprintf(a.stdout, "pass: none of %s matches this %s call\n", count(len(routes.Rules), "rule"),
			call.Tool)
		return err
	}
	r := found.Rule
	var b strings.Builder
	fmt.Fprintf(&b, "%s: rule %s\n", r.Action, r.Name)
	fmt.Fprintf(&b, "  from     %s\n", ruleLocation(r))
	fmt.Fprintf(&b, "  tool     %s\n", call.Tool)
	if found.Pattern != nil {
		fmt.Fprintf(&b, "  pattern  %s\n", found.Pattern.Text)
		fmt.Fprintf(&b, "  matches  %s\n", found.Text)
	}
	if found.Part != call.Text {
		fmt.Fprintf(&b, "  in       %s\n", found.Part)
	}
	if r.Rate.Calls > 0 {
		fmt.Fprintf(&b, "  rate     only calls beyond %s, per session\n", r.Rate)
	}
	if r.Limit > 0 {
		fmt.Fprintf(&b, "  limit    %s per session, then a warning\n", count(r.Limit, "denial"))
	}
	if r.Database != "" {
		fmt.Fprintf(&b, "  searches database %s\n", r.Database)
	}
	if message := strings.TrimRight(found.Message(), "\n"); message != "" {
		fmt.Fprintf(&b, "  message\n    %s\n", strings.ReplaceAll(message, "\n", "\n    "))
	}
	return a.write(&b)
}

func newRouteExplainCommand(a *app, active func() (*load.Routes, error)) *cobra.Command {
	return a.withCall(active, &cobra.Command{
		Use:   "explain CALL",
		Short: "Show why each rule matches or does not match a tool call",
		Long: `Show why each rule matches or does not match a tool call. Rules are listed in the
order in which they are tried. The first match ends the list.
` + aboutCalls,
	}, a.explainCall)
}

// withCall makes a command run with the rules and the call of its argument.
func (a *app) withCall(
	active func() (*load.Routes, error), cmd *cobra.Command, run func(*load.Routes, rules.Call) error,
) *cobra.Command {
	tool := cmd.Flags().String("tool", "", "treat CALL as the input of `TOOL` (default: Bash, or WebFetch for a URL)")
	cmd.Args = oneArgument("a call: a command, a URL, or an event")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		call, err := a.routeCall(args[0], *tool)
		if err != nil {
			return err
		}
		routes, err := active()
		if err != nil {
			return err
		}
		return run(routes, call)
	}
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
			fmt.Fprintf(a.stdout, "  %s: applies to %s\n", r.Name, toolLabel(r))
		case outcomes[i] == rules.NoLiteral:
			fmt.Fprintf(a.stdout, "  %s: the call lacks %s\n", r.Name, quotedList(requiredTexts(r, call.Tool)))
		default:
			fmt.Fprintf(a.stdout, "  %s: %s\n", r.Name, outcomes[i])
		}
	}
	return a.printCheck(routes, call, found)
}

// requiredTexts returns the texts of which a call must contain at least one for
// the rule to match.
func requiredTexts(r *config.Rule, tool string) []string {
	if tool == "Bash" && r.CommandPattern.Text != "" {
		return r.CommandPattern.Literals
	}
	return r.Pattern.Literals
}

// quotedList joins quoted strings: "a" or "b".
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

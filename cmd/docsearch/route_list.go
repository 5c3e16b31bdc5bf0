package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

func newRouteListCommand(a *app, rules func() (routes *load.Routes, duration string, err error)) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the active rules in the order in which they are tried",
		Args:  noArguments,
	}, func(_ *cobra.Command, _ []string, asJSON bool) error {
		routes, duration, err := rules()
		if err == nil {
			err = a.listRules(routes, asJSON)
		}
		if err == nil && duration != "" && !asJSON {
			_, err = fmt.Fprintln(a.stdout, duration)
		}
		return err
	})
}

func (a *app) listRules(routes *load.Routes, asJSON bool) error {
	if asJSON {
		list := []ruleJSON{}
		for i := range routes.Rules {
			list = append(list, newRuleJSON(&routes.Rules[i]))
		}
		for i := range routes.Overruled {
			rule := newRuleJSON(&routes.Overruled[i])
			rule.OverriddenBy = ruleLocation(overridingRule(routes, rule.Name))
			list = append(list, rule)
		}
		return a.printJSON(list)
	}
	if len(routes.Rules) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no rules")
		return err
	}
	table := terminal.NewTable(a.stdout, "NAME\tACTION\tTOOL\tTESTS\tFROM\tPATTERN")
	for i := range routes.Rules {
		r := &routes.Rules[i]
		var patterns []string
		for _, p := range []string{r.Pattern.Text, r.CommandPattern.Text} {
			if p != "" {
				patterns = append(patterns, strings.ReplaceAll(p, "\n", `\n`))
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", r.Name, r.Action, toolLabel(r), len(r.Tests), ruleLocation(r),
			strings.Join(patterns, "  "))
	}
	if len(routes.Overruled) > 0 {
		fmt.Fprintln(table, "\nOVERRIDDEN\tACTION\tTOOL\tTESTS\tFROM\tBY")
	}
	for i := range routes.Overruled {
		r := &routes.Overruled[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", r.Name, r.Action, toolLabel(r), len(r.Tests), ruleLocation(r),
			ruleLocation(overridingRule(routes, r.Name)))
	}
	return table.Flush()
}

// overridingRule returns the active rule with that name.
func overridingRule(routes *load.Routes, name string) *config.Rule {
	i := slices.IndexFunc(routes.Rules, func(r config.Rule) bool { return r.Name == name })
	return &routes.Rules[i]
}

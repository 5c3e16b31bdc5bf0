package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

// flagGroup is the annotation with the title of a flag's group in the help.
const flagGroup = "docsearch_flag_group"

// addFlagGroup adds flags that the help lists under a title of their own, after the
// other flags.
func addFlagGroup(f *pflag.FlagSet, title string, add func(*pflag.FlagSet)) {
	g := pflag.NewFlagSet(title, pflag.ContinueOnError)
	g.SortFlags = false
	add(g)
	g.VisitAll(func(flag *pflag.Flag) { flag.Annotations = map[string][]string{flagGroup: {title}} })
	f.AddFlagSet(g)
}

// addHiddenFlags adds flags that the help of another command lists.
func addHiddenFlags(f *pflag.FlagSet, groups ...func(*pflag.FlagSet)) {
	hidden := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, add := range groups {
		add(hidden)
	}
	hidden.VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	f.AddFlagSet(hidden)
}

// printUsage prints the usage of a command: its form, examples, subcommands and
// flags. It wraps the flags' help only at a terminal.
func printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	form := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		form = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", form)
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if !cmd.HasParent() {
		printCommands(&b, cmd, everydayCommands)
		b.WriteString("\nUse \"docsearch COMMAND --help\" for more about a command, " +
			"and \"docsearch help all\"\nto list the others.\n")
		_, err := io.WriteString(cmd.OutOrStderr(), b.String())
		return err
	}
	printCommands(&b, cmd, "")
	width := 0
	if out := cmd.Root().OutOrStdout(); terminal.IsTerminal(out) { // cobra replaces cmd's own writer
		width = terminal.Columns(out)
	}
	for _, g := range groupFlags(cmd.LocalFlags(), "Flags") {
		fmt.Fprintf(&b, "\n%s:\n%s", g.Name(), g.FlagUsagesWrapped(width))
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\nGlobal flags:\n%s", cmd.InheritedFlags().FlagUsagesWrapped(width))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s COMMAND --help\" for more information about a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// printCommands lists the subcommands of a command in a group.
func printCommands(b *strings.Builder, cmd *cobra.Command, group string) {
	title := cmp.Or(group, "Commands:")
	for _, sub := range cmd.Commands() {
		if sub.GroupID != group || !sub.IsAvailableCommand() {
			continue
		}
		if title != "" {
			fmt.Fprintf(b, "\n%s\n", title)
			title = ""
		}
		fmt.Fprintf(b, "  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
	}
}

// printAllCommands lists all commands of all groups.
func printAllCommands(root *cobra.Command) error {
	var b strings.Builder
	var list func(cmd *cobra.Command)
	list = func(cmd *cobra.Command) {
		switch {
		case !cmd.IsAvailableCommand():
		case cmd.HasSubCommands():
			for _, sub := range cmd.Commands() {
				list(sub)
			}
		default:
			fmt.Fprintf(&b, "  %-15s  %s\n", commandName(cmd), cmd.Short)
		}
	}
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "%s\n", g.Title)
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID {
				list(cmd)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("Agents and scripts run hook, serve, eval, extract-query and completion, which have a --help, too.\n")
	_, err := io.WriteString(root.OutOrStdout(), b.String())
	return err
}

// groupFlags splits flags by their groups, in the order of their first flags.
// Flags without a group are in the first set, which has the given title. Hidden
// flags are omitted.
func groupFlags(flags *pflag.FlagSet, title string) []*pflag.FlagSet {
	var groups []*pflag.FlagSet
	group := func(title string) *pflag.FlagSet {
		for _, g := range groups {
			if g.Name() == title {
				return g
			}
		}
		g := pflag.NewFlagSet(title, pflag.ContinueOnError)
		g.SortFlags = flags.SortFlags
		groups = append(groups, g)
		return g
	}
	group(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if named := f.Annotations[flagGroup]; named != nil {
			group(named[0]).AddFlag(f)
			return
		}
		groups[0].AddFlag(f)
	})
	return groups
}

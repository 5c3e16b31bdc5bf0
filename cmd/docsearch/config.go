package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/doctor"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/usererror"
	"github.com/docsearch/docsearch/internal/web/machine"
)

func newConfigCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "config",
		Short: "Print, change, and check the configuration",
		Long: `Print, change, and check the configuration. The config file is a JSON, YAML, or TOML
file: DOCSEARCH_CONFIG_PATH if set, otherwise ~/.claude/hooks/docsearch-config.json.`,
	})
	var env bool
	var folder string
	show := &cobra.Command{
		Use:   "show",
		Short: "Print the active configuration and the origin of each value",
		Long: `Print the active configuration as JSON, with the origin of each value. With --env,
print the environment variables that docsearch reads, and their values.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if env {
				return a.showVariables()
			}
			return a.showConfig()
		},
	}
	show.Flags().BoolVar(&env, "env", false, "print the environment variables and their values")
	check := &cobra.Command{
		Use:   "check",
		Short: "Print all problems in the config file and the rule files",
		Long: `Print all problems in the config file and in the rule files that apply in the
working directory. The command reads them as the hook does, and prints how long that
takes. The exit code is 1 if there is a problem.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("refresh") {
				return uncached.Refresh(config.Locate(os.Getenv), folder)
			}
			return a.checkConfig()
		},
	}
	check.Flags().StringVar(&folder, "refresh", "", "")
	check.Flags().MarkHidden("refresh")
	cmd.AddCommand(
		show,
		newConfigSetCommand(a),
		check,
		a.movedTo("config show", &cobra.Command{
			Use:   "path",
			Short: "Print the path of the config file",
			Args:  noArguments,
			RunE:  func(*cobra.Command, []string) error { return a.printConfigPath() },
		}),
	)
	return cmd
}

func newConfigSetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change a value in the config file",
		Long: `Change a value in the config file. Everything else in the file stays as it is, with
comments and layout. The file is backed up first.

KEY is the name of a database with .mode, .keywords, .description, .urls or .version,
or a key of the sections hook, search, inject and update, such as hook.log_queries.
docsearch config show prints all keys with their values.

VALUE is true or false for a switch. Separate the items of a list with commas. The value
"default" removes the key from the file.`,
		Example: `  docsearch config set django.mode advise
  docsearch config set django.keywords django,drf
  docsearch config set hook.log_queries false`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%s needs a key and a value, got %s", commandName(cmd), count(len(args), "argument"))
			}
			return nil
		},
		ValidArgsFunction: completeConfigKeys,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.setConfig(cmd.Context(), args[0], args[1]) },
	}
}

func completeConfigKeys(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	r, err := load.Load(config.Locate(os.Getenv))
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return beginning(edit.Keys(r.Config.Databases), start), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) setConfig(ctx context.Context, key, value string) error {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return withHint(err, "run docsearch config check to list all problems")
	}
	change, err := agentconfig.Rewrite(l.Config, key+" to "+value, func(data []byte) ([]byte, error) {
		return edit.SetKey(l.Config, data, key, value)
	})
	if invalid, ok := errors.AsType[*usererror.Invalid](err); ok {
		return invalid // it does not depend on the file
	}
	if err != nil {
		return withHint(err, "change the file in an editor, then run docsearch config check")
	}
	if variable, isSet := strings.CutPrefix(r.Origins()[strings.ToLower(key)], "$"); isSet {
		a.warn("the environment variable %s overrides %s", variable, key)
	}
	if change.None() {
		_, err := fmt.Fprintf(a.stdout, "%s is already %s in %s\n", key, value, l.Config)
		return err
	}
	if err := a.applyChange(change, "set %s in %s", "set %s in %s"); err != nil {
		return err
	}
	a.refreshHook(ctx)
	return nil
}

func (a *app) checkConfig() error {
	h, err := uncached.ReadHere()
	if err == nil && !h.Config.Exists {
		err = errNoConfig(h.Config)
	}
	if err != nil {
		return err
	}
	problems, err := doctor.ConfigProblems(h.Config, h.Routes)
	if err != nil {
		return err
	}
	if slow := h.Slow(); slow != "" {
		problems = append(problems, slow)
	}
	for _, p := range problems {
		fmt.Fprintln(a.stdout, p)
	}
	c := &h.Config.Config
	if len(problems) > 0 {
		fmt.Fprintf(a.stdout, "%s, %s\n", count(len(problems), "problem"), doctor.CountDatabases(c, "usable database"))
		return exitStatus(exitFailure)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: no problems, %s\n%s\n", h.Config.Path, doctor.CountDatabases(c, "database"),
		h.Duration())
	return err
}

func errNoConfig(r *load.Result) error {
	return withHint(fmt.Errorf("config %s not found", r.Path),
		"run docsearch setup KEYWORD SOURCE to create it, or set DOCSEARCH_CONFIG_PATH")
}

func (a *app) showConfig() error {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	return a.printJSON(machine.ConfigOf(l, r))
}

// showVariables prints the environment variables: those that override a value of the
// config with its key, and whether each is set.
func (a *app) showVariables() error {
	table := terminal.NewTable(a.stdout, "VARIABLE\tKEY\tVALUE")
	for _, v := range machine.Variables() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Name, v.Key, cmp.Or(v.Value, "(not set)"))
	}
	return table.Flush()
}

func (a *app) printConfigPath() error {
	path := config.Locate(os.Getenv).Config
	if path == "" {
		return errors.New("cannot find the config: DOCSEARCH_CONFIG_PATH and the home directory are not set")
	}
	_, err := fmt.Fprintln(a.stdout, path)
	return err
}

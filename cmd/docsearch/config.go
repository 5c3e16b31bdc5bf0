package main

import (
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
)

func newConfigCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "config",
		Short: "Check and print the configuration",
		Long: `Check and print the configuration. The config file is a JSON, YAML, or TOML file:
DOCSEARCH_CONFIG_PATH if set, otherwise ~/.claude/hooks/docsearch-config.json.`,
	})
	var env bool
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
	cmd.AddCommand(
		show,
		&cobra.Command{
			Use:   "check",
			Short: "Print all problems in the config file",
			Long: `Print all problems in the config file, and in the rule files that route_files and
TOOL_ROUTING_ROUTES name. The exit code is 1 if there is one.`,
			Args: noArguments,
			RunE: func(*cobra.Command, []string) error { return a.checkConfig() },
		},
		&cobra.Command{
			Use:   "path",
			Short: "Print the path of the config file",
			Args:  noArguments,
			RunE:  func(*cobra.Command, []string) error { return a.printConfigPath() },
		},
	)
	return cmd
}

func (a *app) checkConfig() error {
	r, err := loadConfig()
	if err != nil {
		return err
	}
	r.CheckPaths()
	r.CheckEnvironment(os.Environ())
	for _, p := range r.Problems {
		fmt.Fprintf(a.stdout, "%s: %s\n", r.Path, p)
	}
	routes := r.CheckRouteFiles()
	for _, p := range routes {
		fmt.Fprintln(a.stdout, p)
	}
	heads, err := a.checkFrontMatter(r.Config.Databases)
	if err != nil {
		return err
	}
	n := len(r.Config.Databases)
	if problems := len(r.Problems) + len(routes) + heads; problems > 0 {
		fmt.Fprintf(a.stdout, "%s, %s\n", count(problems, "problem"), count(n, "usable database"))
		return exitStatus(exitFailure)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: no problems, %s\n", r.Path, count(n, "database"))
	return err
}

// checkFrontMatter prints the invalid front matter fields of the notes and
// returns their number.
func (a *app) checkFrontMatter(databases []config.Database) (n int, err error) {
	for i := range databases {
		db := &databases[i]
		if len(db.Inject) == 0 {
			continue
		}
		info, err := index.Inspect(db.Path)
		if err != nil {
			continue // not built yet, or damaged, which doctor reports
		}
		skipped, err := ingest.ReadSkipped(generationOf(info))
		if err != nil {
			return n, err
		}
		for _, s := range skipped {
			if markdown.IsFrontMatterProblem(s) {
				n++
				fmt.Fprintf(a.stdout, "%s: %s: %s\n", printable(db.Name), printable(s.Name), printable(s.Reason))
			}
		}
	}
	return n, nil
}

// loadConfig reads the config file and fails if it does not exist.
func loadConfig() (*load.Result, error) {
	r, err := load.Load(config.Locate(os.Getenv))
	if err != nil {
		return nil, err
	}
	if !r.Exists {
		return nil, withHint(fmt.Errorf("config %s not found", r.Path),
			"run docsearch setup KEYWORD SOURCE to create it, or set DOCSEARCH_CONFIG_PATH")
	}
	return r, nil
}

func (a *app) showConfig() error {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	server := r.Config.Server(os.Getenv)
	shown := struct {
		File       string            `json:"file"`
		Exists     bool              `json:"exists"`
		Config     config.Config     `json:"config"`
		From       map[string]string `json:"from"`
		SearchTool string            `json:"search_tool"`
		State      string            `json:"state_dir"`
		Cache      string            `json:"cache_dir"`
		Data       string            `json:"data_dir"`
	}{r.Path, r.Exists, r.Config, r.Origins(), server.Search, l.State, l.Cache, l.Data}
	return a.printJSON(shown)
}

// showVariables prints the environment variables: those that override a value of the
// config with its key, and whether each is set. A token is not printed.
func (a *app) showVariables() error {
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VARIABLE\tKEY\tVALUE")
	row := func(name, key string) {
		value := printable(os.Getenv(name))
		switch {
		case value == "":
			value = "(not set)"
		case name == "DOCSEARCH_TOKEN":
			value = "(set)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, key, value)
	}
	for _, o := range config.Overrides() {
		row(o.Env, o.Section+"."+o.Field)
	}
	for _, name := range config.Variables() {
		row(name, "-")
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

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/library"
)

func newConfigCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "config",
		Short: "Check and print the configuration",
		Long: `Check and print the configuration. The config file is a JSON, YAML, or TOML file:
DOCSEARCH_CONFIG_PATH if set, otherwise ~/.claude/hooks/docsearch-config.json.`,
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
		check,
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
	h, err := uncached.ReadHere()
	if err == nil && !h.Config.Exists {
		err = errNoConfig(h.Config)
	}
	if err != nil {
		return err
	}
	problems, err := configProblems(h.Config, h.Routes)
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
		fmt.Fprintf(a.stdout, "%s, %s\n", count(len(problems), "problem"), countDatabases(c, "usable database"))
		return exitStatus(exitFailure)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: no problems, %s\n%s\n", h.Config.Path, countDatabases(c, "database"), h.Duration())
	return err
}

// countDatabases counts the databases of a config, under the given noun, and its team
// servers.
func countDatabases(c *config.Config, noun string) string {
	text := count(len(c.Databases)+len(c.Clustered), noun)
	if n := len(c.Remotes); n > 0 {
		text += ", " + count(n, "team server")
	}
	return text
}

// configProblems returns all problems of the config, of its paths, of the rule files and
// of the notes, one per line.
func configProblems(r *load.Result, routes *load.Routes) ([]string, error) {
	r.CheckPaths()
	r.CheckEnvironment(os.Environ())
	var problems []string
	for _, p := range r.Problems {
		problems = append(problems, r.Path+": "+p.String())
	}
	for _, p := range routes.Problems {
		problems = append(problems, strings.TrimPrefix(p, "routes "))
	}
	heads, err := frontMatterProblems(r.Config.Databases)
	return append(problems, heads...), err
}

// frontMatterProblems returns the invalid front matter fields of the notes.
func frontMatterProblems(databases []config.Database) (problems []string, err error) {
	for i := range databases {
		db := &databases[i]
		if len(db.Inject) == 0 {
			continue
		}
		info, err := index.Inspect(db.Path)
		if err != nil {
			continue // not built yet, or damaged, which doctor reports
		}
		skipped, err := ingest.ReadSkipped(library.GenerationOf(info))
		if err != nil {
			return nil, err
		}
		for _, s := range skipped {
			if markdown.IsFrontMatterProblem(s) {
				problems = append(problems, fmt.Sprintf("%s: %s: %s", printable(db.Name), printable(s.Name), printable(s.Reason)))
			}
		}
	}
	return problems, nil
}

func errNoConfig(r *load.Result) error {
	return withHint(fmt.Errorf("config %s not found", r.Path),
		"run docsearch setup KEYWORD SOURCE to create it, or set DOCSEARCH_CONFIG_PATH")
}

// A shownConfig is the active config with the origin of each value. It is JSON output.
type shownConfig struct {
	File       string            `json:"file"`
	Exists     bool              `json:"exists"`
	Config     config.Config     `json:"config"`
	From       map[string]string `json:"from"`
	SearchTool string            `json:"search_tool"`
	State      string            `json:"state_dir"`
	Cache      string            `json:"cache_dir"`
	Data       string            `json:"data_dir"`
}

func showConfig(l config.Locations, r *load.Result) shownConfig {
	return shownConfig{r.Path, r.Exists, r.Config, r.Origins(), r.Config.Server(os.Getenv).Search, l.State, l.Cache, l.Data}
}

func (a *app) showConfig() error {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	return a.printJSON(showConfig(l, r))
}

// showVariables prints the environment variables: those that override a value of the
// config with its key, and whether each is set.
func (a *app) showVariables() error {
	table := terminal.NewTable(a.stdout, "VARIABLE\tKEY\tVALUE")
	for _, v := range variables() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.name, v.key, cmp.Or(v.value, "(not set)"))
	}
	return table.Flush()
}

// A variable is an environment variable that docsearch reads.
type variable struct {
	name, key string // of the config; "-": none
	value     string // "" if it is not set; a token is not shown
}

func variables() []variable {
	var all []variable
	add := func(name, key string) {
		value := printable(os.Getenv(name))
		if value != "" && name == "DOCSEARCH_TOKEN" {
			value = "(set)"
		}
		all = append(all, variable{name, key, value})
	}
	for _, o := range config.Overrides() {
		add(o.Env, o.Section+"."+o.Field)
	}
	for _, name := range config.Variables() {
		add(name, "-")
	}
	return all
}

func (a *app) printConfigPath() error {
	path := config.Locate(os.Getenv).Config
	if path == "" {
		return errors.New("cannot find the config: DOCSEARCH_CONFIG_PATH and the home directory are not set")
	}
	_, err := fmt.Fprintln(a.stdout, path)
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/setup"
)

func newSetupCommand(a *app) *cobra.Command {
	s := &setupCommand{app: a, Steps: terminal.NewSteps(a.stdout), builder: newBuildCommand(a)}
	cmd := &cobra.Command{
		Use:   "setup [NAME[@VERSION]... | KEYWORD SOURCE | --project [DIR] | --server URL]",
		Short: "Build a database, add it to the config, and install the hook",
		Long: `Build a database, add it to the config file, and install the hook and the MCP
server.

Setup ends with a test search. It asks before it changes a file, backs the file
up, and changes only its own entries. To resume an interrupted setup, run the
same command again.

NAME is a pack in your catalogs (run docsearch recipes list WORD), or a recipe, which
contains the source and the keywords (run docsearch recipes list). It may also be
the path or URL of your own recipe (FILE.toml).

KEYWORD selects the database: the hook searches it if a web search contains
KEYWORD as a whole word. SOURCE is a folder, file, archive, site URL, git
repository, docset, LEANN index, or existing database. Without arguments, setup
asks for the documentation.

With --project, setup reads the lock files of the project in DIR, by default the
working directory. It plans a database for each direct dependency: from the
installed package if that has enough documentation, else from a recipe. It prints the
plan with sizes and times before it builds the databases; with --dry-run, it ends there.
The databases answer in this project only, and the config file stays as it is.

With --server, setup adds the databases of your team's docsearch server instead. It
prints what is sent to the server.

The flags of docsearch index build also apply, such as --include, --prefix, --header and
--embedder: they say how to read the source.`,
		Example: `  docsearch setup django
  docsearch setup react vite fastapi
  docsearch setup django@4.2
  docsearch setup gitlab ~/src/gitlab/doc
  docsearch setup widgets https://docs.example.com/guide/
  docsearch setup gitlab ~/.leann/indexes/gitlab --install
  docsearch setup --project --dry-run
  docsearch setup --project --offline
  docsearch setup --server https://docs.example.com --token-file ~/.docsearch-token`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeSetup,
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			s.builder.Set = cmd.Flags().Changed
			if s.project {
				return s.runProject(cmd.Context(), args)
			}
			for _, flag := range []string{"offline", "dry-run"} {
				if s.builder.Set(flag) {
					return usagef("cannot use --%s without --project", flag)
				}
			}
			if s.server.url != "" {
				if len(args) > 0 {
					return usagef("setup --server takes no arguments, got %q", args[0])
				}
				return s.runServer(cmd.Context())
			}
			if library.AreRecipes(config.Locate(os.Getenv), args, s.warn) {
				return s.runRecipes(cmd.Context(), args)
			}
			if len(args) == 2 {
				s.keyword, s.source = args[0], args[1]
			}
			return s.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&s.project, "project", false,
		"set up the dependencies of the project in DIR (default: the working directory)")
	f.BoolVar(&s.offline, "offline", false, "use only documentation on this machine (with --project)")
	f.BoolVar(&s.dryRun, "dry-run", false, "print the plan with the versions that the project uses (with --project)")
	f.StringVar(&s.description, "description", "",
		"set the description that the agent sees to `TEXT` (default: suggested)")
	f.StringSliceVar(&s.keywords, "keywords", nil, "set the keywords to `WORDS`, separated by commas (default: suggested)")
	f.StringSliceVar(&s.urls, "urls", nil,
		"set the URL prefixes of the pages to `PREFIXES`, separated by commas (default: suggested)")
	f.BoolVar(&s.useRecipe, "recipe", false, "use the recipe of that name, not a pack of your catalogs")
	f.BoolVar(&s.install, "install", false, "install the hook and the MCP server without asking")
	f.BoolVar(&s.noInstall, "no-install", false, "do not install the hook and the MCP server")
	f.BoolVarP(&s.yes, "yes", "y", false, "accept all suggestions and answer yes to all prompts")
	addFlagGroup(f, "Team server flags", s.server.add)
	markExclusive(cmd, "install", "no-install")
	markExclusive(cmd, "project", "server")
	markExclusive(cmd, "token-file", "token-env")
	addHiddenFlags(f, s.builder.addSourceFlags, s.builder.addSiteFlags, s.builder.addEmbedderFlags, func(f *pflag.FlagSet) {
		f.DurationVar(&s.builder.Wait, "wait", 0, waitHelp)
	})
	return cmd
}

// A setupCommand runs the steps of setup in order. Each step detects what an
// earlier run has completed, so no state is stored between runs.
type setupCommand struct {
	*app
	*terminal.Steps
	builder  *buildCommand
	prompter *terminal.Prompter // nil: not at a terminal

	recipe                *library.ChosenRecipe // nil: the user gave a keyword and a source
	pack                  *library.ChosenPack   // nil: the database does not come as a pack
	useRecipe             bool                  // ignore the packs of catalogs
	keyword, source       string
	name                  string   // of the config entry
	keywords, urls        []string // flag values
	description           string
	project, offline      bool
	dryRun                bool
	yes                   bool
	install               bool
	noInstall             bool
	server                serverFlags
	locations             config.Locations
	plan                  library.Plan
	answers               []setup.Answer // to the questions of the recipe
	evidence              setup.Suggestions
	entry                 config.Database // config entry, after writeEntry
	created, undoCommands []string        // for the summary
	usesClaude            bool
	connected             bool // docsearch is installed in at least one agent
}

func (s *setupCommand) run(ctx context.Context) error {
	if err := s.prepare(); err != nil {
		return err
	}
	return s.runAll(ctx)
}

func (s *setupCommand) prepare() error {
	s.locations = config.Locate(os.Getenv)
	if s.locations.Config == "" {
		return errors.New("cannot find a place for the config: DOCSEARCH_CONFIG_PATH and the home directory are not set")
	}
	if !s.yes {
		s.prompter = terminal.NewPrompter(s.stdin, s.stderr)
	}
	s.usesClaude = installation.UsesClaude()
	return nil
}

func (s *setupCommand) runAll(ctx context.Context) error {
	if err := s.runSteps(ctx, s.choose, s.buildDatabase, s.writeEntry, s.installClients, s.testSearch); err != nil {
		return err
	}
	s.summarize()
	return nil
}

func (s *setupCommand) runSteps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		err := step(ctx)
		if errors.Is(err, terminal.ErrInterrupted) || err != nil && ctx.Err() != nil {
			return withHint(terminal.ErrInterrupted, "run the same command again to resume")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose determines the source of the database and its keyword.
func (s *setupCommand) choose(ctx context.Context) error {
	if s.source == "" && s.recipe == nil && s.pack == nil {
		if err := s.askSource(ctx); err != nil {
			return err
		}
	}
	choose := s.chooseSource
	switch {
	case s.pack != nil:
		choose = s.choosePack
	case s.recipe != nil:
		choose = s.chooseRecipe
	}
	if err := choose(ctx); err != nil {
		return err
	}
	s.plan.Configured = true // writeEntry adds it later
	if err := s.mayRedirect(ctx); err != nil {
		return err
	}
	return s.mayBuild()
}

// chooseSource plans the build for the source and the keyword of the user.
func (s *setupCommand) chooseSource(ctx context.Context) error {
	all, err := library.List(s.locations)
	if err != nil {
		return err
	}
	s.source = library.CanonicalSource(all, s.source)
	if s.keyword = strings.TrimSpace(s.keyword); s.keyword == "" {
		return usagef("invalid keyword \"\": want a word that searches use")
	}
	s.name = s.keyword
	if clash, ok := setup.FindConflict(s.keyword); ok {
		s.warn("%v", clash)
	}
	if library.IsNew(s.source) && !s.builder.Set("name") {
		s.builder.Name = library.DatabaseName(s.keyword)
	}
	s.plan, err = s.builder.Plan(s.source)
	return err
}

// askSource prompts for the source and the keyword. The name of a recipe or a pack
// needs no keyword.
func (s *setupCommand) askSource(ctx context.Context) error {
	proposed := library.SuggestSource(s.locations)
	if s.prompter == nil && !(s.yes && proposed != "") {
		return withHint(usagef("cannot ask for a keyword and a source: stdin is not a terminal"),
			"run docsearch setup KEYWORD SOURCE")
	}
	var err error
	for s.source == "" {
		if s.source, err = s.prompter.Ask(ctx,
			"Documentation (a name such as django, or a folder, archive, URL, or LEANN index)", proposed); err != nil {
			return err
		}
	}
	if name := s.source; library.IsKnownName(name) && !library.FileExists(name) {
		if err := s.checkRecipeFlags([]string{name}); err != nil {
			return err
		}
		chosen, err := s.findSource(ctx, name)
		s.source, s.recipe, s.pack = "", chosen.recipe, chosen.pack
		return err
	}
	s.source = config.Expand(s.source, config.Home(os.Getenv)) // expand ~ and variables, as a shell does
	s.keyword, err = s.prompter.Ask(ctx, "Keyword that selects the database in a web search",
		library.SuggestKeyword(s.source))
	return err
}

// mayRedirect returns an error if the config entry of that name belongs to
// another database and the user does not agree to change it.
func (s *setupCommand) mayRedirect(ctx context.Context) error {
	entry, ok, err := library.ConfigEntry(s.locations, s.name, s.plan.Dir)
	if err != nil || !ok || s.yes || library.IsEntryOf(&entry, s.plan.Dir) {
		return err
	}
	err = fmt.Errorf("the config already has an entry %s for the database %s", entry.Name, entry.Path)
	if s.prompter == nil {
		return withHint(err, "pass --yes to change the entry to %s, or use another keyword to add an entry", s.plan.Dir)
	}
	s.warn("%v", err)
	agreed, askErr := s.prompter.Confirm(ctx, "Change the entry to "+s.plan.Dir+"?", false)
	if askErr != nil || agreed {
		return askErr
	}
	return withHint(err, "use another keyword to add an entry")
}

// mayBuild returns an error if the database must be built and the user has not agreed: there
// is no terminal to ask at, and no --yes. At a terminal, the command is the consent.
func (s *setupCommand) mayBuild() error {
	if _, ok := s.builder.IsUpToDate(&s.plan, s.pack); ok {
		return nil
	}
	source := s.source
	if s.pack != nil {
		source = s.pack.Argument
	}
	return s.prompter.MayAsk(fmt.Sprintf("Build the database %s from %s and add it to %s?", s.plan.Label,
		printable(source), s.locations.Config), s.yes)
}

// buildDatabase builds the database unless it is up to date.
func (s *setupCommand) buildDatabase(ctx context.Context) error {
	s.Step("Build the database")
	fmt.Fprintln(s.stdout)
	existed := library.IsDatabase(s.plan.Dir)
	if info, ok := s.builder.IsUpToDate(&s.plan, s.pack); ok {
		fmt.Fprintf(s.stdout, "%s: %s of %s, built %s from %s\n", s.plan.Label, count(info.Passages, "passage"),
			count(info.Documents, "document"), age(time.Since(info.Created)), info.Source.Location)
		if info.Source.Kind == ingest.KindSite {
			fmt.Fprintf(s.stdout, "to download changed pages, run: docsearch update %s\n", quoteArgument(s.nameForCommands()))
		}
	} else {
		err := s.builder.buildAndPrint(ctx, &s.plan)
		if moved, ok := errors.AsType[*site.MovedError](err); ok {
			return withHint(moved, "run docsearch setup %s %s", quoteArgument(s.keyword), quoteArgument(moved.To))
		}
		if err != nil {
			return err
		}
	}
	if s.recipe != nil {
		var err error
		if s.answers, err = s.recipe.Accept(ctx, s.plan.Dir, s.source, existed); err != nil {
			return err
		}
	}
	s.created = append(s.created, fmt.Sprintf("the database %s in %s", s.plan.Label, s.plan.Dir))
	return nil
}

// nameForCommands returns the argument that selects the database in other
// commands: its name if possible, otherwise its folder.
func (s *setupCommand) nameForCommands() string {
	if s.locations.Data != "" && library.SamePath(filepath.Join(s.locations.Data, s.plan.Label), s.plan.Dir) {
		return s.plan.Label
	}
	return s.plan.Dir
}

// removeCommand returns the command that removes the database and its config
// entry, but no entries added later.
func (s *setupCommand) removeCommand() string {
	command := "docsearch index remove " + quoteArgument(s.nameForCommands())
	if library.OriginOf(s.plan.Dir).Location == "" {
		command += fmt.Sprintf("\n    and answer yes to remove the entry %s", s.entry.Name)
	}
	return command
}

// commandLine returns the command that runs this setup again.
func (s *setupCommand) commandLine() string {
	switch {
	case s.pack != nil && !s.pack.Ask:
		return "docsearch pack add " + quoteArgument(s.pack.Argument)
	case s.pack != nil:
		return "docsearch setup " + quoteArgument(s.pack.Argument)
	case s.recipe != nil:
		return "docsearch setup " + quoteArgument(s.recipe.Argument)
	}
	return "docsearch setup " + quoteArgument(s.keyword) + " " + quoteArgument(s.source)
}

// summarize prints what setup created and how to remove it.
func (s *setupCommand) summarize() {
	s.Title("Done")
	fmt.Fprintln(s.stdout)
	for _, item := range s.created {
		fmt.Fprintln(s.stdout, item)
	}
	if s.connected {
		fmt.Fprintln(s.stdout, "\nnext: start a new session of your agent, and ask a question that needs this documentation")
	}
	fmt.Fprintln(s.stdout, "\nto undo this setup, run:")
	for _, command := range slices.Backward(s.undoCommands) {
		fmt.Fprintf(s.stdout, "  %s\n", command)
	}
	if s.entry.Tool != "" {
		fmt.Fprintf(s.stdout,
			"\ndenials name the tool %s; to use docsearch's own search tool, remove \"mcp_tool_name\" from the entry\n",
			s.entry.Tool)
	}
}

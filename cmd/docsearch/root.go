package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/ingest/format/pdf"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// Exit codes. A hook's denial also uses code 2, as its clients expect. A
// command that a signal ends exits with 128 plus the signal number.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// An app holds the standard streams that all commands use. In run, the writers are
// safetext.Writers, because texts of others get into the output of nearly all commands.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// Commands are listed in the order of addCommands.
func init() { cobra.EnableCommandSorting = false }

// everydayCommands is the title of the commands that "docsearch" lists, and otherCommands that
// of the last group of "docsearch help all". cobra adds its commands to that one.
const (
	everydayCommands = "Commands:"
	otherCommands    = "Other:"
)

// addCommands adds the commands to root, grouped and ordered as in the help text.
func (a *app) addCommands(root *cobra.Command) {
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{everydayCommands, []*cobra.Command{
			newSetupCommand(a), newSearchCommand(a), newLastCommand(a), newWhyCommand(a), newListCommand(a), newUpdateCommand(a),
			newDoctorCommand(a), newWebCommand(a), newInstallCommand(a), newUninstallCommand(a),
		}},
		{"Databases:", []*cobra.Command{newIndexCommand(a), newIgnoreCommand(a), newUseCommand(a), newClusterCommand(a)}},
		{"Recipes and packs:", []*cobra.Command{newRecipesCommand(a), newPackCommand(a), newCatalogCommand(a)}},
		{"Rules and notes:", []*cobra.Command{newRouteCommand(a), newNoteCommand(a)}},
		{"Team server:", []*cobra.Command{newTokenCommand(a)}},
		{otherCommands, []*cobra.Command{newDemoCommand(a), newMigrateCommand(a), newStatsCommand(a),
			newReplayCommand(a), newConfigCommand(a), newVersionCommand(a)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
	for _, cmd := range []*cobra.Command{
		newHookCommand(a), newServeCommand(a), newEvalCommand(a), newExtractQueryCommand(a), newReadPDFCommand(a),
		newInjectCommand(a), newProjectCommand(a),
	} {
		cmd.Hidden = true // agents and scripts run them
		root.AddCommand(cmd)
	}
}

// movedTo hides a command that has a new name, and says so when it runs.
func (a *app) movedTo(name string, cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.Hidden = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.warn("docsearch %s is now docsearch %s; the old name will go", commandName(cmd), name)
		return run(cmd, args)
	}
	return cmd
}

// newReadPDFCommand returns a command for internal use; see pdf.Process.
func newReadPDFCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: pdf.Argument, Hidden: true, Args: cobra.NoArgs,
		Short: "Read a PDF file from stdin",
		RunE:  func(*cobra.Command, []string) error { return pdf.Serve(a.stdin, terminal.Stream(a.stdout)) },
	}
}

// run is main with its dependencies as arguments. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out, errOut := safetext.NewWriter(stdout), safetext.NewWriter(stderr)
	code := (&app{stdin, out, errOut}).run(ctx, args)
	// What is left of a text is an invalid character.
	_, _ = out.Flush(), errOut.Flush()
	return code
}

func (a *app) run(ctx context.Context, args []string) int {
	started := false
	root := newRootCommand(a)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := checkRanges(cmd)
		started = err == nil
		return err
	}
	root.SetArgs(args)
	cmd, err := execute(ctx, root, args)
	var status exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = terminal.ErrInterrupted
	}
	_, invalid := errors.AsType[*usererror.Invalid](err)
	wrongUse := !started || invalid
	if _, ok := usererror.Hint(err); wrongUse && !ok {
		err = withHint(err, "usage: %s", cmd.UseLine())
	}
	report(a.stderr, err)
	switch {
	case wrongUse && len(args) > 0 && strings.HasPrefix(args[0], "hook"):
		return exitFailure // 2 would deny every call if the command is a misspelled hook
	case wrongUse:
		return exitUsage
	}
	return exitFailure
}

// execute runs the command that args select.
func execute(ctx context.Context, root *cobra.Command, args []string) (*cobra.Command, error) {
	cmd, flag, next := takesFlagForValue(root, args)
	switch {
	case cmd == nil:
		return root.ExecuteContextC(ctx)
	case next == "--help" || next == "-h":
		return cmd, cmd.Help()
	}
	return cmd, fmt.Errorf("--%s needs a value, got the flag %q", flag, next)
}

func newRootCommand(a *app) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "docsearch",
		Short: "Answer your coding agent's web searches from documentation on your own disk",
		Long:  "Answer your coding agent's web searches from documentation on your own disk.",
		Example: `  docsearch demo
  docsearch setup django
  docsearch search "cache dependencies between jobs"`,
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetUsageFunc(printUsage)
	a.addCommands(root)
	root.SetFlagErrorFunc(explainFlag)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			group(cmd).Hidden = true // "make install" installs the completions
		}
	}
	root.SetHelpCommand(newHelpCommand(root))
	return root
}

// newHelpCommand returns "docsearch help COMMAND", which fails for an unknown command, and
// "docsearch help all".
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND | all]",
		Short:  "Show the help of a command, or list all commands",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"all"}) {
				return printAllCommands(root)
			}
			cmd, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = cmd.ValidateArgs(rest)
			}
			if err != nil {
				return usererror.AsInvalid(err)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// group turns cmd into a command that only has subcommands. Without arguments
// it prints its help; an unknown subcommand is an error.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		err := fmt.Errorf("unknown command %q", cmd.CommandPath()+" "+args[0])
		if near := decode.Nearest(args[0], collect(cmd.Commands(), (*cobra.Command).Name)); near != "" {
			return withHint(err, "did you mean %q?", cmd.CommandPath()+" "+near)
		}
		return withHint(err, "run %q to list the commands", cmd.CommandPath()+" --help")
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

// An exitStatus is an error that exits with this code and prints nothing, for
// commands that have already printed everything.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// failureIf returns the error of a command that has failed, and has printed why.
func failureIf(failed bool) error {
	if failed {
		return exitStatus(exitFailure)
	}
	return nil
}

// report prints err for the user: one line, and a second one if there is a
// hint.
func report(w io.Writer, err error) {
	fmt.Fprintf(w, "docsearch: %s\n", userMessage(err))
	if hint, ok := usererror.Hint(err); ok {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}

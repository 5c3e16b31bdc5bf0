package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes. A hook's denial has code 2 as well: that is what its clients
// take for one. A command that a signal ends has 128 and its number.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// An app is what every command shares: the streams it may use.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// commands makes the commands, in the order of the help text.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		newSetupCommand(a),
		newHookCommand(a),
		newConfigCommand(a),
		newSearchCommand(a),
		newIndexCommand(a),
		newEvalCommand(a),
		newRouteCommand(a),
		newInjectCommand(a),
		newExtractQueryCommand(a),
		newWhyCommand(a),
		newReplayCommand(a),
		newStatsCommand(a),
		newServeCommand(a),
		newInstallCommand(a),
		newUninstallCommand(a),
		newDoctorCommand(a),
		newDemoCommand(a),
		newVersionCommand(a),
	}
}

// run is main with everything it touches handed in; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin, stdout, stderr}
	started := false
	root := newRootCommand(a)
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	var usage *usageError
	wrongUse := !started || errors.As(err, &usage)
	var hint *hintError
	if wrongUse && !errors.As(err, &hint) {
		err = withHint(err, "usage: %s", cmd.UseLine())
	}
	report(stderr, err)
	if wrongUse {
		return exitUsage
	}
	return exitFailure
}

func newRootCommand(a *app) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "docsearch",
		Short: "Answer a coding agent's questions from documentation on your own disk",
		Long: `Docsearch answers a coding agent's questions from documentation on your own
disk. Nothing leaves the machine.`,
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.AddCommand(a.commands()...)
	return root
}

// group makes cmd a command that only has commands under it: alone it shows
// its help, and a name that it does not know is an error.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		err := fmt.Errorf("there is no command %q", cmd.CommandPath()+" "+args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return withHint(err, "did you mean %q?", cmd.CommandPath()+" "+near[0])
		}
		return withHint(err, "%q lists the commands", cmd.CommandPath()+" --help")
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	// SuggestionsFor finds nothing where the distance is zero, its default.
	cmd.SuggestionsMinimumDistance = 2
	return cmd
}

// An exitStatus ends the program with that code and no message, for commands
// that have said all there is to say.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// A usageError is the fault of the command line: exit code 2.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// usagef makes a usageError, for what a command finds wrong with its
// arguments after it has started.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// A hintError carries a sentence on what to do about it.
type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// withHint adds to err what the user can do next.
func withHint(err error, format string, args ...any) error {
	return &hintError{err, fmt.Sprintf(format, args...)}
}

// report writes err for the user: one line, and one more if there is a hint.
func report(w io.Writer, err error) {
	message, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(w, "docsearch: %s\n", message)
	var hint *hintError
	if errors.As(err, &hint) {
		fmt.Fprintf(w, "hint: %s\n", hint.hint)
	}
}

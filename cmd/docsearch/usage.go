package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/config/decode"
)

// commandName returns the name of a command in errors: "index build". Errors start
// with the name of the program.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// noArguments accepts no arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, got %q", commandName(cmd), args[0])
	}
	return nil
}

// oneArgument accepts one argument, called name in errors.
func oneArgument(name string) cobra.PositionalArgs {
	return cobra.MatchAll(someArguments(name), atMostOne)
}

// atMostOne accepts one optional argument.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes one argument, got %d: %q", commandName(cmd), len(args), args)
	}
	return nil
}

// someArguments accepts one or more arguments that form a text.
func someArguments(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s needs %s", commandName(cmd), name)
		}
		return nil
	}
}

// withJSON adds the flag --json to a command, whose run function gets its value.
func withJSON(cmd *cobra.Command, run func(cmd *cobra.Command, args []string, asJSON bool) error) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, args, *asJSON) }
	return cmd
}

// markExclusive makes a command reject more than one of the flags.
func markExclusive(cmd *cobra.Command, flags ...string) {
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		var given []string
		for _, name := range flags {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return fmt.Errorf("cannot combine %s", strings.Join(given, " and "))
		}
		if check == nil {
			return nil
		}
		return check(cmd, args)
	}
}

// explainFlag rewrites a flag error with the flag and its value.
func explainFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var lacks *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &lacks):
		return fmt.Errorf("--%s needs a value", lacks.GetFlag().Name)
	case errors.As(err, &invalid):
		return invalidValue(invalid.GetFlag(), invalid.GetValue(), errors.Unwrap(invalid))
	}
	return err
}

// unknownFlag suggests a similar flag.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name, all := unknown.GetSpecifiedName(), []string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f.Name)
		}
	})
	written := "--" + name
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name, written = short, "-"+short
	}
	err := fmt.Errorf("unknown flag %q", written)
	if near := decode.Nearest(name, all); near != "" {
		return withHint(err, "did you mean \"--%s\"?", near)
	}
	return withHint(err, "run \"%s --help\" to list the flags", cmd.CommandPath())
}

// invalidValue describes the expected value of a flag. The error of docsearch's
// own flag types already does so.
func invalidValue(f *pflag.Flag, value string, err error) error {
	want := map[string]string{
		"int": "want a whole number", "bool": "want true or false", "duration": "want a duration such as 30s or 10m",
	}[f.Value.Type()]
	switch {
	case f.Value.Type() == "secret":
		return fmt.Errorf("invalid --%s: %w", f.Name, err)
	case want == "" && err != nil:
		want = err.Error()
	case want == "":
		want = "want another value"
	}
	return fmt.Errorf("invalid --%s %q: %s", f.Name, value, want)
}

// checkRanges checks numbers and durations on the command line. Durations must
// not be negative, and numbers must be at least 1, except that --show accepts
// 0.
func checkRanges(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if n, e := cmd.Flags().GetInt(f.Name); e == nil && n < 1 && !(n == 0 && f.Name == "show") {
			err = fmt.Errorf("invalid --%s %q: want 1 or more", f.Name, f.Value)
		}
		if d, e := cmd.Flags().GetDuration(f.Name); e == nil && d < 0*time.Second {
			err = fmt.Errorf("invalid --%s %q: want 0s or more", f.Name, f.Value)
		}
	})
	return err
}

// takesFlagForValue finds a flag that would consume the next flag as its value:
// "index build docs --out --help" would write a folder called --help. It returns the
// command, the flag without a value, and the next flag.
func takesFlagForValue(root *cobra.Command, args []string) (cmd *cobra.Command, flag, next string) {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.DisableFlagParsing {
		return nil, "", ""
	}
	cmd.InitDefaultHelpFlag()
	for i := 0; i+1 < len(args) && args[i] != "--"; i++ {
		name, long := strings.CutPrefix(args[i], "--")
		f := cmd.Flags().Lookup(name)
		if !long || f == nil || f.NoOptDefVal != "" {
			continue
		}
		i++
		other, long := strings.CutPrefix(args[i], "--")
		if args[i] == "-h" || long && cmd.Flags().Lookup(other) != nil {
			return cmd, name, args[i]
		}
	}
	return nil, "", ""
}

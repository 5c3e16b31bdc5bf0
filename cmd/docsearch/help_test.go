package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestUsage checks that the help lists every command and flag that is not hidden,
// once.
func TestUsage(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		if cmd.Hidden {
			return
		}
		var help bytes.Buffer
		cmd.SetOut(&help)
		cmd.InitDefaultHelpFlag()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(help.String(), "\n")
		count := func(prefix string) int {
			n := 0
			for _, line := range lines {
				if strings.HasPrefix(line+" ", prefix+" ") {
					n++
				}
			}
			return n
		}
		for _, sub := range cmd.Commands() {
			if sub.GroupID != "" && sub.GroupID != everydayCommands {
				continue // listed by "docsearch help all"
			}
			if got := count("  " + sub.Name()); !sub.Hidden && got != 1 {
				t.Errorf("%s: the help lists %s %d times, want 1", cmd.CommandPath(), sub.Name(), got)
			}
		}
		if !cmd.HasParent() {
			return
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name := "      --" + f.Name
			if f.Shorthand != "" {
				name = "  -" + f.Shorthand + ", --" + f.Name
			}
			want := 1
			if f.Hidden {
				want = 0
			}
			if got := count(name); got != want {
				t.Errorf("%s: the help lists --%s %d times, want %d", cmd.CommandPath(), f.Name, got, want)
			}
		})
	}
	check(newRootCommand(&app{strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}}))
}

// TestFlagGroups checks the order of the groups in the help, and that a group's
// flags are not in the first group.
func TestFlagGroups(t *testing.T) {
	var help bytes.Buffer
	if code := run(t.Context(), []string{"index", "build", "--help"}, strings.NewReader(""), &help, &help); code != exitOK {
		t.Fatalf("exit code %d: %s", code, help.String())
	}
	at := -1
	for _, want := range []string{"\nFlags:\n", "\n      --type TYPE ", "\n  -q, --quiet ", "\nSite flags:\n", "\n      --max-pages N ", "\nEmbedding flags:\n"} {
		i := strings.Index(help.String(), want)
		if i <= at {
			t.Errorf("%q is missing from the help or not in its place:\n%s", want, help.String())
		}
		at = i
	}
}

// TestAllCommands checks that "docsearch help all" lists every command that is not hidden, and
// that "docsearch" fits a terminal of 24 lines.
func TestAllCommands(t *testing.T) {
	var all, first bytes.Buffer
	root := newRootCommand(&app{strings.NewReader(""), &all, &all})
	if err := printAllCommands(root); err != nil {
		t.Fatal(err)
	}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				check(sub)
			}
		}
		if !cmd.HasSubCommands() && !strings.Contains(all.String(), "\n  "+commandName(cmd)+" ") {
			t.Errorf("docsearch help all does not list %s", commandName(cmd))
		}
	}
	check(root)
	run(t.Context(), nil, strings.NewReader(""), &first, &first)
	if n := strings.Count(first.String(), "\n"); n > 24 {
		t.Errorf("docsearch prints %d lines", n)
	}
}

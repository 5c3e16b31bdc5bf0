package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
)

// findDatabase is library.Find, but the error of a database that another machine holds is
// an *elsewhereError.
func findDatabase(all []library.Ref, arg string) (library.Ref, error) {
	return library.Find(all, arg, served.Elsewhere)
}

// completeAnyDatabase completes a database argument by name, also of a database that
// another machine holds.
func completeAnyDatabase(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	names, directive := completeDatabases(cmd, args, start)
	remotes := served.OpenRemotes(config.Locate(os.Getenv))
	defer remotes.Close()
	held := collect(remotes.Databases(), func(d served.Remote) string { return d.Name })
	names = append(names, beginning(held, start)...)
	return names, directive
}

// completeDatabases completes a database argument by name; the shell completes
// paths.
func completeDatabases(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	all, err := library.List(config.Locate(os.Getenv))
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names := collect(all, func(d library.Ref) string { return d.Name })
	return beginning(names, start), cobra.ShellCompDirectiveDefault
}

// beginning returns the names that begin with a text, ignoring case.
func beginning(names []string, start string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(strings.ToLower(name), strings.ToLower(start))
	})
}

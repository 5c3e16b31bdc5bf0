package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/recipes"
)

func newRecipesCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "recipes",
		Short: "List, show, and check recipes for setup",
		Long: `List, show, and check recipes. A recipe says where the documentation of a
technology is, and which keywords select it. To use one, run docsearch setup NAME.`,
	})
	cmd.AddCommand(newRecipesListCommand(a, "list"), newRecipesShowCommand(a), newRecipesCheckCommand(a))
	return cmd
}

// newRecipesListCommand returns the command with a name: it was also pack search.
func newRecipesListCommand(a *app, name string) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   name + " [WORD]",
		Short: "List recipes and the packs of your catalogs",
		Long: `List the recipes of the recipe book and the packs of your catalogs. With WORD, list
those whose name, title, or keywords contain it. Catalogs older than a day are downloaded.`,
		Example: `  docsearch recipes list
  docsearch recipes list react`,
		Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		return a.listRecipes(cmd.Context(), strings.Join(args, ""), asJSON)
	})
}

func (a *app) listRecipes(ctx context.Context, word string, asJSON bool) error {
	list, err := library.ListSources(ctx, console{a}, word)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		return fmt.Errorf("no recipe or pack for %q", word)
	}
	table := terminal.NewTable(a.stdout, "NAME\tVERSION\tTITLE\tSIZE\tLICENSE\tVERIFIED\tSOURCE")
	for _, e := range list {
		bytes := "-"
		if e.Size > 0 {
			bytes = size(e.Size)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Name, printable(e.Version), printable(e.Title), bytes, printable(e.License), printable(cmp.Or(e.Verified, "no")), printable(e.Source))
	}
	return table.Flush()
}

func newRecipesShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Print a recipe of the recipe book",
		Long: `Print a recipe of the recipe book as TOML. Save the output to a file as the start
of your own recipe.`,
		Example: `  docsearch recipes show django
  docsearch recipes show django > my.toml`,
		Args:              oneArgument("the name of a recipe"),
		ValidArgsFunction: completeSetup,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := recipes.Find(args[0])
			if err != nil {
				return library.ExplainRecipe(args[0], err)
			}
			text, err := recipes.Text(r.Name)
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(text)
			return err
		},
	}
}

func newRecipesCheckCommand(a *app) *cobra.Command {
	var online bool
	cmd := &cobra.Command{
		Use:   "check [NAME|FILE...]",
		Short: "Check recipes",
		Long: `Check recipes: their keys, URLs, license, and questions. Without an argument, check
the recipe book. It downloads nothing.

With --online, also download the documentation of each recipe, build its database in a
temporary folder, and check what it contains: released documentation of one version in
one language, under the license that the recipe states, which answers the recipe's
questions from the pages that it names. For each valid recipe, print its key "verified".`,
		Example: `  docsearch recipes check ./my.toml
  docsearch recipes check express --online`,
		ValidArgsFunction: completeSetup,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = recipes.Names()
			}
			return a.checkRecipes(args, func(name string) error {
				if err := library.CheckRecipe(name); err != nil || !online {
					return err
				}
				return a.checkOnline(cmd.Context(), name)
			})
		},
	}
	cmd.Flags().BoolVar(&online, "online", false, "download the documentation and check its contents")
	return cmd
}

// checkOnline prints the key "verified" of a recipe without faults.
func (a *app) checkOnline(ctx context.Context, name string) error {
	r, err := library.FindRecipe(ctx, name)
	if err != nil {
		return err
	}
	if r.Source.Download() == "" {
		_, err := fmt.Fprintf(a.stdout, "%s: no download: its documentation is installed\n", printable(name))
		return err
	}
	v, err := newBuildCommand(a).CheckOnline(ctx, r)
	if err != nil {
		return err
	}
	commit := ""
	if v.Commit != "" {
		commit = fmt.Sprintf("commit = %q, ", v.Commit)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: verified = {date = %q, %sdocuments = %d, bytes = %d}\n", printable(name), v.Date,
		commit, v.Documents, v.Bytes)
	return err
}

// checkRecipes prints all problems of recipes. check returns those of one recipe.
func (a *app) checkRecipes(files []string, check func(file string) error) error {
	invalid := 0
	for _, file := range files {
		err := check(file)
		_, isUnknown := errors.AsType[*recipes.NotFoundError](err)
		if isUnknown || errors.Is(err, fs.ErrNotExist) || errors.Is(err, context.Canceled) {
			return err
		}
		if err == nil {
			continue
		}
		invalid++
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(a.stdout, library.AtPosition(file, strings.TrimSpace(line)))
		}
	}
	if invalid > 0 {
		return fmt.Errorf("%s of %s invalid", count(invalid, "recipe"), thousands(len(files)))
	}
	fmt.Fprintf(a.stdout, "%s, all valid\n", count(len(files), "recipe"))
	return nil
}

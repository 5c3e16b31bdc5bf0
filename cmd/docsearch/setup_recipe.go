package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/recipes"
)

// runRecipes sets up the databases of recipes.
func (s *setupCommand) runRecipes(ctx context.Context, args []string) error {
	if err := s.checkRecipeFlags(args); err != nil {
		return err
	}
	var chosen []chosenSource
	for _, arg := range args {
		c, err := s.findSource(ctx, arg)
		if err != nil {
			return err
		}
		chosen = append(chosen, c)
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if len(chosen) == 1 {
		s.recipe, s.pack = chosen[0].recipe, chosen[0].pack
		return s.runAll(ctx)
	}
	return s.runSeveral(ctx, chosen)
}

// A chosenSource is a recipe, or else a pack.
type chosenSource struct {
	recipe *library.ChosenRecipe
	pack   *library.ChosenPack
}

// findSource returns the pack that an argument names, or else the recipe.
func (s *setupCommand) findSource(ctx context.Context, arg string) (chosenSource, error) {
	if !s.useRecipe {
		p, err := library.FindCatalogPack(ctx, console{s.app}, s.stdout, arg)
		if err != nil || p != nil {
			return chosenSource{pack: p}, err
		}
	}
	r, err := library.FindRecipe(ctx, arg)
	return chosenSource{recipe: r}, err
}

// argument returns the argument that selected the source.
func (c chosenSource) argument() string {
	if c.pack != nil {
		return c.pack.Argument
	}
	return c.recipe.Argument
}

// runSeveral sets up the databases of several recipes and packs. If one fails, it
// continues with the others.
func (s *setupCommand) runSeveral(ctx context.Context, chosen []chosenSource) error {
	var failed []string
	for _, c := range chosen {
		one := s.forSource(c)
		err := one.runSteps(ctx, one.choose, one.buildDatabase, one.writeEntry, one.testSearch)
		if errors.Is(err, terminal.ErrInterrupted) {
			return err
		}
		if err != nil {
			report(s.stderr, err)
			failed = append(failed, quoteArgument(c.argument()))
			continue
		}
		s.Number = one.Number
		s.created = append(s.created, one.created...)
		s.undoCommands = append(s.undoCommands, one.undoCommands...)
	}
	if len(failed) < len(chosen) {
		if err := s.runSteps(ctx, s.installClients); err != nil {
			return err
		}
		s.summarize()
	}
	if len(failed) > 0 {
		return withHint(fmt.Errorf("cannot set up %s", strings.Join(failed, ", ")), "run docsearch setup %s to try again",
			strings.Join(failed, " "))
	}
	return nil
}

// checkRecipeFlags returns an error for flags that contradict the recipes.
func (s *setupCommand) checkRecipeFlags(args []string) error {
	if s.builder.Set("type") {
		return usagef("cannot use --type: the recipe sets the type of the source")
	}
	for _, flag := range []string{"name", "out", "keywords", "urls", "description"} {
		if len(args) > 1 && s.builder.Set(flag) {
			return usagef("cannot use --%s with several recipes", flag)
		}
	}
	return nil
}

// forSource returns a copy of the command for one of several sources.
func (s *setupCommand) forSource(c chosenSource) *setupCommand {
	one, builder := *s, *s.builder
	one.Steps, one.builder, one.recipe, one.pack = terminal.NewSteps(s.stdout), &builder, c.recipe, c.pack
	one.created, one.undoCommands = nil, nil
	return &one
}

// chooseRecipe plans the build of a recipe's database and asks before it
// downloads anything.
func (s *setupCommand) chooseRecipe(ctx context.Context) error {
	r := s.recipe
	s.keyword, s.name = r.Keywords[0], r.DatabaseName()
	if !s.builder.Set("name") {
		s.builder.Name = s.name
	}
	p, location, isLocal, err := s.builder.PlanRecipe(ctx, r, s.locations)
	s.plan, s.source = p, location
	if err != nil {
		return err
	}
	from := "size " + r.Size()
	if isLocal {
		from = "on this machine"
	}
	fmt.Fprintf(s.stdout, "\n%s, from %s (%s)\n", strings.TrimSpace(r.Title+" "+r.Version), printable(s.source), from)
	fmt.Fprintf(s.stdout, "license: %s, %s\n", r.License, r.Attribution)
	if err := s.mayBuild(); err != nil || isLocal {
		return err
	}
	return s.confirmDownload(ctx, "this documentation", "run docsearch setup KEYWORD SOURCE to use another source")
}

// printQuestions shows up to three of the recipe's questions that the database answers with
// their page, and warns of the others. The answered ones become candidates for the test
// search.
func (s *setupCommand) printQuestions() {
	if s.recipe == nil {
		return
	}
	var shown []string
	for _, a := range s.answers {
		switch {
		case !a.IsConfident:
			s.warn("the database does not answer %q, a question of its recipe", a.Text)
		case !a.IsItsPage:
			s.warn("the database answers %q, a question of its recipe, from %s instead of %s", a.Text, a.Found, a.Page)
		default:
			s.evidence.Answered = append(s.evidence.Answered, a.Text)
			shown = append(shown, fmt.Sprintf("  %q: %s\n", a.Text, a.Found))
		}
	}
	fmt.Fprintf(s.stdout, "answers %d of %s of the recipe\n%s", len(shown), count(len(s.answers), "question"), strings.Join(shown[:min(3, len(shown))], ""))
}

// completeSetup completes the names of recipes and files.
func completeSetup(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return beginning(recipes.Names(), start), cobra.ShellCompDirectiveDefault
}

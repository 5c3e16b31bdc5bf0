package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/setup"
	"github.com/docsearch/docsearch/recipes"
)

// A chosenRecipe is a recipe with the argument that selected it.
type chosenRecipe struct {
	*recipes.Recipe
	argument  string // "django", "django@5.2", "./my.toml"
	versioned bool   // the argument sets a version other than the default
}

// databaseName returns the name of the database and of its config entry.
func (r *chosenRecipe) databaseName() string {
	if r.versioned {
		return r.Name + "-" + r.Version
	}
	return r.Name
}

// numericVersion returns the version for the config entry: the one that the
// user chose, unless it is an alias such as "stable".
func (r *chosenRecipe) numericVersion() string {
	if number := strings.TrimPrefix(r.Version, "v"); r.versioned && unicode.IsDigit(rune(number[0])) {
		return number
	}
	return ""
}

// areRecipes reports whether the arguments of setup name recipes, as opposed to
// a keyword and a source.
func (s *setupCommand) areRecipes(args []string) bool {
	if len(args) != 2 {
		return len(args) > 0
	}
	both := isKnownName(args[0]) && isKnownName(args[1])
	switch {
	case isRecipeFile(args[0]) || isRecipe(args[0]) && isRecipeFile(args[1]):
		return true
	case library.IsURL(args[1]) || ingest.ExtractedKind(args[1]) != "":
		return false
	case library.FileExists(args[1]):
		if both {
			s.warn("%s is a file or folder here; for the recipe, run docsearch setup %s", args[1], args[1])
		}
		return false
	case both:
		return true
	case library.CanonicalSource(nil, args[1]) != args[1]:
		return false
	}
	if all, err := library.List(config.Locate(os.Getenv)); err == nil {
		if _, err := findDatabase(all, args[1]); err == nil {
			return false
		}
	}
	return isKnownName(args[0]) || isKnownName(args[1]) || isLikeRecipe(args[0]) && isLikeRecipe(args[1])
}

// isKnownName reports whether an argument names a recipe of the book or a pack of the
// stored catalogs.
func isKnownName(arg string) bool {
	if isRecipe(arg) {
		return true
	}
	name, version := splitVersion(arg)
	all, err := knownCatalogs()
	return err == nil && slices.ContainsFunc(all, func(k knownCatalog) bool { return k.err == nil && k.Find(name, version) != nil })
}

// isRecipe reports whether the recipe book contains the recipe that an argument
// names.
func isRecipe(arg string) bool {
	name, _ := splitVersion(arg)
	_, err := recipes.Find(name)
	return err == nil
}

// isLikeRecipe reports whether an argument is similar to the name of a recipe.
func isLikeRecipe(arg string) bool {
	name, _ := splitVersion(arg)
	var unknown *recipes.NotFoundError
	_, err := recipes.Find(name)
	return errors.As(err, &unknown) && len(unknown.Nearest) > 0
}

// isRecipeFile reports whether an argument is the path or URL of a recipe.
func isRecipeFile(arg string) bool {
	name, _ := splitVersion(arg)
	return strings.HasSuffix(name, recipes.Extension) && (library.IsURL(name) || library.IsPath(name) || library.FileExists(name))
}

// splitVersion splits "django@5.2". An "@" in a folder or host name is not a
// separator.
func splitVersion(arg string) (name, version string) {
	if i := strings.LastIndexByte(arg, '@'); i > 0 && !strings.ContainsAny(arg[i:], `/\`) {
		return arg[:i], arg[i+1:]
	}
	return arg, ""
}

// findRecipe returns the recipe that an argument of setup selects.
func findRecipe(ctx context.Context, arg string) (*chosenRecipe, error) {
	name, version := splitVersion(arg)
	if strings.HasSuffix(arg, "@") {
		return nil, usagef("invalid recipe %q: want NAME or NAME@VERSION", arg)
	}
	r, err := loadRecipe(ctx, name)
	if err != nil {
		return nil, err
	}
	filled, err := r.At(version)
	if err != nil {
		return nil, withHint(err, "run docsearch recipes show %s", quoteArgument(name))
	}
	return &chosenRecipe{filled, arg, version != "" && version != r.Version}, nil
}

// loadRecipe loads a recipe from the book, a file or a URL.
func loadRecipe(ctx context.Context, name string) (*recipes.Recipe, error) {
	switch {
	case !isRecipeFile(name):
		r, err := recipes.Find(name)
		return r, explainRecipe(name, err)
	case !library.IsURL(name):
		return readRecipe(name)
	case !strings.HasPrefix(name, "https://"):
		return nil, usagef("invalid recipe URL %q: want an https URL", name)
	}
	data, err := site.Download(ctx, name, recipes.MaxFile)
	if err != nil {
		return nil, err
	}
	r, err := recipes.Parse(strings.TrimSuffix(path.Base(name), recipes.Extension), data)
	if err != nil {
		return nil, errors.New("recipe " + atPosition(name, err.Error()))
	}
	return r, nil
}

// readRecipe reads a recipe from a file.
func readRecipe(file string) (*recipes.Recipe, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r, err := recipes.ParseOwn(strings.TrimSuffix(filepath.Base(file), recipes.Extension), data)
	if err != nil {
		return nil, withHint(errors.New("recipe "+atPosition(file, err.Error())), "run docsearch recipes check %s to list all problems", quoteArgument(file))
	}
	return r, nil
}

// explainRecipe adds a hint to the error about an argument that names no
// recipe.
func explainRecipe(arg string, err error) error {
	var unknown *recipes.NotFoundError
	switch {
	case !errors.As(err, &unknown):
		return err
	case library.IsURL(arg) || library.IsPath(arg) || library.FileExists(arg):
		keyword := "KEYWORD"
		if proposed := proposedKeyword(arg); proposed != "" && (library.IsURL(arg) || library.FileExists(arg)) {
			keyword = proposed
		}
		return withHint(usagef("no keyword for the source %s", arg), "run docsearch setup %s %s", quoteArgument(keyword), quoteArgument(arg))
	case len(unknown.Nearest) > 0:
		return withHint(err, "did you mean %s? To list all names, run docsearch recipes list", strings.Join(unknown.Nearest, ", "))
	}
	return withHint(err, "run docsearch recipes list, or docsearch setup %s SOURCE", quoteArgument(arg))
}

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
	recipe *chosenRecipe
	pack   *chosenPack
}

// findSource returns the pack that an argument names, or else the recipe.
func (s *setupCommand) findSource(ctx context.Context, arg string) (chosenSource, error) {
	p, err := s.findCatalogPack(ctx, arg)
	if err != nil || p != nil {
		return chosenSource{pack: p}, err
	}
	r, err := findRecipe(ctx, arg)
	return chosenSource{recipe: r}, err
}

// argument returns the argument that selected the source.
func (c chosenSource) argument() string {
	if c.pack != nil {
		return c.pack.argument
	}
	return c.recipe.argument
}

// runSeveral sets up the databases of several recipes and packs. If one fails, it
// continues with the others.
func (s *setupCommand) runSeveral(ctx context.Context, chosen []chosenSource) error {
	var failed []string
	for _, c := range chosen {
		one := s.forSource(c)
		err := one.runSteps(ctx, one.choose, one.buildDatabase, one.writeEntry, one.testSearch)
		if errors.Is(err, errInterrupted) {
			return err
		}
		if err != nil {
			report(s.stderr, err)
			failed = append(failed, quoteArgument(c.argument()))
			continue
		}
		s.steps = one.steps
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
		return withHint(fmt.Errorf("cannot set up %s", strings.Join(failed, ", ")), "run docsearch setup %s to try again", strings.Join(failed, " "))
	}
	return nil
}

// checkRecipeFlags returns an error for flags that contradict the recipes.
func (s *setupCommand) checkRecipeFlags(args []string) error {
	if s.builder.set("type") {
		return usagef("cannot use --type: the recipe sets the type of the source")
	}
	for _, flag := range []string{"name", "out", "keywords", "urls", "description"} {
		if len(args) > 1 && s.builder.set(flag) {
			return usagef("cannot use --%s with several recipes", flag)
		}
	}
	return nil
}

// forSource returns a copy of the command for one of several sources.
func (s *setupCommand) forSource(c chosenSource) *setupCommand {
	one, builder := *s, *s.builder
	one.stepPrinter, one.builder, one.recipe, one.pack = newStepPrinter(s.stdout), &builder, c.recipe, c.pack
	one.created, one.undoCommands = nil, nil
	return &one
}

// chooseRecipe plans the build of a recipe's database and asks before it
// downloads anything.
func (s *setupCommand) chooseRecipe(ctx context.Context) error {
	r := s.recipe
	s.keyword, s.name = r.Keywords[0], r.databaseName()
	if !s.builder.set("name") {
		s.builder.name = s.name
	}
	isLocal, err := s.planRecipe(ctx)
	if err != nil {
		return err
	}
	from := "size unknown"
	if isLocal {
		from = "on this machine"
	}
	fmt.Fprintf(s.stdout, "\n%s, from %s (%s)\n", strings.TrimSpace(r.Title+" "+r.Version), printable(s.source), from)
	fmt.Fprintf(s.stdout, "license: %s, %s\n", r.License, r.Attribution)
	if isLocal {
		return nil
	}
	return s.confirmDownload(ctx, "this documentation", "run docsearch setup KEYWORD SOURCE to use another source")
}

// planRecipe plans the build from the documentation on this machine, otherwise
// from the download. It reports whether the source is on this machine.
func (s *setupCommand) planRecipe(ctx context.Context) (isLocal bool, err error) {
	source := s.recipe.Source
	local, err := s.installedSource(ctx)
	switch {
	case err != nil:
		return false, err
	case local != nil:
		s.source = local.Folder
		s.plan, err = s.builder.planInstalled(*local)
		return true, err
	case source.Download() == "":
		return false, withHint(fmt.Errorf("installed documentation %q not found", source.Installed), "run docsearch index build --installed to list installed documentation")
	}
	s.source = source.Download()
	s.builder.useSource(source)
	s.plan, err = s.builder.plan(s.source)
	return false, err
}

// installedSource returns the recipe's documentation on this machine. It
// returns nil if there is none, if the user chose a version, or if the database
// has been built from the download.
func (s *setupCommand) installedSource(ctx context.Context) (*installed.Documentation, error) {
	source := s.recipe.Source
	download := source.Download()
	if source.Installed == "" || download != "" && s.recipe.versioned {
		return nil, nil
	}
	if dir := filepath.Join(s.locations.Data, s.builder.name); download != "" && library.SameSource(library.OriginOf(dir).Location, download) {
		return nil, nil
	}
	all, err := installed.Find(ctx, installed.MachineRoots(os.Getenv, config.Home(os.Getenv)))
	if err != nil {
		return nil, err
	}
	found, ok := installed.Choose(all, source.Installed)
	if !ok {
		return nil, nil
	}
	return &found, nil
}

// useSource sets the build options of a recipe, unless flags set them.
func (b *buildCommand) useSource(source recipes.Source) {
	if !b.set("include") {
		b.options.Include = source.Include
	}
	if !b.set("exclude") {
		b.options.Exclude = source.Exclude
	}
	b.options.Root = source.Root
	b.preset("include", "exclude")
	if source.Site == "" {
		return
	}
	if !b.set("prefix") {
		b.options.Site.Prefix = source.Prefix
	}
	b.preset("prefix")
}

// accept returns the recipe's questions that a database in a folder answers. If it does not
// answer at least half of them, its source is not the documentation that the recipe means:
// accept then removes the database, unless it existed before, and returns an error.
func (r *chosenRecipe) accept(ctx context.Context, dir, source string, existed bool) (answered []string, err error) {
	answered, err = setup.Answered(ctx, dir, r.Questions, append([]string{r.databaseName()}, r.Keywords...))
	if err != nil || 2*len(answered) >= len(r.Questions) {
		return answered, err
	}
	err = withHint(fmt.Errorf("%s is not the documentation that the recipe %s means: it answers %d of %s", source, r.argument, len(answered), count(len(r.Questions), "question")),
		"run docsearch setup KEYWORD SOURCE to use another source, or docsearch recipes show %s to see the questions", quoteArgument(r.Name))
	if !existed {
		err = errors.Join(err, library.RemoveFiles(dir, true))
	}
	return nil, err
}

// printQuestions warns of the recipe's questions that the database does not answer. The
// others become candidates for the test search.
func (s *setupCommand) printQuestions() {
	if s.recipe == nil {
		return
	}
	for _, q := range s.recipe.Questions {
		if !slices.Contains(s.answered, q) {
			s.warn("the database does not answer %q, a question of its recipe", q)
		}
	}
	fmt.Fprintf(s.stdout, "answers %d of %s of the recipe\n", len(s.answered), count(len(s.recipe.Questions), "question"))
	s.evidence.Answered = s.answered
}

// completeSetup completes the names of recipes and files.
func completeSetup(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return beginning(recipes.Names(), start), cobra.ShellCompDirectiveDefault
}

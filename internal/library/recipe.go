package library

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

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/setup"
	"github.com/docsearch/docsearch/internal/usererror"
	"github.com/docsearch/docsearch/recipes"
)

// recipeFor returns the recipe for a dependency, at its version if the recipe has
// versions. A source of ready databases by package and version belongs before it.
func recipeFor(d *project.Dependency) *ChosenRecipe {
	r := recipes.ForPackage(d.ID())
	if r == nil {
		return nil
	}
	if version := recipeVersion(r, d.Version); version != "" {
		if filled, err := r.At(version); err == nil {
			return &ChosenRecipe{filled, r.Name + "@" + version, true}
		}
	}
	filled, err := r.At("")
	if err != nil {
		return nil
	}
	return &ChosenRecipe{filled, r.Name, false}
}

// recipeVersion shortens a version to the form that a recipe's source has: as many
// numbers as the recipe's default version, else two. The pages of crates have all.
func recipeVersion(r *recipes.Recipe, version string) string {
	numbers := 2
	switch {
	case version == "" || strings.Contains(r.Source.Site, "://docs.rs/"):
		return version
	case r.Source.HasMajorVersions():
		numbers = 1
	case len(r.Version) > 1 && r.Version[0] >= '0' && r.Version[0] <= '9': // a single digit is an alias
		numbers = strings.Count(r.Version, ".") + 1
	}
	version, _, _ = strings.Cut(version, "-")
	parts := strings.Split(version, ".")
	return strings.Join(parts[:min(numbers, len(parts))], ".")
}

// AtPosition returns the problem of a file, which may start with its line and
// column.
func AtPosition(file, problem string) string {
	if problem[0] >= '0' && problem[0] <= '9' {
		return file + ":" + problem
	}
	return file + ": " + problem
}

// AreRecipes reports whether the arguments of setup name recipes, as opposed to a keyword and
// a source. It warns of a file with the name of a recipe.
func AreRecipes(l config.Locations, args []string, warn func(format string, args ...any)) bool {
	if len(args) != 2 {
		return len(args) > 0
	}
	both := IsKnownName(args[0]) && IsKnownName(args[1])
	switch {
	case IsRecipeFile(args[0]) || IsRecipe(args[0]) && IsRecipeFile(args[1]):
		return true
	case IsURL(args[1]) || ingest.ExtractedKind(args[1]) != "":
		return false
	case FileExists(args[1]):
		if both {
			warn("%s is a file or folder here; for the recipe, run docsearch setup %s", args[1], args[1])
		}
		return false
	case both:
		return true
	case CanonicalSource(nil, args[1]) != args[1]:
		return false
	}
	if all, err := List(l); err == nil {
		if _, err := Find(all, args[1], nil); err == nil {
			return false
		}
	}
	return IsKnownName(args[0]) || IsKnownName(args[1]) || IsLikeRecipe(args[0]) && IsLikeRecipe(args[1])
}

// A ChosenRecipe is a recipe with the argument that selected it.
type ChosenRecipe struct {
	*recipes.Recipe
	Argument  string // "django", "django@5.2", "./my.toml"
	versioned bool   // the argument sets a version other than the default
}

// DatabaseName returns the name of the database and of its config entry.
func (r *ChosenRecipe) DatabaseName() string {
	if r.versioned {
		return r.Name + "-" + r.Version
	}
	return r.Name
}

// NumericVersion returns the version for the config entry: the one that the
// user chose, unless it is an alias such as "stable".
func (r *ChosenRecipe) NumericVersion() string {
	if number := strings.TrimPrefix(r.Version, "v"); r.versioned && unicode.IsDigit(rune(number[0])) {
		return number
	}
	return ""
}

// Size returns the approximate size of the download and its database: that of the last online
// check, which may have been of another version.
func (r *ChosenRecipe) Size() string {
	if r.Verified.Bytes == 0 {
		return "unknown"
	}
	return "about " + humanize.Size(r.Verified.Bytes)
}

// IsKnownName reports whether an argument names a recipe of the book or a pack of the
// stored catalogs.
func IsKnownName(arg string) bool {
	if IsRecipe(arg) {
		return true
	}
	name, version := SplitVersion(arg)
	all, err := KnownCatalogs()
	return err == nil && slices.ContainsFunc(all,
		func(k KnownCatalog) bool { return k.Err == nil && k.Find(name, version) != nil })
}

// IsRecipe reports whether the recipe book contains the recipe that an argument
// names.
func IsRecipe(arg string) bool {
	name, _ := SplitVersion(arg)
	_, err := recipes.Find(name)
	return err == nil
}

// IsLikeRecipe reports whether an argument is similar to the name of a recipe.
func IsLikeRecipe(arg string) bool {
	name, _ := SplitVersion(arg)
	var unknown *recipes.NotFoundError
	_, err := recipes.Find(name)
	return errors.As(err, &unknown) && len(unknown.Nearest) > 0
}

// IsRecipeFile reports whether an argument is the path or URL of a recipe.
func IsRecipeFile(arg string) bool {
	name, _ := SplitVersion(arg)
	return strings.HasSuffix(name, recipes.Extension) && (IsURL(name) || IsPath(name) || FileExists(name))
}

// SplitVersion splits "django@5.2". An "@" in a folder or host name is not a
// separator.
func SplitVersion(arg string) (name, version string) {
	if i := strings.LastIndexByte(arg, '@'); i > 0 && !strings.ContainsAny(arg[i:], `/\`) {
		return arg[:i], arg[i+1:]
	}
	return arg, ""
}

// FindRecipe returns the recipe that an argument of setup selects.
func FindRecipe(ctx context.Context, arg string) (*ChosenRecipe, error) {
	name, version := SplitVersion(arg)
	if strings.HasSuffix(arg, "@") {
		return nil, usererror.Invalidf("invalid recipe %q: want NAME or NAME@VERSION", arg)
	}
	r, err := loadRecipe(ctx, name)
	if err != nil {
		return nil, err
	}
	filled, err := r.At(version)
	if err != nil {
		return nil, usererror.WithHint(err, "run docsearch recipes show %s", humanize.Argument(name))
	}
	return &ChosenRecipe{filled, arg, version != "" && version != r.Version}, nil
}

// loadRecipe loads a recipe from the book, a file or a URL.
func loadRecipe(ctx context.Context, name string) (*recipes.Recipe, error) {
	switch {
	case !IsRecipeFile(name):
		r, err := recipes.Find(name)
		return r, ExplainRecipe(name, err)
	case !IsURL(name):
		return readRecipe(name)
	case !strings.HasPrefix(name, "https://"):
		return nil, usererror.Invalidf("invalid recipe URL %q: want an https URL", name)
	}
	data, err := site.Download(ctx, name, recipes.MaxFile)
	if err != nil {
		return nil, err
	}
	r, err := recipes.Parse(strings.TrimSuffix(path.Base(name), recipes.Extension), data)
	if err != nil {
		return nil, errors.New("recipe " + AtPosition(name, err.Error()))
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
		return nil, usererror.WithHint(errors.New("recipe "+AtPosition(file, err.Error())),
			"run docsearch recipes check %s to list all problems", humanize.Argument(file))
	}
	return r, nil
}

// ExplainRecipe adds a hint to the error about an argument that names no
// recipe.
func ExplainRecipe(arg string, err error) error {
	var unknown *recipes.NotFoundError
	switch {
	case !errors.As(err, &unknown):
		return err
	case IsURL(arg) || IsPath(arg) || FileExists(arg):
		keyword := "KEYWORD"
		if proposed := SuggestKeyword(arg); proposed != "" && (IsURL(arg) || FileExists(arg)) {
			keyword = proposed
		}
		return usererror.WithHint(usererror.Invalidf("no keyword for the source %s", arg), "run docsearch setup %s %s",
			humanize.Argument(keyword), humanize.Argument(arg))
	case len(unknown.Nearest) > 0:
		return usererror.WithHint(err, "did you mean %s? To list all names, run docsearch recipes list",
			strings.Join(unknown.Nearest, ", "))
	}
	return usererror.WithHint(err, "run docsearch recipes list, or docsearch setup %s SOURCE", humanize.Argument(arg))
}

// PlanRecipe plans the build from the documentation on this machine, otherwise
// from the download. It also returns the location of the source, and whether it is on this
// machine.
func (b *Builder) PlanRecipe(ctx context.Context, r *ChosenRecipe,
	l config.Locations) (p Plan, location string, isLocal bool, err error) {
	source := r.Source
	local, err := b.installedSource(ctx, r, l)
	switch {
	case err != nil:
		return p, "", false, err
	case local != nil:
		p, err = b.PlanInstalled(*local)
		return p, local.Folder, true, err
	case source.Download() == "":
		return p, "", false, usererror.WithHint(fmt.Errorf("installed documentation %q not found", source.Installed),
			"run docsearch index build --installed to list installed documentation")
	}
	b.useSource(source)
	p, err = b.Plan(source.Download())
	return p, source.Download(), false, err
}

// installedSource returns the recipe's documentation on this machine. It
// returns nil if there is none, if the user chose a version, or if the database
// has been built from the download.
func (b *Builder) installedSource(ctx context.Context, r *ChosenRecipe,
	l config.Locations) (*installed.Documentation, error) {
	source := r.Source
	download := source.Download()
	if source.Installed == "" || download != "" && r.versioned {
		return nil, nil
	}
	if dir := filepath.Join(l.Data, b.Name); download != "" && sameSource(OriginOf(dir).Location, download) {
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
func (b *Builder) useSource(source recipes.Source) {
	if !b.Set("include") {
		b.Options.Include = source.Include
	}
	if !b.Set("exclude") {
		b.Options.Exclude = source.Exclude
	}
	b.Options.Root = source.Root
	b.preset("include", "exclude", "root")
	if source.Site == "" {
		return
	}
	if !b.Set("prefix") {
		b.Options.Site.Prefix = source.Prefix
	}
	b.preset("prefix")
}

// Accept returns the answers of a database in a folder to the recipe's questions. If it does
// not answer at least half of them, its source is not the documentation that the recipe
// means: accept then removes the database, unless it existed before, and returns an error.
func (r *ChosenRecipe) Accept(ctx context.Context, dir, source string, existed bool) ([]setup.Answer, error) {
	answers, err := setup.Answers(ctx, dir, r.Questions, append([]string{r.DatabaseName()}, r.Keywords...))
	answered := 0
	for _, a := range answers {
		if a.IsConfident {
			answered++
		}
	}
	if err != nil || 2*answered >= len(r.Questions) {
		return answers, err
	}
	err = usererror.WithHint(fmt.Errorf("%s is not the documentation that the recipe %s means: it answers %d of %s", source, r.Argument, answered, humanize.Count(len(r.Questions), "question")),
		"run docsearch setup KEYWORD SOURCE to use another source, or docsearch recipes show %s to see the questions", humanize.Argument(r.Name))
	if !existed {
		err = errors.Join(err, RemoveFiles(dir, true))
	}
	return nil, err
}

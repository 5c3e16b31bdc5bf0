package library

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/usererror"
	"github.com/docsearch/docsearch/recipes"
)

// A heard is a dialog that keeps what it shows.
type heard []string

func (h *heard) Warn(format string, args ...any) { *h = append(*h, fmt.Sprintf(format, args...)) }
func (h *heard) Report(err error)                { *h = append(*h, usererror.Message(err)) }
func (h *heard) Say(format string, args ...any)  { *h = append(*h, fmt.Sprintf(format, args...)) }

// inEmptyHome makes a new folder the home and the working directory.
func inEmptyHome(t *testing.T) config.Locations {
	t.Helper()
	home := t.TempDir()
	t.Chdir(home)
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "APPDATA": filepath.Join(home, "roaming"), "LOCALAPPDATA": filepath.Join(home, "local"),
		"XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "", "XDG_STATE_HOME": "", "DOCSEARCH_CONFIG": "",
		"DOCSEARCH_DATA": filepath.Join(home, "data"),
	} {
		t.Setenv(name, value)
	}
	return config.Locate(os.Getenv)
}

// builder returns a builder for which the user chose these options.
func builder(chosen ...string) *Builder {
	return &Builder{
		Console: &heard{}, Tool: "test", Display: func() *progress.Display { return progress.New(io.Discard, progress.Silent) },
		Set: func(option string) bool { return slices.Contains(chosen, option) },
	}
}

// build plans and builds a database.
func build(t *testing.T, b *Builder, arg string) Plan {
	t.Helper()
	p, err := b.Plan(arg)
	if err == nil {
		_, err = b.Build(t.Context(), &p)
	}
	if err != nil {
		t.Fatal(usererror.Message(err))
	}
	return p
}

func TestPlan(t *testing.T) {
	l := inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{
		"guide/a.md": "# Tea\n\nHot water.\n", "single.md": "# One\n\nText.\n", "other/guide/b.md": "# Other\n\nText.\n",
		"full/note.txt": "not a database", ".hidden/a.md": "# Hidden\n\nText.\n", "book.zip": "PK",
	})
	build(t, builder(), "guide")
	data := func(name string) string { return filepath.Join(l.Data, name) }
	for _, test := range []struct {
		name    string
		arg     string
		builder Builder // Name, Out, Kind
		dir     string
		source  string // its type
		err     string // part of it
	}{
		{name: "a folder again", arg: "guide", dir: data("guide"), source: "*ingest.Folder"},
		{name: "a file", arg: "single.md", dir: data("single"), source: "*ingest.Folder"},
		{name: "another name", arg: "guide", builder: Builder{Name: "tea"}, dir: data("tea"), source: "*ingest.Folder"},
		{name: "another folder", arg: "guide", builder: Builder{Out: "out"}, dir: abs(t, "out"), source: "*ingest.Folder"},
		{name: "a folder of the same name", arg: "other/guide", err: "database guide already exists, built from " + abs(t, "guide")},
		{name: "not an empty folder", arg: "guide", builder: Builder{Out: "full"}, err: "not empty and not a docsearch database"},
		{name: "a name that is no name", arg: ".hidden", err: `invalid database name ".hidden"`},
		{name: "a name with a separator", arg: "guide", builder: Builder{Name: "a/b"}, err: `invalid database name "a/b"`},
		{name: "nothing", arg: "guise", err: `source "guise" not found`},
		{name: "a site", arg: "https://docs.kettle.example/manual/", dir: data("kettle"), source: "*ingest.Site"},
		{name: "a site without a name", arg: "https://192.0.2.1/", err: "cannot derive a database name"},
		{name: "a site without a scheme", arg: "docs.example.com/manual/", dir: data("example"), source: "*ingest.Site"},
		{name: "a repository", arg: "https://git.example/team/kettle.git", dir: data("kettle"), source: "*ingest.Extracted"},
		{name: "a page as a repository", arg: "https://git.example/team/kettle", builder: Builder{Kind: "git"}, dir: data("kettle"), source: "*ingest.Extracted"},
		{name: "an archive", arg: "https://docs.example/kettle-1.0.zip", dir: data("kettle-1.0"), source: "*ingest.Extracted"},
		{name: "an archive as a folder", arg: "book.zip", builder: Builder{Kind: "folder"}, err: "unsupported file type"},
		{name: "a folder as a site", arg: "guide", builder: Builder{Kind: "site"}, err: `invalid site URL "guide"`},
		{name: "an unknown kind", arg: "guide", builder: Builder{Kind: "wiki"}, err: `invalid --type "wiki"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := builder()
			b.Name, b.Out, b.Kind = test.builder.Name, test.builder.Out, test.builder.Kind
			p, err := b.Plan(test.arg)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(usererror.Message(err))
			}
			if p.Dir != test.dir || fmt.Sprintf("%T", p.Source) != test.source || p.Configured {
				t.Errorf("%T in %s, configured %v; want %s in %s", p.Source, p.Dir, p.Configured, test.source, test.dir)
			}
		})
	}
}

func abs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A build has the options of the last one, except for those that the user chose.
func TestMergeOptions(t *testing.T) {
	inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{"guide/a.md": "# Tea\n\nHot water.\n"})
	first := builder("include", "language", "keep-secrets")
	first.Options.Include, first.Options.Language, first.Options.KeepSecrets = []string{"*.md"}, "german", true
	p := build(t, first, "guide")
	second := builder("language", "exclude")
	second.Options.Include, second.Options.Language, second.Options.Exclude = []string{"*.txt"}, "english", []string{"b.md"}
	got := second.MergeOptions(p.Dir)
	if !slices.Equal(got.Include, []string{"*.md"}) || !slices.Equal(got.Exclude, []string{"b.md"}) || got.Language != "english" || !got.KeepSecrets {
		t.Errorf("merged: %+v", got)
	}
	if got := second.MergeOptions(filepath.Join(p.Dir, "none")); got.Include != nil || got.Language != "english" {
		t.Errorf("of a first build: %+v", got)
	}
}

// The options of a recipe's source reach the build, and an update keeps them.
func TestRecipeOptions(t *testing.T) {
	inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{"tool/docs/a.md": "# Tea\n\nHot water.\n"})
	b := builder()
	b.useSource(recipes.Source{Include: []string{"docs/**"}, Root: "docs"})
	p := build(t, b, "tool")
	for name, got := range map[string]Options{"built": p.Options, "kept": builder().MergeOptions(p.Dir)} {
		if !slices.Equal(got.Include, []string{"docs/**"}) || got.Root != "docs" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An update reads the source that a build of this user recorded, and reuses documents that the
// same version read.
func TestPlanUpdate(t *testing.T) {
	l := inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{"guide/a.md": "# Tea\n\nHot water.\n"})
	built := build(t, builder(), "guide")
	known := Ref{Name: "guide", Path: built.Dir}
	info, err := index.Inspect(built.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name            string
		tool            string
		full            bool
		reuse, keepLost bool
	}{
		{"the same version", "test", false, true, true},
		{"another version", "newer", false, false, true},
		{"a full build", "test", true, false, false},
	} {
		b := builder()
		b.Tool = test.tool
		p, err := b.PlanUpdate(known, info, test.full)
		if err != nil || fmt.Sprintf("%T", p.Source) != "*ingest.Folder" || b.Reuse != test.reuse || b.KeepLost != test.keepLost || p.warning != nil {
			t.Errorf("%s: %T, reuse %v, keep lost %v, warning %v, error %v", test.name, p.Source, b.Reuse, b.KeepLost, p.warning, err)
		}
	}
	if err := os.Rename("guide", "moved"); err != nil {
		t.Fatal(err)
	}
	if _, err := builder().PlanUpdate(known, info, false); err == nil {
		t.Error("an update without its source has a plan")
	}
	p, err := builder().planRebuild(known, built.Dir)
	if err != nil || p.warning == nil || fmt.Sprintf("%T", p.Source) == "*ingest.Folder" {
		t.Errorf("a rebuild without its source: %T, warning %v, error %v", p.Source, p.warning, err)
	}
	// Without the key, the recorded source may be anyone's.
	if err := os.Remove(config.KeyPath(os.Getenv)); err != nil {
		t.Fatal(err)
	}
	if MayRead(built.Dir) {
		t.Error("the source of another user's database may be read")
	}
	if _, err := builder().PlanUpdate(known, info, false); !errors.Is(err, ErrUnverifiedSource) {
		t.Errorf("update of another user's database: %v", err)
	}
	if p, err := builder().planRebuild(known, built.Dir); err != nil || !errors.Is(p.warning, ErrUnverifiedSource) {
		t.Errorf("rebuild of another user's database: warning %v, error %v", p.warning, err)
	}
	if all, err := List(l); err != nil || len(all) != 1 || all[0].Name != "guide" {
		t.Errorf("databases: %+v, %v", all, err)
	}
}

func TestIsUpToDate(t *testing.T) {
	inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{"guide/a.md": "# Tea\n\nHot water.\n"})
	build(t, builder(), "guide")
	for _, test := range []struct {
		name           string
		change         func(b *Builder)
		upToDate, same bool // same: the documents can be reused
	}{
		{"nothing changed", func(*Builder) {}, true, true},
		{"another version", func(b *Builder) { b.Tool = "newer" }, true, false},
		{"other options", func(b *Builder) {
			b.Options.Exclude = []string{"b.md"}
			b.preset("exclude")
		}, false, false},
		{"a new file", func(*Builder) {
			ingesttest.WriteFiles(t, "guide", map[string]string{"c.md": "# Coffee\n\nText.\n"})
		}, false, true},
	} {
		b := builder()
		test.change(b)
		p, err := b.Plan("guide")
		if err != nil {
			t.Fatal(err)
		}
		if _, got := b.IsUpToDate(&p, nil); got != test.upToDate || b.Reuse != test.same {
			t.Errorf("%s: up to date %v, reuse %v; want %v, %v", test.name, got, b.Reuse, test.upToDate, test.same)
		}
	}
}

func TestOverdue(t *testing.T) {
	l := inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{"guide/a.md": "# Tea\n\nHot water.\n"})
	p := build(t, builder(), "guide")
	all := []Ref{{Name: "guide", Path: p.Dir}, {Name: "gone", Path: filepath.Join(l.Data, "gone")}}
	if got := Overdue(all, nil); len(got) != 0 {
		t.Errorf("overdue after the build: %+v", got)
	}
	indextest.ChangeManifest(t, p.Dir, func(m *generation.Manifest) { m.Created = m.Created.Add(-2 * UpdateInterval) })
	for name, test := range map[string]struct {
		attempt time.Duration // ago
		want    int
	}{"none since": {2 * UpdateInterval, 1}, "a recent attempt": {UpdateInterval / 2, 0}} {
		if got := Overdue(all, map[string]time.Time{p.Dir: time.Now().Add(-test.attempt)}); len(got) != test.want {
			t.Errorf("%s: overdue %+v, want %d", name, got, test.want)
		}
	}
	if got := Outdated(all, nil, "test"); len(got) != 0 {
		t.Errorf("of another format: %+v", got)
	}
	if err := os.Remove(config.KeyPath(os.Getenv)); err != nil {
		t.Fatal(err)
	}
	if got := Overdue(all, nil); len(got) != 0 {
		t.Errorf("another user's database is overdue: %+v", got)
	}
}

func TestReadAttempts(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for content, want := range map[string]int{`{"/a": "2026-01-02T03:04:05Z"}`: 1, `{"/a": 1}`: 0, `{`: 0} {
		if err := os.WriteFile(filepath.Join(dir, UpdateAttempts), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := ReadAttempts(dir); len(got) != want || want > 0 && !got["/a"].Equal(at) {
			t.Errorf("%s: %v", content, got)
		}
	}
	if got := ReadAttempts(filepath.Join(dir, "none")); got == nil || len(got) != 0 {
		t.Errorf("without a file: %v", got)
	}
}

func TestFindRecipe(t *testing.T) {
	inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{
		"tea.toml": "title = \"Tea\"\nkeywords = [\"tea\"]\nversion = \"1.0\"\nlicense = \"MIT\"\nattribution = \"Somebody\"\nquestions = [\"how to brew tea\"]\n\n[source]\nsite = \"https://tea.example/{version}/\"\n",
		"bad.toml": "title = 1\n",
	})
	book, err := recipes.Find("django")
	if err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{ // name of the database, version of the entry, download; or the error
		"django":                    "django  " + strings.ReplaceAll(book.Source.Site, "{version}", book.Version),
		"django@" + book.Version:    "django  " + strings.ReplaceAll(book.Source.Site, "{version}", book.Version),
		"django@3.9":                "django-3.9 3.9 " + strings.ReplaceAll(book.Source.Site, "{version}", "3.9"),
		"./tea.toml":                "tea  https://tea.example/1.0/",
		"tea.toml@2.0":              "tea-2.0 2.0 https://tea.example/2.0/",
		"django@":                   "invalid recipe",
		"djanggo":                   `recipe "djanggo" not found`,
		"./bad.toml":                "recipe ./bad.toml:1",
		"./none.toml":               "none.toml",
		"http://tea.example/a.toml": "want an https URL",
	} {
		r, err := FindRecipe(t.Context(), arg)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = strings.Join([]string{r.DatabaseName(), r.NumericVersion(), r.Source.Download()}, " ")
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
	for arg, want := range map[string][3]bool{ // in the book, like one, a file
		"django": {true, false, false}, "django@4": {true, false, false}, "djanggo": {false, true, false}, "tea.toml": {false, false, true},
		"none.toml": {false, false, false}, "./none.toml": {false, false, true}, "https://tea.example/a.toml": {false, false, true},
	} {
		if got := [3]bool{IsRecipe(arg), IsLikeRecipe(arg), IsRecipeFile(arg)}; got != want {
			t.Errorf("%s: in the book, like one, a file: %v, want %v", arg, got, want)
		}
	}
}

func TestRecipeFor(t *testing.T) {
	for _, test := range []struct {
		dependency project.Dependency
		argument   string // "": no recipe
	}{
		{project.Dependency{Ecosystem: project.Python, Name: "django", Version: "4.2.11"}, "django@4.2"},
		{project.Dependency{Ecosystem: project.Python, Name: "django"}, "django"},
		{project.Dependency{Ecosystem: project.Python, Name: "no-such-package", Version: "1.0"}, ""},
	} {
		got := ""
		if r := recipeFor(&test.dependency); r != nil {
			got = r.Argument
		}
		if got != test.argument {
			t.Errorf("%s %s: recipe %q, want %q", test.dependency.ID(), test.dependency.Version, got, test.argument)
		}
	}
	for _, test := range []struct{ site, known, version, want string }{
		{"https://a.example/{version}/", "5.2", "4.2.11", "4.2"},
		{"https://a.example/{version}/", "3", "4.2.11", "4.2"},
		{"https://a.example/{version}/", "15.2.1", "4.2", "4.2"},
		{"https://a.example/{version}/", "15.2.1", "4.2.1-rc1", "4.2.1"},
		{"https://a.example/{version}/", "stable", "4.2.1", "4.2"},
		{"https://docs.rs/a/{version}/", "1.0", "4.2.1-rc1", "4.2.1-rc1"},
		{"https://a.example/{version}/", "5.2", "", ""},
		{"https://a.example/{version}x/", "5", "4.22.3", "4"},
		{"https://a.example/{digits}/", "2.0", "1.4.52", "1.4"},
	} {
		r := &recipes.Recipe{Version: test.known, Source: recipes.Source{Site: test.site}}
		if got := recipeVersion(r, test.version); got != test.want {
			t.Errorf("version %q for a recipe of %q: %q, want %q", test.version, test.known, got, test.want)
		}
	}
}

// A recipe's options are those of the build, unless the user chose others.
func TestPlanRecipe(t *testing.T) {
	l := inEmptyHome(t)
	r := &ChosenRecipe{&recipes.Recipe{Name: "tea", Version: "1.0", Source: recipes.Source{Site: "https://tea.example/1.0/", Prefix: "https://tea.example/", Include: []string{"guide"}, Exclude: []string{"news"}}}, "tea", false}
	b := builder("exclude")
	b.Options.Exclude = []string{"blog"}
	p, location, local, err := b.PlanRecipe(t.Context(), r, l)
	if err != nil {
		t.Fatal(usererror.Message(err))
	}
	o := p.Options
	if location != r.Source.Site || local || p.Site() == nil || !slices.Equal(o.Include, r.Source.Include) || !slices.Equal(o.Exclude, b.Options.Exclude) || o.Site.Prefix != r.Source.Prefix {
		t.Errorf("%s, local %v, options %+v", location, local, o)
	}
	r.Source = recipes.Source{Installed: "no-such-documentation"}
	if _, _, _, err := builder().PlanRecipe(t.Context(), r, l); err == nil || !strings.Contains(err.Error(), `installed documentation "no-such-documentation" not found`) {
		t.Errorf("documentation that is not installed: %v", err)
	}
}

func TestFind(t *testing.T) {
	l := inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{"guide/a.md": "# Tea\n\nHot water.\n"})
	p := build(t, builder(), "guide")
	all, err := List(l)
	if err != nil {
		t.Fatal(err)
	}
	held := errors.New("on another machine")
	elsewhere := func(name string) error {
		if name == "far" {
			return held
		}
		return nil
	}
	for arg, want := range map[string]string{"guide": p.Dir, "GUIDE": p.Dir, "./guide": abs(t, "guide"), p.Dir: p.Dir} {
		if got, err := Find(all, arg, elsewhere); err != nil || !SamePath(got.Path, want) {
			t.Errorf("%s: %s, %v; want %s", arg, got.Path, err, want)
		}
	}
	if _, err := Find(all, "far", elsewhere); !errors.Is(err, held) {
		t.Errorf("a database of another machine: %v", err)
	}
	_, err = Find(all, "giude", elsewhere)
	if unknown, ok := errors.AsType[*NotFoundError](err); !ok || unknown.Suggestion != "guide" {
		t.Errorf("a misspelled name: %v", err)
	}
}

func TestSuggestKeyword(t *testing.T) {
	inEmptyHome(t)
	ingesttest.WriteFiles(t, ".", map[string]string{"Kettle/docs/a.md": "x", "Pot.md": "x"})
	for source, want := range map[string]string{
		"Kettle": "kettle", "Kettle/docs": "kettle", "Pot.md": "pot", "https://docs.kettle.example/guide/": "kettle",
		"https://git.example/team/Kettle.git": "kettle", "https://docs.example/kettle-1.0.zip": "kettle-1.0",
	} {
		if got := SuggestKeyword(source); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	if got := SuggestSource(config.Locate(os.Getenv)); got != "" {
		t.Errorf("a source where none is: %q", got)
	}
	ingesttest.WriteFiles(t, ".", map[string]string{"docs/a.md": "x"})
	if got := SuggestSource(config.Locate(os.Getenv)); got != "docs" {
		t.Errorf("source %q, want docs", got)
	}
}

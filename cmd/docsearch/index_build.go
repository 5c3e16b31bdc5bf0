package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/embed/provider"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/gitrepo"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/provenance"
)

type buildCommand struct {
	*app
	name, out   string
	kind        string // source type; "": detected
	wait        time.Duration
	quiet, json bool
	installed   bool
	url, keyEnv string // of the embedder
	options     library.Options
	set         func(flag string) bool // whether the command line sets the flag
	reuse       bool                   // reuse unchanged documents
	isUpdate    bool                   // for index update, which fails if it may not read the source
	keepLost    bool                   // keep documents that the source seems to have lost
	lock        bool                   // record packs in the lock file
}

func newIndexBuildCommand(a *app) *cobra.Command {
	b := &buildCommand{app: a}
	cmd := &cobra.Command{
		Use:   "build PATH|URL|NAME | --installed [NAME]",
		Short: "Build or rebuild a database",
		Long: `Build or rebuild a database from a folder of documentation or source code, an
archive, a git repository, a docset, a documentation site, or a LEANN index.

Files are split into passages at their headings. The database is written to
docsearch's data folder.

For a git repository, the latest commit is fetched; hooks, filters and submodules
never run. For a site, the pages below the URL are downloaded first. They are
found through llms.txt, the sitemap, or links, in that order. To resume an
interrupted build, run the same command again. For a LEANN index (its folder, its
meta.json, or a bare passages.jsonl), docsearch writes its files to a docsearch
folder next to the passages and does not change LEANN's files.

Your machine may already contain documentation: of packages, of Go, Python, and
Node modules, and manual pages. To list it, pass --installed.

Until a build succeeds, searches use the previous index.`,
		Example: `  docsearch index build ~/src/project/docs --name project
  docsearch index build https://docs.example.com/guide/
  docsearch index build https://git.example.com/project.git#v2
  docsearch index build ~/Downloads/project-docs.tar.gz
  docsearch index build --installed man1
  docsearch index build ~/.leann/indexes/gitlab
  docsearch index build project --embedder ollama:nomic-embed-text
  docsearch index build project`,
		Args: func(cmd *cobra.Command, args []string) error {
			if b.installed {
				return atMostOne(cmd, args)
			}
			return oneArgument("a folder, a URL, an archive, or a database")(cmd, args)
		},
		ValidArgsFunction: completeDatabases,
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			b.set = cmd.Flags().Changed
			if b.installed {
				return b.runInstalled(cmd.Context(), args)
			}
			return b.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	b.addSourceFlags(f)
	f.BoolVar(&b.installed, "installed", false, "index documentation that is already on this machine; without NAME, list it")
	f.DurationVar(&b.wait, "wait", 0, waitHelp)
	f.BoolVar(&b.json, "json", false, jsonLines)
	f.BoolVarP(&b.quiet, "quiet", "q", false, "print errors only")
	addFlagGroup(f, siteFlags, b.addSiteFlags)
	addFlagGroup(f, embeddingFlags, b.addEmbedderFlags)
	return cmd
}

// Titles of the flag groups of build and setup.
const (
	sourceFlags    = "Source flags"
	siteFlags      = "Site flags"
	embeddingFlags = "Embedding flags"
)

// Flag help that several commands share.
const (
	jsonLines = "print progress and result as JSON, one object per line"
	waitHelp  = "wait up to `DURATION` for another build of this database (default 0s: fail at once)"
)

// addSourceFlags adds the flags that select the source and its files.
func (b *buildCommand) addSourceFlags(f *pflag.FlagSet) {
	kinds := sourceKinds()
	f.StringVar(&b.kind, "type", "", "treat the source as `TYPE`: "+strings.Join(kinds[:len(kinds)-1], ", ")+", or "+kinds[len(kinds)-1]+" (default: detect)")
	f.StringVar(&b.name, "name", "", "set the database name to `NAME` (default: folder name or site host)")
	f.StringVar(&b.out, "out", "", "write the database to `DIR` (default: docsearch's data folder)")
	f.StringArrayVar(&b.options.Include, "include", nil, "index only files or pages that match `GLOB`, for example \"*.html\" (repeatable)")
	f.StringArrayVar(&b.options.Exclude, "exclude", nil, "skip files or pages that match `GLOB`, for example \"old/*.md\" (repeatable)")
	f.BoolVar(&b.options.NoIgnore, "no-ignore", false, "index files that .gitignore or .docsearchignore excludes (folders only)")
	f.BoolVar(&b.options.KeepSecrets, "keep-secrets", false, "index keys and tokens instead of removing them from the text")
	f.StringVar(&b.options.Language, "language", "", "stem words for `LANG`, or \"none\" (default: the documentation's)")
	f.BoolVar(&b.options.TrustPaths, "trust-paths", false, "read passage files outside the index folder (LEANN only)")
}

// addSiteFlags adds the crawler flags.
func (b *buildCommand) addSiteFlags(f *pflag.FlagSet) {
	f.StringVar((*string)(&b.options.Site.Discovery), "discover", "", "find pages by `METHOD`: llms.txt, llms-full.txt, sitemap, or links (sites only; default: first available)")
	f.StringVar(&b.options.Site.Prefix, "prefix", "", "download only pages below `URL` (sites only; default: the source URL)")
	f.IntVar(&b.options.Site.MaxPages, "max-pages", 0, "download at most `N` pages (sites only; default 20000)")
	f.Var((*sizeValue)(&b.options.Site.MaxBytes), "max-bytes", "download at most `SIZE` in total, for example 500MB (sites only; default 2GB)")
	f.IntVar(&b.options.Site.Concurrency, "concurrency", 0, "send at most `N` requests at once (sites only; default 4)")
	f.DurationVar(&b.options.Site.Delay, "delay", 0, "wait `DURATION` between requests (sites only; default 200ms, 0 for localhost)")
	f.DurationVar(&b.options.Site.Timeout, "timeout", 0, "give up on a page after `DURATION` (sites only; default 30s)")
	f.BoolVar(&b.options.Site.IgnoreRobots, "ignore-robots", false, "download pages that robots.txt disallows, and index noindex pages (sites only)")
	f.BoolVar(&b.options.Site.Private, "private", false, "allow a site on localhost or a private network")
}

// addEmbedderFlags adds the embedder flags.
func (b *buildCommand) addEmbedderFlags(f *pflag.FlagSet) {
	f.StringVar(&b.options.Embedder, "embedder", "", "also embed passages with `PROVIDER:MODEL`; \"leann\": the LEANN index's model, \"builtin\": none (default: from the config)")
	f.StringVar(&b.url, "embedder-url", "", "connect to the embedding server at `URL` (default: from the config)")
	f.StringVar(&b.keyEnv, "embedder-key-env", "", "read the embedding server's API key from environment variable `VAR`")
}

func (b *buildCommand) run(ctx context.Context, arg string) error {
	p, err := b.plan(arg)
	if err != nil {
		return err
	}
	return b.buildAndPrint(ctx, &p)
}

// buildAndPrint runs the plan and prints the result.
func (b *buildCommand) buildAndPrint(ctx context.Context, p *plan) error {
	start := time.Now()
	info, err := b.build(ctx, p)
	if err != nil {
		return err
	}
	return b.printResult(*p, info, time.Since(start))
}

// build runs the plan.
func (b *buildCommand) build(ctx context.Context, p *plan) (index.Info, error) {
	if p.site() == nil {
		for flag := range b.siteFlags(&p.options.Site) {
			if b.set(flag) && !(flag == "private" && library.IsDownload(p.source)) {
				return index.Info{}, usagef("cannot use --%s: %s is not a site", flag, p.label)
			}
		}
	}
	if p.warning != nil {
		report(b.stderr, p.warning)
	}
	options, err := json.Marshal(p.options)
	if err != nil {
		return index.Info{}, err
	}
	opt := index.BuildOptions{Language: p.options.Language, Wait: b.wait, Tool: buildVersion(), Options: options, Update: b.reuse, KeepLost: b.keepLost}
	if k, ok := p.source.(interface{ KeepLost() }); ok && b.keepLost {
		k.KeepLost()
	}
	if p.embedder, err = b.chooseEmbedder(*p); err != nil {
		return index.Info{}, err
	}
	if e := p.embedder; e != nil {
		if opt.Embedder, err = e.open(config.Locate(os.Getenv)); err != nil {
			return index.Info{}, err
		}
		opt.Stored = e.storedVectors
		defer e.close()
	}
	// If no key can be made, the next update asks the user to name the source.
	opt.Key, _ = provenance.Make(config.KeyPath(os.Getenv))
	if files, ok := p.source.(interface{ ReadPDFWith(string) }); ok {
		program, err := os.Executable()
		if err != nil {
			return index.Info{}, err
		}
		files.ReadPDFWith(program)
	}
	display := b.display()
	opt.Report = display.Func()
	info, err := index.Build(ctx, p.dir, p.source, opt)
	display.Close()
	if err != nil {
		return info, explainBuild(*p, err)
	}
	if info.Late != nil {
		b.warn("%v", info.Late)
	}
	// Otherwise the hook keeps the old page names until the config changes. A
	// failure only delays that.
	_ = config.Forget(config.Locate(os.Getenv))
	return info, nil
}

func (b *buildCommand) display() *progress.Display {
	if b.json && !b.quiet {
		return progress.New(b.stdout, progress.Events)
	}
	return b.quietDisplay(b.quiet)
}

// siteFlags maps each flag that only sites accept to a function that copies its
// value into kept.
func (b *buildCommand) siteFlags(options *ingest.SiteOptions) map[string]func() {
	given := b.options.Site
	return map[string]func(){
		"prefix":        func() { options.Prefix = given.Prefix },
		"discover":      func() { options.Discovery = given.Discovery },
		"max-pages":     func() { options.MaxPages = given.MaxPages },
		"max-bytes":     func() { options.MaxBytes = given.MaxBytes },
		"delay":         func() { options.Delay = given.Delay },
		"concurrency":   func() { options.Concurrency = given.Concurrency },
		"timeout":       func() { options.Timeout = given.Timeout },
		"ignore-robots": func() { options.IgnoreRobots = given.IgnoreRobots },
		"private":       func() { options.Private = given.Private },
	}
}

func explainBuild(p plan, err error) error {
	switch {
	case errors.Is(err, generation.ErrBusy):
		return withHint(err, "pass --wait 10m to wait for it")
	case errors.Is(err, confined.ErrLink):
		return withHint(err, "remove the link and run the same command again")
	case errors.Is(err, context.Canceled):
		return withHint(errors.New("interrupted"), "%s", p.explainInterrupt())
	case errors.Is(err, gitrepo.ErrRedirect):
		return withHint(err, "open the URL in a browser, then build from the URL that it redirects to")
	case errors.Is(err, index.ErrNoPassages):
		return withHint(fmt.Errorf("%s: %w", p.label, err), "use a source with documentation, source code, or LEANN passages")
	}
	return p.explainEmbedder(explainSite(err))
}

// explainInterrupt describes what remains after an interrupted build.
func (p plan) explainInterrupt() string {
	state := p.label + " is unchanged"
	if !generation.HasManifest(p.dir) {
		state = "nothing was built"
	}
	if p.site() == nil {
		return state
	}
	m, err := site.Open(filepath.Join(p.dir, ingest.MirrorName))
	if err != nil || len(m.Pages()) == 0 {
		return state
	}
	return fmt.Sprintf("%s; %s in %s: the same command resumes", state, count(len(m.Pages()), "downloaded page"), p.dir)
}

// explainEmbedder adds a hint to an error caused by an embedder.
func (p plan) explainEmbedder(err error) error {
	var stored *index.StoredError
	var failed *provider.Error
	switch {
	case errors.As(err, &stored):
		return withHint(err, "pass --embedder %s:%s to embed the passages again", p.embedder.Provider, p.embedder.Model)
	case errors.As(err, &failed):
		return withHint(err, "run the same command again to resume, or pass --embedder builtin to build without this model")
	}
	return err
}

// printResult prints the result of the build.
func (b *buildCommand) printResult(p plan, info index.Info, took time.Duration) error {
	switch {
	case b.json:
		return json.NewEncoder(b.stdout).Encode(struct {
			Built   infoJSON     `json:"built"`
			Fetched *fetchedJSON `json:"fetched,omitempty"`
			Kept    keptJSON     `json:"kept,omitzero"`
		}{newInfoJSON(p.label, library.StateOK, "", info), newFetchedJSON(p), keptBy(p)})
	case b.quiet:
		return nil
	}
	b.printFetched(p)
	b.printKept(p, info)
	fmt.Fprintf(b.stdout, "%s: %s of %s, index %s, built in %s\n", p.label,
		count(info.Passages, "passage"), count(info.Documents, "document"), size(info.Bytes), took.Round(10*time.Millisecond))
	printSkipped(b.stdout, info.Skipped, "docsearch index info "+quoteArgument(p.dir))
	if err := b.adviseEmbedder(p); err != nil {
		return err
	}
	if path := config.Locate(os.Getenv).Config; !p.configured && path != "" {
		fmt.Fprintf(b.stdout, "to use the database in the hook, add an entry to \"databases\" in %s:\n  %s\n", path, exampleEntry(p))
	}
	return nil
}

// A keptJSON counts the documents that a database keeps although its source does not show
// them.
type keptJSON struct {
	Unreadable int `json:"unreadable,omitempty"`
	Lost       int `json:"lost,omitempty"` // gone; docsearch index build removes them
}

// keptBy returns the numbers of documents that the plan's build kept.
func keptBy(p plan) (kept keptJSON) {
	if p.lost != nil {
		return keptJSON{Lost: p.lost.Lost}
	}
	if source, ok := p.source.(interface{ Changes() ingest.Changes }); ok {
		c := source.Changes()
		kept = keptJSON{c.Unreadable, c.Lost}
	}
	return kept
}

// printKept warns about the documents that the build kept.
func (b *buildCommand) printKept(p plan, info index.Info) {
	kept := keptBy(p)
	if kept.Unreadable > 0 {
		b.warn("%s: kept the previous version of %s that cannot be read:", p.label, count(kept.Unreadable, "document"))
		unread := slices.DeleteFunc(slices.Clone(info.Skipped), func(s generation.Skipped) bool { return !strings.HasPrefix(s.Reason, generation.Unreadable) })
		printFew(b.stderr, "", unread, "docsearch index info "+quoteArgument(p.dir))
	}
	switch {
	case kept.Lost == 0:
		return
	case p.lost != nil:
		b.warn("%s: %v; kept the previous index", p.label, p.lost)
	default:
		b.warn("%s: kept the previous version of %s, which the source no longer has", p.label, count(kept.Lost, "document"))
	}
	fmt.Fprintf(b.stderr, "hint: run docsearch index build %s to remove them\n", quoteArgument(p.label))
}

// adviseEmbedder prints the config entry that searches need to use the vectors,
// if it is missing.
func (b *buildCommand) adviseEmbedder(p plan) error {
	if p.embedder == nil || p.embedder.configured {
		return nil
	}
	entry, err := p.embedder.configEntry()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.stdout, "to search with the vectors of %s, add to %s:\n  \"embedder\": %s\n",
		p.embedder.Model, config.Locate(os.Getenv).Config, entry)
	return err
}

// exampleEntry returns a config entry for a database.
func exampleEntry(p plan) string {
	quote := func(s string) string {
		quoted, _ := json.Marshal(s) // a string never fails
		return string(quoted)
	}
	return fmt.Sprintf(`{"keywords": [%s], "path": %s, "description": %s}`,
		quote(strings.ToLower(p.label)), quote(p.dir), quote(p.label+" documentation"))
}

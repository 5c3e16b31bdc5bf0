package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/web/machine"
)

type buildCommand struct {
	*app
	library.Builder
	quiet, json bool
	installed   bool
}

// newBuildCommand returns a command whose builder uses the streams of a.
func newBuildCommand(a *app) *buildCommand {
	b := &buildCommand{app: a}
	b.Builder = library.Builder{Console: console{a}, Tool: buildVersion(), Display: b.newDisplay,
		Elsewhere: served.Elsewhere, Set: func(string) bool { return false }}
	return b
}

// quietBuilder returns a builder that shows no progress.
func quietBuilder(a *app) library.Builder {
	b := newBuildCommand(a)
	b.quiet = true
	return b.Builder
}

func newIndexBuildCommand(a *app) *cobra.Command {
	b := newBuildCommand(a)
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
			b.Set = cmd.Flags().Changed
			if b.installed {
				return b.runInstalled(cmd.Context(), args)
			}
			return b.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	b.addSourceFlags(f)
	f.BoolVar(&b.installed, "installed", false,
		"index documentation that is already on this machine; without NAME, list it")
	f.DurationVar(&b.Wait, "wait", 0, waitHelp)
	f.BoolVar(&b.json, "json", false, jsonLines)
	f.BoolVarP(&b.quiet, "quiet", "q", false, "print errors only")
	addFlagGroup(f, siteFlags, b.addSiteFlags)
	addFlagGroup(f, embeddingFlags, b.addEmbedderFlags)
	return cmd
}

// Titles of flag groups.
const (
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
	kinds := library.SourceKinds()
	last := len(kinds) - 1
	f.StringVar(&b.Kind, "type", "",
		"treat the source as `TYPE`: "+strings.Join(kinds[:last], ", ")+", or "+kinds[last]+" (default: detect)")
	f.StringVar(&b.Name, "name", "", "set the database name to `NAME` (default: folder name or site host)")
	f.StringVar(&b.Out, "out", "", "write the database to `DIR` (default: docsearch's data folder)")
	f.StringArrayVar(&b.Options.Include, "include", nil,
		"index only files or pages that match `GLOB`, for example \"*.html\" (repeatable)")
	f.StringArrayVar(&b.Options.Exclude, "exclude", nil,
		"skip files or pages that match `GLOB`, for example \"old/*.md\" (repeatable)")
	f.BoolVar(&b.Options.NoIgnore, "no-ignore", false,
		"index files that .gitignore or .docsearchignore excludes (folders only)")
	f.BoolVar(&b.Options.KeepSecrets, "keep-secrets", false,
		"index keys and tokens instead of removing them from the text")
	f.StringVar(&b.Options.Language, "language", "", "stem words for `LANG`, or \"none\" (default: the documentation's)")
	f.BoolVar(&b.Options.TrustPaths, "trust-paths", false, "read passage files outside the index folder (LEANN only)")
}

// addSiteFlags adds the crawler flags.
func (b *buildCommand) addSiteFlags(f *pflag.FlagSet) {
	f.StringVar((*string)(&b.Options.Site.Discovery), "discover", "",
		"find pages by `METHOD`: llms.txt, llms-full.txt, sitemap, or links (sites only; default: first available)")
	f.StringVar(&b.Options.Site.Prefix, "prefix", "",
		"download only pages below `URL` (sites only; default: the source URL)")
	f.IntVar(&b.Options.Site.MaxPages, "max-pages", 0, "download at most `N` pages (sites only; default 20000)")
	f.Var((*humanize.SizeValue)(&b.Options.Site.MaxBytes), "max-bytes",
		"download at most `SIZE` in total, for example 500MB (sites only; default 2GB)")
	f.IntVar(&b.Options.Site.Concurrency, "concurrency", 0, "send at most `N` requests at once (sites only; default 4)")
	f.DurationVar(&b.Options.Site.Delay, "delay", 0,
		"wait `DURATION` between requests (sites only; default 200ms, 0 for localhost)")
	f.DurationVar(&b.Options.Site.Timeout, "timeout", 0, "give up on a page after `DURATION` (sites only; default 30s)")
	f.BoolVar(&b.Options.Site.IgnoreRobots, "ignore-robots", false,
		"download pages that robots.txt disallows, and index noindex pages (sites only)")
	f.Var(site.HeaderFlag{Headers: &b.Options.Site.Headers}, "header",
		"send the header `NAME=SOURCE` to the site's host; SOURCE is env:VAR or @FILE, a file of mode 0600 "+
			"(repeatable; sites only)")
	f.Var(site.HeaderFlag{Headers: &b.Options.Site.Headers, Name: "Cookie"}, "cookie",
		"send the cookies in `SOURCE` to the site's host: env:VAR or @FILE, a file of mode 0600 (sites only)")
	f.BoolVar(&b.Options.Site.Private, "private", false, "allow a site on localhost or a private network")
}

// addEmbedderFlags adds the embedder flags.
func (b *buildCommand) addEmbedderFlags(f *pflag.FlagSet) {
	f.StringVar(&b.Options.Embedder, "embedder", "",
		"also embed passages with `PROVIDER:MODEL`; \"leann\": the LEANN index's model, \"builtin\": none "+
			"(default: from the config)")
	f.StringVar(&b.URL, "embedder-url", "", "connect to the embedding server at `URL` (default: from the config)")
	f.StringVar(&b.KeyEnv, "embedder-key-env", "", "read the embedding server's API key from environment variable `VAR`")
}

func (b *buildCommand) run(ctx context.Context, arg string) error {
	p, err := b.Plan(arg)
	if err != nil {
		return err
	}
	return b.buildAndPrint(ctx, &p)
}

// buildAndPrint runs the plan and prints the result.
func (b *buildCommand) buildAndPrint(ctx context.Context, p *library.Plan) error {
	start := time.Now()
	info, err := b.Build(ctx, p)
	if err != nil {
		return err
	}
	return b.printResult(*p, info, time.Since(start))
}

func (b *buildCommand) newDisplay() *progress.Display {
	if b.json && !b.quiet {
		return progress.New(b.stdout, progress.Events)
	}
	return b.quietDisplay(b.quiet)
}

// printResult prints the result of the build.
func (b *buildCommand) printResult(p library.Plan, info index.Info, took time.Duration) error {
	switch {
	case b.json:
		return json.NewEncoder(b.stdout).Encode(struct {
			Built   machine.Info     `json:"built"`
			Fetched *machine.Fetched `json:"fetched,omitempty"`
			Kept    library.Kept     `json:"kept,omitzero"`
		}{machine.NewInfo(p.Label, library.StateOK, "", info), machine.NewFetched(p), library.KeptBy(p)})
	case b.quiet:
		return nil
	}
	b.printFetched(p)
	b.printKept(p, info)
	fmt.Fprintf(b.stdout, "%s: %s of %s, index %s, built in %s\n", p.Label,
		count(info.Passages, "passage"), count(info.Documents, "document"), size(info.Bytes), took.Round(10*time.Millisecond))
	printSkipped(b.stdout, info.Skipped, "docsearch index info "+quoteArgument(p.Dir))
	if err := b.adviseEmbedder(p); err != nil {
		return err
	}
	if path := config.Locate(os.Getenv).Config; !p.Configured && path != "" {
		fmt.Fprintf(b.stdout, "to use the database in the hook, add an entry to \"databases\" in %s:\n  %s\n", path,
			exampleEntry(p))
	}
	return nil
}

// printKept warns about the documents that the build kept.
func (a *app) printKept(p library.Plan, info index.Info) {
	kept := library.KeptBy(p)
	if kept.Unreadable > 0 {
		a.warn("%s: kept the previous version of %s that cannot be read:", p.Label, count(kept.Unreadable, "document"))
		unread := slices.DeleteFunc(slices.Clone(info.Skipped),
			func(s generation.Skipped) bool { return !strings.HasPrefix(s.Reason, generation.Unreadable) })
		printFew(a.stderr, "", unread, "docsearch index info "+quoteArgument(p.Dir))
	}
	switch {
	case kept.Lost == 0:
		return
	case p.Lost != nil:
		a.warn("%s: %v; kept the previous index", p.Label, p.Lost)
	default:
		a.warn("%s: kept the previous version of %s, which the source no longer has", p.Label, count(kept.Lost, "document"))
	}
	fmt.Fprintf(a.stderr, "hint: run docsearch index build %s to remove them\n", quoteArgument(p.Label))
}

// adviseEmbedder prints the config entry that searches need to use the vectors,
// if it is missing.
func (b *buildCommand) adviseEmbedder(p library.Plan) error {
	if p.Embedder == nil || p.Embedder.Configured {
		return nil
	}
	entry, err := p.Embedder.ConfigEntry()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.stdout, "to search with the vectors of %s, add to %s:\n  \"embedder\": %s\n",
		p.Embedder.Model, config.Locate(os.Getenv).Config, entry)
	return err
}

// exampleEntry returns a config entry for a database.
func exampleEntry(p library.Plan) string {
	quote := func(s string) string {
		quoted, _ := json.Marshal(s) // a string never fails
		return string(quoted)
	}
	return fmt.Sprintf(`{"keywords": [%s], "path": %s, "description": %s}`,
		quote(strings.ToLower(p.Label)), quote(p.Dir), quote(p.Label+" documentation"))
}

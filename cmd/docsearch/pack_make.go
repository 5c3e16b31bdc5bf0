package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
	"github.com/docsearch/docsearch/internal/usererror"
	"github.com/docsearch/docsearch/recipes"
)

type packMakeCommand struct {
	*app
	signingFlags
	output               string
	name, title, version string
	license, attribution string
	recipe               string
	description          string
	keywords, urls       []string
	dryRun, quiet        bool
}

func newPackMakeCommand(a *app) *cobra.Command {
	m := &packMakeCommand{app: a}
	cmd := &cobra.Command{
		Use:   "make NAME",
		Short: "Make a pack of a database and sign it",
		Long: `Make a pack of the database NAME and sign it. The pack contains the passages, but no
path of your machine, and no file or text that looks like a secret.

If the recipe book has the documentation, the license, the title and the URLs come
from there. Otherwise, pass them, or the recipe that the database was built from.`,
		Example: `  docsearch pack make django
  docsearch pack make widgets --license CC-BY-4.0 --attribution "Widgets Inc." -o widgets.dspack
  docsearch pack make widgets -o oci://registry.example.com/docs/widgets:2.1`,
		Args:              oneArgument("the name of a database"),
		ValidArgsFunction: completeDatabases,
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			return m.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&m.output, "output", "o", "", "write the pack to `FILE`, an OCI layout DIR:TAG, or oci://REGISTRY/REPOSITORY:TAG (default: NAME-VERSION.dspack)")
	f.StringVar(&m.recipe, "recipe", "", "take the license, the attribution, the title and the URLs from the recipe `NAME` or recipe file (default: the recipe of the database)")
	f.StringVar(&m.license, "license", "", "set the license of the documentation to `SPDX`, for example CC-BY-4.0 (default: from the recipe)")
	f.StringVar(&m.attribution, "attribution", "", "set the attribution to `TEXT` (default: from the recipe)")
	f.StringVar(&m.name, "name", "", "set the name of the pack to `NAME` (default: the database name)")
	f.StringVar(&m.title, "title", "", "set the name of the software to `TEXT` (default: from the recipe or the description)")
	f.StringVar(&m.version, "version", "", "set the documented version to `VERSION` (default: from the config or detected)")
	f.StringVar(&m.description, "description", "", "set the description that agents see to `TEXT` (default: from the config)")
	f.StringSliceVar(&m.keywords, "keywords", nil, "set the keywords to `WORDS`, separated by commas (default: from the config)")
	f.StringSliceVar(&m.urls, "urls", nil, "set the URL prefixes of the pages to `PREFIXES`, separated by commas (default: from the config)")
	f.StringArrayVar(&m.keys, "key", nil, "sign with the private key in `FILE` (repeatable; default: your key)")
	f.StringArrayVar(&m.rotations, "rotation", nil, "include the output of docsearch pack key rotate in `FILE` (repeatable)")
	f.BoolVar(&m.dryRun, "dry-run", false, "print the contents and write nothing")
	f.BoolVarP(&m.quiet, "quiet", "q", false, "print errors only")
	return cmd
}

func (m *packMakeCommand) run(ctx context.Context, arg string) error {
	d, err := m.database(arg)
	if err != nil {
		return err
	}
	info, err := index.Inspect(d.Path)
	if err != nil {
		return library.WithRepair(d.Path, err)
	}
	manifest, err := m.manifest(ctx, d, info)
	if err != nil {
		return err
	}
	var keys []*pack.SigningKey
	var rotations []string
	if !m.dryRun {
		if keys, rotations, err = m.readKeys(); err != nil {
			return err
		}
	}
	display := m.quietDisplay(m.quiet)
	draft, err := pack.Make(ctx, library.GenerationOf(info), pack.MakeOptions{
		Manifest: manifest, Tool: buildVersion(), Home: config.Home(os.Getenv), Report: display.Func(),
	})
	display.Close()
	if err != nil {
		return library.WithRepair(d.Path, err)
	}
	if !m.quiet {
		m.print(draft)
	}
	if m.dryRun {
		return nil
	}
	if err := draft.Sign(keys, rotations); err != nil {
		return err
	}
	return m.write(ctx, draft)
}

// manifest returns the manifest as far as the config, the recipe and the flags define it.
func (m *packMakeCommand) manifest(ctx context.Context, d library.Ref, info index.Info) (pack.Manifest, error) {
	p := pack.Manifest{Name: strings.ToLower(cmp.Or(m.name, d.Name)), Source: packSourceOf(info), Version: m.version, Language: library.OptionsOf(&info.Manifest, info.Dir).Language}
	entry := configuredDatabase(d.Name)
	p.Description, p.Keywords, p.URLs = entry.Description, entry.Keywords, entry.URLs
	p.Version = cmp.Or(p.Version, entry.Version)
	r := recipeOf(d.Name, info)
	if m.recipe != "" {
		chosen, err := library.FindRecipe(ctx, m.recipe)
		if err != nil {
			return p, err
		}
		r = chosen.Recipe
	}
	if r != nil {
		p.Title, p.License, p.Attribution = r.Title, r.License, r.Attribution
		p.Description = cmp.Or(p.Description, r.Title+" documentation")
		if len(p.Keywords) == 0 {
			p.Keywords = r.Keywords
		}
		if len(p.URLs) == 0 {
			p.URLs = r.URLs
		}
	}
	if h, err := pack.Installed(library.GenerationOf(info)); err == nil { // a pack of a pack
		p.Title, p.License, p.Attribution, p.Source = h.Title, h.License, h.Attribution, h.Source
		p.Version = cmp.Or(p.Version, h.Version)
	}
	p.License, p.Attribution = cmp.Or(m.license, p.License), cmp.Or(m.attribution, p.Attribution)
	p.Description = cmp.Or(m.description, p.Description, cmp.Or(p.Title, d.Name)+" documentation")
	p.Title = cmp.Or(m.title, p.Title, strings.TrimSuffix(p.Description, " documentation"))
	if m.keywords != nil {
		p.Keywords = m.keywords
	}
	if m.urls != nil {
		p.URLs = m.urls
	}
	if len(p.Keywords) == 0 {
		p.Keywords = []string{strings.ToLower(d.Name)}
	}
	if err := pack.CheckName(p.Name); err != nil {
		return p, withHint(usererror.AsInvalid(err), "pass --name NAME")
	}
	if p.License == "" {
		return p, withHint(fmt.Errorf("cannot make a pack of %s: its license is not known", d.Name),
			"pass --license SPDX --attribution TEXT with the license under which you may share the documentation")
	}
	if p.Attribution == "" {
		return p, withHint(fmt.Errorf("cannot make a pack of %s: its authors are not known", d.Name), "pass --attribution TEXT")
	}
	return p, nil
}

// configuredDatabase returns the config entry of that name, or a zero one.
func configuredDatabase(name string) config.Database {
	r, err := load.Load(config.Locate(os.Getenv))
	if err != nil {
		return config.Database{}
	}
	for _, db := range r.Config.Databases {
		if strings.EqualFold(db.Name, name) {
			return db
		}
	}
	return config.Database{}
}

// recipeOf returns the recipe whose documentation a database contains, or nil. A recipe of
// the same name counts only if the source is the recipe's.
func recipeOf(name string, info index.Info) *recipes.Recipe {
	known, _, _ := strings.Cut(name, "@")
	for _, candidate := range []string{name, known, strings.TrimRight(name, "-.0123456789")} {
		r, err := recipes.Find(candidate)
		if err != nil {
			continue
		}
		for _, version := range []string{"", cmp.Or(versionSuffix(name), info.VersionOr(""))} {
			filled, err := r.At(version)
			if err == nil && filled.Source.Download() != "" && library.SameSource(filled.Source.Download(), info.Source.Location) {
				return filled
			}
		}
	}
	return nil
}

// versionSuffix returns the version in the name of a recipe's database: "django-4.2".
func versionSuffix(name string) string {
	_, version, _ := strings.Cut(name, "-")
	return version
}

// packSourceOf describes the source of a database without paths of this machine.
func packSourceOf(info index.Info) pack.Source {
	s := pack.Source{Kind: info.Source.Kind, Commit: info.Source.Commit}
	u, err := url.Parse(info.Source.Location)
	if err != nil || !library.IsURL(info.Source.Location) {
		return s
	}
	u.User, u.Fragment = nil, ""
	s.Location = u.String()
	if s.Kind == ingest.KindSite {
		s.Date = info.Created.UTC().Format("2006-01-02")
	}
	return s
}

// print prints the contents of the pack and what it does not contain.
func (m *packMakeCommand) print(d *pack.Draft) {
	m.describePack(&pack.Head{Manifest: d.Manifest}, "")
	ratio := float64(len(d.Pack.Data)+len(d.Pack.Table)) / float64(max(1, d.Manifest.TextBytes))
	fmt.Fprintf(m.stdout, "text: %s, %.0f%% of it in the pack\n", size(d.Manifest.TextBytes), 100*ratio)
	if len(d.Secrets) > 0 {
		fmt.Fprintf(m.stdout, "left out, looks like secrets: %s\n", printable(strings.Join(d.Secrets[:min(len(d.Secrets), 10)], ", ")))
	}
	if d.Redacted > 0 {
		fmt.Fprintf(m.stdout, "secrets removed from the text of %s\n", count(d.Redacted, "passage"))
	}
	if d.Paths > 0 {
		fmt.Fprintf(m.stdout, "absolute paths made relative in %s\n", count(d.Paths, "passage"))
	}
	if d.Home > 0 {
		report(m.stderr, fmt.Errorf("the text of %s contains the path of your home directory", count(d.Home, "passage")))
	}
}

// write writes the pack to its destination.
func (m *packMakeCommand) write(ctx context.Context, d *pack.Draft) error {
	output := m.output
	if output == "" {
		output = d.Manifest.Name
		if v := d.Manifest.Version; v != "" && !strings.ContainsAny(v, `/\:*?"<>| `) {
			output += "-" + v
		}
		output += pack.Extension
	}
	if head, err := origins.ReadHead(ctx, output); err == nil && d.IsSignedAs(head) {
		if !m.quiet {
			fmt.Fprintf(m.stdout, "%s already has this pack, %s\n", output, pack.DigestOf(d.Pack.Manifest).SHA256[:12])
		}
		return nil
	}
	if err := origins.Write(ctx, output, &d.Pack, pack.KindPack); err != nil {
		return err
	}
	if !m.quiet {
		fmt.Fprintf(m.stdout, "wrote %s, %s\n", output, pack.DigestOf(d.Pack.Manifest).SHA256[:12])
	}
	return nil
}

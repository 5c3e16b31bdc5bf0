package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
)

type packMakeCommand struct {
	*app
	library.SigningFiles
	library.PackTexts
	output        string
	dryRun, quiet bool
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
	f.StringVarP(&m.output, "output", "o", "",
		"write the pack to `FILE`, an OCI layout DIR:TAG, or oci://REGISTRY/REPOSITORY:TAG (default: NAME-VERSION.dspack)")
	f.StringVar(&m.Recipe, "recipe", "",
		"take the license, the attribution, the title and the URLs from the recipe `NAME` or recipe file (default: the "+
			"recipe of the database)")
	f.StringVar(&m.License, "license", "",
		"set the license of the documentation to `SPDX`, for example CC-BY-4.0 (default: from the recipe)")
	f.StringVar(&m.Attribution, "attribution", "", "set the attribution to `TEXT` (default: from the recipe)")
	f.StringVar(&m.Name, "name", "", "set the name of the pack to `NAME` (default: the database name)")
	f.StringVar(&m.Title, "title", "",
		"set the name of the software to `TEXT` (default: from the recipe or the description)")
	f.StringVar(&m.Version, "version", "",
		"set the documented version to `VERSION` (default: from the config or detected)")
	f.StringVar(&m.Description, "description", "",
		"set the description that agents see to `TEXT` (default: from the config)")
	f.StringSliceVar(&m.Keywords, "keywords", nil,
		"set the keywords to `WORDS`, separated by commas (default: from the config)")
	f.StringSliceVar(&m.URLs, "urls", nil,
		"set the URL prefixes of the pages to `PREFIXES`, separated by commas (default: from the config)")
	f.StringArrayVar(&m.Keys, "key", nil, "sign with the private key in `FILE` (repeatable; default: your key)")
	f.StringArrayVar(&m.Rotations, "rotation", nil,
		"include the output of docsearch pack key rotate in `FILE` (repeatable)")
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
	manifest, err := m.Manifest(ctx, d, info)
	if err != nil {
		return err
	}
	var keys []*pack.SigningKey
	var rotations []string
	if !m.dryRun {
		if keys, rotations, err = m.ReadKeys(); err != nil {
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

// print prints the contents of the pack and what it does not contain.
func (m *packMakeCommand) print(d *pack.Draft) {
	m.describePack(&pack.Head{Manifest: d.Manifest}, "")
	ratio := float64(len(d.Pack.Data)+len(d.Pack.Table)) / float64(max(1, d.Manifest.TextBytes))
	fmt.Fprintf(m.stdout, "text: %s, %.0f%% of it in the pack\n", size(d.Manifest.TextBytes), 100*ratio)
	if len(d.Secrets) > 0 {
		fmt.Fprintf(m.stdout, "left out, looks like secrets: %s\n",
			printable(strings.Join(d.Secrets[:min(len(d.Secrets), 10)], ", ")))
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

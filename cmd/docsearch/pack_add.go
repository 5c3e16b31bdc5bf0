package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
)

type packAddCommand struct {
	*app
	keys           []string
	digest         string
	lock, isLocked bool
	setup          *setupCommand
}

func newPackAddCommand(a *app) *cobra.Command {
	c := &packAddCommand{app: a,
		setup: &setupCommand{app: a, Steps: terminal.NewSteps(a.stdout), builder: newBuildCommand(a)}}
	cmd := &cobra.Command{
		Use:   "add SOURCE | --locked",
		Short: "Add the database of a pack and its config entry",
		Long: `Download a pack, verify its signature and its contents, build its index, compare
the index with the publisher's, and add the database to the config. If a check
fails, nothing is left behind. An interrupted download continues when you run the
same command again.

SOURCE is a file, an OCI layout folder (DIR:TAG), an https URL, or a pack in a
registry (oci://REGISTRY/REPOSITORY:TAG). For private registries, docsearch uses
the credentials of the Docker config.

Add asks once whether you trust a new publisher. Without a terminal, pass the key
that the publisher gave you.`,
		Example: `  docsearch pack add ./widgets-2.1.dspack
  docsearch pack add oci://registry.example.com/docs/widgets:2.1 --lock
  docsearch pack add --locked`,
		Args: func(cmd *cobra.Command, args []string) error {
			if c.isLocked {
				return noArguments(cmd, args)
			}
			return oneArgument("the source of a pack, or --locked")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			c.setup.builder.Set = cmd.Flags().Changed
			if c.isLocked {
				return c.addLocked(cmd.Context())
			}
			return c.add(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	s := c.setup
	f.StringVar(&s.builder.Name, "name", "", "set the name of the database to `NAME` (default: the name of the pack)")
	f.StringVar(&s.description, "description", "",
		"set the description that the agent sees to `TEXT` (default: from the pack)")
	f.StringSliceVar(&s.keywords, "keywords", nil,
		"set the keywords to `WORDS`, separated by commas (default: from the pack)")
	f.StringSliceVar(&s.urls, "urls", nil,
		"set the URL prefixes of the pages to `PREFIXES`, separated by commas (default: from the pack)")
	f.StringArrayVar(&c.keys, "key", nil, "trust the public key `KEY` from now on (repeatable)")
	f.StringVar(&c.digest, "digest", "",
		"add the pack only if its manifest has the digest `DIGEST`, even if it is older than the installed one")
	f.BoolVar(&c.lock, "lock", false, "record the pack in docsearch.lock of this project")
	f.BoolVar(&c.isLocked, "locked", false, "add the packs of docsearch.lock, exactly these bytes")
	f.DurationVar(&s.builder.Wait, "wait", 0, waitHelp)
	f.BoolVarP(&s.yes, "yes", "y", false,
		"answer yes to the change of the config; a new publisher still needs --key or a terminal")
	markExclusive(cmd, "lock", "locked")
	markExclusive(cmd, "digest", "locked")
	return cmd
}

// add adds one pack.
func (c *packAddCommand) add(ctx context.Context, source string) error {
	s := c.setup
	if err := s.prepare(); err != nil {
		return err
	}
	location, err := origins.Absolute(source)
	if err != nil {
		return err
	}
	s.pack = &library.ChosenPack{Argument: source, Location: location, Keys: c.keys, Digest: c.digest,
		Required: "--digest", Exact: c.digest != "", Lock: c.lock}
	return c.run(ctx, s)
}

func (c *packAddCommand) run(ctx context.Context, s *setupCommand) error {
	if err := s.runSteps(ctx, s.choose, s.buildDatabase, s.writeEntry); err != nil {
		return origins.Explain(s.pack.Location, err)
	}
	if !s.pack.Lock {
		return nil
	}
	return library.RecordLock(s.pack.Head, s.pack.Publisher, s.pack.Location)
}

// addLocked adds the packs of the lock file.
func (c *packAddCommand) addLocked(ctx context.Context) error {
	if err := c.setup.prepare(); err != nil {
		return err
	}
	path, lock, err := library.ReadLock()
	if err != nil {
		return err
	}
	if len(lock.Packs) == 0 {
		return withHint(fmt.Errorf("no %s in this folder or above", pack.LockName),
			"run docsearch pack add SOURCE --lock to create one")
	}
	for _, p := range lock.Packs {
		if err := origins.CheckNamed(p.Source, ""); err != nil {
			return fmt.Errorf("%s names a pack that is not added: %w", path, err)
		}
		one, builder := *c.setup, *c.setup.builder
		one.Steps, one.builder = terminal.NewSteps(c.stdout), &builder
		one.pack = &library.ChosenPack{Argument: p.Source, Location: library.RelativeTo(path, p.Source), Keys: c.keys,
			Digest: p.Digest, Required: path, Exact: true}
		if err := c.run(ctx, &one); err != nil {
			return err
		}
	}
	return nil
}

// choosePack plans the build of a pack's database. It verifies the signatures before it
// shows what the pack says.
func (s *setupCommand) choosePack(ctx context.Context) error {
	c := s.pack
	if err := c.Verify(ctx, console{s.app}, askerOf(s.prompter)); err != nil {
		return err
	}
	fmt.Fprintln(s.stdout)
	s.describePack(c.Head, string(c.Publisher))
	s.keyword, s.name = c.Head.Keywords[0], c.Head.Name
	if s.builder.Set("name") {
		s.name = s.builder.Name
	}
	s.builder.Name = s.name
	var err error
	if s.plan, err = s.builder.PlanPack(s.locations, c); err != nil {
		return err
	}
	if err := s.decideURLs(ctx); err != nil {
		return err
	}
	if c.Ask {
		return s.confirmDownload(ctx, "this pack ("+size(c.Head.Data.Size)+")", "pass --recipe to use the recipe")
	}
	return nil
}

// confirmDownload asks before it downloads a source. other is the hint if the user does not
// agree.
func (s *setupCommand) confirmDownload(ctx context.Context, source, other string) error {
	if _, ok := s.builder.IsUpToDate(&s.plan, s.pack); ok {
		return nil
	}
	agreed, err := s.prompter.Agree(ctx, "Download "+source+"?", s.yes)
	if err != nil || agreed {
		return err
	}
	return withHint(errors.New("nothing was downloaded"), "%s", other)
}

// decideURLs asks which database answers for a URL prefix that the pack and another
// database claim, unless the user or the config has decided.
func (s *setupCommand) decideURLs(ctx context.Context) error {
	s.pack.URLs = s.pack.Head.URLs
	if _, exists, err := library.ConfigEntry(s.locations, s.name, s.plan.Dir); err != nil || exists ||
		s.builder.Set("urls") {
		return err
	}
	return s.pack.DecideURLs(ctx, s.name, s.locations, s.builder.Console, askerOf(s.prompter))
}

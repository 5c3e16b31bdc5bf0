package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/registry"
)

// A chosenPack is the pack that setup or pack add adds.
type chosenPack struct {
	argument string   // from the command line
	location string   // for updates
	keys     []string // public keys that the user gave
	digest   string   // that the user, a catalog or a lock file requires; "": any
	required string   // what requires the digest, for messages
	exact    bool     // the user chose this version, even if it is older than the installed one
	lock     bool     // record the pack in the lock file
	ask      bool     // ask before the download

	head      *pack.Head
	publisher pack.Key
	urls      []string // prefixes for the config entry
	taken     []takenURLs
}

// isInstalled reports whether a database came as this pack.
func (c *chosenPack) isInstalled(info index.Info) bool {
	head, err := pack.Installed(library.GenerationOf(info))
	return err == nil && head.Digest() == c.head.Digest() && info.Source.Location == c.location
}

type packAddCommand struct {
	*app
	keys           []string
	digest         string
	lock, isLocked bool
	setup          *setupCommand
}

func newPackAddCommand(a *app) *cobra.Command {
	c := &packAddCommand{app: a, setup: &setupCommand{app: a, stepPrinter: newStepPrinter(a.stdout), builder: &buildCommand{app: a}}}
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
			c.setup.builder.set = cmd.Flags().Changed
			if c.isLocked {
				return c.addLocked(cmd.Context())
			}
			return c.add(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	s := c.setup
	f.StringVar(&s.builder.name, "name", "", "set the name of the database to `NAME` (default: the name of the pack)")
	f.StringVar(&s.description, "description", "", "set the description that the agent sees to `TEXT` (default: from the pack)")
	f.StringSliceVar(&s.keywords, "keywords", nil, "set the keywords to `WORDS`, separated by commas (default: from the pack)")
	f.StringSliceVar(&s.urls, "urls", nil, "set the URL prefixes of the pages to `PREFIXES`, separated by commas (default: from the pack)")
	f.StringArrayVar(&c.keys, "key", nil, "trust the public key `KEY` from now on (repeatable)")
	f.StringVar(&c.digest, "digest", "", "add the pack only if its manifest has the digest `DIGEST`, even if it is older than the installed one")
	f.BoolVar(&c.lock, "lock", false, "record the pack in docsearch.lock of this project")
	f.BoolVar(&c.isLocked, "locked", false, "add the packs of docsearch.lock, exactly these bytes")
	f.DurationVar(&s.builder.wait, "wait", 0, waitHelp)
	f.BoolVarP(&s.yes, "yes", "y", false, "answer yes to the change of the config; a new publisher still needs --key or a terminal")
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
	location, err := absoluteLocation(source)
	if err != nil {
		return err
	}
	s.pack = &chosenPack{argument: source, location: location, keys: c.keys, digest: c.digest, required: "--digest", exact: c.digest != "", lock: c.lock}
	return c.run(ctx, s)
}

func (c *packAddCommand) run(ctx context.Context, s *setupCommand) error {
	if err := s.runSteps(ctx, s.choose, s.buildDatabase, s.writeEntry); err != nil {
		return explainPack(s.pack.location, err)
	}
	if !s.pack.lock {
		return nil
	}
	return recordLock(s.pack.head, s.pack.publisher, s.pack.location)
}

// addLocked adds the packs of the lock file.
func (c *packAddCommand) addLocked(ctx context.Context) error {
	if err := c.setup.prepare(); err != nil {
		return err
	}
	path, lock, err := readLock()
	if err != nil {
		return err
	}
	if len(lock.Packs) == 0 {
		return withHint(fmt.Errorf("no %s in this folder or above", pack.LockName), "run docsearch pack add SOURCE --lock to create one")
	}
	for _, p := range lock.Packs {
		if err := checkNamed(p.Source, ""); err != nil {
			return fmt.Errorf("%s names a pack that is not added: %w", path, err)
		}
		one, builder := *c.setup, *c.setup.builder
		one.stepPrinter, one.builder = newStepPrinter(c.stdout), &builder
		one.pack = &chosenPack{argument: p.Source, location: relativeTo(path, p.Source), keys: c.keys, digest: p.Digest, required: path, exact: true}
		if err := c.run(ctx, &one); err != nil {
			return err
		}
	}
	return nil
}

// relativeTo returns the location of a pack in a lock file. A path is relative to the
// folder of the lock file.
func relativeTo(lock, source string) string {
	if library.IsURL(source) || strings.HasPrefix(source, registry.Scheme) || filepath.IsAbs(source) {
		return source
	}
	return filepath.Join(filepath.Dir(lock), filepath.FromSlash(source))
}

// readLock reads the lock file of the project in the working directory.
func readLock() (path string, lock *pack.Lock, err error) {
	working, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	if path = pack.FindLock(working); path == "" {
		return "", &pack.Lock{}, nil
	}
	lock, err = pack.ReadLock(path)
	return path, lock, err
}

// checkLock returns an error if the project's lock file requires another pack of that
// name.
func checkLock(head *pack.Head, hint string) error {
	path, lock, err := readLock()
	if err != nil {
		return err
	}
	if p := lock.Find(head.Name); p != nil && p.Digest != head.Digest() {
		return withHint(fmt.Errorf("%s requires %s %s with the digest %s, got %s", path, p.Name, p.Version, p.Digest, head.Digest()), "%s", hint)
	}
	return nil
}

// recordLock writes a pack to the project's lock file, or to a new one in the working
// directory.
func recordLock(head *pack.Head, publisher pack.Key, location string) error {
	path, lock, err := readLock()
	if err != nil {
		return err
	}
	if path == "" {
		working, err := os.Getwd()
		if err != nil {
			return err
		}
		path = filepath.Join(working, pack.LockName)
	}
	if rel, err := filepath.Rel(filepath.Dir(path), location); err == nil && filepath.IsAbs(location) && filepath.IsLocal(rel) {
		location = filepath.ToSlash(rel)
	}
	lock.Put(pack.Locked{Name: head.Name, Version: head.Version, Digest: head.Digest(), Publisher: string(publisher), Source: location})
	return lock.Write(path)
}

// choosePack plans the build of a pack's database. It verifies the signatures before it
// shows what the pack says.
func (s *setupCommand) choosePack(ctx context.Context) error {
	c := s.pack
	var err error
	if c.head, err = readHead(ctx, c.location); err != nil {
		return err
	}
	if c.digest != "" && c.digest != c.head.Digest() {
		return fmt.Errorf("%s requires the digest %s of %s, got %s", c.required, c.digest, c.head.Name, c.head.Digest())
	}
	if !c.lock {
		if err := checkLock(c.head, "pass --lock to change the lock file"); err != nil {
			return err
		}
	}
	if c.publisher, err = s.trust(ctx, s.prompter, c.head.Signatures, c.head.Subject(), c.keys); err != nil {
		return err
	}
	fmt.Fprintln(s.stdout)
	s.describePack(c.head, string(c.publisher))
	s.keyword, s.name = c.head.Keywords[0], c.head.Name
	if s.builder.set("name") {
		s.name = s.builder.name
	}
	s.builder.name = s.name
	dir, name, err := s.builder.outputFolder(s.locations, c.location, s.name)
	if err != nil {
		return err
	}
	if err := c.mayReplace(dir, name); err != nil {
		return err
	}
	if !c.exact {
		if err := checkOrder(dir, c.location, c.head); err != nil {
			return err
		}
	}
	s.plan = plan{dir: dir, label: name, options: library.Options{Language: c.head.Language, Publisher: string(c.publisher)}}
	s.plan.source = newPackSource(s.locations, c.location, isSamePack(c.head, c.location))
	if err := s.decideURLs(ctx); err != nil {
		return err
	}
	if c.ask {
		return s.confirmDownload(ctx, "this pack ("+size(c.head.Data.Size)+")", "pass --recipe to use the recipe")
	}
	return nil
}

// confirmDownload asks before it downloads a source. other is the hint if the user does not
// agree.
func (s *setupCommand) confirmDownload(ctx context.Context, source, other string) error {
	if _, ok := s.isUpToDate(); ok {
		return nil
	}
	agreed, err := s.prompter.confirm(ctx, "Download "+source+"?", true)
	if err != nil || agreed {
		return err
	}
	return withHint(errors.New("nothing was downloaded"), "%s", other)
}

// mayReplace returns an error unless dir is empty or has a pack of the same publisher.
func (c *chosenPack) mayReplace(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(entries) == 0 || onlyBuildFiles(entries) && !library.IsDatabase(dir)) {
		return nil
	}
	if err != nil {
		return err
	}
	from := library.OriginOf(dir).Location
	if have, ok := asPack(library.Ref{Name: name, Path: dir}); ok {
		switch old := have.publisher(); {
		case have.head.Name == c.head.Name && old.Name() == c.publisher.Name():
			return nil
		case old != "":
			from = "a pack of " + old.Name()
		}
	}
	if from == "" {
		return notReplaceable(dir, "--name NAME")
	}
	return withHint(fmt.Errorf("database %s already exists, from %s; the pack %s is of %s", name, printable(from), c.head.Name, c.publisher.Name()),
		"pass --name NAME, or run docsearch index remove %s", quoteArgument(name))
}

// isSamePack returns an Accept function for a pack that was verified before the build.
func isSamePack(verified *pack.Head, location string) func(context.Context, *pack.Head) error {
	return func(_ context.Context, head *pack.Head) error {
		if head.Digest() != verified.Digest() {
			return fmt.Errorf("%s has changed while it was read", printable(location))
		}
		return nil
	}
}

// newPackSource returns the source of a database that comes as the pack at a location.
func newPackSource(l config.Locations, location string, accept func(ctx context.Context, head *pack.Head) error) *pack.Database {
	return &pack.Database{
		Location: location, Cache: l.Cache, Tool: buildVersion(), Accept: accept,
		Open: func(ctx context.Context) (pack.Origin, error) { return openOrigin(ctx, location, pack.KindPack) },
	}
}

// acceptPack records the trust in the publisher of a pack that was verified, and takes the
// URL prefixes from the entries that no longer answer for them.
func (s *setupCommand) acceptPack() error {
	for _, taken := range s.pack.taken {
		change, err := agentconfig.Rewrite(s.locations.Config, "the entry "+taken.entry, func(data []byte) ([]byte, error) {
			return edit.DropURLs(s.locations.Config, data, taken.entry, taken.urls)
		})
		if err == nil && !change.None() {
			_, err = change.Apply()
		}
		if err != nil {
			return withHint(err, "remove %s from the entry %s manually", strings.Join(taken.urls, ", "), taken.entry)
		}
	}
	return s.savePublisher(s.pack.publisher)
}

// A takenURLs are URL prefixes that a pack takes from another entry.
type takenURLs struct {
	entry string
	urls  []string
}

// decideURLs asks which database answers for a URL prefix that the pack and another
// database claim. The decision stays in the config.
func (s *setupCommand) decideURLs(ctx context.Context) error {
	c := s.pack
	c.urls = c.head.URLs
	if _, exists, err := s.configEntry(); err != nil || exists || s.builder.set("urls") {
		return err
	}
	loaded, err := load.Load(s.locations)
	if err != nil {
		return err
	}
	for _, other := range loaded.Config.Databases {
		var mine, theirs []string
		for _, u := range c.urls {
			for _, o := range other.URLs {
				if overlap(u, o) {
					mine, theirs = append(mine, u), append(theirs, o)
				}
			}
		}
		if len(mine) == 0 {
			continue
		}
		clash := fmt.Errorf("%s and %s both claim the pages below %s", s.name, other.Name, strings.Join(mine, ", "))
		if s.prompter == nil {
			return withHint(clash, "pass --urls PREFIXES with the prefixes for %s, or --urls '' for none", s.name)
		}
		s.warn("%v", clash)
		replace, err := s.prompter.confirm(ctx, "Let "+s.name+" answer for them instead of "+other.Name+"?", false)
		if err != nil {
			return err
		}
		if replace {
			c.taken = append(c.taken, takenURLs{other.Name, theirs})
		} else {
			c.urls = slices.DeleteFunc(slices.Clone(c.urls), func(u string) bool { return slices.Contains(mine, u) })
		}
	}
	return nil
}

// overlap reports whether one URL prefix contains the other. The scheme does not count.
func overlap(a, b string) bool {
	trim := func(s string) string {
		_, rest, _ := strings.Cut(strings.ToLower(s), "://")
		return strings.TrimRight(rest, "/") + "/"
	}
	a, b = trim(a), trim(b)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

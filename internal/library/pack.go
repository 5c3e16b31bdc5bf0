package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// InstalledPack is a database that came as a pack.
type InstalledPack struct {
	Ref
	Info index.Info
	Head *pack.Head
}

// AsPack returns the pack that a database came as.
func AsPack(d Ref) (InstalledPack, bool) {
	info, err := index.Inspect(d.Path)
	if err != nil || info.Source.Kind != pack.KindSource {
		return InstalledPack{}, false
	}
	head, err := pack.Installed(GenerationOf(info))
	return InstalledPack{d, info, head}, err == nil
}

// Publisher returns the key that signed the pack when it was added.
func (p *InstalledPack) Publisher() pack.Key {
	return pack.Key(OptionsOf(&p.Info.Manifest, p.Info.Dir).Publisher)
}

// A ChosenPack is the pack that setup or pack add adds.
type ChosenPack struct {
	Argument string   // from the command line
	Location string   // for updates
	Keys     []string // public keys that the user gave
	Digest   string   // that the user, a catalog or a lock file requires; "": any
	Required string   // what requires the digest, for messages
	Exact    bool     // the user chose this version, even if it is older than the installed one
	Lock     bool     // record the pack in the lock file
	Ask      bool     // ask before the download

	Head      *pack.Head
	Publisher pack.Key
	URLs      []string // prefixes for the config entry
	taken     []takenURLs
}

// isInstalled reports whether a database came as this pack.
func (c *ChosenPack) isInstalled(info index.Info) bool {
	head, err := pack.Installed(GenerationOf(info))
	return err == nil && head.Digest() == c.Head.Digest() && info.Source.Location == c.Location
}

// MayReplace returns an error unless dir is empty or has a pack of the same publisher.
func (c *ChosenPack) MayReplace(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) ||
		err == nil && (len(entries) == 0 || onlyBuildFiles(entries) && !IsDatabase(dir)) {
		return nil
	}
	if err != nil {
		return err
	}
	from := OriginOf(dir).Location
	if have, ok := AsPack(Ref{Name: name, Path: dir}); ok {
		switch old := have.Publisher(); {
		case have.Head.Name == c.Head.Name && old.Name() == c.Publisher.Name():
			return nil
		case old != "":
			from = "a pack of " + old.Name()
		}
	}
	if from == "" {
		return notReplaceable(dir, "--name NAME")
	}
	return usererror.WithHint(fmt.Errorf("database %s already exists, from %s; the pack %s is of %s", name,
		safetext.Printable(from), c.Head.Name, c.Publisher.Name()),
		"pass --name NAME, or run docsearch index remove %s", humanize.Argument(name))
}

// IsSamePack returns an Accept function for a pack that was verified before the build.
func IsSamePack(verified *pack.Head, location string) func(context.Context, *pack.Head) error {
	return func(_ context.Context, head *pack.Head) error {
		if head.Digest() != verified.Digest() {
			return fmt.Errorf("%s has changed while it was read", safetext.Printable(location))
		}
		return nil
	}
}

// NewPackSource returns the source of a database that comes as the pack at a location.
func NewPackSource(l config.Locations, tool, location string,
	accept func(ctx context.Context, head *pack.Head) error) *pack.Database {
	return &pack.Database{
		Location: location, Cache: l.Cache, Tool: tool, Accept: accept,
		Open: func(ctx context.Context) (pack.Origin, error) { return origins.Open(ctx, location, pack.KindPack) },
	}
}

// A takenURLs are URL prefixes that a pack takes from another entry.
type takenURLs struct {
	entry string
	urls  []string
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

// PackUpdate returns the source for the update of the database in dir that came as a pack.
// The publisher must be the recorded one, or a key that its rotations name.
func (b *Builder) PackUpdate(dir, publisher, location string) *pack.Database {
	return NewPackSource(config.Locate(os.Getenv), b.Tool, location, func(ctx context.Context, head *pack.Head) error {
		key, err := Trust(ctx, b.Console, nil, head.Signatures, head.Subject(), NonEmpty(publisher))
		if err == nil && string(key) != publisher {
			err = SavePublisher(b.Console, key) // a rotation
		}
		if err != nil {
			return err
		}
		if recorded := pack.Key(publisher); publisher != "" && key.Name() != recorded.Name() {
			return fmt.Errorf("the pack %s is now signed by %s, before by %s", head.Name, key.Name(), recorded.Name())
		}
		if err := CheckOrder(dir, location, head); err != nil {
			return err
		}
		if b.Lock {
			return nil // record changes the lock file later
		}
		return CheckLock(head, "pass --lock to change the lock file")
	})
}

// CheckOrder returns an error if the pack at a location may be older than the one that the
// database in dir came as. It reads that pack itself, so that the order counts for a
// rebuild, too.
func CheckOrder(dir, location string, head *pack.Head) error {
	have, ok := AsPack(Ref{Path: dir})
	if !ok {
		return nil
	}
	if head.Name != have.Head.Name {
		return usererror.WithHint(fmt.Errorf("%s now has the pack %s, before %s", safetext.Printable(location),
			head.Name, have.Head.Name), "run docsearch pack add %s to add it", humanize.Argument(location))
	}
	if older, ok := errors.AsType[*pack.OrderError](head.CheckOrder(have.Head)); ok {
		return usererror.WithHint(fmt.Errorf("%s has %s", safetext.Printable(location),
			safetext.Printable(older.Found)), "to go back to it, run docsearch pack add %s --digest %s",
			humanize.Argument(location), head.Digest())
	}
	return nil
}

// NonEmpty returns a list of a text, or nothing if that is empty.
func NonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// InstalledPacks lists the databases that came as packs.
func InstalledPacks() ([]InstalledPack, error) {
	all, err := List(config.Locate(os.Getenv))
	if err != nil {
		return nil, err
	}
	var list []InstalledPack
	for _, d := range all {
		if p, ok := AsPack(d); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// Accept records the trust in the publisher of a pack that was verified, and takes the
// URL prefixes from the entries that no longer answer for them.
func (c *ChosenPack) Accept(l config.Locations, d Dialog) error {
	for _, taken := range c.taken {
		change, err := agentconfig.Rewrite(l.Config, "the entry "+taken.entry, func(data []byte) ([]byte, error) {
			return edit.DropURLs(l.Config, data, taken.entry, taken.urls)
		})
		if err == nil && !change.None() {
			_, err = change.Apply()
		}
		if err != nil {
			return usererror.WithHint(err, "remove %s from the entry %s manually", strings.Join(taken.urls, ", "),
				taken.entry)
		}
	}
	return SavePublisher(d, c.Publisher)
}

// DecideURLs asks which database answers for a URL prefix that the pack, as the database
// name, and another database claim. The decision stays in the config.
func (c *ChosenPack) DecideURLs(ctx context.Context, name string, l config.Locations, d Dialog, p Asker) error {
	loaded, err := load.Load(l)
	if err != nil {
		return err
	}
	for _, other := range loaded.Config.Databases {
		var mine, theirs []string
		for _, u := range c.URLs {
			for _, o := range other.URLs {
				if overlap(u, o) {
					mine, theirs = append(mine, u), append(theirs, o)
				}
			}
		}
		if len(mine) == 0 {
			continue
		}
		clash := fmt.Errorf("%s and %s both claim the pages below %s", name, other.Name, strings.Join(mine, ", "))
		if p == nil {
			return usererror.WithHint(clash, "pass --urls PREFIXES with the prefixes for %s, or --urls '' for none",
				name)
		}
		d.Warn("%v", clash)
		replace, err := p.Confirm(ctx, "Let "+name+" answer for them instead of "+other.Name+"?", false)
		if err != nil {
			return err
		}
		if replace {
			c.taken = append(c.taken, takenURLs{other.Name, theirs})
		} else {
			c.URLs = slices.DeleteFunc(slices.Clone(c.URLs), func(u string) bool { return slices.Contains(mine, u) })
		}
	}
	return nil
}

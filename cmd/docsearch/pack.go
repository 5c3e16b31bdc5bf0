package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
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
	"github.com/docsearch/docsearch/internal/loopback"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/registry"
	"github.com/docsearch/docsearch/internal/usererror"
)

func newPackCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "pack",
		Short: "Make, add, and update packs: databases to share",
		Long: `Make, add, and update packs. A pack is a signed file with the passages of a
database. The reader builds the index from them and compares it with the
publisher's, so a pack is small and cannot contain a crafted index.`,
	})
	cmd.AddCommand(newPackMakeCommand(a), newPackSignCommand(a), newPackAddCommand(a), newPackVerifyCommand(a), newPackListCommand(a),
		newPackUpdateCommand(a), newPackRemoveCommand(a), newPackSearchCommand(a), newPackKeyCommand(a))
	return cmd
}

// readHead reads the manifest and the signatures of the pack at a location.
func readHead(ctx context.Context, location string) (*pack.Head, error) {
	origin, err := openOrigin(ctx, location, pack.KindPack)
	if err != nil {
		return nil, err
	}
	head, err := pack.ReadHead(ctx, origin)
	return head, errors.Join(err, origin.Close())
}

// openOrigin opens the pack or catalog at a location: a file, an OCI layout folder with an
// optional tag, an https URL, or a reference to a registry.
func openOrigin(ctx context.Context, location, kind string) (pack.Origin, error) {
	switch {
	case strings.HasPrefix(location, registry.Scheme):
		return registry.Open(ctx, location, kind)
	case library.IsURL(location):
		return pack.OpenURL(location)
	}
	folder, tag := location, ""
	st, err := os.Stat(folder)
	if i := strings.LastIndexByte(location, ':'); err != nil && i > 1 {
		if inner, innerErr := os.Stat(location[:i]); innerErr == nil && inner.IsDir() {
			folder, tag, st, err = location[:i], location[i+1:], inner, nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !st.IsDir():
		return pack.OpenFile(folder)
	case registry.IsLayout(folder):
		return registry.OpenLayout(ctx, folder, tag, kind)
	}
	return nil, fmt.Errorf("%s is not an OCI layout folder: want a folder with the file oci-layout", folder)
}

// checkNamed returns an error if a URL that someone else names leads to this machine. namer
// is the URL of who names it, or "". A server on this machine may name it.
func checkNamed(location, namer string) error {
	if isThisMachine(location) && !isThisMachine(namer) {
		return withHint(fmt.Errorf("%s is a server on this machine", printable(location)), "if you want to use it, run docsearch pack add %s", quoteArgument(location))
	}
	return nil
}

func isThisMachine(location string) bool {
	u, err := url.Parse(location)
	return err == nil && loopback.IsHost(u.Host)
}

// absoluteLocation returns the location of a pack for later updates.
func absoluteLocation(location string) (string, error) {
	if library.IsURL(location) || strings.HasPrefix(location, registry.Scheme) {
		return location, nil
	}
	return filepath.Abs(location)
}

// explainPack adds a hint to an error about a pack.
func explainPack(location string, err error) error {
	if _, ok := errors.AsType[*pack.InvalidError](err); ok && location != "" {
		return fmt.Errorf("%s: %w", printable(location), err)
	}
	return err
}

// trustedKeys returns the keys that the config trusts, and the given ones.
func (a *app) trustedKeys(given []string) ([]pack.Key, error) {
	loaded, err := load.Load(config.Locate(os.Getenv))
	if err != nil {
		return nil, withHint(err, "run docsearch config check to list all problems")
	}
	var keys []pack.Key
	for _, s := range given {
		k, err := pack.ParseKey(s)
		if err != nil {
			return nil, usererror.AsInvalid(err)
		}
		keys = append(keys, k)
	}
	for _, s := range loaded.Config.Publishers {
		k, err := pack.ParseKey(s)
		if err != nil {
			report(a.stderr, fmt.Errorf("ignored a key in the config: %w", err))
			continue
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// trust returns the trusted key that signed a subject. It asks about an unknown key once;
// the caller adds the key to the config when all else is verified (see savePublisher).
func (a *app) trust(ctx context.Context, p *prompter, s *pack.Signatures, subject pack.Subject, given []string) (pack.Key, error) {
	trusted, err := a.trustedKeys(given)
	if err != nil {
		return "", err
	}
	key, rotated, err := s.Verify(subject, trusted)
	var wrong *pack.SignatureError
	switch {
	case err == nil && rotated:
		fmt.Fprintf(a.stderr, "%s has changed its key to %s, signed with the old key\n", key.Name(), key)
		return key, nil
	case err == nil:
		return key, nil
	case !errors.As(err, &wrong) || len(wrong.Unknown) == 0:
		return "", err
	case p == nil || wrong.Changed != "":
		return "", explainSignature(err)
	}
	key = wrong.Unknown[0]
	fmt.Fprintf(a.stderr, "\n%s is signed by a publisher that you do not trust yet:\n  %s\nCompare the key with the one that the publisher shows elsewhere.\n", subject.Name, key)
	agreed, err := p.confirm(ctx, "Trust packs of "+key.Name()+" from now on?", false)
	if err != nil {
		return "", err
	}
	if !agreed {
		return "", withHint(wrong, "nothing was changed; to trust the publisher, run the same command again")
	}
	return key, nil
}

// explainSignature adds a hint to an error about an unknown key.
func explainSignature(err error) error {
	var wrong *pack.SignatureError
	if !errors.As(err, &wrong) || len(wrong.Unknown) == 0 {
		return err
	}
	source := "the publisher gave you this key"
	if wrong.Changed != "" {
		source = "the publisher confirms the new key"
	}
	return withHint(err, "if %s, pass --key %s", source, quoteArgument(string(wrong.Unknown[0])))
}

// savePublisher adds a key to "publishers" in the config, unless it is there.
func (a *app) savePublisher(key pack.Key) error {
	return a.appendConfig("publishers", "the publisher "+key.Name(), string(key))
}

func (a *app) appendConfig(key, subject, value string) error {
	path := config.Locate(os.Getenv).Config
	if path == "" {
		return errors.New("cannot find a place for the config: DOCSEARCH_CONFIG_PATH and the home directory are not set")
	}
	change, err := agentconfig.Rewrite(path, subject, func(data []byte) ([]byte, error) { return edit.Append(path, data, key, value) })
	if err != nil {
		return withHint(fmt.Errorf("cannot add %s to %s: %w", subject, path, err), "add %q to %q in %s", value, key, path)
	}
	if change.None() {
		return nil
	}
	if _, err := change.Apply(); err != nil {
		return fmt.Errorf("cannot add %s to %s: %w", subject, path, err)
	}
	fmt.Fprintf(a.stderr, "added %s to %s\n", subject, path)
	return nil
}

// installedPack is a database that came as a pack.
type installedPack struct {
	library.Ref
	info index.Info
	head *pack.Head
}

// installedPacks lists the databases that came as packs.
func (a *app) installedPacks() ([]installedPack, error) {
	all, err := library.List(config.Locate(os.Getenv))
	if err != nil {
		return nil, err
	}
	var list []installedPack
	for _, d := range all {
		if p, ok := asPack(d); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// asPack returns the pack that a database came as.
func asPack(d library.Ref) (installedPack, bool) {
	info, err := index.Inspect(d.Path)
	if err != nil || info.Source.Kind != pack.KindSource {
		return installedPack{}, false
	}
	head, err := pack.Installed(library.GenerationOf(info))
	return installedPack{d, info, head}, err == nil
}

// findPack resolves the name of an installed pack.
func (a *app) findPack(arg string) (installedPack, error) {
	d, err := a.database(arg)
	if err != nil {
		return installedPack{}, err
	}
	p, ok := asPack(d)
	if !ok {
		return p, withHint(fmt.Errorf("%s did not come as a pack", d.Name), "run docsearch pack list")
	}
	return p, nil
}

// publisher returns the key that signed the pack when it was added.
func (p *installedPack) publisher() pack.Key {
	return pack.Key(library.OptionsOf(&p.info.Manifest, p.info.Dir).Publisher)
}

// describePack prints what a pack contains and who signed it.
func (a *app) describePack(h *pack.Head, publisher string) {
	fmt.Fprintf(a.stdout, "%s: %s of %s, %s\n", strings.TrimSpace(h.Title+" "+h.Version), count(h.Passages, "passage"), count(h.Documents, "document"), size(h.Data.Size))
	source := cmp.Or(h.Source.Location, h.Source.Kind)
	for _, d := range []string{h.Source.Commit, h.Source.Date} {
		if d != "" {
			source += ", " + d
		}
	}
	fmt.Fprintf(a.stdout, "source: %s\nlicense: %s, %s\n", source, h.License, h.Attribution)
	fmt.Fprintf(a.stdout, "keywords: %s\n", strings.Join(h.Keywords, ", "))
	if len(h.URLs) > 0 {
		fmt.Fprintf(a.stdout, "pages: %s\n", strings.Join(h.URLs, ", "))
	}
	if publisher != "" {
		fmt.Fprintf(a.stdout, "publisher: %s\n", publisher)
	}
}

// completePacks completes the names of installed packs.
func (a *app) completePacks(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	list, err := a.installedPacks()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := collect(list, func(p installedPack) string { return p.Name })
	slices.Sort(names)
	return beginning(names, start), cobra.ShellCompDirectiveNoFileComp
}

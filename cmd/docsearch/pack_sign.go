package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
	"github.com/docsearch/docsearch/internal/pack/registry"
)

func newPackSignCommand(a *app) *cobra.Command {
	var flags signingFlags
	cmd := &cobra.Command{
		Use:   "sign PACK",
		Short: "Add your signature to a pack",
		Long: `Add your signature to a pack of someone else, so that readers who trust you can add it.
PACK is a file, which is changed, or a pack in a registry, to which the signature
is attached as a referrer.`,
		Example: `  docsearch pack sign widgets-2.1.dspack
  docsearch pack sign oci://registry.example.com/docs/widgets:2.1 --key team.key`,
		Args: oneArgument("a pack"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.signPack(cmd.Context(), args[0], &flags) },
	}
	cmd.Flags().StringArrayVar(&flags.keys, "key", nil, "sign with the private key in `FILE` (repeatable; default: your key)")
	return cmd
}

func (a *app) signPack(ctx context.Context, location string, flags *signingFlags) error {
	keys, _, err := flags.readKeys()
	if err != nil {
		return err
	}
	head, err := origins.ReadHead(ctx, location)
	if err != nil {
		return origins.Explain(location, err)
	}
	// The author's signature must be intact.
	if _, err := head.Signatures.Signer(head.Subject()); err != nil {
		return err
	}
	signed, err := pack.Sign(head.Subject(), keys, nil)
	if err != nil {
		return err
	}
	if err := a.attach(ctx, location, head, signed); err != nil {
		return origins.Explain(location, err)
	}
	fmt.Fprintf(a.stdout, "signed %s with %s\n", strings.TrimSpace(head.Name+" "+head.Version), keys[0].Public.ID())
	return nil
}

// attach adds signatures to a pack in a registry or in a file.
func (a *app) attach(ctx context.Context, location string, head *pack.Head, signed *pack.Signatures) error {
	isRegistry := strings.HasPrefix(location, registry.Scheme)
	if !isRegistry {
		signed = head.Signatures.Add(signed)
	}
	encoded, err := signed.Encode()
	if err != nil {
		return err
	}
	if isRegistry {
		return registry.Attach(ctx, location, pack.KindPack, encoded)
	}
	if library.IsURL(location) || !library.FileExists(location) {
		return usagef("cannot sign %s: want a file or oci://REGISTRY/REPOSITORY:TAG", location)
	}
	p, err := pack.ReadFile(ctx, location)
	if err != nil {
		return err
	}
	p.Signatures = encoded
	return p.WriteFile(location, pack.KindPack)
}

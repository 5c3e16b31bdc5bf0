package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
)

func newPackSignCommand(a *app) *cobra.Command {
	var flags library.SigningFiles
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
	cmd.Flags().StringArrayVar(&flags.Keys, "key", nil,
		"sign with the private key in `FILE` (repeatable; default: your key)")
	return cmd
}

func (a *app) signPack(ctx context.Context, location string, flags *library.SigningFiles) error {
	keys, _, err := flags.ReadKeys()
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
	if err := origins.Attach(ctx, location, head, signed); err != nil {
		return origins.Explain(location, err)
	}
	fmt.Fprintf(a.stdout, "signed %s with %s\n", strings.TrimSpace(head.Name+" "+head.Version), keys[0].Public.ID())
	return nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/usererror"
)

func newPackKeyCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "key",
		Short: "Create and rotate the keys that sign packs",
	})
	cmd.AddCommand(newPackKeyNewCommand(a), newPackKeyRotateCommand(a))
	return cmd
}

func newPackKeyNewCommand(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a key and print its public part",
		Long: `Create an Ed25519 key that signs packs and catalogs, and print its public part.
NAME is how readers see you, such as a domain name. The private key is written to
a file that only you can read. Give readers the public key in a place that they
trust.`,
		Example: `  docsearch pack key new docs.example.com
  docsearch pack key new docs.example.com --out ~/keys/docs.key`,
		Args: oneArgument("the name of a publisher"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := library.KeyFile(out)
			if err != nil {
				return err
			}
			private, public, err := pack.NewKey(args[0])
			if err != nil {
				return usererror.AsInvalid(err)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := pack.WriteKey(path, private, public); err != nil {
				return withHint(err, "pass --out FILE to write another file")
			}
			fmt.Fprintf(a.stderr, "wrote the private key to %s: keep it secret, and keep a copy\npublic key:\n", path)
			fmt.Fprintln(a.stdout, public)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the private key to `FILE` (default: docsearch's data folder)")
	return cmd
}

func newPackKeyRotateCommand(a *app) *cobra.Command {
	var old string
	cmd := &cobra.Command{
		Use:   "rotate --old FILE NEWKEY",
		Short: "Sign a new public key with the old private key",
		Long: `Sign the public key NEWKEY with the old private key, and print the result. Readers
who trust the old key accept the new one if a pack contains this text: pass its
file to "docsearch pack make --rotation".`,
		Example: `  docsearch pack key rotate --old old.key "$(docsearch pack key new docs.example.com --out new.key)" > rotation.txt`,
		Args:    oneArgument("the new public key"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := library.KeyFile(old)
			if err != nil {
				return err
			}
			key, err := pack.ReadKey(path)
			if err != nil {
				return err
			}
			public, err := pack.ParseKey(args[0])
			if err != nil {
				return usererror.AsInvalid(err)
			}
			text, err := pack.Rotate(key, public)
			if err != nil {
				return usererror.AsInvalid(err)
			}
			_, err = fmt.Fprint(a.stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&old, "old", "", "sign with the private key in `FILE` (default: your key)")
	return cmd
}

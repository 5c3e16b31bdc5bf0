package installed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// Measure counts the files of an installed documentation and their bytes.
func Measure(ctx context.Context, d *Documentation) error {
	return d.walk(ctx, func(_ *os.Root, items []source.Item) error {
		d.Files = len(items)
		for _, it := range items {
			d.Bytes += it.Size
		}
		return nil
	})
}

// Digest returns a digest of the files of an installed documentation: their names and
// contents.
func Digest(ctx context.Context, d *Documentation) (string, error) {
	all := sha256.New()
	err := d.walk(ctx, func(root *os.Root, items []source.Item) error {
		for _, it := range items {
			data, _, err := folder.ReadFile(root, it.Name)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			sum := sha256.Sum256(data) // of nothing for a file that a build skips, too
			fmt.Fprintf(all, "%q %t %x\n", it.Name, err == nil, sum)
		}
		return nil
	})
	return hex.EncodeToString(all.Sum(nil)), err
}

// walk calls f with the files of the documentation. Unreadable files do not count.
func (d *Documentation) walk(ctx context.Context, f func(root *os.Root, items []source.Item) error) error {
	filter, err := folder.NewFilter(folder.Options{Include: d.Include, Exclude: d.Exclude})
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(d.Folder)
	if err != nil {
		return nil // removed, or not readable for this user
	}
	defer root.Close()
	items, _, _ := folder.Walk(ctx, root, filter)
	if err := f(root, items); err != nil {
		return err
	}
	return ctx.Err()
}

// VerifyModule compares the files of a Go module with the sum in the project's go.sum.
func VerifyModule(d *Documentation, path, version, sum string) error {
	got, err := dirhash.HashDir(d.Folder, path+"@v"+version, dirhash.Hash1)
	if err == nil && got != sum {
		err = fmt.Errorf("its files in %s are not those that go.sum names", d.Folder)
	}
	return err
}

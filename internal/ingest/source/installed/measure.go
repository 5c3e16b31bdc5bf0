package installed

import (
	"context"
	"os"

	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// Measure counts the files of an installed documentation and their bytes.
func Measure(ctx context.Context, d *Documentation) error {
	f, err := folder.NewFilter(folder.Options{Include: d.Include, Exclude: d.Exclude})
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(d.Folder)
	if err != nil {
		return nil // removed, or not readable for this user
	}
	defer root.Close()
	items, _, _ := folder.Walk(ctx, root, f) // unreadable files do not count
	d.Files = len(items)
	for _, it := range items {
		d.Bytes += it.Size
	}
	return ctx.Err()
}

package library

import (
	"context"
	"fmt"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/pack/origins"
)

// Verify reads the head of the pack and sets its publisher: a trusted key, or one that the
// user trusts now. What the head says counts only then.
func (c *ChosenPack) Verify(ctx context.Context, d Dialog, p Asker) (err error) {
	if c.Head, err = origins.ReadHead(ctx, c.Location); err != nil {
		return origins.Explain(c.Location, err)
	}
	if c.Digest != "" && c.Digest != c.Head.Digest() {
		return fmt.Errorf("%s requires the digest %s of %s, got %s", c.Required, c.Digest, c.Head.Name, c.Head.Digest())
	}
	if !c.Lock {
		if err := CheckLock(c.Head, "pass --lock to change the lock file"); err != nil {
			return err
		}
	}
	c.Publisher, err = Trust(ctx, d, p, c.Head.Signatures, c.Head.Subject(), c.Keys)
	return err
}

// PlanPack plans the build of a verified pack's database, with the builder's name.
func (b *Builder) PlanPack(l config.Locations, c *ChosenPack) (Plan, error) {
	dir, name, err := b.OutputFolder(l, c.Location, b.Name)
	if err != nil {
		return Plan{}, err
	}
	if err := c.MayReplace(dir, name); err != nil {
		return Plan{}, err
	}
	if !c.Exact {
		if err := CheckOrder(dir, c.Location, c.Head); err != nil {
			return Plan{}, err
		}
	}
	return Plan{
		Dir: dir, Label: name, Options: Options{Language: c.Head.Language, Publisher: string(c.Publisher)},
		Source: NewPackSource(l, b.Tool, c.Location, IsSamePack(c.Head, c.Location)),
	}, nil
}

package origins

import (
	"context"
	"os"
	"strings"

	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/registry"
	"github.com/docsearch/docsearch/internal/usererror"
)

// Attach adds signatures to a pack in a registry or in a file.
func Attach(ctx context.Context, location string, head *pack.Head, signed *pack.Signatures) error {
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
	if _, err := os.Stat(location); isURL(location) || err != nil {
		return usererror.Invalidf("cannot sign %s: want a file or oci://REGISTRY/REPOSITORY:TAG", location)
	}
	p, err := pack.ReadFile(ctx, location)
	if err != nil {
		return err
	}
	p.Signatures = encoded
	return p.WriteFile(location, pack.KindPack)
}

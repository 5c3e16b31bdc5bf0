// Package origins opens packs and catalogs where they are, and writes them there: in a file,
// an OCI layout folder, a registry, or at an https URL.
package origins

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/loopback"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/registry"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// ReadHead reads the manifest and the signatures of the pack at a location.
func ReadHead(ctx context.Context, location string) (*pack.Head, error) {
	origin, err := Open(ctx, location, pack.KindPack)
	if err != nil {
		return nil, err
	}
	head, err := pack.ReadHead(ctx, origin)
	return head, errors.Join(err, origin.Close())
}

// Open opens the pack or catalog at a location: a file, an OCI layout folder with an
// optional tag, an https URL, or a reference to a registry.
func Open(ctx context.Context, location, kind string) (pack.Origin, error) {
	switch {
	case strings.HasPrefix(location, registry.Scheme):
		return registry.Open(ctx, location, kind)
	case isURL(location):
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

// CheckNamed returns an error if a URL that someone else names leads to this machine. namer
// is the URL of who names it, or "". A server on this machine may name it.
func CheckNamed(location, namer string) error {
	if isThisMachine(location) && !isThisMachine(namer) {
		return usererror.WithHint(fmt.Errorf("%s is a server on this machine", safetext.Printable(location)),
			"if you want to use it, run docsearch pack add %s", humanize.Argument(location))
	}
	return nil
}

func isThisMachine(location string) bool {
	u, err := url.Parse(location)
	return err == nil && loopback.IsHost(u.Host)
}

// Absolute returns the location of a pack for later updates.
func Absolute(location string) (string, error) {
	if isURL(location) || strings.HasPrefix(location, registry.Scheme) {
		return location, nil
	}
	return filepath.Abs(location)
}

// Explain adds the location to an error about a pack, or a hint.
func Explain(location string, err error) error {
	if usererror.IsUnreachable(err) {
		if location != "" && !strings.Contains(usererror.Message(err), location) {
			err = fmt.Errorf("cannot read %s: %w", safetext.Printable(location), err)
		}
		return usererror.WithHint(err, "without a connection, pass a file that someone has downloaded")
	}
	if _, ok := errors.AsType[*pack.InvalidError](err); ok && location != "" {
		return fmt.Errorf("%s: %w", safetext.Printable(location), err)
	}
	return err
}

// Write writes a pack or catalog to a registry, a layout folder, or a file.
func Write(ctx context.Context, output string, p *pack.Pack, kind string) error {
	if strings.HasPrefix(output, registry.Scheme) {
		return registry.Push(ctx, output, p, kind)
	}
	if isURL(output) {
		return usererror.Invalidf("cannot write to %s: want a file, a folder, or oci://REGISTRY/REPOSITORY:TAG", output)
	}
	if folder, tag, ok := LayoutOf(output); ok {
		return registry.PushLayout(ctx, folder, tag, p, kind)
	}
	return p.WriteFile(output, kind)
}

// LayoutOf splits DIR:TAG. The folder of a layout exists, or its name ends with a slash.
func LayoutOf(output string) (folder, tag string, ok bool) {
	i := strings.LastIndexByte(output, ':')
	if i < 2 || strings.ContainsAny(output[i+1:], `/\`) {
		return "", "", false
	}
	folder, tag = output[:i], output[i+1:]
	st, err := os.Stat(folder)
	isFolder := err == nil && st.IsDir() && (registry.IsLayout(folder) || isEmptyFolder(folder))
	return filepath.Clean(folder), tag, isFolder || errors.Is(err, os.ErrNotExist) && strings.HasSuffix(folder, "/")
}

func isEmptyFolder(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

func isURL(s string) bool { return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") }

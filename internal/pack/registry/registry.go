// Package registry stores packs and catalogs in OCI registries and in OCI layout folders.
//
// A pack is an image manifest (OCI 1.1) of artifact type
// application/vnd.docsearch.pack.v1. Its config blob is the pack's manifest, and its
// layers are, in this order:
//
//	application/vnd.docsearch.signatures.v1+json  the signatures
//	application/vnd.docsearch.chunks.v1           the chunk table
//	application/vnd.docsearch.data.v1             the data
//
// A catalog has the artifact type application/vnd.docsearch.catalog.v1 and only the first
// layer. Further signatures can be attached as artifacts that refer to the pack: image
// manifests with this artifact type as subject, and the signatures as the only layer.
// Registries without the referrers API get the tag of the referrers tag schema.
//
// The blobs need not be in a registry that the reader trusts: it checks each against the
// signed manifest.
package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/docsearch/docsearch/internal/loopback"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/safetext"
)

// Scheme is the prefix of references to registries: oci://registry/repository:tag.
const Scheme = "oci://"

const (
	typeSignatures = "application/vnd.docsearch.signatures.v1+json"
	typeTable      = "application/vnd.docsearch.chunks.v1"
	typeData       = "application/vnd.docsearch.data.v1"
	// maxImage limits an image manifest.
	maxImage = 256 << 10
	// maxReferrers is the number of attached signatures that are read.
	maxReferrers = 20
)

// artifactType returns the artifact type of packs or catalogs, and configType the type of
// their manifests.
func artifactType(kind string) string { return "application/vnd.docsearch." + kind + ".v1" }
func configType(kind string) string   { return "application/vnd.docsearch." + kind + ".manifest.v1+json" }

// connect returns the repository of a reference. It logs in with the credentials of the
// Docker config file and its credential helpers.
func connect(reference string) (*remote.Repository, error) {
	name, ok := strings.CutPrefix(reference, Scheme)
	if !ok {
		return nil, fmt.Errorf("invalid reference %q: want oci://REGISTRY/REPOSITORY:TAG", reference)
	}
	ref, err := registry.ParseReference(name)
	if err != nil || ref.Repository == "" {
		return nil, fmt.Errorf("invalid reference %q: want oci://REGISTRY/REPOSITORY:TAG", reference)
	}
	ref.Reference = cmp.Or(ref.Reference, "latest")
	repository, err := remote.NewRepository(ref.String())
	if err != nil {
		return nil, err
	}
	start := &url.URL{Scheme: "https", Host: ref.Host()}
	if loopback.IsHost(ref.Registry) {
		repository.PlainHTTP, start.Scheme = true, "http"
	}
	inner := pack.NewClient(start)
	inner.Transport = retry.NewTransport(&credentialGuard{start, inner.Transport})
	client := &auth.Client{Client: inner, Cache: auth.NewCache()}
	client.SetUserAgent("docsearch")
	if store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{}); err == nil {
		client.Credential = credentials.Credential(store)
	}
	repository.Client = client
	repository.MaxMetadataBytes = maxImage
	return repository, nil
}

// An image is a pack or catalog in a store.
type image struct {
	store      oras.ReadOnlyTarget
	name       string
	descriptor ocispec.Descriptor
	manifest   ocispec.Manifest
	repository *remote.Repository // nil for a layout folder
	root       *os.Root           // of a layout folder
}

// Open opens the pack or catalog at a reference. kind is pack.KindPack or
// pack.KindCatalog.
func Open(ctx context.Context, reference, kind string) (pack.Origin, error) {
	r, err := connect(reference)
	if err != nil {
		return nil, err
	}
	i := &image{store: r, name: reference, repository: r}
	return i.open(ctx, r.Reference.Reference, kind)
}

// IsLayout reports whether a folder is an OCI layout.
func IsLayout(dir string) bool {
	st, err := os.Lstat(filepath.Join(dir, ocispec.ImageLayoutFile))
	return err == nil && st.Mode().IsRegular()
}

// OpenLayout opens the pack or catalog with that tag in an OCI layout folder. An empty tag
// selects the only one.
func OpenLayout(ctx context.Context, dir, tag, kind string) (pack.Origin, error) {
	// The store reads through the root, so no link leads out of the folder.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	i := &image{name: dir, root: root}
	if err := i.openTag(ctx, tag, kind); err != nil {
		root.Close()
		return nil, err
	}
	return i, nil
}

func (i *image) openTag(ctx context.Context, tag, kind string) error {
	layout, err := oci.NewFromFS(ctx, i.root.FS())
	if err != nil {
		return fmt.Errorf("cannot read the OCI layout %s: %w", i.name, err)
	}
	if tag == "" {
		var tags []string
		if err := layout.Tags(ctx, "", func(page []string) error { tags = append(tags, page...); return nil }); err != nil {
			return err
		}
		if len(tags) != 1 {
			return fmt.Errorf("%s has %d tags (%s): want %s:TAG", i.name, len(tags),
				strings.Join(tags[:min(len(tags), 10)], ", "), i.name)
		}
		tag = tags[0]
	}
	i.store = layout
	_, err = i.open(ctx, tag, kind)
	return err
}

func (i *image) open(ctx context.Context, tag, kind string) (pack.Origin, error) {
	var err error
	if i.descriptor, err = i.store.Resolve(ctx, tag); err != nil {
		return nil, i.explain(err)
	}
	data, err := i.read(ctx, i.descriptor, maxImage)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &i.manifest); err != nil {
		return nil, fmt.Errorf("%s: invalid image manifest: %w", i.name, err)
	}
	layers := []string{typeSignatures, typeTable, typeData}
	if kind == pack.KindCatalog {
		layers = layers[:1]
	}
	found := i.manifest.ArtifactType == artifactType(kind) && i.manifest.Config.MediaType == configType(kind) &&
		len(i.manifest.Layers) == len(layers)
	for n := 0; found && n < len(layers); n++ {
		found = i.manifest.Layers[n].MediaType == layers[n]
	}
	if !found {
		return nil, fmt.Errorf("%s is not a docsearch %s", i.name, kind)
	}
	return i, nil
}

// A notFoundError reports a reference that the registry does not have.
type notFoundError struct{ name string }

func (e *notFoundError) Error() string { return e.name + " not found" }

// IsNotFound reports whether an error of Open means that nothing is at the reference.
func IsNotFound(err error) bool {
	var e *notFoundError
	return errors.As(err, &e)
}

// explain describes an error of a registry.
func (i *image) explain(err error) error {
	var answer *errcode.ErrorResponse
	if errors.As(err, &answer) {
		for i := range answer.Errors {
			e := &answer.Errors[i]
			e.Code, e.Message, e.Detail = safetext.Line(e.Code), safetext.Line(e.Message), nil
		}
	}
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return &notFoundError{i.name}
	case answer != nil && answer.StatusCode == http.StatusUnauthorized, errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("%s needs a login: the Docker config has no valid credentials for this registry", i.name)
	}
	return fmt.Errorf("cannot read %s: %w", i.name, err)
}

// read reads a small blob and checks its digest.
func (i *image) read(ctx context.Context, d ocispec.Descriptor, limit int64) ([]byte, error) {
	if d.Size < 0 || d.Size > limit {
		return nil, &pack.InvalidError{Part: i.name,
			Problem: fmt.Sprintf("a blob of %d bytes, the limit is %d", d.Size, limit)}
	}
	r, err := i.store.Fetch(ctx, d)
	if err != nil {
		return nil, i.explain(err)
	}
	defer r.Close()
	data, err := content.ReadAll(r, d)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", i.name, err)
	}
	return data, nil
}

func (i *image) Head(ctx context.Context) (manifest, signatures []byte, err error) {
	limit := int64(pack.MaxManifest)
	if i.manifest.ArtifactType == artifactType(pack.KindCatalog) {
		limit = pack.MaxCatalog
	}
	if manifest, err = i.read(ctx, i.manifest.Config, limit); err != nil {
		return nil, nil, err
	}
	if signatures, err = i.read(ctx, i.manifest.Layers[0], pack.MaxSignatures); err != nil {
		return nil, nil, err
	}
	return manifest, i.attached(ctx, signatures), nil
}

// attached adds the signatures that refer to the image. It ignores those that are not
// readable, because anyone who can write to the repository can attach them.
func (i *image) attached(ctx context.Context, own []byte) []byte {
	if i.repository == nil {
		return own
	}
	all, err := pack.ParseSignatures(own)
	if err != nil {
		return own
	}
	count := 0
	errEnough := errors.New("enough")
	// Some registries report another artifact type in the list than the manifest has.
	_ = i.repository.Referrers(ctx, i.descriptor, "", func(list []ocispec.Descriptor) error {
		for _, d := range list {
			if count++; count > maxReferrers {
				return errEnough
			}
			data, err := i.read(ctx, d, maxImage)
			var m ocispec.Manifest
			if err != nil || json.Unmarshal(data, &m) != nil || m.ArtifactType != artifactType("signatures") ||
				len(m.Layers) != 1 {
				continue
			}
			if data, err = i.read(ctx, m.Layers[0], pack.MaxSignatures); err != nil {
				continue
			}
			if other, err := pack.ParseSignatures(data); err == nil {
				all = all.Add(other)
			}
		}
		return nil
	})
	if encoded, err := all.Encode(); err == nil {
		return encoded
	}
	return own
}

func (i *image) Table(ctx context.Context, size int64) ([]byte, error) {
	if d := i.manifest.Layers[1]; d.Size != size {
		return nil, &pack.InvalidError{Part: "chunk table",
			Problem: fmt.Sprintf("%d bytes, the manifest says %d", d.Size, size)}
	}
	return i.read(ctx, i.manifest.Layers[1], pack.MaxTable)
}

func (i *image) Data(ctx context.Context, offset, length int64) (io.ReadCloser, int64, error) {
	d := i.manifest.Layers[2]
	if i.repository == nil {
		r, err := i.store.Fetch(ctx, d)
		if err != nil {
			return nil, 0, i.explain(err)
		}
		if s, ok := r.(io.Seeker); ok {
			if _, err := s.Seek(offset, io.SeekStart); err == nil {
				return r, offset, nil
			}
		}
		return r, 0, nil
	}
	// The repository's own reader requests everything from an offset on.
	ctx = auth.AppendRepositoryScope(ctx, i.repository.Reference, auth.ActionPull)
	scheme := "https"
	if i.repository.PlainHTTP {
		scheme = "http"
	}
	ref := i.repository.Reference
	address := fmt.Sprintf("%s://%s/v2/%s/blobs/%s", scheme, ref.Host(), ref.Repository, d.Digest)
	return pack.GetRange(ctx, i.repository.Client.Do, address, offset, length)
}

func (i *image) Close() error {
	if i.root == nil {
		return nil
	}
	return i.root.Close()
}

// Push stores a pack or catalog under a reference.
func Push(ctx context.Context, reference string, p *pack.Pack, kind string) error {
	r, err := connect(reference)
	if err != nil {
		return err
	}
	return explainPush(reference, push(ctx, r, r.Reference.Reference, p, kind))
}

// explainPush describes an error of a registry that does not store something.
func explainPush(reference string, err error) error {
	if err == nil {
		return nil
	}
	if explained := (&image{name: reference}).explain(err); strings.Contains(explained.Error(), "needs a login") {
		return explained
	}
	return fmt.Errorf("cannot write %s: %w", reference, err)
}

// PushLayout stores a pack or catalog with a tag in an OCI layout folder, and creates the
// folder if necessary.
func PushLayout(ctx context.Context, dir, tag string, p *pack.Pack, kind string) error {
	layout, err := oci.NewWithContext(ctx, dir)
	if err != nil {
		return err
	}
	return push(ctx, layout, tag, p, kind)
}

func push(ctx context.Context, target oras.Target, tag string, p *pack.Pack, kind string) error {
	config, err := pushBlob(ctx, target, configType(kind), p.Manifest)
	if err != nil {
		return err
	}
	var layers []ocispec.Descriptor
	for _, l := range []struct {
		mediaType string
		data      []byte
	}{{typeSignatures, p.Signatures}, {typeTable, p.Table}, {typeData, p.Data}} {
		if kind == pack.KindCatalog && l.mediaType != typeSignatures {
			continue
		}
		d, err := pushBlob(ctx, target, l.mediaType, l.data)
		if err != nil {
			return err
		}
		layers = append(layers, d)
	}
	d, err := oras.PackManifest(ctx, target, oras.PackManifestVersion1_1, artifactType(kind), oras.PackManifestOptions{
		ConfigDescriptor: &config, Layers: layers,
		// A fixed time makes the same pack the same image.
		ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: "1970-01-01T00:00:00Z"},
	})
	if err != nil {
		return err
	}
	return target.Tag(ctx, d, tag)
}

func pushBlob(ctx context.Context, target oras.Target, mediaType string, data []byte) (ocispec.Descriptor, error) {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	exists, err := target.Exists(ctx, d)
	if err != nil || exists {
		return d, err
	}
	err = target.Push(ctx, d, bytes.NewReader(data))
	if errors.Is(err, errdef.ErrAlreadyExists) {
		err = nil
	}
	return d, err
}

// Attach adds signatures to a pack or catalog in a registry, without changing it.
func Attach(ctx context.Context, reference, kind string, signatures []byte) error {
	opened, err := Open(ctx, reference, kind)
	if err != nil {
		return err
	}
	i := opened.(*image)
	layer, err := pushBlob(ctx, i.repository, typeSignatures, signatures)
	if err != nil {
		return explainPush(reference, err)
	}
	subject := i.descriptor
	subject.Data, subject.Annotations = nil, nil
	_, err = oras.PackManifest(ctx, i.repository, oras.PackManifestVersion1_1, artifactType("signatures"),
		oras.PackManifestOptions{
			Subject: &subject, Layers: slices.Clip([]ocispec.Descriptor{layer}),
			ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: "1970-01-01T00:00:00Z"},
		})
	return explainPush(reference, err)
}

package index

import (
	"context"
	"errors"
	"slices"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
)

// IsOutdated reports whether err says that an older docsearch wrote an index, in a format
// that this one does not read. Reindex rebuilds such an index.
func IsOutdated(err error) bool {
	version, ok := errors.AsType[*container.VersionError](err)
	return ok && version.Older()
}

// Reindex rebuilds the index of the database at path from the passages that its current
// generation holds. It needs neither the source nor the network, and changes nothing else:
// the passages, their time and version, the source, its seal and the build options stay. The
// vectors of an external embedder stay if this version reads them.
func Reindex(ctx context.Context, path string, opt BuildOptions) (Info, error) {
	dir, err := Locate(path)
	if err != nil {
		return Info{}, err
	}
	g, err := generation.Outdated(dir)
	if err != nil {
		return Info{}, err
	}
	// A later update of another version reads the source again in full.
	opt.Tool, opt.Now, opt.Options = g.Tool, g.Created, g.Options
	opt.Update, opt.KeepLost, opt.Embedder, opt.Stored = false, false, nil, nil
	return Build(ctx, dir, ownPassages{g}, opt)
}

// ownPassages is the source of a database whose index is rebuilt.
type ownPassages struct{ generation.Generation }

func (s ownPassages) Prepare(ctx context.Context, dir confined.Path, _ *generation.Generation,
	_ progress.Func) (generation.Prepared, error) {
	prepared := generation.Prepared{
		Source: s.Source, Edition: s.Edition, Perm: generation.AllPerm, Publish: len(s.Published) > 0, KeepsLost: true,
	}
	for _, f := range s.Files {
		if slices.Contains(derivedFiles, f.Name) {
			continue
		}
		if err := f.Check(s.File(f.Name), nil); err != nil {
			return prepared, err
		}
		st, err := s.File(f.Name).Lstat()
		if err != nil {
			return prepared, err
		}
		prepared.Perm &= generation.OwnerPerm | st.Mode().Perm()
		if err := linkOrCopy(ctx, s.File(f.Name), dir.Join(f.Name)); err != nil {
			return prepared, err
		}
	}
	// A copy of the passages has another time.
	prepared.Source.Files = slices.Clone(s.Source.Files)
	for i := range prepared.Source.Files {
		if f := &prepared.Source.Files[i]; prepared.Publish && f.Path == leann.PassagesName {
			st, err := dir.Join(passage.ShardName(0)).Lstat()
			if err != nil {
				return prepared, err
			}
			f.Size, f.ModTime = st.Size(), st.ModTime()
		}
	}
	return prepared, nil
}

// Verify implements Verifier. It completes the manifest with the values that do not depend on the index. The seal
// is the one that the database had: who could not vouch for its source before cannot now.
func (s ownPassages) Verify(dir confined.Path, m *generation.Manifest) error {
	m.Seal, m.Skipped, m.Checked = s.Seal, s.Skipped, s.Checked
	if s.Provided == nil {
		return nil
	}
	vectors, err := dense.Open(s.File(providedName))
	if err != nil {
		return nil // the next update computes them
	}
	vectors.Close()
	m.Provided = s.Provided
	return linkOrCopy(context.Background(), s.File(providedName), dir.Join(providedName))
}

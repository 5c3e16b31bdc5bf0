package index

import (
	"io/fs"
	"os"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/provenance"
)

// stage stages the passages of a generation for LEANN (see leann.Stage). It enters the
// files in the manifest.
func stage(passages confined.Path, m *generation.Manifest, key provenance.Key,
	perm fs.FileMode) (*leann.Staged, error) {
	source := provenance.Source{Kind: m.Source.Kind, Location: m.Source.Location}
	staged, err := leann.Stage(passages,
		leann.Origin{Kind: source.Kind, Location: source.Location, Seal: key.Seal(source)}, perm)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		if f.Name == passage.ShardName(0) {
			staged.Files[0].Size, staged.Files[0].CRC32 = f.Size, f.CRC32
		}
	}
	m.Published = staged.Files
	return staged, nil
}

// Republish publishes the passages of the current generation for LEANN again if the
// published files differ. A build that was killed, or that ended with a
// generation.LateError, may not have published what it made current. The caller holds the build lock. Republish does nothing if key has not
// sealed the source.
func Republish(dir string, key provenance.Key) error {
	g, err := generation.Current(dir)
	if err != nil || len(g.Published) == 0 {
		return err
	}
	if err := leann.Clean(dir); err != nil || len(damagedPublished(dir, g)) == 0 {
		return err
	}
	if !key.Sealed(provenance.Source{Kind: g.Source.Kind, Location: g.Source.Location, Options: g.Options}, g.Seal) {
		return nil
	}
	st, err := g.File(passage.ShardName(0)).Lstat()
	if err != nil {
		return err
	}
	staged, err := stage(g.File(passage.ShardName(0)), &g.Manifest, key, st.Mode().Perm())
	if err != nil {
		return err
	}
	return staged.Publish()
}

// damagedPublished returns the problems of the files published for LEANN. It skips the
// passages file if it is a hard link to the generation's file.
func damagedPublished(dir string, g generation.Generation) []error {
	var errs []error
	for _, f := range g.Published {
		file := confined.In(dir).Join(f.Name)
		if f.Name == leann.PassagesName && sameFile(file, g.File(passage.ShardName(0))) {
			continue
		}
		if err := f.Check(file, nil); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func sameFile(a, b confined.Path) bool {
	stA, errA := a.Lstat()
	stB, errB := b.Lstat()
	return errA == nil && errB == nil && os.SameFile(stA, stB)
}

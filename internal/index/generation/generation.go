package generation

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/container"
)

// Folder is the name of the derived folder within a database.
const Folder = "docsearch"

const (
	manifestName = "manifest.json"
	lockName     = "build.lock"
	maxManifest  = 1 << 20
)

// ErrNoIndex is returned where a database has no index yet.
var ErrNoIndex = errors.New("no docsearch index")

// A Generation is the current index: its manifest and its folder.
type Generation struct {
	Manifest
	Dir confined.Path
}

// ManifestPath is where the database in folder dir has its manifest, if it
// has an index.
func ManifestPath(dir string) string { return folderOf(dir).Join(manifestName).String() }

// HasManifest reports whether a build of the database in folder dir has ever ended,
// whether or not its manifest can be read.
func HasManifest(dir string) bool { return folderOf(dir).Join(manifestName).Exists() }

// GenerationOf is the generation that the manifest of the database in folder dir
// names.
func GenerationOf(dir string, m Manifest) Generation {
	return Generation{m, folderOf(dir).Join(m.Generation)}
}

// folderOf is the derived folder of the database in folder dir.
func folderOf(dir string) confined.Path { return confined.In(dir).Join(Folder) }

// File is one of the generation's files.
func (g Generation) File(name string) confined.Path { return g.Dir.Join(name) }

// Path is the path of one of the generation's files, for messages.
func (g Generation) Path(name string) string { return g.File(name).String() }

// Current returns the current generation of the database in folder dir.
// Errors: one that wraps ErrNoIndex, *container.CorruptError, *VersionError.
func Current(dir string) (Generation, error) {
	manifest := folderOf(dir).Join(manifestName)
	data, err := manifest.Read(maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Generation{}, fmt.Errorf("%s: %w", dir, ErrNoIndex)
	case errors.Is(err, atomicfile.ErrTooLong):
		return Generation{}, &container.CorruptError{File: manifest.String(), Offset: maxManifest, What: "the file is too large"}
	case err != nil:
		return Generation{}, container.AsCorrupt(err)
	}
	m, err := parseManifest(manifest.String(), data)
	if err != nil {
		return Generation{}, err
	}
	return GenerationOf(dir, m), nil
}

// Load calls open with the generation in force until it succeeds, or fails
// for another reason than that a build has replaced the generation meanwhile.
func Load(dir string, open func(Generation) error) error {
	for {
		g, err := Current(dir)
		if err != nil {
			return err
		}
		err = open(g)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return container.AsCorrupt(err)
		}
		now, currentErr := Current(dir)
		if currentErr != nil || now.Generation == g.Generation {
			return &container.CorruptError{File: g.Dir.String(), What: err.Error()}
		}
	}
}

// Verify reads every file of the generation and compares it with the
// manifest. It calls advance, if not nil, with the bytes read since the last
// call.
func (g Generation) Verify(advance func(int64)) error {
	for _, want := range g.Files {
		if err := want.Check(g.File(want.Name), advance); err != nil {
			return err
		}
	}
	return nil
}

// Check reads a file and compares it with what a manifest says of it. It calls
// advance, if not nil, with the bytes read since the last call. Errors:
// *container.CorruptError, those of the file system.
func (f FileInfo) Check(file confined.Path, advance func(int64)) error {
	path := file.String()
	size, crc, err := sum(file, advance)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &container.CorruptError{File: path, What: "the file is missing"}
	case err != nil:
		return container.AsCorrupt(err)
	case size != f.Size:
		return &container.CorruptError{File: path, Offset: min(size, f.Size), What: fmt.Sprintf("%d bytes long, want %d", size, f.Size)}
	case crc != f.CRC32:
		return &container.CorruptError{File: path, What: "checksum of the file"}
	}
	return nil
}

// SumOf is what a manifest says of a file with that data.
func SumOf(name string, data []byte) FileInfo {
	return FileInfo{name, int64(len(data)), formatSum(container.Checksum(data))}
}

func sum(p confined.Path, advance func(int64)) (int64, string, error) {
	f, err := p.Open()
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	buf := make([]byte, 1<<20)
	var size int64
	for {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		size += int64(n)
		if advance != nil && n > 0 {
			advance(int64(n))
		}
		if err == io.EOF {
			return size, formatSum(h.Sum32()), nil
		}
		if err != nil {
			return size, "", err
		}
	}
}

func formatSum(sum uint32) string { return fmt.Sprintf("%08x", sum) }

package generation

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
)

// Folder is the name of the derived folder within a database.
const Folder = "docsearch"

const (
	manifestName = "manifest.json"
	lockName     = "build.lock"
	maxManifest  = 1 << 20
)

// ErrNoIndex is returned if a database has no index yet.
var ErrNoIndex = errors.New("no docsearch index")

// A Generation is an index: its manifest and its folder.
type Generation struct {
	Manifest
	Dir confined.Path
}

// ManifestPath returns the path of the manifest of the database in folder dir, whether
// or not it exists.
func ManifestPath(dir string) string { return folderOf(dir).Join(manifestName).String() }

// HasManifest reports whether a build of the database in folder dir has ever completed,
// whether or not the manifest is valid.
func HasManifest(dir string) bool { return folderOf(dir).Join(manifestName).Exists() }

// GenerationOf returns the generation of the database in folder dir that has this
// manifest.
func GenerationOf(dir string, m Manifest) Generation {
	return Generation{m, folderOf(dir).Join(m.Generation)}
}

// folderOf returns the derived folder of the database in folder dir.
func folderOf(dir string) confined.Path { return confined.In(dir).Join(Folder) }

// File returns a file of the generation.
func (g Generation) File(name string) confined.Path { return g.Dir.Join(name) }

// Path returns the path of a file of the generation, for messages.
func (g Generation) Path(name string) string { return g.File(name).String() }

// Current returns the current generation of the database in folder dir. The error wraps
// ErrNoIndex, is a *container.CorruptError or *container.VersionError, or is an error
// of the file system.
func Current(dir string) (Generation, error) { return current(dir, parseManifest) }

// Outdated is Current for a database that an older docsearch may have built, of which only
// the passages and what the manifest says of them are used.
func Outdated(dir string) (Generation, error) {
	return current(dir, func(path string, data []byte) (Manifest, error) {
		var m Manifest
		err := json.Unmarshal(data, &m)
		return m.check(path, data, err, 0)
	})
}

func current(dir string, parse func(path string, data []byte) (Manifest, error)) (Generation, error) {
	manifest := folderOf(dir).Join(manifestName)
	data, err := manifest.Read(maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Generation{}, fmt.Errorf("%s: %w", dir, ErrNoIndex)
	case errors.Is(err, atomicfile.ErrTooLong):
		return Generation{}, &container.CorruptError{File: manifest.String(), Offset: maxManifest,
			Problem: "the file is too large"}
	case err != nil:
		return Generation{}, container.AsCorrupt(err)
	}
	m, err := parse(manifest.String(), data)
	if err != nil {
		return Generation{}, err
	}
	return GenerationOf(dir, m), nil
}

// Load calls open with the current generation. It retries if open fails because a build
// has replaced the generation meanwhile.
func Load(dir string, open func(Generation) error) error { return load(dir, open, parseManifest) }

// LoadHead is Load with a manifest that has only Format, Generation, Edition, Language,
// Partial, Files, Confidence and Source.Root. A process that ends after one query decodes
// these in half of the time.
func LoadHead(dir string, open func(Generation) error) error { return load(dir, open, parseHead) }

func load(dir string, open func(Generation) error, parse func(path string, data []byte) (Manifest, error)) error {
	for {
		g, err := current(dir, parse)
		if err != nil {
			return err
		}
		err = open(g)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return container.AsCorrupt(err)
		}
		now, currentErr := current(dir, parse)
		if currentErr != nil || now.Generation == g.Generation {
			return &container.CorruptError{File: g.Dir.String(), Problem: err.Error()}
		}
	}
}

// Verify reads every file of the generation and compares it with the manifest. It calls
// advance, if not nil, with the number of bytes read since the last call.
func (g Generation) Verify(advance func(int64)) error {
	for _, want := range g.Files {
		if err := want.Check(g.File(want.Name), advance); err != nil {
			return err
		}
	}
	return nil
}

// Check reads a file and compares it with its manifest entry. It calls advance, if not
// nil, with the number of bytes read since the last call. Errors:
// *container.CorruptError, those of the file system.
func (f FileInfo) Check(file confined.Path, advance func(int64)) error {
	path := file.String()
	size, crc, err := checksumFile(file, advance)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &container.CorruptError{File: path, Problem: "the file is missing"}
	case err != nil:
		return container.AsCorrupt(err)
	case size != f.Size:
		return &container.CorruptError{File: path, Offset: min(size, f.Size),
			Problem: fmt.Sprintf("%d bytes long, want %d", size, f.Size)}
	case crc != f.CRC32:
		return &container.CorruptError{File: path, Problem: "checksum of the file"}
	}
	return nil
}

// NewFileInfo returns the manifest entry of a file with this data.
func NewFileInfo(name string, data []byte) FileInfo {
	return FileInfo{name, int64(len(data)), formatChecksum(container.Checksum(data))}
}

func checksumFile(p confined.Path, advance func(int64)) (int64, string, error) {
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
			return size, formatChecksum(h.Sum32()), nil
		}
		if err != nil {
			return size, "", err
		}
	}
}

func formatChecksum(sum uint32) string { return fmt.Sprintf("%08x", sum) }

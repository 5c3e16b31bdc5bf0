package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// Extension is the file name extension of packs.
const Extension = ".dspack"

// A Pack contains the parts of a pack.
type Pack struct {
	Manifest   []byte
	Signatures []byte
	Table      []byte // nil for a catalog
	Data       []byte
}

// An Origin is a place that has a pack or catalog.
type Origin interface {
	// Head returns the manifest and the signatures, within their limits.
	Head(ctx context.Context) (manifest, signatures []byte, err error)
	// Table returns the chunk table, of that many bytes.
	Table(ctx context.Context, size int64) ([]byte, error)
	// Data returns length bytes of the data from offset on, or all of the data. start is
	// the offset of the first byte of the reader.
	Data(ctx context.Context, offset, length int64) (r io.ReadCloser, start int64, err error)
	Close() error
}

// headerLimit is the maximum length of a file's header.
const headerLimit = 256

// header returns the header of a file.
func (p *Pack) header(kind string) string {
	if kind == KindCatalog {
		return fmt.Sprintf("docsearch %s 1\nmanifest %d signatures %d\n", kind, len(p.Manifest), len(p.Signatures))
	}
	return fmt.Sprintf("docsearch %s %d\nmanifest %d signatures %d chunks %d data %d\n", kind, Format, len(p.Manifest),
		len(p.Signatures), len(p.Table), len(p.Data))
}

// WriteFile writes the pack or catalog to a file, atomically.
func (p *Pack) WriteFile(path, kind string) error {
	data := bytes.Join([][]byte{[]byte(p.header(kind)), p.Manifest, p.Signatures, p.Table, p.Data}, nil)
	return atomicfile.Write(path, data, 0o644)
}

// ReadFile reads all parts of a pack file.
func ReadFile(ctx context.Context, path string) (*Pack, error) {
	opened, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	o := opened.(*fileOrigin)
	p := &Pack{}
	if p.Manifest, p.Signatures, err = o.Head(ctx); err != nil {
		return nil, err
	}
	if p.Table, err = o.read(o.table, o.data); err != nil {
		return nil, err
	}
	p.Data, err = o.read(o.data, o.end)
	return p, err
}

// offsets are the places of the parts in a file.
type offsets struct{ manifest, signatures, table, data, end int64 }

// parseHeader decodes the header of a file. start has at least the header.
func parseHeader(start []byte) (o offsets, err error) {
	const part = "header"
	start = start[:min(len(start), headerLimit)]
	first, rest, _ := strings.Cut(string(start), "\n")
	second, _, found := strings.Cut(rest, "\n")
	if !found {
		return o, invalid(part, "not a docsearch pack")
	}
	var m, s, c, d int64
	format := "manifest %d signatures %d chunks %d data %d"
	numbers := []any{&m, &s, &c, &d}
	switch first {
	case fmt.Sprintf("docsearch pack %d", Format):
	case "docsearch catalog 1":
		format, numbers = "manifest %d signatures %d", numbers[:2]
	default:
		if strings.HasPrefix(first, "docsearch pack ") {
			return o, invalid(part, "%q is not a format that this version of docsearch reads", first)
		}
		return o, invalid(part, "not a docsearch pack")
	}
	limit := int64(MaxManifest)
	if len(numbers) == 2 {
		limit = MaxCatalog
	}
	n, err := fmt.Sscanf(second, format, numbers...)
	if err != nil || n != len(numbers) || m < 0 || m > limit || s < 0 || s > MaxSignatures || c < 0 || c > MaxTable ||
		d < 0 || d > MaxPassages {
		return o, invalid(part, "invalid lengths %q", second)
	}
	o.manifest = int64(len(first) + len(second) + 2)
	o.signatures = o.manifest + m
	o.table = o.signatures + s
	o.data = o.table + c
	o.end = o.data + d
	return o, nil
}

// MaxCatalog is the maximum size of a catalog's manifest.
const MaxCatalog = 16 << 20

// A fileOrigin is a pack in a file.
type fileOrigin struct {
	f *os.File
	offsets
}

// OpenFile opens the pack or catalog in a file.
func OpenFile(path string) (Origin, error) {
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	o := &fileOrigin{f: f}
	start := make([]byte, headerLimit)
	n, err := f.ReadAt(start, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil {
		o.offsets, err = parseHeader(start[:n])
	}
	if err == nil {
		var st os.FileInfo
		if st, err = f.Stat(); err == nil && st.Size() != o.end {
			err = invalid("file", "%d bytes, the header says %d", st.Size(), o.end)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return o, nil
}

func (o *fileOrigin) read(from, to int64) ([]byte, error) {
	b := make([]byte, to-from)
	_, err := o.f.ReadAt(b, from)
	return b, err
}

func (o *fileOrigin) Head(context.Context) (manifest, signatures []byte, err error) {
	if manifest, err = o.read(o.manifest, o.signatures); err == nil {
		signatures, err = o.read(o.signatures, o.table)
	}
	return manifest, signatures, err
}

func (o *fileOrigin) Table(_ context.Context, size int64) ([]byte, error) {
	if size != o.data-o.table {
		return nil, invalid("chunk table", "%d bytes, the manifest says %d", o.data-o.table, size)
	}
	return o.read(o.table, o.data)
}

func (o *fileOrigin) Data(_ context.Context, offset, length int64) (io.ReadCloser, int64, error) {
	return io.NopCloser(io.NewSectionReader(o.f, o.data+offset, length)), offset, nil
}

func (o *fileOrigin) Close() error { return o.f.Close() }

// Package mmap maps files into memory for reading. Standard library only, because
// the hook reads indexes through it.
//
// If a mapped file is truncated, reading the missing pages faults. Go turns the
// fault into a panic only after debug.SetPanicOnFault. docsearch never changes
// the files that it maps (see package generation).
package mmap

import (
	"fmt"
	"os"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
)

// A Mapping is the read-only contents of a file. After Close, slices of Data are
// invalid.
type Mapping struct {
	Data []byte
	// release unmaps the file.
	release func() error
}

// Open maps the regular file at path. For an empty file, Data is empty.
func Open(path string) (*Mapping, error) {
	f, err := atomicfile.Open(path)
	return mapAll(f, err)
}

// OpenIn is Open for a file below a folder.
func OpenIn(p confined.Path) (*Mapping, error) {
	f, err := p.Open()
	return mapAll(f, err)
}

// mapAll maps a regular file and closes it. err is the error of opening the file.
func mapAll(f *os.File, err error) (*Mapping, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := st.Size()
	switch {
	case size == 0:
		return &Mapping{}, nil
	case size != int64(int(size)):
		return nil, fmt.Errorf("map %s: %d bytes are too many for this machine's address space", f.Name(), size)
	}
	m, err := mapFile(f, int(size))
	if err != nil {
		return nil, &os.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	return m, nil
}

// Close unmaps the file. A second call does nothing.
func (m *Mapping) Close() error {
	release := m.release
	m.Data, m.release = nil, nil
	if release == nil {
		return nil
	}
	return release()
}

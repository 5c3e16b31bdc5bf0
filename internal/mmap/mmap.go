// Package mmap maps files into memory for reading. Standard library only,
// because the hook reads indexes through it.
//
// Reading a page of a mapped file that was truncated meanwhile faults, which
// Go turns into a panic only after debug.SetPanicOnFault. The files docsearch
// maps are never changed in place (see package generation).
package mmap

import (
	"fmt"
	"os"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/confined"
)

// A Mapping is a file's contents, read-only. Close ends the validity of every
// slice of Data.
type Mapping struct {
	Data []byte
	// release is what the system needs to undo the mapping.
	release func() error
}

// Open maps the whole regular file at path. An empty file has empty Data.
func Open(path string) (*Mapping, error) {
	f, err := atomicfile.Open(path)
	return mapAll(f, err)
}

// OpenIn is Open of a file below a folder.
func OpenIn(p confined.Path) (*Mapping, error) {
	f, err := p.Open()
	return mapAll(f, err)
}

// mapAll maps a regular file, and closes it; err is that of opening it.
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

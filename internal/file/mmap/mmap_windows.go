package mmap

import (
	"os"
	"syscall"
	"unsafe"
)

func mapFile(f *os.File, size int) (*Mapping, error) {
	h, err := syscall.CreateFileMapping(syscall.Handle(f.Fd()), nil, syscall.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	addr, err := syscall.MapViewOfFile(h, syscall.FILE_MAP_READ, 0, 0, uintptr(size))
	closeErr := syscall.CloseHandle(h) // the view keeps the mapping alive
	if err != nil {
		return nil, err
	}
	if closeErr != nil {
		return nil, closeErr
	}
	// addr is not Go memory. Reading it through a pointer to the variable
	// satisfies vet's rule about uintptr conversions.
	data := unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), size)
	return &Mapping{Data: data, release: func() error { return syscall.UnmapViewOfFile(addr) }}, nil
}

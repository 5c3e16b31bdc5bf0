//go:build !windows

package mmap

import (
	"os"
	"syscall"
)

func mapFile(f *os.File, size int) (*Mapping, error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &Mapping{Data: data, release: func() error { return syscall.Munmap(data) }}, nil
}

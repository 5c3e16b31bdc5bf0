package config

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"unsafe"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// Files in the cache folder: snapshots and records. The name of a file has the checksum of
// a key, such as the path of the config file. A file with fields has a magic, which ends
// with the version of its format, then 8 bytes of checksum, little endian, then the fields.

const maxCacheFile = 32 << 20

// errNoCache reports that the environment does not determine a file in the cache folder.
var errNoCache = errors.New("cannot write a snapshot: the home directory is not known")

// cacheFile returns the path of the file of a kind for a key. It returns "" if the
// environment does not determine the cache folder or the key.
func cacheFile(l Locations, kind, key, extension string) string {
	if l.Cache == "" || key == "" {
		return ""
	}
	return Join(l.Cache, fmt.Sprintf("%s-%016x%s", kind, checksum([]byte(key)), extension))
}

func readCacheFile(path string) ([]byte, error) {
	if path == "" {
		return nil, errNoCache
	}
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxCacheFile {
		return nil, errors.New(path + " is not a snapshot")
	}
	data := make([]byte, st.Size())
	n, err := f.ReadAt(data, 0)
	if err != nil && n < len(data) {
		return nil, err
	}
	return data, nil
}

func writeCacheFile(l Locations, path string, data []byte) error {
	if path == "" {
		return errNoCache
	}
	if err := os.MkdirAll(l.Cache, 0o700); err != nil {
		return err
	}
	return atomicfile.WriteCache(path, data, 0o600)
}

// removeCacheFile removes a file, which may be missing.
func removeCacheFile(path string) error {
	if path == "" {
		return errNoCache
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// encodeFields returns the contents of a file with fields.
func encodeFields(magic string, code func(*coder)) []byte {
	c := coder{writing: true}
	code(&c)
	data := binary.LittleEndian.AppendUint64([]byte(magic), wideChecksum(c.out))
	return append(data, c.out...)
}

// decodeFields decodes the contents of a file with fields. The decoded texts share the
// memory of data, which must not be modified.
func decodeFields(data []byte, magic string, code func(*coder)) error {
	sum, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(sum) < 8 {
		return errors.New("not a snapshot of this format")
	}
	fields := sum[8:]
	if binary.LittleEndian.Uint64(sum) != wideChecksum(fields) {
		return errors.New("corrupt snapshot: checksum")
	}
	c := coder{data: unsafe.String(unsafe.SliceData(fields), len(fields))}
	code(&c)
	if c.corrupt || len(c.data) > 0 {
		return errors.New("corrupt snapshot: length")
	}
	return nil
}

// wideChecksum is FNV-1a over eight bytes at a time. Snapshots of up to a hundred
// kilobytes are read on every tool call, and hash/fnv takes one byte at a time.
func wideChecksum(data []byte) uint64 {
	h := uint64(14695981039346656037)
	for ; len(data) >= 8; data = data[8:] {
		h = (h ^ binary.LittleEndian.Uint64(data)) * 1099511628211
		h ^= h >> 32
	}
	for _, b := range data {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

func checksum(data []byte) uint64 {
	h := fnv.New64a()
	h.Write(data)
	return h.Sum64()
}

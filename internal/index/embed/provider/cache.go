package provider

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/embed"
)

// A Cache is a Provider that caches vectors of documents, by a hash of the text,
// in a file that builds share. So a document is embedded, and paid for, only
// once. Queries are not cached.
//
// The file is named after a hash of the provider's ID. Its format, little endian:
//
//	[8] magic "docsvec\n"  [4] version, 1  [4] D, dimensions
//	per vector: [16] first bytes of the SHA-256 of the text
//	            [D] x [4] float32
//	            [4] CRC-32C of the above
//
// Vectors are only appended. The next append truncates an incomplete vector at
// the end, which a crash may leave. Vectors with a wrong checksum are ignored.
type Cache struct {
	embed.Provider
	path string

	mu         sync.Mutex
	dimensions int
	offsets    map[[keySize]byte]int64
}

const (
	cacheMagic   = "docsvec\n"
	cacheVersion = 1
	cacheHeader  = 16
	keySize      = 16
	lockTimeout  = 10 * time.Second
)

// NewCache returns p with a cache in the folder dir.
func NewCache(p embed.Provider, dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := sha256.Sum256([]byte(p.ID()))
	c := &Cache{Provider: p, path: filepath.Join(dir, fmt.Sprintf("%x.vectors", name[:8])),
		offsets: make(map[[keySize]byte]int64)}
	return c, c.load()
}

// load reads the keys of the file. If the file is invalid, the next store
// replaces it.
func (c *Cache) load() error {
	f, err := os.Open(c.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	dimensions, records, err := readHeader(f)
	if err != nil || dimensions == 0 {
		return err
	}
	c.dimensions = dimensions
	var key [keySize]byte
	for i := range records {
		at := cacheHeader + i*recordSize(dimensions)
		if _, err := f.ReadAt(key[:], at); err != nil {
			return err
		}
		c.offsets[key] = at
	}
	return nil
}

// readHeader reads a cache's header. If it is invalid, dimensions is 0.
func readHeader(f *os.File) (dimensions int, records int64, err error) {
	st, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	var head [cacheHeader]byte
	if _, err := f.ReadAt(head[:], 0); err == io.EOF {
		return 0, 0, nil
	} else if err != nil {
		return 0, 0, err
	}
	n := binary.LittleEndian.Uint32(head[12:])
	if string(head[:8]) != cacheMagic || binary.LittleEndian.Uint32(head[8:]) != cacheVersion || n == 0 || n > 1<<16 {
		return 0, 0, nil
	}
	return int(n), (st.Size() - cacheHeader) / recordSize(int(n)), nil
}

func recordSize(dimensions int) int64 { return keySize + 4*int64(dimensions) + 4 }

// Embed returns cached vectors of documents and requests the others from the
// provider.
func (c *Cache) Embed(ctx context.Context, kind embed.Kind, texts []string) ([][]float32, error) {
	if kind != embed.Document {
		return c.Provider.Embed(ctx, kind, texts)
	}
	vectors, err := c.lookup(texts)
	if err != nil {
		return nil, err
	}
	var missing []int
	var missingTexts []string
	for i, v := range vectors {
		if v == nil {
			missing, missingTexts = append(missing, i), append(missingTexts, texts[i])
		}
	}
	if len(missing) == 0 {
		return vectors, nil
	}
	fresh, err := c.Provider.Embed(ctx, kind, missingTexts)
	if err != nil {
		return nil, err
	}
	old := c.dimensions
	if err := c.store(missingTexts, fresh); err != nil {
		return nil, err
	}
	if len(missing) < len(texts) && len(fresh[0]) != old {
		// The model changed without a change of its name, so store cleared the
		// cache.
		return c.Embed(ctx, kind, texts)
	}
	for i, at := range missing {
		vectors[at] = fresh[i]
	}
	return vectors, nil
}

func keyOf(text string) (key [keySize]byte) {
	sum := sha256.Sum256([]byte(text))
	copy(key[:], sum[:])
	return key
}

// lookup returns the cached vector of each text, or nil.
func (c *Cache) lookup(texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	vectors := make([][]float32, len(texts))
	if len(c.offsets) == 0 {
		return vectors, nil
	}
	f, err := os.Open(c.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	record := make([]byte, recordSize(c.dimensions))
	for i, text := range texts {
		key := keyOf(text)
		at, ok := c.offsets[key]
		if !ok {
			continue
		}
		if _, err := f.ReadAt(record, at); err != nil && err != io.EOF {
			return nil, err
		}
		sum := len(record) - 4
		if [keySize]byte(record) != key ||
			container.Checksum(record[:sum]) != binary.LittleEndian.Uint32(record[sum:]) {
			delete(c.offsets, key)
			continue
		}
		vectors[i] = make([]float32, c.dimensions)
		if _, err := binary.Decode(record[keySize:], binary.LittleEndian, vectors[i]); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// store appends vectors to the file. If their dimensionality differs from the
// file's, it clears the file first.
func (c *Cache) store(texts []string, vectors [][]float32) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lock, err := filelock.Acquire(c.path+".lock", lockTimeout)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	f, err := confined.OpenFile(c.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	want := len(vectors[0])
	dimensions, records, err := readHeader(f)
	if err != nil {
		return err
	}
	if dimensions != want {
		// The file is invalid, or the model changed without a change of its name.
		head := append([]byte(cacheMagic), 0, 0, 0, 0, 0, 0, 0, 0)
		binary.LittleEndian.PutUint32(head[8:], cacheVersion)
		binary.LittleEndian.PutUint32(head[12:], uint32(want))
		if err := f.Truncate(0); err != nil {
			return err
		}
		if _, err := f.WriteAt(head, 0); err != nil {
			return err
		}
		records = 0
		clear(c.offsets)
	}
	c.dimensions = want
	at := cacheHeader + records*recordSize(want)
	var b []byte
	for i, v := range vectors {
		key := keyOf(texts[i])
		c.offsets[key] = at + int64(len(b))
		from := len(b)
		b = append(b, key[:]...)
		b, _ = binary.Append(b, binary.LittleEndian, v) // numbers can always be encoded
		b = binary.LittleEndian.AppendUint32(b, container.Checksum(b[from:]))
	}
	if _, err := f.WriteAt(b, at); err != nil {
		return err
	}
	return f.Truncate(at + int64(len(b)))
}

package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
)

const testKind, testVersion = "TEST", 3

// sample returns sections that are empty, small, and longer than several blocks.
func sample() map[string][]byte {
	return map[string][]byte{
		"empty": nil,
		"small": []byte("abc"),
		"large": bytes.Repeat([]byte("0123456789abcdef"), 3*blockSize/16+5),
		"last":  bytes.Repeat([]byte{7}, 100),
	}
}

var sampleOrder = []string{"empty", "small", "large", "last"}

func writeSample(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample")
	w, err := Create(confined.Of(path), testKind, testVersion)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sampleOrder {
		w.Section(name)
		for data := sample()[name]; len(data) > 0; {
			n := min(len(data), 1000)
			if _, err := w.Write(data[:n]); err != nil {
				t.Fatal(err)
			}
			data = data[n:]
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestContainerKeepsSections(t *testing.T) {
	f, err := Open(confined.Of(writeSample(t)), testKind, testVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range sample() {
		s, err := f.Section(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.All()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("section %s: %d bytes, %v; want %d bytes", name, len(got), err, len(want))
		}
		if s.offset%align != 0 {
			t.Errorf("section %s begins at %d", name, s.offset)
		}
	}
	if err := f.Verify(nil); err != nil {
		t.Error(err)
	}
	var corrupt *CorruptError
	if _, err := f.Section("absent"); !errors.As(err, &corrupt) {
		t.Errorf("absent section: %v, want *CorruptError", err)
	}
	s, _ := f.Section("small")
	for _, r := range [][2]int64{{-1, 1}, {0, -1}, {0, 4}, {4, 0}, {3, 1}, {1 << 62, 1 << 62}} {
		if _, err := s.Bytes(r[0], r[1]); !errors.As(err, &corrupt) {
			t.Errorf("Bytes(%d, %d): %v, want *CorruptError", r[0], r[1], err)
		}
	}
}

func TestContainerIsReproducible(t *testing.T) {
	a, _ := os.ReadFile(writeSample(t))
	b, _ := os.ReadFile(writeSample(t))
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("the same sections made different bytes")
	}
}

// Every flipped bit is detected: by Open, when reading its section, or by Verify if it
// is in padding.
func TestContainerFindsEveryFlip(t *testing.T) {
	whole, err := os.ReadFile(writeSample(t))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + at%61 {
		data := bytes.Clone(whole)
		data[at] ^= 1 << (at % 8)
		f, err := parse("sample", data, testKind, testVersion)
		if err != nil {
			continue
		}
		for name, want := range sample() {
			s, err := f.Section(name)
			if err != nil {
				t.Fatalf("flip at %d: %v", at, err)
			}
			if got, err := s.All(); err == nil && !bytes.Equal(got, want) {
				t.Fatalf("flip at %d: section %s read wrong without an error", at, name)
			}
		}
		if f.Verify(nil) == nil {
			t.Fatalf("flip at %d was not found", at)
		}
	}
}

func TestContainerRefuses(t *testing.T) {
	whole, err := os.ReadFile(writeSample(t))
	if err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	for n := 0; n < len(whole); n += 1 + n/50 {
		if _, err := parse("sample", whole[:n], testKind, testVersion); !errors.As(err, &corrupt) {
			t.Fatalf("cut to %d bytes: %v, want *CorruptError", n, err)
		}
	}
	if _, err := parse("sample", append(bytes.Clone(whole), 0), testKind, testVersion); !errors.As(err, &corrupt) {
		t.Errorf("one byte more: %v, want *CorruptError", err)
	}
	if _, err := parse("sample", whole, "ELSE", testVersion); !errors.As(err, &corrupt) {
		t.Errorf("another kind: %v, want *CorruptError", err)
	}
	var version *VersionError
	if _, err := parse("sample", whole, testKind, testVersion+1); !errors.As(err, &version) || version.Have != testVersion {
		t.Errorf("another version: %v, want *VersionError", err)
	}
}

// A trailer that matches its checksum, but not the file, leads to an error, not to a read out
// of bounds.
func TestContainerRefusesTrailer(t *testing.T) {
	whole, err := os.ReadFile(writeSample(t))
	if err != nil {
		t.Fatal(err)
	}
	trailer := len(whole) - trailerSize
	table := binary.LittleEndian.Uint64(whole[trailer+8:])
	count := binary.LittleEndian.Uint32(whole[trailer+24:])
	for name, change := range map[string]struct {
		table uint64
		count uint32
	}{
		"a table behind the trailer": {uint64(trailer) + entrySize, math.MaxUint32},
		"too many sections":          {table, maxSections + 1},
		"a section too many":         {table, count + 1},
		"a section too few":          {table, count - 1},
	} {
		data := bytes.Clone(whole)
		binary.LittleEndian.PutUint64(data[trailer+8:], change.table)
		binary.LittleEndian.PutUint32(data[trailer+24:], change.count)
		if change.table <= uint64(trailer) {
			binary.LittleEndian.PutUint32(data[trailer+28:], Checksum(data[change.table:trailer+28]))
		}
		var corrupt *CorruptError
		if _, err := parse("sample", data, testKind, testVersion); !errors.As(err, &corrupt) || corrupt.Problem != "the section table does not fit the file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestContainerLeavesNothingAfterAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	w, err := Create(confined.Of(path), testKind, testVersion)
	if err != nil {
		t.Fatal(err)
	}
	w.Section("name that is too long")
	if w.Close() == nil {
		t.Error("a section name of more than eight letters was taken")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after an error the file is still there: %v", err)
	}
}

func TestContainerReadConcurrently(t *testing.T) {
	f, err := Open(confined.Of(writeSample(t)), testKind, testVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := sample()["large"]
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			s, err := f.Section("large")
			if err != nil {
				t.Error(err)
				return
			}
			for off := int64(g); off < s.Len(); off += 4096 {
				n := min(100, s.Len()-off)
				if got, err := s.Bytes(off, n); err != nil || !bytes.Equal(got, want[off:off+n]) {
					t.Errorf("at %d: %v", off, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzContainer(f *testing.F) {
	whole, err := os.ReadFile(writeSample(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:headerSize+trailerSize])
	f.Add([]byte(headMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse("fuzz", data, testKind, testVersion)
		if err != nil {
			return
		}
		whole := c.Verify(nil) == nil
		for _, s := range c.sections {
			section := Section{c, s.offset, s.length}
			if _, err := section.All(); whole && err != nil {
				t.Fatalf("verified file, but section %s: %v", s.name, err)
			}
		}
	})
}

func BenchmarkContainerOpen(b *testing.B) {
	for _, size := range []int{1 << 20, 100 << 20} {
		b.Run(fmt.Sprintf("%dMiB", size>>20), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "file")
			w, err := Create(confined.Of(path), testKind, testVersion)
			if err != nil {
				b.Fatal(err)
			}
			w.Section("data")
			for range size >> 20 {
				w.Write(make([]byte, 1<<20))
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				f, err := Open(confined.Of(path), testKind, testVersion)
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}

// After truncation, blocks that were verified before read as zeros from the rest of the
// file's last page.
func TestContainerTruncatedWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: a mapped file cannot be truncated on Windows")
	}
	path := filepath.Join(t.TempDir(), "short")
	w, err := Create(confined.Of(path), testKind, testVersion)
	if err != nil {
		t.Fatal(err)
	}
	w.Section("small")
	w.Write([]byte("abc"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(confined.Of(path), testKind, testVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := f.Section("small")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.All(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	if got, err := s.All(); !errors.As(err, &corrupt) {
		t.Errorf("got %q, %v, want *CorruptError", got, err)
	}
}

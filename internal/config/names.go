package config

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Names maps names to the only database that defines them. They are in two files next to the
// snapshot of the config: those of programs, commands and modules with a page of their own,
// and the identifiers, all other names that a passage defines. Only web searches without a
// keyword need them, so a file is read at the first lookup. The identifiers of large
// databases take a tenth of a second to collect, so their file is written when a query first
// has one:
//
//	magic      "docsearch names 1\n", the version of the format
//	databases  [8] FNV-1a of the databases' names and paths, little endian
//	entries    [8] each, little endian, sorted: the upper 48 bits of the name's
//	           FNV-1a, and the database's position in the config
//
// They are caches: without them, no name is found.
type Names struct {
	locations          Locations
	databases          []Database
	pages, identifiers nameTable
	// Of each file; a table that is not nil is not read.
	readPages, readIdentifiers sync.Once
	// defined returns the identifiers of each database.
	defined func() [][]string
}

// A nameTable is the entries of a file.
type nameTable []byte

const (
	namesMagic = "docsearch names 1\n"
	nameBits   = 1<<64 - 1<<16 // the name's part of an entry
	entrySize  = 8

	pagesExtension       = ".names"
	identifiersExtension = ".identifiers"
)

// NamesOf returns the names that were written for the databases of a config. If the
// identifiers were not, those that defined returns for each database are.
func NamesOf(l Locations, dbs []Database, defined func() [][]string) *Names {
	return &Names{locations: l, databases: dbs, defined: defined}
}

// Page returns the position of the only database with a page about a name.
func (n *Names) Page(name string) (place int, found bool) {
	if n == nil {
		return 0, false
	}
	n.readPages.Do(func() {
		if n.pages == nil {
			n.pages, _ = n.load(pagesExtension) // without a file no name is found
		}
	})
	return n.pages.database(name)
}

// Identifier returns the position of the only database that defines an identifier.
func (n *Names) Identifier(name string) (place int, found bool) {
	if n == nil {
		return 0, false
	}
	n.readIdentifiers.Do(func() {
		var err error
		if n.identifiers, err = n.load(identifiersExtension); err != nil && n.defined != nil {
			n.identifiers = newNameTable(n.defined())
			_ = n.write(n.locations, identifiersExtension, n.identifiers) // only saves time
		}
	})
	return n.identifiers.database(name)
}

func (t nameTable) database(name string) (place int, found bool) {
	want := makeEntry(name, 0)
	low, high := 0, len(t)/entrySize
	for low < high {
		mid := (low + high) / 2
		if binary.LittleEndian.Uint64(t[mid*entrySize:]) < want {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low*entrySize == len(t) {
		return 0, false
	}
	entry := binary.LittleEndian.Uint64(t[low*entrySize:])
	return int(entry &^ nameBits), entry&nameBits == want
}

func (n *Names) load(extension string) (nameTable, error) {
	path := namesPath(n.locations, extension)
	data, err := readCacheFile(path)
	if err != nil {
		return nil, err
	}
	const head = len(namesMagic) + 8
	if len(data) < head || string(data[:len(namesMagic)]) != namesMagic || binary.LittleEndian.Uint64(data[len(namesMagic):]) != databasesChecksum(n.databases) || (len(data)-head)%entrySize != 0 {
		return nil, errors.New(path + " is of other databases")
	}
	return data[head:], nil
}

// NewNames returns the names of the pages that each database of a config has, except those that
// several have, and the identifiers that defined returns.
func NewNames(dbs []Database, pages [][]string, defined func() [][]string) *Names {
	return &Names{databases: dbs, pages: newNameTable(pages), defined: defined}
}

func newNameTable(defined [][]string) nameTable {
	owners := map[string]int{}
	for place, names := range defined {
		for _, name := range names {
			if owner, taken := owners[name]; taken && owner != place {
				owners[name] = ambiguous
			} else if !taken {
				owners[name] = place
			}
		}
	}
	var sorted []uint64
	for name, place := range owners {
		if place != ambiguous && place <= 1<<16-1 {
			sorted = append(sorted, makeEntry(name, place))
		}
	}
	slices.Sort(sorted)
	t := make(nameTable, 0, len(sorted)*entrySize)
	for _, e := range sorted {
		t = binary.LittleEndian.AppendUint64(t, e)
	}
	return t
}

const ambiguous = -1

// Write writes the names of pages to l.Cache, and removes the identifiers of before.
func (n *Names) Write(l Locations) error {
	if path := namesPath(l, identifiersExtension); path != "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return n.write(l, pagesExtension, n.pages)
}

func (n *Names) write(l Locations, extension string, entries []byte) error {
	head := binary.LittleEndian.AppendUint64([]byte(namesMagic), databasesChecksum(n.databases))
	return writeCacheFile(l, namesPath(l, extension), append(head, entries...))
}

func namesPath(l Locations, extension string) string {
	return cacheFile(l, "config", l.Config, extension)
}

func makeEntry(name string, place int) uint64 {
	return checksum([]byte(name))&nameBits | uint64(place)
}

// databasesChecksum returns a checksum of the databases and their order.
func databasesChecksum(dbs []Database) uint64 {
	h := fnv.New64a()
	for i := range dbs {
		h.Write([]byte(dbs[i].Name + "\x00" + dbs[i].Path + "\x00"))
	}
	return h.Sum64()
}

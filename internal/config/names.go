package config

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
)

// Names maps names to the only database that defines them. They are in two files next to the
// snapshot of the config: those of programs, commands and modules with a page of their own,
// and the identifiers, all other names that a passage defines. Only web searches without a
// keyword need them, so a file is read at the first lookup:
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
}

// A nameTable is the entries of a file.
type nameTable struct {
	entries []byte
	read    bool
}

const (
	namesMagic = "docsearch names 1\n"
	nameBits   = 1<<64 - 1<<16 // the name's part of an entry
	entrySize  = 8

	pagesExtension       = ".names"
	identifiersExtension = ".identifiers"
)

// NamesOf returns the names that were written for the databases of a config.
func NamesOf(l Locations, dbs []Database) *Names { return &Names{locations: l, databases: dbs} }

// Page returns the position of the only database with a page about a name.
func (n *Names) Page(name string) (place int, found bool) {
	if n == nil {
		return 0, false
	}
	return n.database(&n.pages, pagesExtension, name)
}

// Identifier returns the position of the only database that defines an identifier.
func (n *Names) Identifier(name string) (place int, found bool) {
	if n == nil {
		return 0, false
	}
	return n.database(&n.identifiers, identifiersExtension, name)
}

func (n *Names) database(t *nameTable, extension, name string) (place int, found bool) {
	if !t.read {
		t.read = true
		t.entries, _ = n.load(extension) // without a file no name is found
	}
	want := makeEntry(name, 0)
	low, high := 0, len(t.entries)/entrySize
	for low < high {
		mid := (low + high) / 2
		if binary.LittleEndian.Uint64(t.entries[mid*entrySize:]) < want {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low*entrySize == len(t.entries) {
		return 0, false
	}
	entry := binary.LittleEndian.Uint64(t.entries[low*entrySize:])
	return int(entry &^ nameBits), entry&nameBits == want
}

func (n *Names) load(extension string) (entries []byte, err error) {
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

// NewNames returns the names of the pages and the identifiers that each database of a config
// defines, except those that several define.
func NewNames(dbs []Database, pages, identifiers [][]string) *Names {
	return &Names{databases: dbs, pages: newNameTable(pages), identifiers: newNameTable(identifiers)}
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
	t := nameTable{entries: make([]byte, 0, len(sorted)*entrySize), read: true}
	for _, e := range sorted {
		t.entries = binary.LittleEndian.AppendUint64(t.entries, e)
	}
	return t
}

const ambiguous = -1

// Write writes the names to l.Cache.
func (n *Names) Write(l Locations) error {
	head := binary.LittleEndian.AppendUint64([]byte(namesMagic), databasesChecksum(n.databases))
	return errors.Join(
		writeCacheFile(l, namesPath(l, pagesExtension), slices.Concat(head, n.pages.entries)),
		writeCacheFile(l, namesPath(l, identifiersExtension), slices.Concat(head, n.identifiers.entries)),
	)
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

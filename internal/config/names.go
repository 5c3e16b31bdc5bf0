package config

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
)

// Names maps a name to the database that defines it: a program, a command or a module with
// a page of its own. Its file is next to the snapshot of the config. Only web searches
// without a keyword need it, so it is read at the first lookup:
//
//	magic      "docsearch names 1\n", the version of the format
//	databases  [8] FNV-1a of the databases' names and paths, little endian
//	entries    [8] each, little endian, sorted: the upper 48 bits of the name's
//	           FNV-1a, and the database's position in the config
//
// It is a cache: without it, no name is found.
type Names struct {
	locations Locations
	databases []Database
	entries   []byte
	read      bool
}

const (
	namesMagic = "docsearch names 1\n"
	nameBits   = 1<<64 - 1<<16 // the name's part of an entry
	entrySize  = 8
)

// NamesOf returns the names that were written for the databases of a config.
func NamesOf(l Locations, dbs []Database) *Names { return &Names{locations: l, databases: dbs} }

// Database returns the position of the only database that defines a name.
func (n *Names) Database(name string) (place int, found bool) {
	if n == nil {
		return 0, false
	}
	if !n.read {
		n.read = true
		_ = n.load() // without a file no name is found
	}
	want := makeEntry(name, 0)
	low, high := 0, len(n.entries)/entrySize
	for low < high {
		mid := (low + high) / 2
		if binary.LittleEndian.Uint64(n.entries[mid*entrySize:]) < want {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low*entrySize == len(n.entries) {
		return 0, false
	}
	entry := binary.LittleEndian.Uint64(n.entries[low*entrySize:])
	return int(entry &^ nameBits), entry&nameBits == want
}

func (n *Names) load() error {
	path := namesPath(n.locations)
	data, err := readCacheFile(path)
	if err != nil {
		return err
	}
	const head = len(namesMagic) + 8
	if len(data) < head || string(data[:len(namesMagic)]) != namesMagic || binary.LittleEndian.Uint64(data[len(namesMagic):]) != databasesChecksum(n.databases) || (len(data)-head)%entrySize != 0 {
		return errors.New(path + " is of other databases")
	}
	n.entries = data[head:]
	return nil
}

// NewNames returns the names that each database of a config defines, except names that
// several define.
func NewNames(dbs []Database, defined [][]string) *Names {
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
	n := &Names{databases: dbs, read: true}
	for _, e := range sorted {
		n.entries = binary.LittleEndian.AppendUint64(n.entries, e)
	}
	return n
}

const ambiguous = -1

// Write writes the names to l.Cache.
func (n *Names) Write(l Locations) error {
	data := binary.LittleEndian.AppendUint64([]byte(namesMagic), databasesChecksum(n.databases))
	return writeCacheFile(l, namesPath(l), append(data, n.entries...))
}

func namesPath(l Locations) string { return cacheFile(l, "config", l.Config, ".names") }

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

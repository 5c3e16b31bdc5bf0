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
	// Both return the names of each database.
	definedPages, definedIdentifiers func([]Database) [][]string

	project *Names // of the databases of the session's project, which follow at position first
	first   int
	folder  string // of the project, if these are the names of one

	places []int // of each database since some were removed; -1: removed; nil: none was
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

// NamesOf returns the names that were written for the databases of a config. The functions
// return the names of pages and the identifiers of databases. They are called for
// identifiers that were not written, and for a project's databases.
func NamesOf(l Locations, dbs []Database, pages, identifiers func([]Database) [][]string) *Names {
	return &Names{locations: l, databases: dbs, definedPages: pages, definedIdentifiers: identifiers}
}

// addProject adds the names of the databases of the project in a folder, which are at
// position first of the config. A name that they define is theirs in that project, whatever
// the user's databases define.
func (n *Names) addProject(folder string, first int, dbs []Database) {
	if n == nil {
		return
	}
	n.first, n.project = first, NamesOf(n.locations, dbs, n.definedPages, n.definedIdentifiers)
	n.project.folder = folder
}

// move tells the names the new positions of the databases in the config, by their old ones; -1
// for a removed database.
func (n *Names) move(places []int) {
	if n != nil {
		n.places = places
	}
}

// placeNow returns the position that a database has since the last move.
func (n *Names) placeNow(place int, found bool) (int, bool) {
	if !found || place >= len(n.places) {
		return place, found
	}
	return n.places[place], n.places[place] >= 0
}

// Page returns the position of the only database with a page about a name.
func (n *Names) Page(name string) (place int, found bool) {
	if n == nil {
		return 0, false
	}
	return n.placeNow(n.page(name))
}

func (n *Names) page(name string) (place int, found bool) {
	if place, found := n.project.Page(name); found {
		return n.first + place, true
	}
	n.readPages.Do(func() {
		if n.pages != nil {
			return
		}
		var err error
		if n.pages, err = n.load(pagesExtension); err != nil && n.folder != "" { // without a file, no name is found
			n.pages = newNameTable(n.definedPages(n.databases))
			_ = n.write(n.locations, pagesExtension, n.pages) // only saves time
		}
	})
	return n.pages.database(name)
}

// Identifier returns the position of the only database that defines an identifier.
func (n *Names) Identifier(name string) (place int, found bool) {
	if n == nil {
		return 0, false
	}
	return n.placeNow(n.identifier(name))
}

func (n *Names) identifier(name string) (place int, found bool) {
	if place, found := n.project.Identifier(name); found {
		return n.first + place, true
	}
	n.readIdentifiers.Do(func() {
		var err error
		if n.identifiers, err = n.load(identifiersExtension); err != nil && n.definedIdentifiers != nil {
			n.identifiers = newNameTable(n.definedIdentifiers(n.databases))
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
	path := n.path(n.locations, extension)
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
// several have, and the identifiers, see NamesOf.
func NewNames(dbs []Database, pages, identifiers func([]Database) [][]string) *Names {
	n := NamesOf(Locations{}, dbs, pages, identifiers)
	n.pages = newNameTable(pages(dbs))
	return n
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
	if path := n.path(l, identifiersExtension); path != "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return n.write(l, pagesExtension, n.pages)
}

func (n *Names) write(l Locations, extension string, entries []byte) error {
	head := binary.LittleEndian.AppendUint64([]byte(namesMagic), databasesChecksum(n.databases))
	return writeCacheFile(l, n.path(l, extension), append(head, entries...))
}

// path returns the path of the file with an extension.
func (n *Names) path(l Locations, extension string) string {
	if n.folder != "" && l.Config != "" {
		return cacheFile(l, "names", l.Config+"\x00"+n.folder, extension)
	}
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

package index

import (
	"maps"
	"slices"
	"strings"
)

// Contents are the folders and pages of a part of a database.
type Contents struct {
	// Folder is the part: the start of the keys of its documents after Root. It is longer than
	// requested if all documents are in one folder of it.
	Folder  string
	Root    string // common start of the keys of all documents
	Folders []Folder
	Pages   []Document // directly in the folder, in the order of the database
	Total   int        // number of folders and pages, of which these are some
}

// A Folder is a folder of pages, or a section of a site.
type Folder struct {
	Name  string // ends with a slash
	Pages int    // in it and below
}

// Contents returns at most limit folders and pages of a folder, after the first ones. The
// folders precede the pages. A folder that does not exist has no contents.
func (d *Database) Contents(folder string, first, limit int) (*Contents, error) {
	root, err := d.commonFolder("")
	if err != nil {
		return nil, err
	}
	start, err := d.commonFolder(root + folder)
	if err != nil {
		return nil, err
	}
	c := &Contents{Root: root, Folder: strings.TrimPrefix(start, root)}
	// split returns the folder directly below start that has the document, or "".
	split := func(key string) string {
		below := key[len(start):]
		if i := strings.IndexByte(below, '/') + 1; i < len(below) {
			return below[:i]
		}
		return ""
	}
	folders := map[string]int{}
	err = d.eachKey(start, func(_ uint32, key string) error {
		if name := split(key); name != "" {
			folders[name]++
		} else {
			c.Total++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.Total += len(folders)
	names := slices.Sorted(maps.Keys(folders))
	for _, name := range names[min(first, len(names)):min(first+limit, len(names))] {
		c.Folders = append(c.Folders, Folder{name, folders[name]})
	}
	at := len(names)
	return c, d.eachKey(start, func(number uint32, key string) error {
		if split(key) != "" {
			return nil
		}
		if at++; at <= first || at > first+limit {
			return nil
		}
		p, err := d.document(number)
		if p != nil {
			c.Pages = append(c.Pages, *p)
		}
		return err
	})
}

// Keys returns the keys of all documents: their paths or URLs, in the order of the database.
func (d *Database) Keys() (keys []string, err error) {
	err = d.eachKey("", func(_ uint32, key string) error {
		keys = append(keys, key)
		return nil
	})
	return keys, err
}

// eachKey calls do with the documents whose keys have a prefix.
func (d *Database) eachKey(prefix string, do func(number uint32, key string) error) error {
	for n := range uint32(d.table.Documents()) {
		key, err := d.table.Key(n)
		if err == nil && strings.HasPrefix(key, prefix) {
			err = do(n, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commonFolder returns the folder with all documents whose keys have a prefix, or the prefix if
// there are none.
func (d *Database) commonFolder(prefix string) (string, error) {
	var least, most string // keys
	err := d.eachKey(prefix, func(_ uint32, key string) error {
		if least == "" || key < least {
			least = key
		}
		most = max(most, key)
		return nil
	})
	if most == "" {
		return prefix, err
	}
	n := 0
	for n < min(len(least), len(most)) && least[n] == most[n] {
		n++
	}
	return least[:strings.LastIndexByte(least[:n], '/')+1], err
}

// Names are the names that the passages of a database define and that have the same initial.
type Names struct {
	Initials string // of all names, ascending; see Initial
	Initial  byte
	Names    []Name
	Total    int // number of names with the initial, of which Names are some
}

// A Name is a name with the passage that defines it.
type Name struct {
	Name string
	ID   string // of the passage
	Page string // name of its document
}

// OtherInitial is the initial of names that do not begin with a letter.
const OtherInitial = '#'

// Names returns the names with an initial, without the first ones. It looks at limit names and
// omits those that passages spell only in their anchors. An initial that no name has stands for the first.
func (d *Database) Names(initial byte, first, limit int) (*Names, error) {
	n := &Names{Initial: initial}
	var names []string
	counts := map[byte]int{}
	collect := func(name string) {
		of := name[0]
		if of < 'a' || of > 'z' {
			of = OtherInitial
		}
		if counts[of]++; of == n.Initial {
			names = append(names, name)
		}
	}
	if err := d.lexical.DefinedNames(collect); err != nil || len(counts) == 0 {
		return n, err
	}
	initials := slices.Sorted(maps.Keys(counts))
	n.Initials = string(initials)
	if counts[initial] == 0 {
		n.Initial = initials[0]
		if err := d.lexical.DefinedNames(collect); err != nil {
			return nil, err
		}
	}
	n.Total = len(names)
	for _, name := range names[min(first, len(names)):min(first+limit, len(names))] {
		found, err := d.defined(name)
		if err != nil {
			return nil, err
		}
		if found != nil {
			n.Names = append(n.Names, *found)
		}
	}
	return n, nil
}

// defined returns a name as its first passages spell it, or nil if they do not.
func (d *Database) defined(name string) (*Name, error) {
	passages, err := d.lexical.Definitions(name)
	if err != nil {
		return nil, err
	}
	for _, number := range passages {
		p, err := d.table.Passage(number)
		if err != nil {
			return nil, err
		}
		f := fields(&p, &linkGraph{})
		if spelling := f.Spelling(name); spelling != "" {
			return &Name{spelling, p.ID, p.Name()}, nil
		}
	}
	return nil, nil
}

// Correct returns the query with its misspelled words corrected, or "" if it has none.
func (d *Database) Correct(q Query) (string, error) {
	return d.lexical.Correct(q.words(d.gen.VersionOr(q.Version), 0))
}

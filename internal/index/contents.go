package index

import (
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
	Pages   []Document // directly in the folder, in the order of their keys
	Total   int        // number of pages, of which Pages are some
}

// A Folder is a folder of pages, or a section of a site.
type Folder struct {
	Name  string // ends with a slash
	Pages int    // in it and below
}

// Contents returns the folders of a folder, and at most limit of its pages, after the first ones.
// A folder that does not exist has no contents.
func (d *Database) Contents(folder string, first, limit int) (*Contents, error) {
	type document struct {
		key    string
		number uint32
	}
	all := make([]document, 0, d.table.Documents())
	for n := range uint32(d.table.Documents()) {
		key, err := d.table.Key(n)
		if err != nil {
			return nil, err
		}
		all = append(all, document{key, n})
	}
	slices.SortFunc(all, func(a, b document) int { return strings.Compare(a.key, b.key) })
	// common returns the folder of all documents from the first to the last key.
	common := func() string {
		if len(all) == 0 {
			return ""
		}
		first, last := all[0].key, all[len(all)-1].key
		n := 0
		for n < min(len(first), len(last)) && first[n] == last[n] {
			n++
		}
		return first[:strings.LastIndexByte(first[:n], '/')+1]
	}
	c := &Contents{Root: common()}
	all = slices.DeleteFunc(all, func(x document) bool { return !strings.HasPrefix(x.key[len(c.Root):], folder) })
	if len(all) == 0 {
		return c, nil
	}
	start := common()
	c.Folder = start[min(len(c.Root), len(start)):]
	for _, x := range all {
		name, _, isBelow := strings.Cut(strings.TrimSuffix(x.key[len(start):], "/"), "/")
		if isBelow {
			if n := len(c.Folders); n == 0 || c.Folders[n-1].Name != name+"/" {
				c.Folders = append(c.Folders, Folder{Name: name + "/"})
			}
			c.Folders[len(c.Folders)-1].Pages++
			continue
		}
		if c.Total++; c.Total <= first || c.Total > first+limit {
			continue
		}
		p, err := d.document(x.number)
		if err != nil {
			return nil, err
		}
		if p != nil {
			c.Pages = append(c.Pages, *p)
		}
	}
	return c, nil
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
	n := &Names{}
	byInitial := map[byte][]string{}
	err := d.lexical.DefinedNames(func(name string) {
		of := name[0]
		if of < 'a' || of > 'z' {
			of = OtherInitial
		}
		byInitial[of] = append(byInitial[of], name)
	})
	if err != nil || len(byInitial) == 0 {
		return n, err
	}
	for of := range byInitial {
		n.Initials += string(of)
	}
	initials := []byte(n.Initials)
	slices.Sort(initials)
	n.Initials, n.Initial = string(initials), initial
	if byInitial[initial] == nil {
		n.Initial = initials[0]
	}
	names := byInitial[n.Initial]
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

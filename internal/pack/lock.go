package pack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// LockName is the name of the file in a project that fixes the packs of a team, a JSON
// object:
//
//	{
//	  "packs": [
//	    {
//	      "name": "widgets",
//	      "version": "2.1",
//	      "digest": "sha256:…",              of the manifest
//	      "publisher": "docs.example.com+…", public key
//	      "source": "oci://…"
//	    }
//	  ]
//	}
const LockName = "docsearch.lock"

// A Lock is the contents of a lock file, sorted by name.
type Lock struct {
	Packs []Locked `json:"packs"`
}

// A Locked is an entry of a lock file.
type Locked struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Digest    string `json:"digest"`
	Publisher string `json:"publisher"`
	Source    string `json:"source"`
}

const maxLock = 1 << 20

// FindLock returns the path of the lock file in dir or the nearest folder above it, or ""
// if there is none.
func FindLock(dir string) string {
	for {
		path := filepath.Join(dir, LockName)
		if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// ReadLock reads a lock file. A missing file is an empty lock.
func ReadLock(path string) (*Lock, error) {
	l := &Lock{}
	data, err := atomicfile.Read(path, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	return parseLock(path, data)
}

func parseLock(path string, data []byte) (*Lock, error) {
	l := &Lock{}
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("%s: invalid JSON: %w", path, err)
	}
	for _, p := range l.Packs {
		_, keyErr := ParseKey(p.Publisher)
		digest, isDigest := strings.CutPrefix(p.Digest, "sha256:")
		if CheckName(p.Name) != nil || keyErr != nil || !isDigest || !(Digest{SHA256: digest}).valid(0) ||
			!isText(p.Source) || !isText(p.Version) {
			return nil, fmt.Errorf("%s: invalid entry %q", path, p.Name)
		}
	}
	return l, nil
}

// Find returns the entry of a pack, or nil.
func (l *Lock) Find(name string) *Locked {
	for i := range l.Packs {
		if l.Packs[i].Name == name {
			return &l.Packs[i]
		}
	}
	return nil
}

// Put adds or replaces an entry.
func (l *Lock) Put(p Locked) {
	if have := l.Find(p.Name); have != nil {
		*have = p
	} else {
		l.Packs = append(l.Packs, p)
	}
	slices.SortFunc(l.Packs, func(a, b Locked) int { return cmp.Compare(a.Name, b.Name) })
}

// Write writes the lock file.
func (l *Lock) Write(path string) error {
	data, err := encodeJSON(l)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data, 0o644)
}

// CompareVersions compares the numbers that two versions begin with: "v2.0" and "2.0rc1"
// are both 2.0. Versions that do not begin with one number alone, or with numbers and
// dots, are equal to all others.
func CompareVersions(a, b string) int {
	a, b = versionNumbers().FindString(a), versionNumbers().FindString(b)
	if a == "" || b == "" {
		return 0
	}
	return config.CompareVersions(a, b)
}

// versionNumbers matches the numbers of a version. It does not match the digits in front
// of a letter, which may be the start of a commit hash.
var versionNumbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[vV]?[0-9]+((\.[0-9]+)+|$)`) })

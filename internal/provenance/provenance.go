// Package provenance tells databases that the user built from those that came
// from elsewhere.
//
// A database says what it was built from, and an update reads that again: a
// folder, an archive, a site, a repository. Whoever made the database could have
// named any folder there, and a checksum would not tell, since anyone can compute
// one. So a build seals the source, and the options that say how to read it, with
// a key that only this user has. A source without the seal is not read until the
// user names it on the command line.
//
// The seal is a message authentication code. It does not depend on where the
// database lies: one that is moved stays the user's own. One that is copied to
// another machine, or to another user, does not.
package provenance

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/filelock"
)

// A Source is what a database was built from, and how.
type Source struct {
	Kind, Location string
	Options        json.RawMessage // of the build; nil where only the place is sealed
}

// A Key seals sources and knows its own seals. The zero Key knows none.
type Key struct{ secret []byte }

const (
	keyBytes  = 32
	sealBytes = 16
	timeout   = 10 * time.Second
)

// Load reads the key in the file at path. Where there is none, or none that can
// be read, it is the zero Key.
func Load(path string) Key {
	if path == "" {
		return Key{}
	}
	data, err := confined.Of(path).Read(2*keyBytes + 1)
	if err != nil {
		return Key{}
	}
	return parse(data)
}

func parse(data []byte) Key {
	secret, err := hex.DecodeString(string(bytes.TrimSpace(data)))
	if err != nil || len(secret) != keyBytes {
		return Key{}
	}
	return Key{secret}
}

// Make is Load that makes a new key where there is none.
func Make(path string) (Key, error) {
	if k := Load(path); k.secret != nil {
		return k, nil
	}
	if path == "" {
		return Key{}, errors.New("cannot store the key: the home directory is not known")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return Key{}, err
	}
	lock, err := filelock.Acquire(path, timeout)
	if err != nil {
		return Key{}, err
	}
	defer lock.Unlock()
	f := lock.File()
	data, err := io.ReadAll(io.LimitReader(f, 2*keyBytes+1))
	if k := parse(data); err != nil || k.secret != nil {
		return k, err // somebody else was faster
	}
	k := Key{make([]byte, keyBytes)}
	rand.Read(k.secret) // never fails
	if err := f.Truncate(0); err != nil {
		return Key{}, err
	}
	if _, err := f.WriteAt([]byte(hex.EncodeToString(k.secret)+"\n"), 0); err != nil {
		return Key{}, err
	}
	return k, f.Sync()
}

// Seal returns the seal of a source, "" from the zero Key.
func (k Key) Seal(s Source) string {
	if k.secret == nil {
		return ""
	}
	var options bytes.Buffer
	if len(s.Options) > 0 && json.Compact(&options, s.Options) != nil {
		return ""
	}
	h := hmac.New(sha256.New, k.secret)
	for _, part := range []string{"docsearch source 1", s.Kind, s.Location, options.String()} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:sealBytes])
}

// Sealed reports whether the seal is one that this key made of the source.
func (k Key) Sealed(s Source, seal string) bool {
	want := k.Seal(s)
	return want != "" && hmac.Equal([]byte(seal), []byte(want))
}

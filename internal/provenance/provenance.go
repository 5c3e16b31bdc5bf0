// Package provenance distinguishes databases built by the user from databases of other
// origin.
//
// A database contains its source, and an update reads that source again: a folder, an
// archive, a site, a repository. The author of an untrusted database could enter any
// folder there. A checksum does not help, because anyone can compute one. Therefore, a
// build seals the source and its options with a key that only this user has. An update
// does not read a source without a valid seal until the user passes it on the command
// line.
//
// The seal is a message authentication code. It does not depend on the location of the
// database, so a database can be moved. It is not valid on another machine or for
// another user.
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

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
)

// A Source is the source of a database with the options of the build.
type Source struct {
	Kind, Location string
	Options        json.RawMessage // of the build; nil if only the location is sealed
}

// A Key seals sources and verifies its seals. The zero Key verifies none.
type Key struct{ secret []byte }

const (
	keyBytes  = 32
	sealBytes = 16
	timeout   = 10 * time.Second
)

// Load reads the key in the file at path. If there is no valid key, it returns the zero
// Key.
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

// Make is like Load, but creates a key if there is none.
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
		return k, err // another process created it meanwhile
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

// Seal returns the seal of a source. The zero Key returns "".
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

// Sealed reports whether the seal is a seal of the source with this key.
func (k Key) Sealed(s Source, seal string) bool {
	want := k.Seal(s)
	return want != "" && hmac.Equal([]byte(seal), []byte(want))
}

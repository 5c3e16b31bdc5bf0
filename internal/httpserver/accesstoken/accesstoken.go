// Package accesstoken manages the bearer tokens of the HTTP server.
//
// A token is shown once, when it is made. The file of tokens contains only its
// SHA-256 hash. A token has 130 random bits, so a fast hash is enough:
// trying that many tokens is not feasible.
//
// The file is JSON with mode 0600:
//
//	{"version": 1, "tokens": [{
//	    "name": "ci",                    unique, ignoring case
//	    "hash": "9f86d081…",             SHA-256 of the token, in hexadecimal
//	    "scopes": ["read:gitlab"],       see Scopes
//	    "created": "2026-01-02T15:04:05Z",
//	    "expires": "2026-04-02T15:04:05Z" missing: never
//	}]}
package accesstoken

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/parallel"
)

// Prefix starts every token, so that secret scanners recognize it.
const Prefix = "docsearch_"

const (
	version     = 1
	maxFile     = 4 << 20
	maxTokens   = 10_000
	maxName     = 64
	lockTimeout = 5 * time.Second
)

// Scopes are the permissions of a token: "read" for all databases, "read:NAME"
// for one, and "metrics" for the server's metrics.
type Scopes []string

const (
	// ScopeRead permits reading all databases; ScopeRead, a colon and a name permit
	// reading one database.
	ScopeRead    = "read"
	ScopeMetrics = "metrics"
)

// ReadScope returns the scope for reading one database.
func ReadScope(database string) string { return ScopeRead + ":" + database }

// Validate returns an error for an unknown scope.
func (s Scopes) Validate() error {
	for _, scope := range s {
		name, one := strings.CutPrefix(scope, ScopeRead+":")
		if scope != ScopeRead && scope != ScopeMetrics && (!one || name == "") {
			return fmt.Errorf("invalid scope %q: want read, read:DATABASE, or metrics", scope)
		}
	}
	return nil
}

// CanRead reports whether the scopes permit reading any database.
func (s Scopes) CanRead() bool {
	return slices.ContainsFunc(s, func(scope string) bool {
		return scope == ScopeRead || strings.HasPrefix(scope, ScopeRead+":")
	})
}

// Reads reports whether the scopes permit reading a database.
func (s Scopes) Reads(database string) bool {
	return slices.ContainsFunc(s, func(scope string) bool {
		return scope == ScopeRead || strings.EqualFold(scope, ReadScope(database))
	})
}

// Has reports whether the scopes contain scope.
func (s Scopes) Has(scope string) bool { return slices.Contains(s, scope) }

// A Token is the stored form of a token.
type Token struct {
	Name    string    `json:"name"`
	Hash    string    `json:"hash"`
	Scopes  Scopes    `json:"scopes"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

// Expired reports whether the token is no longer valid.
func (t *Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

type contents struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

// ErrExists and ErrNotFound are wrapped by the errors of New and Revoke.
var (
	ErrExists   = errors.New("already exists")
	ErrNotFound = errors.New("not found")
)

// A File is a file of tokens.
type File struct {
	path    string
	current atomic.Pointer[snapshot] // nil: not read yet
	reading parallel.Shared[*snapshot]
}

// A snapshot is the contents of the file at one time.
type snapshot struct {
	stamp  config.Stamp
	tokens map[[sha256.Size]byte]Token
}

// Open returns the file of tokens at path, which need not exist.
func Open(path string) *File { return &File{path: path} }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Find returns the token with this text. It returns false if the token is unknown or
// expired. It reads the file again if it has changed, so that a revoked token is refused
// at once; ctx limits the wait for that. If the file cannot be read, it returns the error
// and no token.
func (f *File) Find(ctx context.Context, text string, now time.Time) (Token, bool, error) {
	s, err := f.snapshot(ctx)
	if err != nil {
		return Token{}, false, err
	}
	t, ok := s.tokens[sha256.Sum256([]byte(text))]
	return t, ok && !t.Expired(now), nil
}

// Exists reports whether the file exists. A server with such a file requires a token,
// even if all tokens were revoked.
func (f *File) Exists(ctx context.Context) (bool, error) {
	s, err := f.snapshot(ctx)
	return err == nil && s.stamp.Exists, err
}

// snapshot reads the file if it has changed, or if the last attempt failed. Callers share
// an attempt only if they have seen the same stamp: an attempt that began before a token
// was revoked cannot admit that token afterwards.
func (f *File) snapshot(ctx context.Context) (*snapshot, error) {
	stamp, err := config.StampOf(f.path)
	if err != nil {
		return nil, err
	}
	if s := f.current.Load(); s != nil && s.stamp == stamp {
		return s, nil
	}
	return f.reading.Do(ctx, fmt.Sprint(stamp), func(context.Context) (*snapshot, error) {
		c, err := f.load()
		if err != nil {
			return nil, err
		}
		s := &snapshot{stamp, make(map[[sha256.Size]byte]Token, len(c.Tokens))}
		for _, t := range c.Tokens {
			var hash [sha256.Size]byte
			if n, err := hex.Decode(hash[:], []byte(t.Hash)); err == nil && n == len(hash) {
				s.tokens[hash] = t
			}
		}
		f.current.Store(s)
		return s, nil
	})
}

// load reads the file.
func (f *File) load() (contents, error) {
	data, err := atomicfile.Read(f.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return contents{Version: version}, nil
	}
	if err != nil {
		return contents{}, err
	}
	c, err := parse(data)
	if err != nil {
		return c, fmt.Errorf("cannot read the tokens in %s: %w", f.path, err)
	}
	return c, nil
}

// parse decodes and checks the contents of a file.
func parse(data []byte) (c contents, err error) {
	if err := json.Unmarshal(data, &c); err != nil {
		return contents{}, fmt.Errorf("invalid JSON: %w", err)
	}
	if c.Version != version {
		return contents{}, fmt.Errorf("format version %d is not supported", c.Version)
	}
	if len(c.Tokens) > maxTokens {
		return contents{}, fmt.Errorf("more than %d tokens", maxTokens)
	}
	for i, t := range c.Tokens {
		if hash, err := hex.DecodeString(t.Hash); err != nil || len(hash) != sha256.Size {
			return contents{}, fmt.Errorf("token %d (%q): invalid hash", i+1, t.Name)
		}
		if err := t.Scopes.Validate(); err != nil {
			return contents{}, fmt.Errorf("token %d (%q): %w", i+1, t.Name, err)
		}
	}
	return c, nil
}

// List returns the tokens in the order in which they were made.
func (f *File) List() ([]Token, error) {
	c, err := f.load()
	return c.Tokens, err
}

// New makes a token and returns its text, which is stored nowhere. A zero time
// means that it does not expire.
func (f *File) New(name string, scopes Scopes, now, expires time.Time) (text string, err error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	if err := scopes.Validate(); err != nil {
		return "", err
	}
	text = Prefix + rand.Text()
	err = f.change(func(c *contents) error {
		if c.find(name) >= 0 {
			return fmt.Errorf("token %q %w", name, ErrExists)
		}
		if len(c.Tokens) >= maxTokens {
			return fmt.Errorf("cannot add a token: the file has %d", len(c.Tokens))
		}
		hash := sha256.Sum256([]byte(text))
		t := Token{Name: name, Hash: hex.EncodeToString(hash[:]), Scopes: scopes,
			Created: now.UTC().Truncate(time.Second)}
		if !expires.IsZero() {
			t.Expires = expires.UTC().Truncate(time.Second)
		}
		c.Tokens = append(c.Tokens, t)
		return nil
	})
	if err != nil {
		return "", err
	}
	return text, nil
}

// Revoke removes a token.
func (f *File) Revoke(name string) error {
	return f.change(func(c *contents) error {
		i := c.find(name)
		if i < 0 {
			return fmt.Errorf("token %q %w", name, ErrNotFound)
		}
		c.Tokens = slices.Delete(c.Tokens, i, i+1)
		return nil
	})
}

func (c *contents) find(name string) int {
	return slices.IndexFunc(c.Tokens, func(t Token) bool { return strings.EqualFold(t.Name, name) })
}

// change changes the file under a lock.
func (f *File) change(edit func(*contents) error) error {
	lock, err := filelock.AcquireMkdir(filepath.Dir(f.path), f.path+".lock", lockTimeout)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	c, err := f.load()
	if err != nil {
		return err
	}
	if err := edit(&c); err != nil {
		return err
	}
	if c.Tokens == nil {
		c.Tokens = []Token{}
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path, append(data, '\n'), 0o600)
}

// checkName returns an error unless name can stand in logs and on a command line.
func checkName(name string) error {
	ok := name != "" && len(name) <= maxName
	for _, r := range name {
		ok = ok && (r == '-' || r == '_' || r == '.' || r == '@' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' ||
			'A' <= r && r <= 'Z')
	}
	if !ok {
		return fmt.Errorf("invalid token name %q: want letters, digits, and . _ - @, at most %d", name, maxName)
	}
	return nil
}

// Package catalog makes and reads catalogs: signed lists of packs.
//
// A catalog is a file of the form of packs (see package pack), or an artifact in a
// registry. Its manifest is a JSON object: see Catalog. The signed text contains the
// counter, which grows with each version, and the manifest contains a time of expiry. A
// reader keeps the newest version that it has seen, and refuses an older one (a rollback),
// another one with the same counter, and one that has expired (a freeze).
//
// # Store
//
// The store is the folder .catalogs in docsearch's data folder. It contains one file for
// each catalog, with the newest version that was verified. The name of the file is the
// start of the SHA-256 of the catalog's location, with the extension ".catalog".
package catalog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/safetext"
)

// Format is the version of the format of catalogs.
const Format = 1

// maxPacks is the maximum number of packs in a catalog.
const maxPacks = 10_000

// A Catalog lists packs.
type Catalog struct {
	Format  int       `json:"format"`
	Name    string    `json:"name"`
	Counter int64     `json:"counter"` // grows with each version
	Expires time.Time `json:"expires"`
	Packs   []Entry   `json:"packs"` // sorted by name and version
}

// An Entry is a pack in a catalog.
type Entry struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Keywords    []string `json:"keywords"`
	URLs        []string `json:"urls,omitempty"`
	License     string   `json:"license"`
	Passages    int      `json:"passages"`
	Size        int64    `json:"size"`      // bytes of the compressed data
	Digest      string   `json:"digest"`    // of the pack's manifest, "sha256:…"
	Publisher   string   `json:"publisher"` // public key
	Source      string   `json:"source"`    // https URL, or oci:// reference
}

// NewEntry returns the entry of a pack.
func NewEntry(h *pack.Head, publisher pack.Key, source string) Entry {
	return Entry{
		Name: h.Name, Title: h.Title, Version: h.Version, Description: h.Description, Keywords: h.Keywords,
		URLs:    h.URLs,
		License: h.License, Passages: h.Passages, Size: h.Data.Size, Digest: h.Digest(), Publisher: string(publisher),
		Source: source,
	}
}

// compareEntries orders entries by name and version, the newest version last.
func compareEntries(a, b *Entry) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), config.CompareVersions(a.Version, b.Version),
		strings.Compare(a.Version, b.Version))
}

// Encode returns the manifest's bytes, with the packs in order.
func (c *Catalog) Encode() ([]byte, error) {
	slices.SortFunc(c.Packs, func(a, b Entry) int { return compareEntries(&a, &b) })
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(c)
	return b.Bytes(), err
}

// Parse decodes and checks a manifest.
func Parse(data []byte) (*Catalog, error) {
	fail := func(format string, args ...any) error {
		return &pack.InvalidError{Part: "catalog", Problem: fmt.Sprintf(format, args...)}
	}
	c := &Catalog{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fail("%v", err)
	}
	switch {
	case c.Format != Format:
		return nil, fail("format %d, this version of docsearch reads format %d", c.Format, Format)
	case pack.CheckName(c.Name) != nil:
		return nil, fail("invalid name %q", c.Name)
	case c.Counter < 1:
		return nil, fail("invalid counter %d", c.Counter)
	case len(c.Packs) > maxPacks:
		return nil, fail("%d packs, the limit is %d", len(c.Packs), maxPacks)
	}
	for i := range c.Packs {
		if err := c.Packs[i].check(); err != nil {
			return nil, fail("pack %q: %v", c.Packs[i].Name, err)
		}
	}
	return c, nil
}

func (e *Entry) check() error {
	if err := pack.CheckName(e.Name); err != nil {
		return err
	}
	if _, err := pack.ParseKey(e.Publisher); err != nil {
		return err
	}
	digest, found := strings.CutPrefix(e.Digest, "sha256:")
	raw, err := hex.DecodeString(digest)
	if !found || err != nil || len(raw) != sha256.Size {
		return errors.New("invalid digest")
	}
	if !strings.HasPrefix(e.Source, "https://") && !strings.HasPrefix(e.Source, "http://") &&
		!strings.HasPrefix(e.Source, "oci://") {
		return errors.New("invalid source: want an https URL or an oci:// reference")
	}
	if e.Size < 0 || e.Passages < 0 || len(e.Keywords) > 100 || len(e.URLs) > 100 {
		return errors.New("invalid counts")
	}
	for _, s := range slices.Concat([]string{e.Title, e.Version, e.Description, e.License, e.Source}, e.Keywords,
		e.URLs) {
		if len(s) > 2000 || safetext.Identifier(s) != s {
			return errors.New("invalid text")
		}
	}
	return nil
}

// Find returns the newest pack of that name, or the one of that version.
func (c *Catalog) Find(name, version string) *Entry {
	var found *Entry
	for i := range c.Packs {
		e := &c.Packs[i]
		if strings.EqualFold(e.Name, name) && (version == "" || e.Version == version) &&
			(found == nil || compareEntries(e, found) >= 0) {
			found = e
		}
	}
	return found
}

// Search returns the packs that contain a word in their name, title, keywords or
// description.
func (c *Catalog) Search(word string) []Entry {
	word = strings.ToLower(word)
	var found []Entry
	for _, e := range c.Packs {
		text := strings.Join(append([]string{e.Name, e.Title, e.Description}, e.Keywords...), "\n")
		if strings.Contains(strings.ToLower(text), word) {
			found = append(found, e)
		}
	}
	return found
}

// Expired reports whether the catalog has expired.
func (c *Catalog) Expired(now time.Time) bool { return now.After(c.Expires) }

// An ExpiredError reports a catalog that has expired. Whoever delivers it may hold back a
// newer one.
type ExpiredError struct {
	Name    string
	Expires time.Time
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("the catalog %s expired on %s", e.Name, e.Expires.Format("2006-01-02"))
}

// A RollbackError reports a catalog that is older than one that was seen before.
type RollbackError struct {
	Name       string
	Have, Seen int64
}

func (e *RollbackError) Error() string {
	if e.Have == e.Seen {
		return fmt.Sprintf("the catalog %s has another content than before with the same counter %d", e.Name, e.Have)
	}
	return fmt.Sprintf("the catalog %s has the counter %d, this machine has already seen %d", e.Name, e.Have, e.Seen)
}

// Subject returns the signed object.
func Subject(c *Catalog, raw []byte) pack.Subject {
	return pack.Subject{Kind: pack.KindCatalog, Name: c.Name, Version: strconv.FormatInt(c.Counter, 10), Manifest: raw}
}

// Sign returns the signed catalog.
func Sign(c *Catalog, keys []*pack.SigningKey, rotations []string) (*pack.Pack, error) {
	raw, err := c.Encode()
	if err != nil {
		return nil, err
	}
	if _, err := Parse(raw); err != nil {
		return nil, err
	}
	s, err := pack.Sign(Subject(c, raw), keys, rotations)
	if err != nil {
		return nil, err
	}
	p := &pack.Pack{Manifest: raw}
	p.Signatures, err = s.Encode()
	return p, err
}

// Read reads the catalog at an origin and calls verify for its signatures.
func Read(ctx context.Context, o pack.Origin,
	verify func(*pack.Signatures, pack.Subject) error) (*Catalog, *pack.Pack, error) {
	raw, rawSignatures, err := o.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err := Parse(raw)
	if err != nil {
		return nil, nil, err
	}
	s, err := pack.ParseSignatures(rawSignatures)
	if err != nil {
		return nil, nil, err
	}
	return c, &pack.Pack{Manifest: raw, Signatures: rawSignatures}, verify(s, Subject(c, raw))
}

// A Store keeps the newest version of each catalog.
type Store struct{ Dir string }

// StoreIn returns the store in docsearch's data folder.
func StoreIn(data string) Store { return Store{filepath.Join(data, ".catalogs")} }

func (s Store) path(location string) string {
	sum := sha256.Sum256([]byte(location))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:8])+".catalog")
}

// Get returns the stored version of the catalog at a location, and when it was stored. The
// error wraps fs.ErrNotExist if there is none.
func (s Store) Get(location string) (*Catalog, time.Time, error) {
	c, _, stored, err := s.read(location)
	return c, stored, err
}

func (s Store) read(location string) (c *Catalog, raw []byte, stored time.Time, err error) {
	path := s.path(location)
	st, err := os.Stat(path)
	if err != nil {
		return nil, nil, time.Time{}, err
	}
	o, err := pack.OpenFile(path)
	if err != nil {
		return nil, nil, time.Time{}, err
	}
	defer o.Close()
	// The signature was verified before it was stored; the folder belongs to the user.
	c, p, err := Read(context.Background(), o, func(*pack.Signatures, pack.Subject) error { return nil })
	if err != nil {
		return nil, nil, time.Time{}, err
	}
	return c, p.Manifest, st.ModTime(), nil
}

// Check returns an error if the store has seen a newer version, or if the catalog has
// expired. It is a *RollbackError or an *ExpiredError.
func (s Store) Check(location string, c *Catalog, raw []byte, now time.Time) error {
	seen, seenRaw, _, err := s.read(location)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read the stored version of the catalog %s: %w", c.Name, err)
	}
	if err == nil && (c.Counter < seen.Counter || c.Counter == seen.Counter && !bytes.Equal(seenRaw, raw)) {
		return &RollbackError{c.Name, c.Counter, seen.Counter}
	}
	if c.Expired(now) {
		return &ExpiredError{c.Name, c.Expires}
	}
	return nil
}

// Put stores a version that Check accepted.
func (s Store) Put(location string, p *pack.Pack) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	return p.WriteFile(s.path(location), pack.KindCatalog)
}

package catalog

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/pack"
)

var now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func newKey(t testing.TB) *pack.SigningKey {
	t.Helper()
	private, public, err := pack.NewKey("docs.example.com")
	path := filepath.Join(t.TempDir(), "key")
	if err == nil {
		err = pack.WriteKey(path, private, public)
	}
	if err != nil {
		t.Fatal(err)
	}
	k, err := pack.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func entry(name, version string, key pack.Key) Entry {
	return Entry{Name: name, Title: strings.ToUpper(name), Version: version, Description: name + " documentation", Keywords: []string{name + "lib"}, License: "MIT",
		Digest: "sha256:" + strings.Repeat("ab", 32), Publisher: string(key), Source: "https://packs.example.com/" + name}
}

func newCatalog(counter int64, expires time.Time, packs ...Entry) *Catalog {
	return &Catalog{Format: Format, Name: "team", Counter: counter, Expires: expires, Packs: packs}
}

func TestFind(t *testing.T) {
	c := newCatalog(1, now, entry("widgets", "1.9", ""), entry("widgets", "1.10", ""), entry("gears", "", ""))
	if e := c.Find("Widgets", ""); e == nil || e.Version != "1.10" {
		t.Errorf("newest: %v", e)
	}
	if e := c.Find("widgets", "1.9"); e == nil || e.Version != "1.9" {
		t.Errorf("version: %v", e)
	}
	if e := c.Find("widgets", "2"); e != nil {
		t.Errorf("missing version: %v", e)
	}
	if found := c.Search("GEARSLIB"); len(found) != 1 || found[0].Name != "gears" {
		t.Errorf("search: %v", found)
	}
}

// TestVersionsWithLetters encodes a catalog the same way whatever the order of its packs:
// another content with the same counter is refused.
func TestVersionsWithLetters(t *testing.T) {
	versions := []string{"1.9", "1.10", "1.1a", "v1.2", "nightly", "1.10rc1", "", "2.0"}
	var want []byte
	for range versions {
		versions = append(versions[1:], versions[0])
		c := newCatalog(1, now)
		for _, v := range versions {
			c.Packs = append(c.Packs, entry("widgets", v, ""))
		}
		got, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("the packs in the order %q are encoded in another order", versions)
		}
		if e := c.Find("widgets", ""); e.Version != "2.0" {
			t.Errorf("the newest of %q is %q", versions, e.Version)
		}
	}
}

func TestStore(t *testing.T) {
	key := newKey(t)
	store := StoreIn(t.TempDir())
	const location = "oci://registry.example.com/docs/catalog:latest"
	check := func(c *Catalog) error {
		t.Helper()
		p, err := Sign(c, []*pack.SigningKey{key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Check(location, c, p.Manifest, now); err != nil {
			return err
		}
		return store.Put(location, p)
	}
	year := now.AddDate(1, 0, 0)
	widgets := entry("widgets", "1", key.Public)
	for _, c := range []struct {
		name     string
		catalog  *Catalog
		rollback bool
		expired  bool
	}{
		{"first", newCatalog(3, year, widgets), false, false},
		{"the same", newCatalog(3, year, widgets), false, false},
		{"other contents with the same counter", newCatalog(3, year), true, false},
		{"newer", newCatalog(5, year), false, false},
		{"rolled back", newCatalog(4, year, widgets), true, false},
		{"newer, but expired", newCatalog(6, now.Add(-time.Hour)), false, true},
		{"newer again", newCatalog(6, year), false, false},
	} {
		err := check(c.catalog)
		var rollback *RollbackError
		var expired *ExpiredError
		if errors.As(err, &rollback) != c.rollback || errors.As(err, &expired) != c.expired || err != nil && rollback == nil && expired == nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if c, _, err := store.Get(location); err != nil || c.Counter != 6 {
		t.Errorf("stored: %v %v", c, err)
	}
}

func TestSignature(t *testing.T) {
	key := newKey(t)
	p, err := Sign(newCatalog(7, now, entry("widgets", "1", key.Public)), []*pack.SigningKey{key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(p *pack.Pack) error {
		path := filepath.Join(t.TempDir(), "catalog")
		if err := p.WriteFile(path, pack.KindCatalog); err != nil {
			t.Fatal(err)
		}
		o, err := pack.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		_, _, err = Read(context.Background(), o, func(s *pack.Signatures, subject pack.Subject) error {
			_, _, err := s.Verify(subject, []pack.Key{key.Public})
			return err
		})
		return err
	}
	if err := read(p); err != nil {
		t.Fatal(err)
	}
	changed := *p
	changed.Manifest = []byte(strings.Replace(string(p.Manifest), `"counter": 7`, `"counter": 9`, 1))
	if err := read(&changed); err == nil || !strings.Contains(err.Error(), "signature does not match") {
		t.Errorf("a changed counter: %v", err)
	}
}

func TestParse(t *testing.T) {
	key := newKey(t)
	for _, c := range []struct {
		name   string
		change func(*Catalog)
		want   string
	}{
		{"valid", func(*Catalog) {}, ""},
		{"path as name", func(c *Catalog) { c.Packs[0].Name = "../x" }, "invalid pack name"},
		{"file as source", func(c *Catalog) { c.Packs[0].Source = "/etc/passwd" }, "invalid source"},
		{"no counter", func(c *Catalog) { c.Counter = 0 }, "invalid counter"},
		{"escapes", func(c *Catalog) { c.Packs[0].Title = "\x1b[2J" }, "invalid text"},
		{"digest", func(c *Catalog) { c.Packs[0].Digest = "sha256:00" }, "invalid digest"},
		{"key", func(c *Catalog) { c.Packs[0].Publisher = "me" }, "invalid key"},
		{"newer format", func(c *Catalog) { c.Format = 2 }, "format 2"},
	} {
		catalog := newCatalog(1, now, entry("widgets", "1", key.Public))
		c.change(catalog)
		raw, err := catalog.Encode()
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(raw)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	raw, err := newCatalog(1, now, entry("widgets", "1", newKey(f).Public)).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err != nil {
			return
		}
		again, err := c.Encode()
		if err != nil {
			t.Skip(err) // a time that JSON cannot represent
		}
		if _, err := Parse(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		for _, e := range c.Packs {
			if strings.ContainsAny(e.Name, `/\`) {
				t.Fatalf("name %q", e.Name)
			}
		}
	})
}

package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Format is the version of the format of packs.
//
//	2  chunks in columns, each with the chunks before it as its dictionary
//	1  lines with a dictionary of selected chunks; no pack of it was published
const Format = 2

// Limits of a pack. A reader refuses more before it reserves memory or disk space.
const (
	MaxManifest   = 256 << 10
	MaxSignatures = 256 << 10
	MaxTable      = 32 << 20
	MaxPassages   = 4 << 30 // bytes of the passages file
	// maxExpansion is the largest ratio of passages to compressed data. Documentation has
	// 5 to 8.
	maxExpansion = 100
	maxItems     = 100 // keywords or URL prefixes
	maxText      = 2000
)

// A Manifest describes a pack. Nothing in it names a folder or a command of the reader's
// machine, and it does not depend on the time or the machine of the packaging.
type Manifest struct {
	Format      int      `json:"format"`
	Name        string   `json:"name"`    // of the database, unless the user chooses another
	Title       string   `json:"title"`   // "Django"
	Version     string   `json:"version"` // documented version, "" if unknown
	Language    string   `json:"language,omitempty"`
	Description string   `json:"description"` // for the config entry
	Keywords    []string `json:"keywords"`    // for the config entry
	URLs        []string `json:"urls,omitempty"`
	Source      Source   `json:"source"`
	License     string   `json:"license"`
	Attribution string   `json:"attribution"`
	Passages    int      `json:"passages"`
	Documents   int      `json:"documents"`
	TextBytes   int64    `json:"text_bytes"` // of the passages' texts
	Lines       Digest   `json:"lines"`      // the passages file
	Chunks      Digest   `json:"chunks"`     // the chunk table
	Data        Digest   `json:"data"`       // the compressed chunks
	Builder     string   `json:"builder"`    // version of docsearch that built Index
	Index       []File   `json:"index"`      // files that the builder derives from the passages
}

// A Source says where the documentation comes from.
type Source struct {
	Kind     string `json:"kind"`               // as of a database: "site", "git", "folder"
	Location string `json:"location,omitempty"` // URL; empty for a folder or file
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the download, as 2006-01-02
}

// A Digest is the size and the SHA-256 of a part.
type Digest struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // 64 hexadecimal digits
}

// A File is a file of the index.
type File struct {
	Name string `json:"name"`
	Digest
}

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest{int64(len(data)), hex.EncodeToString(sum[:])}
}

func (d Digest) valid(limit int64) bool {
	raw, err := hex.DecodeString(d.SHA256)
	return err == nil && len(raw) == sha256.Size && d.SHA256 == strings.ToLower(d.SHA256) && d.Size >= 0 &&
		d.Size <= limit
}

// An InvalidError reports a pack that does not follow the format, contradicts itself, or
// is not what its digests say.
type InvalidError struct{ Part, Problem string }

func (e *InvalidError) Error() string { return "invalid pack: " + e.Part + ": " + e.Problem }

func invalid(part, format string, args ...any) error {
	return &InvalidError{part, fmt.Sprintf(format, args...)}
}

// Encode returns the manifest's bytes, which the signatures sign.
func (m *Manifest) Encode() ([]byte, error) {
	return encodeJSON(m)
}

// encodeJSON returns v as indented JSON for people to read.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// ParseManifest decodes and checks a manifest.
func ParseManifest(data []byte) (*Manifest, error) {
	const part = "manifest"
	if len(data) > MaxManifest {
		return nil, invalid(part, "%d bytes, the limit is %d", len(data), MaxManifest)
	}
	var v struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, invalid(part, "%v", err)
	}
	if v.Format != Format {
		return nil, invalid(part, "format %d, this version of docsearch reads format %d", v.Format, Format)
	}
	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, invalid(part, "%v", err)
	}
	if err := m.Check(); err != nil {
		return nil, invalid(part, "%v", err)
	}
	return m, nil
}

// Check returns an error if the manifest has invalid values.
func (m *Manifest) Check() error {
	if err := CheckName(m.Name); err != nil {
		return err
	}
	for _, t := range []struct{ key, value string }{
		{"title", m.Title}, {"version", m.Version}, {"language", m.Language}, {"description", m.Description},
		{"license", m.License},
		{"attribution", m.Attribution}, {"builder", m.Builder}, {"source kind", m.Source.Kind},
		{"source location", m.Source.Location},
		{"source commit", m.Source.Commit}, {"source date", m.Source.Date},
	} {
		if !isText(t.value) {
			return fmt.Errorf("invalid %s: want one line of text", t.key)
		}
	}
	switch {
	case m.Title == "" || m.Description == "":
		return errors.New("no title or description")
	case m.License == "":
		return errors.New("no license")
	case len(m.Keywords) == 0 || len(m.Keywords) > maxItems || len(m.URLs) > maxItems:
		return fmt.Errorf("%d keywords and %d URL prefixes: want 1 to %d keywords and at most %d prefixes",
			len(m.Keywords), len(m.URLs), maxItems, maxItems)
	case m.Source.Location != "" && !isWebURL(m.Source.Location):
		return errors.New("the source location is not a URL")
	case m.Passages <= 0 || m.Documents < 0 || m.TextBytes < 0 || int64(m.Passages) > m.Lines.Size:
		return errors.New("invalid counts")
	case !m.Lines.valid(MaxPassages) || !m.Chunks.valid(MaxTable) || !m.Data.valid(MaxPassages):
		return errors.New("invalid digest or size of a part")
	case m.Lines.Size > maxExpansion*m.Data.Size+1<<20:
		return fmt.Errorf("%d bytes of data expand to %d bytes of passages", m.Data.Size, m.Lines.Size)
	case len(m.Index) == 0 || len(m.Index) > maxItems:
		return errors.New("invalid number of index files")
	}
	for _, k := range m.Keywords {
		if k == "" || !isText(k) || len(k) > 100 {
			return fmt.Errorf("invalid keyword %q", k)
		}
	}
	for _, u := range m.URLs {
		if !isText(u) || !isWebURL(u) {
			return fmt.Errorf("invalid URL prefix %q", u)
		}
	}
	for _, f := range m.Index {
		if strings.ContainsAny(f.Name, `/\:`) || strings.HasPrefix(f.Name, ".") || f.Name == "" || !isText(f.Name) ||
			!f.valid(1<<40) {
			return fmt.Errorf("invalid index file %q", f.Name)
		}
	}
	return nil
}

// CheckName returns an error unless name can be the name of a pack and of its folder: 1
// to 64 lower-case letters, digits, dots, hyphens, underscores or plus signs, starting
// with a letter or digit.
func CheckName(name string) error {
	if !packName().MatchString(name) || strings.HasSuffix(name, ".") || deviceName().MatchString(name) {
		return fmt.Errorf("invalid pack name %q: want lower-case letters, digits, and .-_+", name)
	}
	return nil
}

var (
	packName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.+_-]{0,63}$`) })
	// deviceName matches the names that Windows reserves, with any extension.
	deviceName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(con|prn|aux|nul|(com|lpt)[0-9])(\.|$)`) })
)

// isText reports whether s is a short line of visible text.
func isText(s string) bool {
	return len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) ||
			unicode.Is(unicode.Zp, r)
	})
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

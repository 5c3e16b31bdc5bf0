package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
)

// KindSource is the kind of the source of a database that came as a pack.
const KindSource = "pack"

// Files of a generation that came as a pack, besides those of package index: the parts of
// the pack without its data.
const (
	ManifestName   = "pack.json"
	signaturesName = "pack.signatures.json"
	tableName      = "pack.chunks"
)

// A Head is what a reader decides on: the manifest and its signatures.
type Head struct {
	*Manifest
	Raw           []byte // of the manifest
	Signatures    *Signatures
	rawSignatures []byte
}

// Subject returns the signed object.
func (h *Head) Subject() Subject {
	return Subject{Kind: KindPack, Name: h.Name, Version: h.Version, Manifest: h.Raw, Signed: h.Signatures.time()}
}

// Digest returns the SHA-256 of the manifest, which identifies the pack.
func (h *Head) Digest() string { return "sha256:" + DigestOf(h.Raw).SHA256 }

// An OrderError reports a pack that may be older than the installed one of the same
// publisher and name. Whoever delivers it may hold back a newer one.
type OrderError struct{ Found string } // a description of the pack

func (e *OrderError) Error() string { return "found " + e.Found }

// CheckOrder returns an *OrderError unless h may replace the installed pack before. Both
// were verified. A version that is lower as a number is older, whenever it was signed: the
// publisher may maintain several. Otherwise, the signed times decide. Packs without a time
// have an order only if their versions do; none of them follows a pack with a time.
func (h *Head) CheckOrder(before *Head) error {
	signed, seen := h.Signatures.time(), before.Signatures.time()
	order := CompareVersions(h.Version, before.Version)
	name := strings.TrimSpace(h.Name + " " + h.Version)
	switch {
	case order < 0:
		return &OrderError{fmt.Sprintf("version %s of %s, older than the installed version %s", h.Version, h.Name,
			before.Version)}
	case signed.After(seen), h.isSigned(before), seen.IsZero() && order > 0:
		return nil
	case seen.IsZero():
		return &OrderError{name + " without a signed time, so it may be older than the installed pack"}
	case signed.IsZero():
		return &OrderError{fmt.Sprintf("%s without a signed time, the installed pack was signed at %s", name,
			seen.Format(time.RFC3339))}
	}
	return &OrderError{fmt.Sprintf("%s, signed at %s; the installed pack was signed at %s", name,
		signed.Format(time.RFC3339), seen.Format(time.RFC3339))}
}

// isSigned reports whether both are the same pack, signed at the same time.
func (h *Head) isSigned(other *Head) bool {
	return bytes.Equal(h.Raw, other.Raw) && h.Signatures.time().Equal(other.Signatures.time())
}

// ReadHead reads and parses the manifest and the signatures. It verifies no signature.
func ReadHead(ctx context.Context, o Origin) (*Head, error) {
	manifest, signatures, err := o.Head(ctx)
	if err != nil {
		return nil, err
	}
	return parseHead(manifest, signatures)
}

func parseHead(manifest, signatures []byte) (*Head, error) {
	m, err := ParseManifest(manifest)
	if err != nil {
		return nil, err
	}
	s, err := ParseSignatures(signatures)
	if err != nil {
		return nil, err
	}
	return &Head{m, manifest, s, signatures}, nil
}

// readTable reads the chunk table and compares it with the manifest.
func readTable(ctx context.Context, o Origin, m *Manifest) (*Table, []byte, error) {
	raw, err := o.Table(ctx, m.Chunks.Size)
	if err != nil {
		return nil, nil, err
	}
	if DigestOf(raw) != m.Chunks {
		return nil, nil, invalid("chunk table", "the digest differs from the manifest")
	}
	t, err := ParseTable(raw)
	if err == nil && (t.lines != m.Lines.Size || t.data != m.Data.Size) {
		err = invalid("chunk table", "%d bytes of lines and %d bytes of data, the manifest says %d and %d", t.lines,
			t.data, m.Lines.Size, m.Data.Size)
	}
	return t, raw, err
}

// A Database is the source of a database that comes as a pack. It implements
// index.Source.
type Database struct {
	Location string // of the pack, for updates
	Cache    string // docsearch's cache folder
	Tool     string // version of docsearch that builds the index
	// Open opens the origin. Prepare closes it.
	Open func(ctx context.Context) (Origin, error)
	// Accept decides whether to build a pack.
	Accept func(ctx context.Context, head *Head) error

	// Results of the build.
	Head     *Head
	Received int64  // bytes
	Note     string // how the index differs from the publisher's; "" if it does not
}

// Prepare fetches the passages and writes them into dir, with the parts of the pack that
// the next update needs.
func (s *Database) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation,
	report progress.Func) (generation.Prepared, error) {
	origin, err := s.Open(ctx)
	if err != nil {
		return generation.Prepared{}, err
	}
	defer origin.Close()
	report.Report("reading the manifest", 0, 0)
	if s.Head, err = ReadHead(ctx, origin); err != nil {
		return generation.Prepared{}, err
	}
	if err := s.Accept(ctx, s.Head); err != nil {
		return generation.Prepared{}, err
	}
	var previous *Head
	if before != nil {
		previous, _ = Installed(*before)
	}
	s.Received = int64(len(s.Head.Raw) + len(s.Head.rawSignatures))
	source := generation.Source{Kind: KindSource, Location: s.Location}
	// A pack that was signed again is built again, so that the newer time is remembered.
	if previous != nil && previous.isSigned(s.Head) && before.Tool == s.Tool && before.Source.Location == s.Location {
		return generation.Prepared{Source: before.Source, Skipped: before.Skipped, Unchanged: true,
			Perm: generation.AllPerm}, nil
	}
	table, rawTable, err := readTable(ctx, origin, s.Head.Manifest)
	if err != nil {
		return generation.Prepared{}, err
	}
	s.Received += int64(len(rawTable))
	if err := s.fetch(ctx, origin, dir, before, table, report); err != nil {
		return generation.Prepared{}, err
	}
	for name, data := range map[string][]byte{ManifestName: s.Head.Raw, signaturesName: s.Head.rawSignatures,
		tableName: rawTable} {
		if err := dir.Join(name).WriteCache(data, 0o644); err != nil {
			return generation.Prepared{}, err
		}
	}
	prepared := generation.Prepared{Source: source, Publish: true, Perm: generation.AllPerm}
	if v := s.Head.Version; v != "" && strings.Trim(v, "0123456789.") == "" && len(v) <= 32 {
		prepared.Edition = &generation.Edition{Version: v, Evidence: []string{"pack"}}
	}
	return prepared, nil
}

// fetch writes the passages file.
func (s *Database) fetch(ctx context.Context, origin Origin, dir confined.Path, before *generation.Generation,
	table *Table, report progress.Func) error {
	var have *library
	if before != nil {
		if old, err := installedTable(*before); err == nil {
			if lines, err := before.File(passage.ShardName(0)).Open(); err == nil {
				defer lines.Close()
				have = newLibrary(lines, old)
			}
		}
	}
	folder := filepath.Join(s.Cache, "packs")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	removeOld(folder)
	out, err := dir.Join(passage.ShardName(0)).Create(0o644)
	if err != nil {
		return err
	}
	received, err := fetch(ctx, origin, s.Head.Manifest, table, have, filepath.Join(folder, s.Head.Data.SHA256+".part"),
		out, report)
	s.Received += received
	return errors.Join(err, out.Close())
}

// removeOld removes the remains of downloads that were interrupted long ago.
func removeOld(folder string) {
	const week = 7 * 24 * time.Hour
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if st, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".part") && time.Since(st.ModTime()) > week {
			os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

// Verify implements index.Verifier: it compares the index with the manifest, before the build
// replaces the current generation. The counts must be equal. The files must be equal if the same
// version of docsearch built them; otherwise Note describes the difference.
func (s *Database) Verify(dir confined.Path, m *generation.Manifest) error {
	if m.Passages != s.Head.Passages || m.Documents != s.Head.Documents || m.TextBytes != s.Head.TextBytes {
		return invalid("data", "%d passages of %d documents with %d bytes, the manifest says %d, %d and %d",
			m.Passages, m.Documents, m.TextBytes, s.Head.Passages, s.Head.Documents, s.Head.TextBytes)
	}
	s.Note = ""
	for _, f := range s.Head.Index {
		have, err := digestFile(dir.Join(f.Name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if have == f.Digest {
			continue
		}
		if s.Head.Builder == s.Tool && s.Tool != DevelopmentVersion {
			return invalid("index", "%s differs from the publisher's, which the same version %s of docsearch built",
				f.Name, s.Tool)
		}
		s.Note = fmt.Sprintf("the passages are the publisher's; the index differs, because docsearch %s built it and the publisher used %s", s.Tool, s.Head.Builder)
	}
	return nil
}

// DevelopmentVersion is the version of a program without one. Two such programs may
// build different indexes.
const DevelopmentVersion = "(devel)"

func digestFile(file confined.Path) (Digest, error) {
	f, err := file.Open()
	if err != nil {
		return Digest{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return Digest{n, hex.EncodeToString(h.Sum(nil))}, err
}

// Installed returns the head of the pack that a generation came as. The error wraps
// fs.ErrNotExist if it did not come as a pack.
func Installed(g generation.Generation) (*Head, error) {
	raw, err := g.File(ManifestName).Read(MaxManifest)
	if err != nil {
		return nil, err
	}
	signatures, err := g.File(signaturesName).Read(MaxSignatures)
	if err != nil {
		return nil, err
	}
	return parseHead(raw, signatures)
}

func installedTable(g generation.Generation) (*Table, error) {
	raw, err := g.File(tableName).Read(MaxTable)
	if err != nil {
		return nil, err
	}
	return ParseTable(raw)
}

// CheckInstalled compares the passages and the index of a generation with the manifest of
// its pack, and returns the names of the files that differ. If another version of
// docsearch built the index, it compares only the passages.
func CheckInstalled(g generation.Generation, head *Head) ([]string, error) {
	files := []File{{passage.ShardName(0), head.Lines}}
	if head.Builder == g.Tool {
		files = append(files, head.Index...)
	}
	var wrong []string
	for _, f := range files {
		have, err := digestFile(g.File(f.Name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if have != f.Digest {
			wrong = append(wrong, f.Name)
		}
	}
	return wrong, nil
}

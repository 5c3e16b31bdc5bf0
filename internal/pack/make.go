package pack

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/secret"
	"github.com/docsearch/docsearch/internal/progress"
)

// A Draft is a pack without signatures, and what was left out of it.
type Draft struct {
	Manifest *Manifest
	Pack     Pack
	Secrets  []string // files left out, because they look like secrets
	Redacted int      // passages with secrets removed from the text
	Paths    int      // passages with absolute paths made relative
	Home     int      // passages whose text contains the user's home directory
}

// A MakeOptions says what Make cannot read from the database.
type MakeOptions struct {
	Manifest Manifest // name, title, keywords and so on; Make sets the counts and digests
	Tool     string   // version of docsearch
	Home     string   // the user's home directory, to warn of it
	Report   progress.Func
}

// Make makes a pack of generation g. The manifest does not depend on the machine: two
// calls with the same passages return the same bytes.
func Make(ctx context.Context, g generation.Generation, opt MakeOptions) (*Draft, error) {
	d := &Draft{}
	lines, err := d.readLines(ctx, g, opt)
	if err != nil {
		return nil, err
	}
	m := opt.Manifest
	m.Format, m.Builder = Format, opt.Tool
	if err := d.buildIndex(ctx, &m, lines, opt); err != nil {
		return nil, err
	}
	opt.Report.Report("compressing", 0, 0)
	table, data, err := compress(lines)
	if err != nil {
		return nil, err
	}
	d.Pack.Table, d.Pack.Data = table.Encode(), data
	m.Lines, m.Chunks, m.Data = DigestOf(lines), DigestOf(d.Pack.Table), DigestOf(data)
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("cannot make the pack: %w", err)
	}
	d.Manifest = &m
	d.Pack.Manifest, err = m.Encode()
	return d, err
}

// Sign adds signatures with the current time to the pack.
func (d *Draft) Sign(keys []*SigningKey, rotations []string) error {
	s, err := Sign(Subject{Kind: KindPack, Name: d.Manifest.Name, Version: d.Manifest.Version,
		Manifest: d.Pack.Manifest, Signed: time.Now()}, keys, rotations)
	if err != nil {
		return err
	}
	d.Pack.Signatures, err = s.Encode()
	return err
}

// IsSignedAs reports whether head is the same pack with at least the same signatures. To
// publish it again would only change the time of signing: its readers would build it again,
// and in a registry, the attached signatures would be lost.
func (d *Draft) IsSignedAs(head *Head) bool {
	mine, err := ParseSignatures(d.Pack.Signatures)
	if err != nil || !bytes.Equal(head.Raw, d.Pack.Manifest) || head.Signatures.time().IsZero() {
		return false
	}
	for _, r := range mine.Rotations {
		if !slices.Contains(head.Signatures.Rotations, r) {
			return false
		}
	}
	subject := head.Subject()
	for _, k := range mine.Keys {
		if !opens(head.Signatures.Note, subject.text(), Key(k)) {
			return false
		}
	}
	return true
}

// readLines returns the passages file of the pack.
func (d *Draft) readLines(ctx context.Context, g generation.Generation, opt MakeOptions) ([]byte, error) {
	table, err := passage.OpenTable(g)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	c := cleaner{Draft: d, home: opt.Home, left: map[string]bool{}}
	c.roots = c.findRoots(g)
	var lines []byte
	for i := range table.Passages() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		opt.Report.Report("reading passages", int64(i), int64(table.Passages()))
		p, err := table.Passage(uint32(i))
		if err != nil {
			return nil, err
		}
		if c.clean(&p, i) {
			lines = p.AppendLine(lines)
		}
		if len(lines) > MaxPassages {
			return nil, fmt.Errorf("the passages have more than %d bytes, the limit of a pack", MaxPassages)
		}
	}
	d.Secrets = slices.Sorted(maps.Keys(c.left))
	return lines, nil
}

// metadata are the keys that docsearch writes besides the fields of a passage. A pack
// contains no others: tools that write LEANN's files add the paths of their machine.
var metadata = []string{"links", "terms", "kind", "flags", "edition", "tags", "pinned", "priority", "applies_when"}

// A cleaner removes from passages what a pack must not contain.
type cleaner struct {
	*Draft
	roots []string // folders of the machine that documents are in, with a slash at the end
	home  string
	left  map[string]bool
}

func (c *cleaner) findRoots(g generation.Generation) []string {
	var roots []string
	for _, folder := range []string{g.Source.Root, g.Source.Location, g.Dir.Dir} {
		if filepath.IsAbs(folder) {
			roots = append(roots, strings.TrimRight(filepath.ToSlash(folder), "/")+"/")
		}
	}
	return roots
}

// clean changes a passage for the pack. It returns false if the pack must not contain it.
func (c *cleaner) clean(p *passage.Passage, number int) bool {
	p.Path = strings.TrimPrefix(p.Path, p.Root)
	p.Root = ""
	if p.Path != "" && secret.IsFile(filepath.ToSlash(p.Path)) {
		c.left[path.Base(filepath.ToSlash(p.Path))] = true
		return false
	}
	for key := range p.Extra {
		if !slices.Contains(metadata, key) {
			delete(p.Extra, key)
		}
	}
	relative, changed := c.relative(p.Path)
	p.Path = relative
	if links := p.Links(); slices.ContainsFunc(links, func(l passage.Link) bool { return isLocal(l.To) }) {
		changed = true
		kept := links[:0]
		for _, l := range links {
			if l.To, _ = c.relative(l.To); l.To != "" && !isLocal(l.To) {
				kept = append(kept, l)
			}
		}
		p.SetLinks(kept)
	}
	if isLocal(p.URL) {
		p.URL, changed = "", true
	}
	if changed {
		c.Paths++
	}
	if p.ID == "" || isLocal(p.ID) {
		p.ID = strconv.Itoa(number)
	}
	c.redact(p)
	if c.home != "" && len(c.home) > 1 && strings.Contains(p.Text, c.home) {
		c.Home++
	}
	return true
}

// relative returns a path below the folders of the documentation without the folder, and
// of any other absolute path the last element.
func (c *cleaner) relative(file string) (relative string, changed bool) {
	if !isLocal(file) {
		return file, false
	}
	file = filepath.ToSlash(strings.TrimPrefix(file, "file://"))
	for _, root := range c.roots {
		if rest, ok := strings.CutPrefix(file, root); ok && rest != "" {
			return rest, true
		}
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/")), true
}

// isLocal reports whether a path or URL is absolute on some machine.
func isLocal(s string) bool {
	isDrive := len(s) > 2 && s[1] == ':' && (s[2] == '/' || s[2] == '\\')
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\\`) || strings.HasPrefix(s, "~/") || isDrive ||
		strings.HasPrefix(s, "file:")
}

// redact removes secrets from the text.
func (c *cleaner) redact(p *passage.Passage) {
	doc := &document.Document{Title: p.Title, Lines: strings.Split(p.Text, "\n")}
	secret.Remove(doc)
	if len(doc.Notes) > 0 {
		p.Text = strings.Join(doc.Lines, "\n")
		c.Redacted++
	}
	p.Title = doc.Title
}

// buildIndex builds the index of the lines in a temporary folder, as a reader of the pack
// does, and enters its digests.
func (d *Draft) buildIndex(ctx context.Context, m *Manifest, lines []byte, opt MakeOptions) error {
	dir, err := os.MkdirTemp("", "docsearch-pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	info, err := index.Build(ctx, dir, linesSource(lines),
		index.BuildOptions{Language: m.Language, Tool: opt.Tool, Report: opt.Report})
	if err != nil {
		return err
	}
	m.Passages, m.Documents, m.TextBytes = info.Passages, info.Documents, info.TextBytes
	if m.Version == "" && info.Edition != nil {
		m.Version = info.Edition.Version
	}
	g := generation.GenerationOf(dir, info.Manifest)
	m.Index = nil
	for _, f := range g.Files {
		if passage.IsShard(f.Name) {
			continue
		}
		digest, err := digestFile(g.File(f.Name))
		if err != nil {
			return err
		}
		m.Index = append(m.Index, File{f.Name, digest})
	}
	return nil
}

// linesSource is a source of passages in memory.
type linesSource []byte

func (s linesSource) Prepare(_ context.Context, dir confined.Path, _ *generation.Generation,
	_ progress.Func) (generation.Prepared, error) {
	return generation.Prepared{Source: generation.Source{Kind: KindSource}},
		dir.Join(passage.ShardName(0)).WriteCache(s, 0o600)
}

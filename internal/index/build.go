package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/provenance"
)

// A Source provides the passages of a database. It may also be a Discarder, a Verifier or a
// Keeper.
type Source interface {
	// Prepare writes the passages files, passage.ShardName(0), passage.ShardName(1) and
	// so on, into dir, the folder of the new generation, and describes their source. It
	// may reuse unchanged lines of before, the current generation. If before is nil, it
	// reads the whole source.
	Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error)
}

// A Discarder is a Source whose Discard removes files that the next build cannot use. Build
// calls it if the first build of a database fails.
type Discarder interface{ Discard() }

// A Verifier is a Source whose Verify checks the complete generation in dir before that becomes
// current. Build fails with its error.
type Verifier interface {
	Verify(dir confined.Path, m *generation.Manifest) error
}

// A Keeper is a Source that keeps the passages of documents in g, the current generation, which
// it cannot read. Build calls Keep before Prepare, whether or not the build is an update.
type Keeper interface {
	Keep(g *generation.Generation)
}

// BuildOptions configures Build. The zero value contains the defaults.
type BuildOptions struct {
	Language string          // of the texts, for stemming (default English)
	Wait     time.Duration   // timeout of waiting for another build of the same database
	Tool     string          // version of docsearch, stored in the manifest
	Options  json.RawMessage // stored in the manifest, so that a later build can repeat them
	Key      provenance.Key  // seals the source and the options
	Report   progress.Func
	Now      time.Time // for the manifest; zero: time.Now
	// Update passes the current generation to the source if it is readable, so that the
	// source reuses unchanged passages. Data derived from them is reused too (see
	// update).
	Update bool
	// KeepLost makes an update fail with a *generation.LostError if the source seems to have
	// lost its documents. Sources with Prepared.KeepsLost decide themselves.
	KeepLost bool
	// Embedder adds the vectors of an external embedding model to those of the built-in
	// embedder. Searches use them if they can reach the model. Nil adds none.
	Embedder embed.Provider
	// Stored contains vectors that Embedder already computed for the same passages. Nil
	// computes all vectors.
	Stored *leann.Vectors

	names []string // of the database; set by Build
}

// Build writes the next generation of the database in folder dir from src and makes it
// current. If the build fails at any point, or an update finds no changes, the previous
// generation stays current. If a first build fails, no database remains.
//
// The error wraps generation.ErrBusy if another build is running, or ErrNoPassages if
// src has no passages, or is an error of src or of the file system. It is a
// *generation.LateError if only the Info cannot be read.
func Build(ctx context.Context, dir string, src Source, opt BuildOptions) (info Info, err error) {
	// Untouched memory uses no RAM but counts as live heap. With it, the garbage
	// collector runs after every 150 MB of allocations instead of every 50 MB, which
	// saves 10% of the build time of small databases. Large databases hardly change.
	headroom := make([]byte, 48<<20)
	defer runtime.KeepAlive(headroom)
	_, statErr := os.Lstat(dir)
	made := errors.Is(statErr, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Info{}, err
	}
	defer func() {
		if err != nil && made {
			os.Remove(dir) // fails if the source keeps files for the next build
		}
	}()
	b, err := generation.Begin(dir, opt.Wait)
	if err != nil {
		return Info{}, err
	}
	opt.names = namesIn(dir)
	w := &buildJob{Build: b, dir: dir, src: src, opt: opt}
	defer b.Abort() // after a panic, too
	err = w.run(ctx)
	late, _ := errors.AsType[*generation.LateError](err)
	if err != nil && late == nil {
		if d, ok := src.(Discarder); ok && b.First {
			d.Discard()
		}
		return Info{}, err
	}
	if info, err = Inspect(dir); err != nil {
		return info, &generation.LateError{Err: err}
	}
	info.Repaired, info.Late = w.repaired, late
	return info, nil
}

// namesIn returns the words in the name of a database's folder, without numbers: python and
// docs of "python3.11-docs".
func namesIn(dir string) []string {
	return strings.FieldsFunc(strings.ToLower(filepath.Base(dir)), func(r rune) bool { return !unicode.IsLetter(r) })
}

// A buildJob is the state of a running Build.
type buildJob struct {
	*generation.Build
	dir string
	src Source
	opt BuildOptions
	m   generation.Manifest

	repaired bool // see Info
}

func (w *buildJob) run(ctx context.Context) error {
	w.m = generation.Manifest{Created: w.opt.Now, Tool: w.opt.Tool, Options: w.opt.Options}
	if w.m.Created.IsZero() {
		w.m.Created = time.Now()
	}
	before := w.previous()
	current, currentErr := generation.Current(w.dir)
	if k, ok := w.src.(Keeper); ok && currentErr == nil && w.sealed(&current) {
		k.Keep(&current)
	}
	prepared, err := w.src.Prepare(ctx, w.Dir, before, w.opt.Report)
	if err != nil {
		return err
	}
	if prepared.Perm != 0 {
		w.LimitPerm(prepared.Perm)
	}
	if prepared.Unchanged {
		return w.confirm(*before)
	}
	if err := w.derive(ctx, before, &prepared); err != nil {
		return err
	}
	if lost := current.Documents - w.m.Documents; w.opt.KeepLost && !prepared.KeepsLost && generation.HasLost(lost, 0, current.Documents) {
		return &generation.LostError{Lost: lost, Documents: current.Documents}
	}
	if err := w.detect(prepared.Edition); err != nil {
		return err
	}
	if v, ok := w.src.(Verifier); ok {
		if err := v.Verify(w.Dir, &w.m); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !prepared.Publish {
		return w.Commit(w.m, nil)
	}
	return w.Commit(w.m, func(m *generation.Manifest) (generation.Publication, error) {
		return stage(w.File(passage.ShardName(0)), m, w.opt.Key, w.Perm())
	})
}

// previous returns the current generation as the basis of an update. It returns nil if
// the build is not an update or the generation cannot be opened.
func (w *buildJob) previous() *generation.Generation {
	if !w.opt.Update {
		return nil
	}
	g, err := generation.Current(w.dir)
	if err != nil {
		return nil
	}
	var d Database
	if err := errors.Join(d.open(g), d.Close()); err != nil {
		return nil
	}
	return &g
}

// sealed reports whether this user built the generation from the source that it names.
func (w *buildJob) sealed(g *generation.Generation) bool {
	return w.opt.Key.Sealed(provenance.Source{Kind: g.Source.Kind, Location: g.Source.Location, Options: g.Options}, g.Seal)
}

// confirm ends an update that found no changes. It repairs damaged files published for
// LEANN.
func (w *buildJob) confirm(g generation.Generation) error {
	if len(damagedPublished(w.dir, g)) == 0 {
		return w.Confirm(g, w.m.Created, nil)
	}
	staged, err := stage(g.File(passage.ShardName(0)), &g.Manifest, w.opt.Key, w.Perm())
	if err != nil {
		return err
	}
	err = w.Confirm(g, w.m.Created, staged)
	w.repaired = err == nil
	return err
}

// derive writes the files derived from the passages into the generation. It reuses the
// previous generation where possible.
func (w *buildJob) derive(ctx context.Context, before *generation.Generation, prepared *generation.Prepared) error {
	m := &w.m
	m.Source, m.Skipped = prepared.Source, prepared.Skipped
	m.Seal = w.opt.Key.Seal(provenance.Source{Kind: m.Source.Kind, Location: m.Source.Location, Options: m.Options})
	written, err := shards(w.Build)
	if err != nil {
		return err
	}
	for _, name := range written {
		w.BeginSync(name)
	}
	if before != nil && len(prepared.Reused) > 0 {
		if done, err := tryUpdate(ctx, w.Build, m, *before, prepared.Reused, w.opt); done || err != nil {
			return err
		}
	}
	return derive(ctx, w.Build, m, w.opt)
}

// ErrNoPassages is wrapped by the error of Build if the source has no passages.
var ErrNoPassages = generation.ErrNoPassages

// derive writes all files derived from the passages into the generation, without using
// a previous generation.
func derive(ctx context.Context, b *generation.Build, m *generation.Manifest, opt BuildOptions) error {
	var links linkGraph
	var sample languageSample
	if err := survey(ctx, b, &links, &sample); err != nil {
		return err
	}
	m.Language = sample.language()
	lex := lexical.NewBuilder(lexical.Options{Language: lexical.AnalyzerFor(opt.Language, m.Language), Content: embed.MaxTraining, Names: opt.names})
	var table passage.TableWriter
	err := eachPassage(ctx, b, opt.Report, func(shard int, offset int64, line []byte) error {
		p, err := passage.Decode(line)
		if err != nil {
			m.Skipped = append(m.Skipped, generation.Skipped{
				Name: fmt.Sprintf("%s at byte %d", passage.ShardName(shard), offset), Reason: err.Error()})
			return nil
		}
		doc := table.Add(&p, shard, offset, line)
		lex.Add(doc, fields(&p, &links))
		m.TextBytes += int64(len(p.Text))
		return nil
	}, &m.Skipped)
	if err != nil {
		return err
	}
	m.Passages, m.Documents = table.Passages(), table.Documents()
	if m.Passages == 0 {
		return &generation.NoPassagesError{Skipped: m.Skipped}
	}
	m.Skipped = generation.Summary(m.Skipped)
	lex.SetMembers(table.Members())
	if err := table.Write(b.File(passage.TableName)); err != nil {
		return err
	}
	opt.Report.Report("writing the lexical index", 0, 0)
	if err := lex.Write(ctx, b.File(lexicalName)); err != nil {
		return err
	}
	return train(ctx, b, m, opt, lex.Content)
}

// A termsFunc returns the terms of a passage's headings and text if they are already
// known from indexing.
type termsFunc func(passage int) (head, body []string, known bool)

// train adds data that depends on all passages together: vectors and the confidence
// threshold. content may be nil.
func train(ctx context.Context, b *generation.Build, m *generation.Manifest, opt BuildOptions, content termsFunc) error {
	var d Database
	defer d.Close()
	draft, err := draftGeneration(b, m)
	if err != nil {
		return err
	}
	if err := d.open(draft); err != nil {
		return err
	}
	m.Training = &generation.TrainingState{Time: m.Created, Passages: m.Passages}
	// Confidence uses only lexical scores, so its calibration can use the cores that
	// training leaves idle.
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		m.Confidence, err = d.calibrate(ctx)
		return err
	})
	g.Go(func() error {
		if err := d.addVectors(ctx, m, opt, content); err != nil || opt.Embedder == nil {
			return err
		}
		return d.addProvided(ctx, m, opt)
	})
	return g.Wait()
}

// draftGeneration returns the generation being built, for reading.
func draftGeneration(b *generation.Build, m *generation.Manifest) (generation.Generation, error) {
	draft := generation.Generation{Manifest: *m, Dir: b.Dir}
	names, err := shards(b)
	for _, name := range names {
		draft.Files = append(draft.Files, generation.FileInfo{Name: name})
	}
	return draft, err
}

// eachPassage calls f with each line of the generation's passages files. It appends
// invalid lines to skipped.
func eachPassage(ctx context.Context, b *generation.Build, report progress.Func, f func(shard int, offset int64, line []byte) error, skipped *[]generation.Skipped) error {
	names, err := shards(b)
	if err != nil {
		return err
	}
	var total, before int64
	for _, name := range names {
		st, err := b.File(name).Lstat()
		if err != nil {
			return err
		}
		total += st.Size()
	}
	for i, name := range names {
		in, err := b.File(name).Open()
		if err != nil {
			return err
		}
		var last int64
		bad, err := leann.Scan(in, func(offset int64, line []byte) error {
			if last = offset + int64(len(line)); offset>>20 != last>>20 {
				report.Report("reading passages", before+last, total)
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return f(i, offset, line)
		})
		in.Close()
		if err != nil {
			return err
		}
		for _, s := range bad {
			*skipped = append(*skipped, generation.Skipped{Name: fmt.Sprintf("%s: %s", name, s.Name), Reason: s.Reason})
		}
		before += last
	}
	report.Report("reading passages", total, total)
	return nil
}

// shards lists the passages files of the generation being built.
func shards(b *generation.Build) ([]string, error) {
	var names []string
	for {
		name := passage.ShardName(len(names))
		_, err := b.File(name).Lstat()
		if errors.Is(err, fs.ErrNotExist) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
}

// survey reads the links of all passages and a sample of their text. This needs a separate
// pass, because a passage is indexed with its inbound links and by the rules of the
// documentation's language. Lines without the bytes "links" are not decoded, so the pass is
// nearly free if no passage has links.
func survey(ctx context.Context, b *generation.Build, links *linkGraph, sample *languageSample) error {
	var skipped []generation.Skipped // reported when the passages are indexed
	return eachPassage(ctx, b, nil, func(_ int, _ int64, line []byte) error {
		sample.add(line)
		if bytes.Contains(line, []byte(`"links"`)) {
			links.add(passage.DecodeLinks(line))
		}
		return nil
	}, &skipped)
}

// fields assigns the parts of a passage to fields of the lexical index.
func fields(p *passage.Passage, links *linkGraph) lexical.Fields {
	use := p.NoteMeta()
	f := lexical.Fields{
		Page: p.Title, Body: p.Text, Address: p.Locator(), Anchors: p.Anchors, Terms: strings.Join(p.Terms(), "\n"),
		SecondaryPage: p.IsSecondary(), Keys: use.AppliesWhen.Keys(),
	}
	f.InLinks, f.PageInLinks, f.Links = links.inbound(p)
	if n := len(p.Headings); n > 0 {
		f.Title, f.Path = p.Headings[n-1], p.Headings[:n-1]
	} else {
		// The title is used as heading only. An id is not a URL or path.
		f.Title, f.Page, f.Named = p.Name(), "", p.Title == ""
	}
	if p.Document() == "" {
		f.Address = ""
	}
	return f
}

// copyFile copies the contents of an open file to a new file and closes both.
func copyFile(ctx context.Context, in *os.File, to confined.Path) error {
	defer in.Close()
	out, err := to.Create(0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, progress.Interruptible(ctx, in))
	return errors.Join(err, out.Close())
}

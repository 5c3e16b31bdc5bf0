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
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/provenance"
)

// A Source brings the passages of a database. One that keeps files of its own in
// the database's folder has a method Discard as well, which removes those that are
// of no use to the next build. Build calls it if the first build fails.
type Source interface {
	// Prepare puts the passages files, passage.ShardName(0) and on, into the
	// folder dir of the new generation, and says what they were made from.
	// before is the current generation, of which it may reuse what has not
	// changed; nil: everything is read again.
	Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error)
}

// BuildOptions say how to build. The zero value is the default for all.
type BuildOptions struct {
	Language string          // of the texts, for stemming; "" is English
	Wait     time.Duration   // how long to wait for another build of the same database
	Tool     string          // docsearch's own version, for the manifest
	Options  json.RawMessage // kept in the manifest for a later build to repeat
	Key      provenance.Key  // seals the source and the options
	Report   progress.Func
	Now      time.Time // for the manifest; zero: time.Now
	// Update hands the source the generation in force, if there is one that
	// can be read, so that it need not read again what has not changed. What
	// was derived from that is not derived again (see update).
	Update bool
	// Embedder makes vectors besides the builtin embedder's, for searches that
	// may ask it, too; nil: nobody does.
	Embedder embed.Provider
	// Stored are vectors that Embedder made of the same passages before, so
	// that it need not again; nil: there are none.
	Stored *leann.Vectors
}

// Build makes the next generation of the database in folder dir from src and
// makes it the current one. Until then, and if it fails or dies at whatever point,
// the generation before stays, as it does where an update finds nothing new. A
// first build that fails leaves no database.
// Errors: one that wraps generation.ErrBusy when another build is at work,
// ErrNoPassages, src's own, those of the file system.
func Build(ctx context.Context, dir string, src Source, opt BuildOptions) (info Info, err error) {
	// Memory that is never touched costs nothing, but counts as living: the
	// garbage of a small database is collected every 150 MB instead of every 50,
	// which saves a tenth of the time. Big ones hardly notice.
	headroom := make([]byte, 48<<20)
	defer runtime.KeepAlive(headroom)
	_, statErr := os.Lstat(dir)
	made := errors.Is(statErr, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Info{}, err
	}
	defer func() {
		if err != nil && made {
			os.Remove(dir) // fails where the source keeps something for the next build
		}
	}()
	b, err := generation.Begin(dir, opt.Wait)
	if err != nil {
		return Info{}, err
	}
	defer func() {
		if d, ok := src.(interface{ Discard() }); ok && b.First && !generation.HasManifest(dir) {
			d.Discard()
		}
		b.Abort()
	}()
	w := &work{Build: b, dir: dir, src: src, opt: opt}
	if err := w.run(ctx); err != nil {
		return Info{}, err
	}
	info, err = Inspect(dir)
	info.Repaired = w.repaired
	return info, err
}

// A work is a build at work.
type work struct {
	*generation.Build
	dir string
	src Source
	opt BuildOptions
	m   generation.Manifest

	repaired bool // see Info
}

func (w *work) run(ctx context.Context) error {
	w.m = generation.Manifest{Created: w.opt.Now, Tool: w.opt.Tool, Options: w.opt.Options}
	if w.m.Created.IsZero() {
		w.m.Created = time.Now()
	}
	before := w.before()
	prepared, err := w.src.Prepare(ctx, w.Dir, before, w.opt.Report)
	if err != nil {
		return err
	}
	if prepared.Rights != 0 {
		w.Limit(prepared.Rights)
	}
	if prepared.Unchanged {
		return w.confirm(*before)
	}
	if err := w.derive(ctx, before, &prepared); err != nil {
		return err
	}
	if err := w.findEdition(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.Commit(w.m, func(m *generation.Manifest) (err error) {
		if prepared.Made {
			m.Published, err = publish(w.File(passage.ShardName(0)), m, w.opt.Key, w.Perm())
		}
		return err
	})
}

// before is the current generation, for an update to go by; nil if the build is
// not one, or the generation cannot be opened.
func (w *work) before() *generation.Generation {
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

// confirm ends a build that has found nothing new. What was published for LEANN is
// published again if it is damaged.
func (w *work) confirm(g generation.Generation) (err error) {
	if len(damagedPublished(w.dir, g)) > 0 {
		if g.Published, err = publish(g.File(passage.ShardName(0)), &g.Manifest, w.opt.Key, w.Perm()); err != nil {
			return err
		}
		w.repaired = true
	}
	return w.Confirm(g, w.m.Created)
}

// derive writes all that is derived from the passages into the generation: from
// the one before, as far as it can.
func (w *work) derive(ctx context.Context, before *generation.Generation, prepared *generation.Prepared) error {
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

// ErrNoPassages is wrapped by the error of Build for a source without a single
// passage.
var ErrNoPassages = generation.ErrNoPassages

// derive writes all that is derived from the passages into the generation.
func derive(ctx context.Context, b *generation.Build, m *generation.Manifest, opt BuildOptions) error {
	var links linkGraph
	if err := gatherLinks(ctx, b, &links); err != nil {
		return err
	}
	lex := lexical.NewBuilder(lexical.Options{Language: opt.Language, Content: embed.MaxTraining})
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
	if err := table.Write(b.File(passage.TableName)); err != nil {
		return err
	}
	opt.Report.Report("writing the lexical index", 0, 0)
	if err := lex.Write(ctx, b.File(lexicalName)); err != nil {
		return err
	}
	return learn(ctx, b, m, opt, lex.Content)
}

// A contentFunc returns the terms of a passage's headings and of its text,
// where it is known which they are: they need not be found again.
type contentFunc func(passage int) (head, body []string, known bool)

// learn adds what is learnt from the passages as a whole: vectors, and what
// confidence looks like. content may be nil.
func learn(ctx context.Context, b *generation.Build, m *generation.Manifest, opt BuildOptions, content contentFunc) error {
	var d Database
	defer d.Close()
	draft, err := draftOf(b, m)
	if err != nil {
		return err
	}
	if err := d.open(draft); err != nil {
		return err
	}
	m.Training = &generation.TrainingState{Time: m.Created, Passages: m.Passages}
	// Confidence goes by the words alone. What it takes to calibrate it keeps
	// the cores busy where the training cannot.
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

// draftOf returns the generation in the making, to be read.
func draftOf(b *generation.Build, m *generation.Manifest) (generation.Generation, error) {
	draft := generation.Generation{Manifest: *m, Dir: b.Dir}
	names, err := shards(b)
	for _, name := range names {
		draft.Files = append(draft.Files, generation.FileInfo{Name: name})
	}
	return draft, err
}

// eachPassage calls f with every line of the generation's passages files, and
// adds to skipped the lines that are no passages.
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

// shards lists the passages files of the generation in the making.
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

// gatherLinks reads the links of all passages. It is a pass of its own, since
// a passage is indexed with the links that lead to it; where no passage has
// any, which a look at the bytes tells, it costs next to nothing.
func gatherLinks(ctx context.Context, b *generation.Build, links *linkGraph) error {
	var skipped []generation.Skipped // named when the passages are read
	return eachPassage(ctx, b, nil, func(_ int, _ int64, line []byte) error {
		if bytes.Contains(line, []byte(`"links"`)) {
			links.add(passage.DecodeLinks(line))
		}
		return nil
	}, &skipped)
}

// fields says which part of a passage is indexed as what.
func fields(p *passage.Passage, links *linkGraph) lexical.Fields {
	use := p.NoteMeta()
	f := lexical.Fields{
		Page: p.Title, Body: p.Text, Address: p.Locator(), Anchors: p.Anchors, Terms: strings.Join(p.Terms(), "\n"),
		Aside: p.Kind() != "", Keys: use.AppliesWhen.Keys(),
	}
	f.InLinks, f.PageInLinks, f.Links = links.of(p)
	if n := len(p.Headings); n > 0 {
		f.Title, f.Path = p.Headings[n-1], p.Headings[:n-1]
	} else {
		// A title counts once, and an id is no address.
		f.Title, f.Page, f.Named = p.Name(), "", p.Title == ""
	}
	if p.Document() == "" {
		f.Address = ""
	}
	return f
}

// copyFile copies what an open file has to a new one, and closes it.
func copyFile(ctx context.Context, in *os.File, to confined.Path) error {
	defer in.Close()
	out, err := to.Create(0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, progress.Interruptible(ctx, in))
	return errors.Join(err, out.Close())
}

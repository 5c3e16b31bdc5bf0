package pack

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/progress"
)

// connections is the maximum number of requests at once.
const connections = 4

// A library finds chunks that this machine already has.
type library struct {
	lines *os.File // a passages file
	known map[chunkDigest]*Chunk
	buf   []byte
}

// newLibrary returns the chunks of a passages file with its table.
func newLibrary(lines *os.File, table *Table) *library {
	l := &library{lines: lines, known: make(map[chunkDigest]*Chunk, len(table.Chunks))}
	for i := range table.Chunks {
		l.known[table.Chunks[i].digest] = &table.Chunks[i]
	}
	return l
}

// read returns the lines of a chunk, or nil. They are valid until the next call.
func (l *library) read(c *Chunk) []byte {
	if l == nil {
		return nil
	}
	have := l.known[c.digest]
	if have == nil || have.size != c.size {
		return nil
	}
	if int64(cap(l.buf)) < c.size {
		l.buf = make([]byte, c.size)
	}
	b := l.buf[:c.size]
	if _, err := l.lines.ReadAt(b, have.offset); err != nil || digestChunk(b) != c.digest {
		return nil // damaged
	}
	return b
}

// A download assembles a passages file.
type download struct {
	origin   Origin
	manifest *Manifest
	table    *Table
	library  *library
	staging  *os.File // received data, at the offsets of the pack's data
	report   progress.Func
	total    int64
	done     atomic.Int64
	decoder  decompressor
	frame    []byte
}

// fetch writes the passages file of a pack to out. It takes chunks from the library,
// requests the others, and returns how many bytes it received. staging is the path of a
// file for received data. An interrupted download leaves it, and the next one continues; a
// pack that fails a check does not.
func fetch(ctx context.Context, origin Origin, m *Manifest, table *Table, l *library, staging string, out io.Writer,
	report progress.Func) (received int64, err error) {
	file := confined.Of(staging)
	lock, err := filelock.TryLockIn(file)
	if err != nil {
		return 0, err
	}
	d := &download{origin: origin, manifest: m, table: table, library: l, staging: lock.File(), report: report}
	defer func() {
		d.decoder.Close()
		var wrong *InvalidError
		if err == nil || errors.As(err, &wrong) {
			file.Remove()
		}
		lock.Unlock()
	}()
	err = d.assemble(ctx, out)
	return d.done.Load(), err
}

// assemble writes all lines and compares them with the manifest. It requests data when a
// chunk is neither in the library nor in the staging file, which has the data of an
// interrupted download.
func (d *download) assemble(ctx context.Context, out io.Writer) error {
	sum := sha256.New()
	w := bufio.NewWriterSize(out, 256<<10)
	requested := false
	for i := range d.table.Chunks {
		lines, err := d.lines(i)
		if err != nil && !requested {
			requested = true
			if err := d.receive(ctx, i); err != nil {
				return err
			}
			lines, err = d.lines(i)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		sum.Write(lines)
		if _, err := w.Write(lines); err != nil {
			return err
		}
	}
	if hex.EncodeToString(sum.Sum(nil)) != d.manifest.Lines.SHA256 {
		return invalid("data", "the digest of the passages differs from the manifest")
	}
	return w.Flush()
}

// lines returns the lines of chunk i, the next one.
func (d *download) lines(i int) ([]byte, error) {
	c := &d.table.Chunks[i]
	if lines := d.library.read(c); lines != nil {
		d.decoder.skip(lines)
		return lines, nil
	}
	if int64(cap(d.frame)) < c.compressed {
		d.frame = make([]byte, c.compressed)
	}
	frame := d.frame[:c.compressed]
	_, err := d.staging.ReadAt(frame, c.data)
	if err != nil {
		return nil, err
	}
	lines, err := d.decoder.decode(c, frame)
	if err != nil {
		return nil, invalid("data", "chunk %d: %v", i, err)
	}
	return lines, nil
}

// A span is a range of the data.
type span struct{ from, to int64 }

// receive requests the chunks from number i on that are not in the library.
func (d *download) receive(ctx context.Context, i int) error {
	var spans []span
	for ; i < len(d.table.Chunks); i++ {
		c := &d.table.Chunks[i]
		if d.library.read(c) != nil {
			continue
		}
		d.total += c.compressed
		if n := len(spans) - 1; n >= 0 && spans[n].to == c.data {
			spans[n].to += c.compressed
		} else {
			spans = append(spans, span{c.data, c.data + c.compressed})
		}
	}
	if len(spans) == 0 {
		return nil
	}
	// The first request shows whether the server supports ranges.
	whole, err := d.request(ctx, spans[0], true)
	if err != nil || whole {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(connections)
	for _, s := range spans[1:] {
		g.Go(func() error {
			_, err := d.request(ctx, s, false)
			return err
		})
	}
	return g.Wait()
}

// request copies a span of the data to the staging file. It continues after broken
// connections. If the server sends all of the data instead of a span, the first request
// copies all of it, and whole is true.
func (d *download) request(ctx context.Context, s span, first bool) (whole bool, err error) {
	err = retry(ctx, func() (bool, error) {
		body, start, err := d.origin.Data(ctx, s.from, s.to-s.from)
		if err != nil {
			return false, err
		}
		defer body.Close()
		if start == 0 && s.from > 0 && first {
			_, err := d.copy(body, span{0, d.table.data})
			whole = err == nil
			return false, err
		}
		if _, err := io.CopyN(io.Discard, body, s.from-start); err != nil {
			return false, err
		}
		n, err := d.copy(body, s)
		s.from += n
		return n > 0, err
	})
	return whole, err
}

// copy copies a span from the reader to the staging file.
func (d *download) copy(r io.Reader, s span) (int64, error) {
	n, err := io.Copy(io.NewOffsetWriter(d.staging, s.from), &reported{io.LimitReader(r, s.to-s.from), d})
	if err == nil && n < s.to-s.from {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// reported is a reader that counts and reports the received bytes.
type reported struct {
	io.Reader
	d *download
}

func (r *reported) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.d.report.Show(progress.Event{Stage: "downloading", Done: r.d.done.Add(int64(n)), Total: r.d.total})
	return n, err
}

// Package archive unpacks documentation archives: zip, and tar uncompressed or
// compressed with gzip, zstd, xz or bzip2.
//
// Archives are untrusted. Everything goes into one folder: names that lead out
// of it, links, devices and unwanted files are skipped with a reason. The
// number of files, their sizes and their total size are limited, whatever the
// archive's headers declare.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ulikunitz/xz"

	"github.com/docsearch/docsearch/internal/file/execpath"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/progress"
)

// Limits bound the contents of an archive.
type Limits struct {
	Files int   // unpacked files
	Bytes int64 // of all unpacked files
	Read  int64 // all decompressed bytes, wanted or not
	Depth int   // nesting of folders
}

// DefaultLimits are the limits for documentation.
func DefaultLimits() Limits { return Limits{Files: 500_000, Bytes: 8 << 30, Read: 16 << 30, Depth: 64} }

// Options configure an Extract.
type Options struct {
	Limits Limits
	Perm   fs.FileMode // of the files; 0: the default
	// Want returns the reason to skip a file, or ""; nil: unpack all files.
	Want func(name string, size int64) string
	// Report receives the number of unpacked files.
	Report func(files int)
}

// Is reports whether a file name is that of an archive.
func Is(name string) bool {
	f, _ := formatOf(name)
	return f != nil
}

// Stem returns an archive's name without its extension.
func Stem(name string) string {
	_, stem := formatOf(filepath.Base(name))
	return stem
}

type format struct {
	ending string
	open   func(context.Context, io.Reader) (io.Reader, error) // nil: zip
}

var formats = [...]format{
	{".zip", nil},
	{".tar", func(_ context.Context, r io.Reader) (io.Reader, error) { return r, nil }},
	{".tar.gz", openGzip}, {".tgz", openGzip},
	{".tar.zst", openZstd}, {".tzst", openZstd},
	{".tar.xz", openXZ}, {".txz", openXZ},
	{".tar.bz2", openBzip2}, {".tbz2", openBzip2},
}

func openGzip(_ context.Context, r io.Reader) (io.Reader, error)  { return gzip.NewReader(r) }
func openBzip2(_ context.Context, r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }
func openXZ(_ context.Context, r io.Reader) (io.Reader, error) {
	return xz.ReaderConfig{DictCap: maxWindow}.NewReader(r)
}

// openZstd decompresses with the zstd on the PATH: the Go library would add 0.2
// ms to every start of the program, including the hook's.
func openZstd(ctx context.Context, r io.Reader) (io.Reader, error) {
	program, err := execpath.Find("zstd")
	if err != nil {
		return nil, errors.New("zstd not found on PATH")
	}
	cmd := exec.CommandContext(ctx, program, "-dcq", fmt.Sprintf("--memory=%d", maxWindow))
	cmd.Stdin = r
	cmd.WaitDelay = time.Second
	c := &command{cmd: cmd}
	cmd.Stderr = &c.stderr
	if c.Reader, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return c, cmd.Start()
}

// A command reads the output of a program. At the end, it returns an error if
// the program failed.
type command struct {
	io.Reader
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  bool
}

func (c *command) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF && !c.ended {
		c.ended = true
		if failed := c.cmd.Wait(); failed != nil {
			err = fmt.Errorf("zstd: %w: %s", failed, bytes.TrimSpace(c.stderr.Bytes()))
		}
	}
	return n, err
}

func (c *command) Close() error {
	if !c.ended {
		c.cmd.Process.Kill()
		c.cmd.Wait()
	}
	return nil
}

// maxWindow bounds the memory that a compressed archive can require.
const maxWindow = 128 << 20

// formatOf returns the format of an archive, or nil, and its name without the extension.
func formatOf(name string) (f *format, stem string) {
	for i := range formats {
		ending := formats[i].ending
		if n := len(name) - len(ending); n > 0 && strings.EqualFold(name[n:], ending) {
			return &formats[i], name[:n]
		}
	}
	return nil, name
}

// A LimitError reports that an archive exceeds a limit.
type LimitError struct {
	Archive, Problem string
}

func (e *LimitError) Error() string { return fmt.Sprintf("%s: %s", e.Archive, e.Problem) }

// Extract unpacks the archive at path into the folder root, and lists the
// skipped files.
func Extract(ctx context.Context, path string, root *os.Root, opt Options) ([]generation.Skipped, error) {
	f, _ := formatOf(path)
	if f == nil {
		return nil, fmt.Errorf("unsupported archive %s", path)
	}
	x := &extractor{ctx: ctx, archive: path, root: root, opt: opt}
	var err error
	if f.open == nil {
		err = x.zip()
	} else {
		err = x.tar(f.open)
	}
	return x.skipped, err
}

type extractor struct {
	ctx     context.Context
	archive string
	root    *os.Root
	opt     Options
	entries int
	files   int
	bytes   int64
	skipped []generation.Skipped
}

func (x *extractor) skip(name, format string, args ...any) {
	const longest = 300
	x.skipped = append(x.skipped, generation.Skipped{Name: strings.ToValidUTF8(name[:min(len(name), longest)], "?"),
		Reason: fmt.Sprintf(format, args...)})
}

func (x *extractor) limit(format string, args ...any) error {
	return &LimitError{x.archive, fmt.Sprintf(format, args...)}
}

func (x *extractor) zip() error {
	z, err := zip.OpenReader(x.archive)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // such names are handled below
		return fmt.Errorf("%s: %w", x.archive, err)
	}
	defer z.Close()
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			x.skip(f.Name, "encrypted")
			continue
		}
		if err := x.entry(f.Name, f.Mode(), int64(f.UncompressedSize64), f.Open); err != nil {
			return err
		}
	}
	return nil
}

func (x *extractor) tar(open func(context.Context, io.Reader) (io.Reader, error)) error {
	f, err := os.Open(x.archive)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := open(x.ctx, bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		return fmt.Errorf("%s: %w", x.archive, err)
	}
	if c, ok := r.(*command); ok {
		defer c.Close()
	}
	limited := &limitedReader{x: x, r: r, left: x.opt.Limits.Read}
	t := tar.NewReader(limited)
	for {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case limited.err != nil:
			return limited.err
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return fmt.Errorf("%s: %w", x.archive, err)
		}
		mode := h.FileInfo().Mode()
		switch h.Typeflag {
		case tar.TypeXGlobalHeader:
			continue
		case tar.TypeLink:
			mode |= fs.ModeSymlink
		}
		if err := x.entry(h.Name, mode, h.Size, func() (io.ReadCloser, error) { return io.NopCloser(t), nil }); err != nil {
			if limited.err != nil {
				return limited.err
			}
			return err
		}
	}
}

// A limitedReader returns an error at its limit instead of io.EOF.
type limitedReader struct {
	x    *extractor
	r    io.Reader
	left int64
	err  error
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.err = l.x.ctx.Err(); l.err != nil {
		return 0, l.err
	}
	if l.left <= 0 {
		l.err = l.x.limit("decompresses to more than %d MiB", l.x.opt.Limits.Read>>20)
		return 0, l.err
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// entry unpacks an entry of the archive.
func (x *extractor) entry(name string, mode fs.FileMode, size int64, open func() (io.ReadCloser, error)) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	if x.entries++; x.entries > 4*x.opt.Limits.Files {
		return x.limit("has more than %d entries", 4*x.opt.Limits.Files)
	}
	local, why := Local(name, x.opt.Limits.Depth)
	switch {
	case why != "":
		x.skip(name, "%s", why)
		return nil
	case mode.IsDir() || strings.HasSuffix(name, "/") || local == ".":
		return nil // created when a file in it is written
	case mode&fs.ModeSymlink != 0:
		x.skip(name, "a link")
		return nil
	case !mode.IsRegular():
		x.skip(name, "not a regular file")
		return nil
	}
	if x.opt.Want != nil {
		if why := x.opt.Want(local, size); why != "" {
			x.skip(local, "%s", why)
			return nil
		}
	}
	if x.files++; x.files > x.opt.Limits.Files {
		return x.limit("contains more than %d files", x.opt.Limits.Files)
	}
	r, err := open()
	if err != nil {
		x.skip(local, "%v", err)
		return nil
	}
	defer r.Close()
	return x.write(local, r)
}

// Local returns the path below a folder for an untrusted name, or the reason to
// reject it: it leads out of the folder, is invalid on this system, or has more
// than depth folders.
func Local(name string, depth int) (local, why string) {
	slashed := strings.ReplaceAll(name, `\`, "/")
	switch {
	case slashed == "" || strings.ContainsRune(slashed, 0):
		return "", "invalid name"
	case slashed[0] == '/' || len(slashed) > 1 && slashed[1] == ':':
		return "", "absolute path"
	}
	for element := range strings.SplitSeq(slashed, "/") {
		if element == ".." {
			return "", "path outside the archive"
		}
	}
	local = path.Clean(slashed)
	switch {
	case !filepath.IsLocal(filepath.FromSlash(local)):
		return "", "invalid file name"
	case strings.Count(local, "/") >= depth:
		return "", fmt.Sprintf("nested more than %d folders deep", depth)
	}
	return local, ""
}

// write writes a file. If the archive is corrupt, the file is skipped.
func (x *extractor) write(name string, r io.Reader) error {
	if dir := path.Dir(name); dir != "." {
		if err := x.root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			x.skip(name, "%v", source.WithoutPath(err))
			return nil
		}
	}
	// Never write through an existing file: names may repeat.
	f, err := x.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, cmp.Or(x.opt.Perm, 0o644))
	if errors.Is(err, fs.ErrExist) {
		x.skip(name, "duplicate file name in the archive")
		return nil
	}
	if err != nil {
		x.skip(name, "%v", source.WithoutPath(err))
		return nil
	}
	left := x.opt.Limits.Bytes - x.bytes
	n, err := io.Copy(f, io.LimitReader(progress.Interruptible(x.ctx, r), left+1))
	x.bytes += n
	if closed := f.Close(); closed != nil {
		return closed
	}
	if n > left {
		return x.limit("unpacks to more than %d MiB", x.opt.Limits.Bytes>>20)
	}
	if x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	if err != nil {
		var full *fs.PathError
		if errors.As(err, &full) { // disk error
			return err
		}
		x.skip(name, "corrupt: %v", err)
		return x.root.Remove(filepath.FromSlash(name))
	}
	if x.opt.Report != nil {
		x.opt.Report(x.files)
	}
	return nil
}

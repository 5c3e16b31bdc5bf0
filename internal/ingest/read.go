package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A folderReader makes passages of the files in a folder.
type folderReader struct {
	root  *os.Root
	terms map[string][]string // what the folder's own index calls its places
}

// A result is what was read of one file.
type result struct {
	name    string
	info    fs.FileInfo // nil: it could not be opened
	lines   []byte      // of the passages file
	skipped []disk.Skipped
}

func (r *result) skip(name, format string, args ...any) {
	r.skipped = append(r.skipped, disk.Skipped{Name: name, Why: fmt.Sprintf(format, args...)})
}

// all reads the files, several at once, and yields them in their order. It ends
// early when ctx does.
func (r *folderReader) all(ctx context.Context, files []string) iter.Seq[result] {
	return func(yield func(result) bool) {
		// One that is long in the reading must not stop the others: some may
		// wait, read, for their turn.
		ahead := 16 * runtime.GOMAXPROCS(0)
		workers := make(chan struct{}, runtime.GOMAXPROCS(0))
		pending := make([]chan result, 0, ahead)
		for next := 0; next < len(files) || len(pending) > 0; {
			for next < len(files) && len(pending) < ahead && ctx.Err() == nil {
				done := make(chan result, 1)
				pending = append(pending, done)
				name := files[next]
				next++
				go func() {
					workers <- struct{}{}
					defer func() { <-workers }()
					done <- r.read(name)
				}()
			}
			if len(pending) == 0 {
				return
			}
			first := <-pending[0]
			pending = append(pending[:0], pending[1:]...)
			if !yield(first) {
				for _, p := range pending {
					<-p // the folder must not be closed under a reader
				}
				return
			}
		}
	}
}

// read makes passages of one file. What is wrong with the file is skipped.
func (r *folderReader) read(name string) result {
	res := result{name: name}
	data, info, err := readFile(r.root, name)
	res.info = info
	if err != nil {
		res.skip(name, "%v", err)
		return res
	}
	doc, err := readerOf(name)(data, name)
	if err != nil {
		res.skip(name, "%v", err)
		return res
	}
	if doc.title == "" {
		doc.title = titleFromName(name)
	}
	passages, notes := cut(doc)
	for _, n := range notes {
		res.skip(name+n.place, "%s", n.text)
	}
	seen := map[string]int{}
	for i := range passages {
		p := &passages[i]
		p.Path, p.Title = name, doc.title
		p.ID = identify(p, seen)
		r.addTerms(p, i == 0)
		before := len(res.lines)
		res.lines = p.AppendLine(res.lines)
		if n := len(res.lines) - before; n > passage.MaxLine {
			res.lines = res.lines[:before]
			res.skip(p.Locator(), "a passage of %d bytes is longer than one may be (%d)", n, passage.MaxLine)
		}
	}
	return res
}

// identify makes the passage's id: of the path, the headings and the text, so
// that it stays the same as long as they do, whatever else changes around it.
// seen counts the document's passages that are alike in all of these.
func identify(p *passage.Passage, seen map[string]int) string {
	parts := append([]string{p.Path}, p.Headings...)
	parts = append(parts, p.Text)
	key := strings.Join(parts, "\x00")
	if n := seen[key]; n > 0 {
		parts = append(parts, strconv.Itoa(n))
	}
	seen[key]++
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// readFile reads a file. What it knows of it it returns even if it cannot be
// read.
func readFile(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, nil, reason(err)
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, reason(err)
	case !st.Mode().IsRegular():
		return nil, st, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, st, reason(err)
	case len(data) > maxFile:
		return nil, st, fmt.Errorf("longer than %d MiB", maxFile>>20)
	}
	return data, st, nil
}

// clean makes text of a file's bytes, UTF-8 with newlines alone as line ends, or
// says why they are none.
func clean(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("empty")
	case bytes.IndexByte(data, 0) >= 0:
		return nil, errors.New("binary")
	case !utf8.Valid(data):
		return nil, errors.New("not UTF-8")
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), nil
}

// reason is err without the path, which stands beside it already.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func titleFromName(name string) string {
	base := name[strings.LastIndexByte(name, '/')+1:]
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	return strings.Join(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
}

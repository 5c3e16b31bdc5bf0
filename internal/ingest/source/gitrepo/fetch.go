package gitrepo

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/execpath"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/archive"
)

// Options configure a Fetch.
type Options struct {
	// Want returns the reason to skip a file, or ""; nil: copy all files. The
	// size is 0 if it is unknown.
	Want func(name string, size int64) string
	// Needs returns the paths of further files that the copied ones include, and that Want
	// may refuse; nil: none. It is asked again after these are copied.
	Needs func(copied *os.Root) []string
	// Limits bound the contents of a repository. Bytes applies separately to
	// the compressed transfer and to the files.
	Limits archive.Limits
	// Perm is the mode of the files; 0: 0o644.
	Perm fs.FileMode
	// Report receives the number of written files.
	Report func(files int)
}

// Fetch copies the wanted files of the repository's commit to the folder dir
// and removes all others. It returns the commit and the skipped files. It works
// in a second folder whose name ends in ".new" and removes that folder at the
// end. The parent of both must exist and must not be a link. If Fetch fails,
// dir may have files of both commits; the next Fetch repairs that.
func Fetch(ctx context.Context, r Repo, dir confined.Path,
	opt Options) (commit string, skipped []generation.Skipped, err error) {
	if _, ok := Parse(r.String()); !ok {
		return "", nil, ErrNoURL
	}
	if u, err := url.Parse(r.URL); err == nil && u.User != nil {
		if _, ok := u.User.Password(); ok {
			return "", nil, ErrPassword
		}
	}
	program, err := execpath.Find("git")
	if err != nil {
		return "", nil, ErrNoGit
	}
	if opt.Limits == (archive.Limits{}) {
		opt.Limits = archive.DefaultLimits()
	}
	opt.Perm = cmp.Or(opt.Perm, 0o644)
	fresh := dir.Parent().Join(dir.Base() + ".new")
	f := &fetcher{git: git{program: program, dir: fresh.String()}, repo: r, opt: opt, files: map[string]string{},
		others: map[string]string{}, needed: map[string]bool{}}
	if err := fresh.RemoveAll(); err != nil {
		return "", nil, err
	}
	if err := fresh.Mkdir(0o700); err != nil { // it may contain proxy settings
		return "", nil, err
	}
	defer func() { err = errors.Join(err, fresh.RemoveAll()) }()
	if err := f.git.create(ctx, r); err != nil {
		return "", nil, err
	}
	if commit, err = f.fetchTrees(ctx); err != nil {
		return "", nil, err
	}
	if err := f.list(ctx, commit); err != nil {
		return "", nil, err
	}
	if err := dir.MakeFolder(0o755); err != nil {
		return "", nil, err
	}
	if f.root, err = dir.OpenFolder(); err != nil {
		return "", nil, err
	}
	defer f.root.Close()
	missing, err := f.prune(ctx)
	if err == nil {
		err = f.fetchFiles(ctx, commit, missing)
	}
	if err == nil && opt.Needs != nil {
		err = f.fetchNeeded(ctx, commit)
		f.skipped = slices.DeleteFunc(f.skipped, func(s generation.Skipped) bool { return f.needed[s.Name] })
	}
	return commit, f.skipped, err
}

type fetcher struct {
	git     git
	repo    Repo
	opt     Options
	root    *os.Root
	files   map[string]string // hashes of the wanted files, by slash-separated path
	others  map[string]string // hashes of the files that Want refused
	needed  map[string]bool   // files that Want refused and others include
	skipped []generation.Skipped
}

func (f *fetcher) skip(name, why string) {
	const longest = 300
	f.skipped = append(f.skipped, generation.Skipped{Name: strings.ToValidUTF8(name[:min(len(name), longest)], "?"),
		Reason: why})
}

func (f *fetcher) limit(format string, args ...any) error {
	return &archive.LimitError{Archive: f.repo.String(), Problem: fmt.Sprintf(format, args...)}
}

// fetchTrees fetches the commit and its trees, and the files too if the server
// cannot omit them. It returns the commit.
func (f *fetcher) fetchTrees(ctx context.Context) (string, error) {
	ref, err := f.ref(ctx)
	if err != nil {
		return "", err
	}
	err = f.transfer(ctx, nil, "--depth=1", "--filter=blob:none", "--end-of-options", "origin", ref)
	if err != nil {
		return "", fmt.Errorf("cannot fetch %s: %w", f.repo, err)
	}
	return f.git.output(ctx, "rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}")
}

// ref returns the ref to fetch. For a tag pattern, it asks the server for its
// tags and returns the one with the highest version.
func (f *fetcher) ref(ctx context.Context) (string, error) {
	if !isPattern(f.repo.Ref) {
		return cmp.Or(f.repo.Ref, "HEAD"), nil
	}
	latest := ""
	err := f.git.stream(ctx, isolated(f.repo.protocol()), nil, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			_, tag, _ := strings.Cut(lines.Text(), "\trefs/tags/")
			if matches(f.repo.Ref, tag) {
				latest = tag // git sorts by version
			}
		}
		return lines.Err()
	}, "ls-remote", "--quiet", "--tags", "--refs", "--sort=version:refname", "--end-of-options", "origin",
		"refs/tags/"+f.repo.Ref, "refs/tags/"+shortest(f.repo.Ref))
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot list the tags of %s: %w", f.repo.URL, err)
	case latest == "":
		return "", fmt.Errorf("cannot fetch %s: no tag matches", f.repo)
	}
	return "refs/tags/" + latest, nil
}

// transfer runs git fetch, up to the byte limit: it checks the size during the transfer, and
// once more after one that is shorter than the interval.
func (f *fetcher) transfer(ctx context.Context, input io.Reader, args ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if err := f.checkSize(); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	args = append([]string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"},
		args...)
	err := f.git.stream(ctx, isolated(f.repo.protocol()), input, func(out io.Reader) error {
		_, err := io.Copy(io.Discard, out)
		return err
	}, args...)
	return cmp.Or(err, f.checkSize())
}

// checkSize returns an error if the copy of the repository exceeds the byte limit.
func (f *fetcher) checkSize() error {
	if sizeOf(f.git.dir) > f.opt.Limits.Bytes {
		return f.limit("transfer exceeds %d MiB", f.opt.Limits.Bytes>>20)
	}
	return nil
}

// sizeOf returns the total size of the files below a folder.
func sizeOf(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed in the meantime
		}
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() {
			n += st.Size()
		}
		return nil
	})
	return n
}

// list lists the wanted files of the commit.
func (f *fetcher) list(ctx context.Context, commit string) error {
	taken := map[string]bool{}
	return f.git.stream(ctx, isolated(""), nil, func(out io.Reader) error {
		in := bufio.NewReaderSize(out, 64<<10)
		for n := 0; ; n++ {
			entry, err := in.ReadString(0)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			// A few trees that contain one another can expand to any number of
			// files.
			if n > 4*f.opt.Limits.Files {
				return f.limit("contains more than %d files", 4*f.opt.Limits.Files)
			}
			e, err := parseEntry(strings.TrimSuffix(entry, "\x00"))
			if err != nil {
				return err
			}
			name, why := f.wanted(e)
			key := name
			if foldsNames() {
				key = strings.ToLower(name)
			}
			if why == "" && taken[key] {
				why = "duplicate file name on this file system"
			}
			if why != "" {
				f.skip(e.name, why)
				if name != "" && f.opt.Needs != nil {
					f.others[name] = e.hash
				}
				continue
			}
			taken[key] = true
			if f.files[name] = e.hash; len(f.files) > f.opt.Limits.Files {
				return f.limit("contains more than %d files", f.opt.Limits.Files)
			}
		}
	}, "ls-tree", "-r", "-z", "--full-tree", commit)
}

// foldsNames reports whether file names are case-insensitive on this system.
func foldsNames() bool { return runtime.GOOS == "windows" || runtime.GOOS == "darwin" }

// An entry is a file of a commit.
type entry struct{ mode, hash, name string }

// parseEntry parses an entry of git ls-tree: "100644 blob 3fa9...\tdocs/a.md".
func parseEntry(s string) (entry, error) {
	meta, name, ok := strings.Cut(s, "\t")
	fields := strings.Split(meta, " ")
	if !ok || len(fields) != 3 || !isHash(fields[2]) {
		return entry{}, fmt.Errorf("invalid git ls-tree output %.100q", s)
	}
	return entry{fields[0], fields[2], name}, nil
}

func isHash(s string) bool {
	return len(s) == 2*sha1.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// wanted returns the path of an entry, or the reason to skip it.
func (f *fetcher) wanted(e entry) (name, why string) {
	name, why = archive.Local(e.name, f.opt.Limits.Depth)
	switch {
	case why != "":
		return "", why
	case e.mode == "120000":
		return "", "a link"
	case e.mode == "160000":
		return "", "a submodule"
	case e.mode != "100644" && e.mode != "100755" && e.mode != "100664":
		return "", "not a regular file"
	case f.opt.Want != nil:
		return name, f.opt.Want(name, 0)
	}
	return name, ""
}

// prune removes all but the wanted files from the folder, and returns the paths
// of missing and changed ones.
func (f *fetcher) prune(ctx context.Context) (missing []string, err error) {
	folders := map[string]bool{".": true}
	for _, files := range []map[string]string{f.files, f.others} {
		for name := range files {
			for i, c := range name {
				if c == '/' {
					folders[name[:i]] = true
				}
			}
		}
	}
	there := map[string]bool{}
	err = fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		hash := f.files[name]
		switch {
		case d.IsDir() && folders[name]:
			return nil
		case d.Type().IsRegular() && hash != "":
			there[name] = f.hashOf(name) == hash
			return nil
		case d.Type().IsRegular() && f.others[name] != "" && f.hashOf(name) == f.others[name]:
			f.need(name) // by an earlier fetch
			there[name] = true
			return nil
		}
		if err := f.root.RemoveAll(filepath.FromSlash(name)); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	for name := range f.files {
		if !there[name] {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing, err
}

// hashOf returns git's hash of a file in the folder, "" if the file is
// unreadable or has wider access rights than allowed.
func (f *fetcher) hashOf(name string) string {
	in, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return ""
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil || runtime.GOOS != "windows" && st.Mode().Perm()&^f.opt.Perm != 0 {
		return ""
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", st.Size())
	if n, err := io.Copy(h, in); err != nil || n != st.Size() {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fetchFiles fetches the contents of files and writes them.
func (f *fetcher) fetchFiles(ctx context.Context, commit string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if err := f.fetchBlobs(ctx, commit, names); err != nil {
		return fmt.Errorf("cannot fetch the files of %s: %w", f.repo, err)
	}
	names, err := f.withinLimits(ctx, names)
	if err != nil || len(names) == 0 {
		return err
	}
	return f.git.stream(ctx, isolated(""), f.hashes(names), func(out io.Reader) error {
		in := bufio.NewReaderSize(out, 256<<10)
		for i, name := range names {
			size, err := blobSize(in, f.files[name])
			if err != nil {
				return err
			}
			if err := f.write(name, io.LimitReader(in, size), size); err != nil {
				return err
			}
			if _, err := in.Discard(1); err != nil { // newline
				return err
			}
			if f.opt.Report != nil {
				f.opt.Report(i + 1)
			}
		}
		return nil
	}, "cat-file", "--batch", "--buffer")
}

// maxNeeded is the maximum size of a file that others include, in bytes.
const maxNeeded = 1 << 20

// fetchNeeded fetches the files that the copied ones include.
func (f *fetcher) fetchNeeded(ctx context.Context, commit string) error {
	const rounds = 4 // an included file may include others
	for range rounds {
		var names []string
		for _, name := range f.opt.Needs(f.root) {
			if f.others[name] != "" {
				f.need(name)
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return nil
		}
		if err := f.fetchFiles(ctx, commit, names); err != nil {
			return err
		}
	}
	return nil
}

// need makes a refused file a wanted one.
func (f *fetcher) need(name string) {
	f.files[name], f.needed[name] = f.others[name], true
	delete(f.others, name)
}

// hashes returns the hashes of files, one per line.
func (f *fetcher) hashes(names []string) io.Reader {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(f.files[name] + "\n")
	}
	return strings.NewReader(b.String())
}

// fetchBlobs fetches the contents that did not come with the commit.
func (f *fetcher) fetchBlobs(ctx context.Context, commit string, names []string) error {
	absent := map[string]bool{}
	err := f.git.stream(ctx, isolated(""), nil, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if hash, ok := strings.CutPrefix(lines.Text(), "?"); ok {
				absent[hash] = true
			}
		}
		return lines.Err()
	}, "rev-list", "--objects", "--no-object-names", "--missing=print", commit, "--")
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !absent[f.files[name]] })
	if len(names) == 0 {
		return nil
	}
	return f.transfer(ctx, f.hashes(names), "--filter=blob:none", "--no-write-fetch-head", "--stdin", "origin")
}

// withinLimits returns the names of the files within the limits.
func (f *fetcher) withinLimits(ctx context.Context, names []string) ([]string, error) {
	var kept []string
	total := int64(0)
	err := f.git.stream(ctx, isolated(""), f.hashes(names), func(out io.Reader) error {
		in := bufio.NewReader(out)
		for _, name := range names {
			size, err := blobSize(in, f.files[name])
			if err != nil {
				return err
			}
			if f.needed[name] && size > maxNeeded {
				f.skip(name, fmt.Sprintf("larger than %d MiB", maxNeeded>>20))
				continue
			}
			if f.opt.Want != nil && !f.needed[name] {
				if why := f.opt.Want(name, size); why != "" {
					f.skip(name, why)
					continue
				}
			}
			if total += size; total > f.opt.Limits.Bytes {
				return f.limit("its files exceed %d MiB", f.opt.Limits.Bytes>>20)
			}
			kept = append(kept, name)
		}
		return nil
	}, "cat-file", "--batch-check", "--buffer")
	return kept, err
}

// blobSize parses a header of git cat-file: "3fa9... blob 120".
func blobSize(in *bufio.Reader, hash string) (int64, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("git cat-file: %w", io.ErrUnexpectedEOF)
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != hash || fields[1] != "blob" {
		return 0, fmt.Errorf("the server did not send the file %s", hash)
	}
	n, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("invalid git cat-file output %q", line)
	}
	return n, nil
}

// write writes a file of that size.
func (f *fetcher) write(name string, contents io.Reader, size int64) error {
	path := filepath.FromSlash(name)
	err := errors.Join(f.root.MkdirAll(filepath.Dir(path), 0o755), f.root.RemoveAll(path))
	var out *os.File
	if err == nil {
		out, err = f.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.opt.Perm)
	}
	if err != nil { // the file system rejects the name
		f.skip(name, source.WithoutPath(err).Error())
		_, err := io.Copy(io.Discard, contents)
		return err
	}
	n, err := io.Copy(out, contents)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, out.Close())
}

package generation

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/index/container"
)

// ErrBusy is wrapped by the error of Begin if another build is running.
var ErrBusy = errors.New("another build is running")

// A Build is a new generation that is being written. It holds the database's build
// lock.
type Build struct {
	Generation string
	Dir        confined.Path // folder of the new generation
	First      bool          // the database has no manifest yet

	folder     confined.Path // <database>/docsearch
	lock       *filelock.Lock
	perm       fs.FileMode // of the generation's files
	folderPerm fs.FileMode // of its folder
	checksums  map[string]FileInfo
	ended      bool

	syncing sync.WaitGroup
	mu      sync.Mutex
	synced  map[string]error
}

// Begin starts the next generation of the database in folder dir, which must exist. It
// waits up to timeout for another build to end. After that, its error wraps ErrBusy and
// contains the process that holds the lock.
func Begin(dir string, timeout time.Duration) (*Build, error) {
	folder := folderOf(dir)
	lock, err := acquire(folder, timeout)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: %w%s", dir, ErrBusy, lockHolder(folder))
	}
	if err != nil {
		folder.Remove() // fails unless it is new
		return nil, err
	}
	b, err := begin(folder, lock)
	if err != nil {
		lock.Unlock()
	}
	return b, err
}

// acquire takes the build lock and creates its folder if necessary. It retries because
// a failing build may remove the folder in between.
func acquire(folder confined.Path, timeout time.Duration) (lock *filelock.Lock, err error) {
	const tries = 100
	deadline := time.Now().Add(timeout)
	for range tries {
		if err := folder.MakeFolder(0o755); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if lock, err = filelock.AcquireIn(folder.Join(lockName), time.Until(deadline)); !errors.Is(err,
			fs.ErrNotExist) {
			break
		}
	}
	return lock, err
}

func begin(folder confined.Path, lock *filelock.Lock) (*Build, error) {
	if err := lock.File().Truncate(0); err != nil {
		return nil, err
	}
	who := fmt.Appendf(nil, "process %d%s since %s\n", os.Getpid(), onThisHost(), time.Now().Format(time.RFC3339))
	if _, err := lock.File().WriteAt(who, 0); err != nil {
		return nil, err
	}
	manifest := folder.Join(manifestName)
	if err := manifest.Clean(); err != nil {
		return nil, err
	}
	_, err := manifest.Lstat()
	first := errors.Is(err, fs.ErrNotExist)
	if err != nil && !first {
		return nil, err // not a first build, which Abort would remove
	}
	entries, err := folder.ReadDir()
	if err != nil {
		return nil, err
	}
	newest := 0
	for _, e := range entries {
		newest = max(newest, generationNumber(e.Name()))
	}
	b := &Build{Generation: fmt.Sprintf("g%06d", newest+1), First: first, folder: folder, lock: lock}
	b.Dir = folder.Join(b.Generation)
	return b, b.makeFolder()
}

// makeFolder creates the generation's folder, accessible only to the owner until
// Commit, because the permissions of its files are not yet known. The mode of the new
// folder shows the umask, which also applies to the files.
func (b *Build) makeFolder() error {
	if err := b.Dir.Mkdir(0o777); err != nil {
		return err
	}
	st, err := b.Dir.Lstat()
	if err != nil {
		return err
	}
	b.folderPerm, b.perm = st.Mode().Perm()&0o755, st.Mode().Perm()&newFilePerm
	return setPerm(b.Dir, 0o700)
}

// LimitPerm limits the permissions of the generation's files to those of the source
// (see Perm).
func (b *Build) LimitPerm(perm fs.FileMode) { b.perm &= perm }

// Perm returns the mode of the generation's files and of files derived from them.
func (b *Build) Perm() fs.FileMode { return b.perm }

// onThisHost returns the part of a lock text that identifies this machine.
func onThisHost() string {
	host, _ := os.Hostname()
	return " on " + host
}

// lockHolder returns the text of the build lock that identifies its holder, or "".
func lockHolder(folder confined.Path) string {
	data, err := folder.Join(lockName).Read(4096)
	if err != nil || len(data) == 0 {
		return ""
	}
	return ": " + string(bytes.TrimSpace(data))
}

// File returns a file of the new generation.
func (b *Build) File(name string) confined.Path { return b.Dir.Join(name) }

// BeginSync starts to sync a completely written file in the background. Commit syncs
// all files, but a large file takes long, and other work can continue meanwhile.
func (b *Build) BeginSync(name string) {
	b.syncing.Go(func() {
		err := b.File(name).Sync()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.synced == nil {
			b.synced = make(map[string]error)
		}
		b.synced[name] = err
	})
}

// SetChecksum passes the size and checksum of a file to Commit, which then need not
// read the file.
func (b *Build) SetChecksum(name string, size int64, sum uint32) {
	if b.checksums == nil {
		b.checksums = make(map[string]FileInfo)
	}
	b.checksums[name] = FileInfo{name, size, formatChecksum(sum)}
}

// A Publication is a set of files outside of the generation that are complete on disk,
// under temporary names.
type Publication interface {
	Publish() error // gives the files their names
	Discard()
}

// A LateError is an error that Commit met after the new generation became current. Both
// generations are usable then. Tidy and the next build do the rest.
type LateError struct{ Err error }

func (e *LateError) Error() string { return "the new index is in use, but " + e.Err.Error() }
func (e *LateError) Unwrap() error { return e.Err }

// Commit makes the new generation current and ends the build. It fills in the
// manifest's Format, Generation and Files. It calls stage, if not nil, after syncing all
// files, and publishes the result, if not nil, after it has replaced the manifest. On
// error the old generation stays current, except for a *LateError: nothing is undone once
// the manifest is replaced.
func (b *Build) Commit(m Manifest, stage func(*Manifest) (Publication, error)) (err error) {
	var p Publication
	defer func() {
		if err != nil && !b.ended {
			if p != nil {
				p.Discard()
			}
			b.Abort()
		}
	}()
	b.syncing.Wait()
	m.Generation = b.Generation
	if m.Files, err = b.finishFiles(); err != nil {
		return err
	}
	if err := errors.Join(setPerm(b.Dir, b.folderPerm), b.Dir.Sync(), b.folder.Sync()); err != nil {
		return err
	}
	if stage != nil {
		staged, err := stage(&m)
		if err != nil {
			return err
		}
		p = staged
	}
	if err := b.replaceManifest(m); err != nil {
		return err
	}
	b.ended = true
	return b.finish(b.Generation, p)
}

// replaceManifest makes the manifest's generation current.
func (b *Build) replaceManifest(m Manifest) error {
	m.Format = Format
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return b.folder.Join(manifestName).Replace(data, b.perm)
}

// finish ends a build that has replaced the manifest, which names generation current. If a
// step fails, the lock keeps its holder as if the build had been killed, so that Tidy does
// the rest.
func (b *Build) finish(current string, p Publication) error {
	// Until the new manifest is durable, a power failure may bring back the old one.
	err := b.folder.Sync()
	if err == nil {
		removeGenerations(b.folder, current)
	}
	if p != nil {
		err = errors.Join(err, p.Publish())
	}
	if err == nil {
		err = b.lock.File().Truncate(0)
	}
	if err = errors.Join(err, b.lock.Unlock()); err != nil {
		return &LateError{err}
	}
	return nil
}

// finishFiles finishes the generation's files, up to four at a time.
func (b *Build) finishFiles() ([]FileInfo, error) {
	entries, err := b.Dir.ReadDir()
	if err != nil {
		return nil, err
	}
	files := make([]FileInfo, len(entries))
	errs := make([]error, len(entries))
	var pending sync.WaitGroup
	turns := make(chan struct{}, 4)
	for i, e := range entries {
		turns <- struct{}{}
		pending.Go(func() {
			files[i], errs[i] = b.finishFile(e.Name())
			<-turns
		})
	}
	pending.Wait()
	return files, errors.Join(errs...)
}

// Confirm ends the build without a new generation, because the current one matched the
// source at time now. It removes permissions that the source no longer has, and publishes
// p, if not nil. Its error may be a *LateError, as that of Commit.
func (b *Build) Confirm(g Generation, now time.Time, p Publication) (err error) {
	defer func() {
		if err != nil && !b.ended {
			if p != nil {
				p.Discard()
			}
			b.Abort()
		}
	}()
	files := make([]confined.Path, 0, len(g.Files)+len(g.Published))
	for _, f := range g.Files {
		files = append(files, g.File(f.Name))
	}
	for _, f := range g.Published {
		files = append(files, confined.In(g.Dir.Dir).Join(f.Name))
	}
	for _, file := range files {
		if err := removePerm(file, b.perm); err != nil {
			return err
		}
	}
	m := g.Manifest
	m.Checked = now
	if err := b.replaceManifest(m); err != nil {
		return err
	}
	b.ended = true
	return b.finish(g.Generation, p)
}

// finishFile syncs a file, sets its mode and returns its manifest entry.
func (b *Build) finishFile(name string) (FileInfo, error) {
	file := b.File(name)
	err, synced := b.synced[name]
	if !synced {
		err = file.Sync()
	}
	if err == nil {
		err = setPerm(file, b.perm)
	}
	if err != nil {
		return FileInfo{}, err
	}
	if info, ok := b.checksums[name]; ok {
		return info, nil
	}
	if size, crc, ok := container.Sum(file); ok {
		return FileInfo{name, size, formatChecksum(crc)}, nil
	}
	size, crc, err := checksumFile(file, nil)
	return FileInfo{name, size, crc}, err
}

// Abort discards the new generation and ends the build. If it is a first build, nothing
// remains. After Commit, Abort does nothing, so it can be deferred.
func (b *Build) Abort() {
	if b.ended {
		return
	}
	b.ended = true
	b.syncing.Wait()
	b.Dir.RemoveAll()
	if b.First {
		removeGenerations(b.folder, "")
		removeFolder(b.folder, b.lock)
		return
	}
	unlock(b.lock)
}

// unlock clears the holder and releases the lock.
func unlock(lock *filelock.Lock) error {
	return errors.Join(lock.File().Truncate(0), lock.Unlock())
}

// removeFolder releases and removes the lock, and removes the derived folder unless it
// contains other files. It removes the lock file while holding the lock, so that
// waiting processes detect the removal and create a new one.
func removeFolder(folder confined.Path, lock *filelock.Lock) error {
	entries, err := folder.ReadDir()
	if err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		return errors.Join(err, unlock(lock))
	}
	err = errors.Join(folder.Join(lockName).Remove(), lock.Unlock())
	folder.Remove() // fails if the next build has started
	return err
}

// removeGeneration removes the files of a generation in parallel, because freeing their
// page cache takes time. It also removes a file or link with a generation's name,
// without following the link.
func removeGeneration(dir confined.Path) error {
	if dir.CheckFolder() == nil {
		entries, _ := dir.ReadDir()
		var pending sync.WaitGroup
		for _, e := range entries {
			pending.Go(func() { dir.Join(e.Name()).Remove() })
		}
		pending.Wait()
	}
	return dir.RemoveAll()
}

// generationNumber returns n for the name "g00000n", or 0 for other names.
func generationNumber(name string) int {
	digits, ok := strings.CutPrefix(name, "g")
	if !ok || len(digits) < 6 || len(digits) > 9 {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || digits[0] == '+' {
		return 0
	}
	return n
}

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

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/filelock"
	"github.com/docsearch/docsearch/internal/index/container"
)

// ErrBusy is wrapped by Begin's error when another build is at work.
var ErrBusy = errors.New("another build is running")

// A Build is a generation in the making. It holds the database's build lock.
type Build struct {
	Generation string
	Dir        confined.Path // where the new generation's files go
	First      bool          // the database has no manifest yet

	folder     confined.Path // the derived folder
	lock       *filelock.Lock
	perm       fs.FileMode // of the generation's files
	folderPerm fs.FileMode // of its folder
	known      map[string]FileInfo
	ended      bool

	syncing sync.WaitGroup
	mu      sync.Mutex
	synced  map[string]error
}

// Begin starts the next generation of the database in folder dir, which must
// exist. It waits up to timeout for another build to end; its error then
// wraps ErrBusy and says who is at work.
func Begin(dir string, timeout time.Duration) (*Build, error) {
	folder := folderOf(dir)
	lock, err := acquire(folder, timeout)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: %w%s", dir, ErrBusy, holder(folder))
	}
	if err != nil {
		return nil, err
	}
	b, err := begin(folder, lock)
	if err != nil {
		lock.Unlock()
	}
	return b, err
}

// acquire takes the build lock in a folder that it makes if there is none. A build
// that fails may remove the folder in between.
func acquire(folder confined.Path, timeout time.Duration) (lock *filelock.Lock, err error) {
	const tries = 100
	deadline := time.Now().Add(timeout)
	for range tries {
		if err := folder.MakeFolder(0o755); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if lock, err = filelock.AcquireIn(folder.Join(lockName), time.Until(deadline)); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return lock, err
}

func begin(folder confined.Path, lock *filelock.Lock) (*Build, error) {
	who := fmt.Sprintf("process %d%s since %s\n", os.Getpid(), onThisHost(), time.Now().Format(time.RFC3339))
	if err := errors.Join(lock.File().Truncate(0), writeAt(lock.File(), who)); err != nil {
		return nil, err
	}
	manifest := folder.Join(manifestName)
	if err := manifest.Clean(); err != nil {
		return nil, err
	}
	entries, err := folder.ReadDir()
	if err != nil {
		return nil, err
	}
	newest := 0
	for _, e := range entries {
		newest = max(newest, generationNumber(e.Name()))
	}
	b := &Build{Generation: fmt.Sprintf("g%06d", newest+1), First: !manifest.Exists(), folder: folder, lock: lock}
	b.Dir = folder.Join(b.Generation)
	return b, b.makeFolder()
}

// makeFolder makes the generation's folder, which nobody else may enter until
// Commit: what the rights of its files are to be is not known yet. What the umask
// leaves of the folder's own shows what it leaves of files.
func (b *Build) makeFolder() error {
	if err := b.Dir.Mkdir(0o777); err != nil {
		return err
	}
	st, err := b.Dir.Lstat()
	if err != nil {
		return err
	}
	b.folderPerm, b.perm = st.Mode().Perm()&0o755, st.Mode().Perm()&newRights
	return setPerm(b.Dir, 0o700)
}

// Limit takes from the rights of the generation's files what the source's do not
// have (see Rights).
func (b *Build) Limit(rights fs.FileMode) { b.perm &= rights }

// Perm is the mode of the generation's files, and of those that are made of them.
func (b *Build) Perm() fs.FileMode { return b.perm }

// onThisHost says which machine a process runs on.
func onThisHost() string {
	host, _ := os.Hostname()
	return " on " + host
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// holder says who has the build lock, as far as is known.
func holder(folder confined.Path) string {
	data, err := folder.Join(lockName).Read(4096)
	if err != nil || len(data) == 0 {
		return ""
	}
	return ": " + string(bytes.TrimSpace(data))
}

// File is one of the new generation's files.
func (b *Build) File(name string) confined.Path { return b.Dir.Join(name) }

// Path is the path of one of the new generation's files, for messages.
func (b *Build) Path(name string) string { return b.File(name).String() }

// BeginSync begins to make a file safe on disk that is written by now, and does
// not wait. Commit syncs all files; but a big one takes long, and need not be
// waited for where there is other work.
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

// SetChecksum tells Commit the size and the checksum of a file, which it need not read
// then.
func (b *Build) SetChecksum(name string, size int64, sum uint32) {
	if b.known == nil {
		b.known = make(map[string]FileInfo)
	}
	b.known[name] = FileInfo{name, size, formatSum(sum)}
}

// Commit makes the new generation the current one and ends the build. It fills in
// the manifest's Format, Generation and Files; publish, if not nil, runs when all
// files are safe on disk, just before the manifest is replaced. On error the
// old generation stays the current one.
func (b *Build) Commit(m Manifest, publish func(*Manifest) error) (err error) {
	defer func() {
		if err != nil {
			b.Abort()
		}
	}()
	b.syncing.Wait()
	m.Generation = b.Generation
	if m.Files, err = b.finishAll(); err != nil {
		return err
	}
	if err := errors.Join(setPerm(b.Dir, b.folderPerm), b.Dir.Sync(), b.folder.Sync()); err != nil {
		return err
	}
	if publish != nil {
		if err := publish(&m); err != nil {
			return err
		}
	}
	if err := b.writeManifest(m); err != nil {
		return err
	}
	b.ended = true
	removeOthers(b.folder, b.Generation)
	return unlock(b.lock)
}

// finishAll finishes the generation's files, some at a time.
func (b *Build) finishAll() ([]FileInfo, error) {
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
			files[i], errs[i] = b.finish(e.Name())
			<-turns
		})
	}
	pending.Wait()
	return files, errors.Join(errs...)
}

// Confirm ends the build without a new generation: now, the current one was found
// to be what the source says. Its files lose the rights that the source has lost.
func (b *Build) Confirm(g Generation, now time.Time) error {
	defer b.Abort()
	files := make([]confined.Path, 0, len(g.Files)+len(g.Published))
	for _, f := range g.Files {
		files = append(files, g.File(f.Name))
	}
	for _, f := range g.Published {
		files = append(files, confined.In(g.Dir.Dir).Join(f.Name))
	}
	for _, file := range files {
		if err := restrict(file, b.perm); err != nil {
			return err
		}
	}
	m := g.Manifest
	m.Checked = now
	if err := b.writeManifest(m); err != nil {
		return err
	}
	removeOthers(b.folder, g.Generation)
	return nil
}

func (b *Build) writeManifest(m Manifest) error {
	m.Format = Format
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return b.folder.Join(manifestName).Write(data, b.perm)
}

// finish makes a file safe on disk and sums it up.
func (b *Build) finish(name string) (FileInfo, error) {
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
	if info, ok := b.known[name]; ok {
		return info, nil
	}
	if size, crc, ok := container.Sum(file); ok {
		return FileInfo{name, size, formatSum(crc)}, nil
	}
	size, crc, err := sum(file, nil)
	return FileInfo{name, size, crc}, err
}

// Abort gives the new generation up and ends the build. Of a first build nothing
// is left. After Commit it does nothing, so it can be deferred.
func (b *Build) Abort() {
	if b.ended {
		return
	}
	b.ended = true
	b.syncing.Wait()
	b.Dir.RemoveAll()
	if b.First {
		removeGenerations(b.folder)
		removeFolder(b.folder, b.lock)
		return
	}
	unlock(b.lock)
}

// unlock gives the lock back, and no longer names its holder.
func unlock(lock *filelock.Lock) error {
	return errors.Join(lock.File().Truncate(0), lock.Unlock())
}

// removeFolder gives the lock back and removes it with the derived folder, unless
// somebody keeps something there. The lock goes while it is held: whoever waits
// for it sees that, and makes a new one.
func removeFolder(folder confined.Path, lock *filelock.Lock) error {
	entries, err := folder.ReadDir()
	if err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		return errors.Join(err, unlock(lock))
	}
	err = errors.Join(folder.Join(lockName).Remove(), lock.Unlock())
	folder.Remove() // fails where the next build has begun
	return err
}

// removeOthers removes every generation in the derived folder but one. What
// another process still has open may stay (Windows); the next build tries again.
func removeOthers(folder confined.Path, keep string) {
	entries, err := folder.ReadDir()
	if err != nil {
		return
	}
	for _, e := range entries {
		if generationNumber(e.Name()) > 0 && e.Name() != keep {
			removeGeneration(folder.Join(e.Name()))
		}
	}
}

// removeGeneration removes the files of a generation in parallel: the system
// takes some time to free what it has of them in memory. What has a generation's
// name and is no folder goes as well; where a link leads stays.
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

// generationNumber is the n of "g00000n", or 0 for any other name.
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

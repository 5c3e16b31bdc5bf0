package disk

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/filelock"
	"github.com/docsearch/docsearch/internal/mmap"
)

// Folder is the name of the derived folder within a database.
const Folder = "docsearch"

// Format is the version of the manifest and of what a generation consists of.
//
//	1  lexical index, passage table, vectors
//	2  a manifest with a checksum; format 1 is still read
const (
	Format       = 2
	oldestFormat = 1
)

const (
	manifestName = "manifest.json"
	lockName     = "build.lock"
	maxManifest  = 1 << 20
)

// ErrNoIndex is returned where a database has no index yet.
var ErrNoIndex = errors.New("no docsearch index")

// ErrBusy is wrapped by Begin's error when another build is at work.
var ErrBusy = errors.New("another build is at work")

// A Manifest names the generation in force and what is known of it.
type Manifest struct {
	Format     int         `json:"format"`
	Generation string      `json:"generation"` // the folder's name
	Created    time.Time   `json:"created"`
	Checked    time.Time   `json:"checked,omitzero"` // when a later look at the source found nothing new
	Tool       string      `json:"tool"`             // version of docsearch that built it
	Passages   int         `json:"passages"`
	Documents  int         `json:"documents"`
	Edition    *Edition    `json:"edition,omitempty"` // nil: the build found no version
	TextBytes  int64       `json:"text_bytes"`        // of the passages' texts
	Files      []FileInfo  `json:"files"`
	Source     Source      `json:"source"`
	Embedder   *Embedder   `json:"embedder,omitempty"` // the builtin one; nil: no vectors of its own
	Recall     *Recall     `json:"recall,omitempty"`
	Confidence *Confidence `json:"confidence,omitempty"`
	Provided   *Provided   `json:"provided,omitempty"` // nil: no vectors but the builtin embedder's
	Learnt     *Learnt     `json:"learnt,omitempty"`
	Skipped    []Skipped   `json:"skipped,omitempty"`
	// Options are the build's own, for a later build to repeat them.
	Options json.RawMessage `json:"options,omitempty"`
	// Published are the files that were made of the passages for LEANN, by their
	// names in the database's folder.
	Published []FileInfo `json:"published,omitempty"`
	// Seal is by which the user who built the database knows Source and Options
	// again (see package provenance); "" if they were not sealed.
	Seal string `json:"seal,omitempty"`
}

// A FileInfo is the size and checksum of one file of the generation.
type FileInfo struct {
	Name  string `json:"name"`
	Size  int64  `json:"size"`
	CRC32 string `json:"crc32"` // eight hexadecimal digits
}

// A Source says what the passages were made from.
type Source struct {
	Kind     string       `json:"kind"`           // "leann", "passages", "folder"
	Location string       `json:"location"`       // absolute path or URL
	Root     string       `json:"root,omitempty"` // absolute folder that the documents' paths are relative to
	Files    []SourceFile `json:"files,omitempty"`
}

// Same reports whether two builds saw the same source, with the same passages
// files.
func (s *Source) Same(other Source) bool {
	return s.Kind == other.Kind && s.Location == other.Location && slices.EqualFunc(s.Files, other.Files, func(a, b SourceFile) bool {
		return a.Path == b.Path && a.Size == b.Size && a.ModTime.Equal(b.ModTime)
	})
}

// Prepared is what a source has to say of the passages files that it made.
type Prepared struct {
	Source  Source
	Skipped []Skipped // what of the source has no passages, and why
	// Unchanged says that the generation before, which there must be then, has
	// all that a new one would: none is made, and no passages files are needed.
	Unchanged bool
	// Rights are those that files derived from the source may have at most (see
	// disk.Rights); 0: there is nothing to go by.
	Rights fs.FileMode
	// Made says that docsearch made the passages, in one file: they are published
	// for LEANN to read.
	Made bool
	// Kept are the lines that stand in the generation before, too, in the order
	// of Now: what was derived from them need not be derived again.
	Kept []Kept
}

// Kept is a run of whole lines of the passages files that two generations
// share, byte for byte.
type Kept struct {
	Before, Now Run
	Length      int64 // bytes
}

// A Run is where a run of lines begins.
type Run struct {
	Shard  int
	Offset int64
}

// A SourceFile is a passages file as the build saw it: another size or time
// now means that the index is older than its passages.
type SourceFile struct {
	Path    string    `json:"path"` // relative to the database's folder
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mod_time"`
}

// An Embedder says what made the vectors.
type Embedder struct {
	Name       string `json:"name"`
	Dimensions int    `json:"dimensions"`
}

// A Provided says what made the vectors that the database has besides those of
// the builtin embedder. It names the embedder and does not say how to reach
// it: that is the reader's to know, who has not made every database himself.
type Provided struct {
	Embedder
	Recall   Recall    `json:"recall"`
	Nearness *Nearness `json:"nearness,omitempty"` // nil: not measured
}

// A Nearness is what the cosine of the nearest passage says: what it is on
// average for questions that the database answers, and for those it does not.
type Nearness struct {
	Own     float64 `json:"own"`
	Foreign float64 `json:"foreign"`
	Spread  float64 `json:"spread"` // standard deviation within either
	Sample  int     `json:"sample"` // questions measured
}

// A Recall is the measured agreement of the vector search with exact search.
type Recall struct {
	At     int     `json:"at"`     // k of recall@k
	Value  float64 `json:"value"`  // 0 to 1
	Sample int     `json:"sample"` // queries measured
	Mode   string  `json:"mode"`   // "all": every vector is read; "routed": the graph chooses; "sifted": a sieve does
}

// A Confidence turns a query's signals into the probability that the best hit
// answers it. What the signals are is for package answer to say.
type Confidence struct {
	Weights   []float64 `json:"weights"` // the constant first
	Threshold float64   `json:"threshold"`
	// Recall is the share of in-domain queries that reach the threshold, and
	// Sample how many there were.
	Recall float64 `json:"recall"`
	Sample int     `json:"sample"`
}

// An Edition is the version that the documents are about, as the build found it.
type Edition struct {
	Version  string   `json:"version"`  // "3.11", "18"
	Evidence []string `json:"evidence"` // "titles", "addresses", "release notes": each that has the version
}

// VersionOr returns the configured version, or if there is none, the one that the
// build found; "" if neither is known.
func (m *Manifest) VersionOr(configured string) string {
	if configured == "" && m.Edition != nil {
		return m.Edition.Version
	}
	return configured
}

// Known is when the source was last seen to be what the manifest says.
func (m *Manifest) Known() time.Time {
	if m.Checked.After(m.Created) {
		return m.Checked
	}
	return m.Created
}

// A Learnt says of what state of the passages the embedder and the confidence
// were learnt: an update keeps both while few have changed since.
type Learnt struct {
	Time     time.Time `json:"time"`
	Passages int       `json:"passages"` // that there were
	Changed  int       `json:"changed"`  // since, by updates
}

// A Skipped is something of the source that has no passages, and why.
type Skipped struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// ErrNoPassages is the error of a source without a single passage: an empty
// database would only hide the mistake.
var ErrNoPassages = errors.New("the source has no passages")

// A NoPassagesError is ErrNoPassages with what was skipped.
type NoPassagesError struct{ Skipped []Skipped }

func (e *NoPassagesError) Unwrap() error { return ErrNoPassages }

func (e *NoPassagesError) Error() string {
	if len(e.Skipped) == 0 {
		return ErrNoPassages.Error()
	}
	return ErrNoPassages.Error() + "; skipped: " + Reasons(e.Skipped)
}

// Unreadable begins the reason for what exists and could not be read. It comes
// first where reasons are listed.
const Unreadable = "cannot read: "

// Reasons lists why things were skipped, each reason with how many share it and
// the first of them.
func Reasons(skipped []Skipped) string {
	const most = 5
	type reason struct {
		why, first string
		n          int
	}
	var reasons []reason
	at := make(map[string]int)
	for _, s := range skipped {
		i, found := at[s.Why]
		if !found {
			i = len(reasons)
			at[s.Why] = i
			reasons = append(reasons, reason{s.Why, s.Name, 0})
		}
		reasons[i].n++
	}
	slices.SortStableFunc(reasons, func(a, b reason) int {
		if unreadable := strings.HasPrefix(a.why, Unreadable); unreadable != strings.HasPrefix(b.why, Unreadable) {
			if unreadable {
				return -1
			}
			return 1
		}
		return b.n - a.n
	})
	var parts []string
	others := len(skipped)
	for _, r := range reasons[:min(most, len(reasons))] {
		others -= r.n
		if r.n == 1 {
			parts = append(parts, fmt.Sprintf("%s (%s)", r.why, r.first))
		} else {
			parts = append(parts, fmt.Sprintf("%s (%d, such as %s)", r.why, r.n, r.first))
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d more for other reasons", others))
	}
	return strings.Join(parts, "; ")
}

// A Generation is the current index: its manifest and its folder.
type Generation struct {
	Manifest
	Dir confined.Path
}

// Summary shortens skipped to what fits a manifest: a reason that many share
// is told once, with how many do and the first of them.
func Summary(skipped []Skipped) []Skipped {
	const few, most = 3, 40
	count := make(map[string]int)
	for _, s := range skipped {
		count[s.Why]++
	}
	var short []Skipped
	for _, s := range skipped {
		n := count[s.Why]
		switch {
		case len(short) == most:
			return append(short, Skipped{Name: "...", Why: fmt.Sprintf("%d in all", len(skipped))})
		case n > few:
			short = append(short, Skipped{Name: fmt.Sprintf("%s and %d more", s.Name, n-1), Why: s.Why})
			count[s.Why] = 0
		case n > 0:
			short = append(short, s)
		}
	}
	return short
}

// ManifestPath is where the database in folder dir has its manifest, if it
// has an index.
func ManifestPath(dir string) string { return folderOf(dir).Join(manifestName).String() }

// HasManifest reports whether a build of the database in folder dir has ever ended,
// whether or not its manifest can be read.
func HasManifest(dir string) bool { return folderOf(dir).Join(manifestName).Exists() }

// GenerationOf is the generation that the manifest of the database in folder dir
// names.
func GenerationOf(dir string, m Manifest) Generation {
	return Generation{m, folderOf(dir).Join(m.Generation)}
}

// folderOf is the derived folder of the database in folder dir.
func folderOf(dir string) confined.Path { return confined.In(dir).Join(Folder) }

// File is one of the generation's files.
func (g Generation) File(name string) confined.Path { return g.Dir.Join(name) }

// Path is the path of one of the generation's files, for messages.
func (g Generation) Path(name string) string { return g.File(name).String() }

// Current returns the current generation of the database in folder dir.
// Errors: one that wraps ErrNoIndex, *CorruptError, *VersionError.
func Current(dir string) (Generation, error) {
	manifest := folderOf(dir).Join(manifestName)
	data, err := manifest.Read(maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Generation{}, fmt.Errorf("%s: %w", dir, ErrNoIndex)
	case errors.Is(err, atomicfile.ErrTooLong):
		return Generation{}, &CorruptError{manifest.String(), maxManifest, "the file is too long"}
	case err != nil:
		return Generation{}, asCorrupt(err)
	}
	m, err := parseManifest(manifest.String(), data)
	if err != nil {
		return Generation{}, err
	}
	return GenerationOf(dir, m), nil
}

// asCorrupt returns the error about a link, or a folder, in place of one of a
// database's files as what it is: damage. Other errors stay as they are.
func asCorrupt(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && (errors.Is(err, confined.ErrLink) || errors.Is(err, atomicfile.ErrNotRegular)) {
		return &CorruptError{path.Path, 0, path.Err.Error()}
	}
	return err
}

func parseManifest(path string, data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil || m.Format < oldestFormat || m.Format > Format {
		// A newer manifest may have other types: its version tells.
		var v struct {
			Format *int `json:"format"`
		}
		switch versionErr := json.Unmarshal(data, &v); {
		case versionErr != nil || v.Format == nil:
			return m, &CorruptError{path, 0, "this is not a manifest"}
		case *v.Format < oldestFormat || *v.Format > Format:
			return m, &VersionError{path, *v.Format, Format}
		}
		return m, &CorruptError{path, 0, err.Error()}
	}
	switch sum, body, found := cutSum(data); {
	case found && sum != formatSum(Checksum(body)):
		return m, &CorruptError{path, 0, "checksum of the file"}
	case !found && m.Format > 1:
		return m, &CorruptError{path, 0, "the checksum of the file is missing"}
	}
	if generationNumber(m.Generation) == 0 {
		return m, &CorruptError{path, 0, fmt.Sprintf("generation %q", m.Generation)}
	}
	if m.Edition != nil && !isVersion(m.Edition.Version) {
		return m, &CorruptError{path, 0, fmt.Sprintf("version %q", m.Edition.Version)}
	}
	for _, f := range m.Files {
		if f.Name == "" || strings.ContainsAny(f.Name, `/\`) || strings.HasPrefix(f.Name, ".") {
			return m, &CorruptError{path, 0, fmt.Sprintf("file name %q", f.Name)}
		}
	}
	return m, nil
}

// isVersion reports whether s is a version as builds write it: numbers and dots.
func isVersion(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "0123456789.") == ""
}

// The first line of a manifest, within its brace, is the checksum of all that
// follows the line.
const (
	sumBegins = "{\n  \"checksum\": \""
	sumEnds   = "\","
)

// Encode returns the contents of the file that the manifest is kept in.
func (m *Manifest) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	body := append(data[1:], '\n') // without its brace
	return append([]byte(sumBegins+formatSum(Checksum(body))+sumEnds), body...), nil
}

// cutSum splits a manifest into its checksum and what that is of.
func cutSum(data []byte) (sum string, body []byte, found bool) {
	const length = 8
	rest, found := bytes.CutPrefix(data, []byte(sumBegins))
	if !found || len(rest) < length {
		return "", nil, false
	}
	body, found = bytes.CutPrefix(rest[length:], []byte(sumEnds))
	return string(rest[:length]), body, found
}

// Load calls open with the generation in force until it succeeds, or fails
// for another reason than that a build has replaced the generation meanwhile.
func Load(dir string, open func(Generation) error) error {
	for {
		g, err := Current(dir)
		if err != nil {
			return err
		}
		err = open(g)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return asCorrupt(err)
		}
		now, currentErr := Current(dir)
		if currentErr != nil || now.Generation == g.Generation {
			return &CorruptError{g.Dir.String(), 0, err.Error()}
		}
	}
}

// Verify reads every file of the generation and compares it with the
// manifest. It calls advance, if not nil, with the bytes read since the last
// call.
func (g Generation) Verify(advance func(int64)) error {
	for _, want := range g.Files {
		if err := want.Check(g.File(want.Name), advance); err != nil {
			return err
		}
	}
	return nil
}

// Check reads a file and compares it with what a manifest says of it. It calls
// advance, if not nil, with the bytes read since the last call. Errors:
// *CorruptError, those of the file system.
func (f FileInfo) Check(file confined.Path, advance func(int64)) error {
	path := file.String()
	size, crc, err := sum(file, advance)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &CorruptError{path, 0, "the file is missing"}
	case err != nil:
		return asCorrupt(err)
	case size != f.Size:
		return &CorruptError{path, min(size, f.Size), fmt.Sprintf("%d bytes long, want %d", size, f.Size)}
	case crc != f.CRC32:
		return &CorruptError{path, 0, "checksum of the file"}
	}
	return nil
}

// SumOf is what a manifest says of a file with that data.
func SumOf(name string, data []byte) FileInfo {
	return FileInfo{name, int64(len(data)), formatSum(Checksum(data))}
}

func sum(p confined.Path, advance func(int64)) (int64, string, error) {
	f, err := p.Open()
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	buf := make([]byte, 1<<20)
	var size int64
	for {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		size += int64(n)
		if advance != nil && n > 0 {
			advance(int64(n))
		}
		if err == io.EOF {
			return size, formatSum(h.Sum32()), nil
		}
		if err != nil {
			return size, "", err
		}
	}
}

// sumContainer does so with a container, of which it reads the sums that it has:
// they are of the blocks that were written, and so is the sum then.
func sumContainer(p confined.Path) (int64, string, bool) {
	m, err := mmap.OpenIn(p)
	if err != nil {
		return 0, "", false
	}
	defer m.Close()
	if len(m.Data) < headerSize {
		return 0, "", false
	}
	f, err := parse(p.String(), m.Data, string(m.Data[8:12]), int(binary.LittleEndian.Uint32(m.Data[12:])))
	if err != nil {
		return 0, "", false
	}
	crc := uint32(0)
	for at := 0; at < len(f.data); at += blockSize {
		crc = JoinChecksums(crc, binary.LittleEndian.Uint32(f.sums[4*(at/blockSize):]), int64(min(blockSize, len(f.data)-at)))
	}
	rest := m.Data[len(f.data):]
	return int64(len(m.Data)), formatSum(JoinChecksums(crc, Checksum(rest), int64(len(rest)))), true
}

func formatSum(sum uint32) string { return fmt.Sprintf("%08x", sum) }

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

// Known tells Commit the size and the checksum of a file, which it need not read
// then.
func (b *Build) Known(name string, size int64, sum uint32) {
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
	if size, crc, ok := sumContainer(file); ok {
		return FileInfo{name, size, crc}, nil
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

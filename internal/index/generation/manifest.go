package generation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/index/container"
)

// Format is the version of the manifest and of what a generation consists of.
//
//	1  lexical index, passage table, vectors
//	2  a manifest with a checksum; format 1 is still read
const (
	Format       = 2
	oldestFormat = 1
)

// A Manifest names the generation in force and what is known of it.
type Manifest struct {
	Format     int            `json:"format"`
	Generation string         `json:"generation"` // the folder's name
	Created    time.Time      `json:"created"`
	Checked    time.Time      `json:"checked,omitzero"` // when a later look at the source found nothing new
	Tool       string         `json:"tool"`             // version of docsearch that built it
	Passages   int            `json:"passages"`
	Documents  int            `json:"documents"`
	Edition    *Edition       `json:"edition,omitempty"` // nil: the build found no version
	TextBytes  int64          `json:"text_bytes"`        // of the passages' texts
	Files      []FileInfo     `json:"files"`
	Source     Source         `json:"source"`
	Embedder   *Embedder      `json:"embedder,omitempty"` // the builtin one; nil: no vectors of its own
	Recall     *Recall        `json:"recall,omitempty"`
	Confidence *Confidence    `json:"confidence,omitempty"`
	Provided   *Provided      `json:"provided,omitempty"` // nil: no vectors but the builtin embedder's
	Training   *TrainingState `json:"learnt,omitempty"`
	Skipped    []Skipped      `json:"skipped,omitempty"`
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
	// Reused are the lines that stand in the generation before, too, in the order
	// of Now: what was derived from them need not be derived again.
	Reused []Reused
}

// Reused is a run of whole lines of the passages files that two generations
// share, byte for byte.
type Reused struct {
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
	Recall     Recall           `json:"recall"`
	Similarity *SimilarityStats `json:"nearness,omitempty"` // nil: not measured
}

// A Nearness is what the cosine of the nearest passage says: what it is on
// average for questions that the database answers, and for those it does not.
type SimilarityStats struct {
	InDomain    float64 `json:"own"`
	OutOfDomain float64 `json:"foreign"`
	Spread      float64 `json:"spread"` // standard deviation within either
	Sample      int     `json:"sample"` // questions measured
}

// A Recall is the measured agreement of the vector search with exact search.
type Recall struct {
	At     int     `json:"at"`     // k of recall@k
	Value  float64 `json:"value"`  // 0 to 1
	Sample int     `json:"sample"` // queries measured
	Mode   string  `json:"mode"`   // "all": every vector is read; "routed": the graph chooses; "sifted": a sieve does
}

// A Confidence turns a query's signals into the probability that the best hit
// answers it. What the signals are is for package quicksearch to say.
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

// SetChecksum is when the source was last seen to be what the manifest says.
func (m *Manifest) LastVerified() time.Time {
	if m.Checked.After(m.Created) {
		return m.Checked
	}
	return m.Created
}

// A Learnt says of what state of the passages the embedder and the confidence
// were learnt: an update keeps both while few have changed since.
type TrainingState struct {
	Time     time.Time `json:"time"`
	Passages int       `json:"passages"` // that there were
	Changed  int       `json:"changed"`  // since, by updates
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
			return m, &container.CorruptError{File: path, What: "not a manifest"}
		case *v.Format < oldestFormat || *v.Format > Format:
			return m, &container.VersionError{File: path, Have: *v.Format, Want: Format}
		}
		return m, &container.CorruptError{File: path, What: err.Error()}
	}
	switch sum, body, found := cutSum(data); {
	case found && sum != formatSum(container.Checksum(body)):
		return m, &container.CorruptError{File: path, What: "checksum of the file"}
	case !found && m.Format > 1:
		return m, &container.CorruptError{File: path, What: "missing checksum"}
	}
	if generationNumber(m.Generation) == 0 {
		return m, &container.CorruptError{File: path, What: fmt.Sprintf("generation %q", m.Generation)}
	}
	if m.Edition != nil && !isVersion(m.Edition.Version) {
		return m, &container.CorruptError{File: path, What: fmt.Sprintf("version %q", m.Edition.Version)}
	}
	for _, f := range m.Files {
		if f.Name == "" || strings.ContainsAny(f.Name, `/\`) || strings.HasPrefix(f.Name, ".") {
			return m, &container.CorruptError{File: path, What: fmt.Sprintf("file name %q", f.Name)}
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
	return append([]byte(sumBegins+formatSum(container.Checksum(body))+sumEnds), body...), nil
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

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

// Format is the version of the manifest and of the set of files in a generation.
//
//	1  lexical index, passage table, vectors
//	2  a manifest with a checksum; format 1 is still read
const (
	Format       = 2
	oldestFormat = 1
)

// A Manifest describes the current generation.
type Manifest struct {
	Format     int       `json:"format"`
	Generation string    `json:"generation"` // name of the folder
	Created    time.Time `json:"created"`
	Checked    time.Time `json:"checked,omitzero"` // last time an update found no changes
	Tool       string    `json:"tool"`             // version of docsearch that built it
	Passages   int       `json:"passages"`
	Documents  int       `json:"documents"`
	Edition    *Edition  `json:"edition,omitempty"` // nil: no version detected
	TextBytes  int64     `json:"text_bytes"`        // of the passages' texts
	// Language is the English name of the passages' language, if the build recognized it.
	Language string `json:"language,omitempty"`
	// Partial names the pages of a database that has no others: one of the Partial constants.
	Partial    Partial        `json:"partial,omitempty"`
	Files      []FileInfo     `json:"files"`
	Source     Source         `json:"source"`
	Embedder   *Embedder      `json:"embedder,omitempty"` // the built-in embedder; nil: none
	Recall     *Recall        `json:"recall,omitempty"`
	Confidence *Confidence    `json:"confidence,omitempty"`
	Provided   *Provided      `json:"provided,omitempty"` // nil: no vectors of an external embedder
	Training   *TrainingState `json:"learnt,omitempty"`
	Skipped    []Skipped      `json:"skipped,omitempty"`
	// Options are the options of the build, so that a later build can repeat them.
	Options json.RawMessage `json:"options,omitempty"`
	// Published are the files in the database's folder that were published for LEANN.
	Published []FileInfo `json:"published,omitempty"`
	// Seal authenticates Source and Options as written by the user (see package
	// provenance). It is empty if they were not sealed.
	Seal string `json:"seal,omitempty"`
}

// Partial is documentation that is no manual, and not enough to deny a search for instructions.
type Partial string

const (
	OnlyReadme  Partial = "a short README"
	OnlyChanges Partial = "change logs"
)

// A FileInfo contains the size and checksum of a file.
type FileInfo struct {
	Name  string `json:"name"`
	Size  int64  `json:"size"`
	CRC32 string `json:"crc32"` // eight hexadecimal digits
}

// A Source describes the source of the passages.
type Source struct {
	Kind     string       `json:"kind"`             // "leann", "passages", "folder"
	Location string       `json:"location"`         // absolute path or URL
	Root     string       `json:"root,omitempty"`   // absolute folder that the documents' paths are relative to
	Commit   string       `json:"commit,omitempty"` // of a repository, when its passages last changed
	Files    []SourceFile `json:"files,omitempty"`
}

// Same reports whether two builds had the same source with the same passages files.
func (s *Source) Same(other Source) bool {
	return s.Kind == other.Kind && s.Location == other.Location &&
		slices.EqualFunc(s.Files, other.Files, func(a, b SourceFile) bool {
			return a.Path == b.Path && a.Size == b.Size && a.ModTime.Equal(b.ModTime)
		})
}

// Prepared is the result of a source's Prepare.
type Prepared struct {
	Source  Source
	Skipped []Skipped // skipped parts of the source
	// Unchanged reports that the current generation matches the source. No passages
	// files are needed, and no generation is built.
	Unchanged bool
	// Perm are the maximum permissions of files derived from the source (see func
	// Perm). Zero means unknown.
	Perm fs.FileMode
	// Publish reports that docsearch wrote the passages, in one file. They are
	// published for LEANN.
	Publish bool
	// KeepsLost reports that the source itself keeps documents that it seems to have lost.
	KeepsLost bool
	// Edition is the documented version if the source knows it. Nil: detect it from the
	// passages.
	Edition *Edition
	// Reused are the lines that the previous generation also contains, in the order of
	// Now. Data derived from them can be reused.
	Reused []Reused
}

// A Reused is a range of complete lines in the passages files that is identical in two
// generations.
type Reused struct {
	Before, Now Run
	Length      int64 // bytes
}

// A Run is the start position of a range of lines.
type Run struct {
	Shard  int
	Offset int64
}

// A SourceFile is the state of a passages file at the build. If size or time differ
// now, the index is older than its passages.
type SourceFile struct {
	Path    string    `json:"path"` // relative to the database's folder
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mod_time"`
}

// An Embedder identifies the embedder of a vector index.
type Embedder struct {
	Name       string `json:"name"`
	Dimensions int    `json:"dimensions"`
}

// A Provided identifies the external embedder of a database's additional vectors. It
// contains no address, because the database may come from another user. The address
// comes from the reader's config.
type Provided struct {
	Embedder
	Recall     Recall           `json:"recall"`
	Similarity *SimilarityStats `json:"nearness,omitempty"` // nil: not measured
}

// SimilarityStats contains the mean cosine of the nearest passage for queries that the
// database answers and for queries that it does not answer.
type SimilarityStats struct {
	InDomain    float64 `json:"own"`
	OutOfDomain float64 `json:"foreign"`
	Spread      float64 `json:"spread"` // standard deviation within each group
	Sample      int     `json:"sample"` // number of queries
}

// A Recall is the measured agreement of the vector search with exact search.
type Recall struct {
	At     int     `json:"at"`     // k of recall@k
	Value  float64 `json:"value"`  // 0 to 1
	Sample int     `json:"sample"` // number of queries
	Mode   string  `json:"mode"`   // "all": flat scan; "routed": IVF lists chosen by HNSW; "sifted": quantized prefilter
}

// A Confidence is the model that converts a query's signals into the probability that
// the best hit answers it. Package quicksearch defines the signals.
type Confidence struct {
	Weights   []float64 `json:"weights"` // constant first
	Threshold float64   `json:"threshold"`
	// Recall is the share of in-domain queries that reach the threshold, and Sample the
	// number of these queries.
	Recall float64 `json:"recall"`
	Sample int     `json:"sample"`
}

// An Edition is the documented version, as detected by the build.
type Edition struct {
	Version  string   `json:"version"`  // "3.11", "18"
	Evidence []string `json:"evidence"` // kinds of evidence: "titles", "addresses", "release notes", "pack"
}

// VersionOr returns the configured version if it is not empty, else the detected
// version or "".
func (m *Manifest) VersionOr(configured string) string {
	if configured == "" && m.Edition != nil {
		return m.Edition.Version
	}
	return configured
}

// LastVerified returns the last time at which the source was known to match the
// manifest.
func (m *Manifest) LastVerified() time.Time {
	if m.Checked.After(m.Created) {
		return m.Checked
	}
	return m.Created
}

// A TrainingState records the passages that the embedder and the confidence model were
// trained on. Updates retrain both when a tenth of the passages has changed.
type TrainingState struct {
	Time     time.Time `json:"time"`
	Passages int       `json:"passages"` // number of passages at the training
	Changed  int       `json:"changed"`  // number of passages changed by later updates
}

func parseManifest(path string, data []byte) (Manifest, error) {
	var m Manifest
	err := json.Unmarshal(data, &m)
	return m.check(path, data, err, oldestFormat)
}

// parseHead is parseManifest for LoadHead.
func parseHead(path string, data []byte) (Manifest, error) {
	var head struct {
		Format     int         `json:"format"`
		Generation string      `json:"generation"`
		Edition    *Edition    `json:"edition"`
		Language   string      `json:"language"`
		Partial    Partial     `json:"partial"`
		Files      []FileInfo  `json:"files"`
		Confidence *Confidence `json:"confidence"`
		Source     struct {
			Root string `json:"root"`
		} `json:"source"`
	}
	err := json.Unmarshal(data, &head)
	m := Manifest{Format: head.Format, Generation: head.Generation, Edition: head.Edition, Language: head.Language,
		Partial: head.Partial, Files: head.Files, Confidence: head.Confidence, Source: Source{Root: head.Source.Root}}
	return m.check(path, data, err, oldestFormat)
}

// check returns the manifest that was decoded from data with err, or what is wrong with it.
// oldest is the oldest format that is read.
func (m Manifest) check(path string, data []byte, err error, oldest int) (Manifest, error) {
	if err != nil || m.Format < oldest || m.Format > Format {
		// A newer manifest may have other types, so check its version first.
		var v struct {
			Format *int `json:"format"`
		}
		switch versionErr := json.Unmarshal(data, &v); {
		case versionErr != nil || v.Format == nil:
			return m, &container.CorruptError{File: path, Problem: "not a manifest"}
		case *v.Format < oldest || *v.Format > Format:
			return m, &container.VersionError{File: path, Have: *v.Format, Want: Format}
		}
		return m, &container.CorruptError{File: path, Problem: err.Error()}
	}
	switch sum, body, found := splitChecksum(data); {
	case found && sum != formatChecksum(container.Checksum(body)):
		return m, &container.CorruptError{File: path, Problem: "checksum of the file"}
	case !found && m.Format > 1:
		return m, &container.CorruptError{File: path, Problem: "missing checksum"}
	}
	if generationNumber(m.Generation) == 0 {
		return m, &container.CorruptError{File: path, Problem: fmt.Sprintf("generation %q", m.Generation)}
	}
	if m.Edition != nil && !isVersion(m.Edition.Version) {
		return m, &container.CorruptError{File: path, Problem: fmt.Sprintf("version %q", m.Edition.Version)}
	}
	for _, f := range m.Files {
		if f.Name == "" || strings.ContainsAny(f.Name, `/\`) || strings.HasPrefix(f.Name, ".") {
			return m, &container.CorruptError{File: path, Problem: fmt.Sprintf("file name %q", f.Name)}
		}
	}
	return m, nil
}

// isVersion reports whether s is a version as written by builds: digits and dots.
func isVersion(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "0123456789.") == ""
}

// The first line of a manifest contains, after the opening brace, the checksum of
// everything after the line.
const (
	checksumPrefix = "{\n  \"checksum\": \""
	checksumSuffix = "\","
)

// Encode returns the contents of the manifest file.
func (m *Manifest) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	body := append(data[1:], '\n') // without the opening brace
	return append([]byte(checksumPrefix+formatChecksum(container.Checksum(body))+checksumSuffix), body...), nil
}

// splitChecksum splits a manifest into its checksum and the checksummed part.
func splitChecksum(data []byte) (sum string, body []byte, found bool) {
	const length = 8
	rest, found := bytes.CutPrefix(data, []byte(checksumPrefix))
	if !found || len(rest) < length {
		return "", nil, false
	}
	body, found = bytes.CutPrefix(rest[length:], []byte(checksumSuffix))
	return string(rest[:length]), body, found
}
